"""The OpenAPI document for tests: its operations, their example requests, and the documented responses.

Owns the conversion of the document to requests, and the look-up of a response in the document. It sends
nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import jsonschema_rs

PROBLEM_MEDIA_TYPE = "application/problem+json"

UNDOCUMENTED_HEADERS = {
    *("allow", "connection", "content-length", "content-type", "date", "transfer-encoding", "vary"),
    *("content-security-policy", "cross-origin-opener-policy", "referrer-policy"),
    *("x-accel-buffering", "x-content-type-options", "x-frame-options"),
}
"""Headers of HTTP itself, which OpenAPI documents elsewhere or not at all, and headers for browsers and
proxies."""


class ExampleRequest(NamedTuple):
    """A request from the document. `content`: the body, or None."""

    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    content: bytes | None

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments for httpx, besides the method and the address."""
        body = {} if self.content is None else {"content": self.content}
        # httpx would replace the query of the address by empty `params`.
        return {"headers": self.headers, **body, **({"params": self.query} if self.query else {})}


class Operation(NamedTuple):
    """One operation of the document."""

    name: str
    method: str
    path: str
    spec: dict[str, Any]

    @property
    def responses(self) -> dict[str, Any]:
        found: dict[str, Any] = self.spec["responses"]
        return found

    @property
    def parameters(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.spec.get("parameters", [])
        return found

    @property
    def is_endless(self) -> bool:
        """Whether it returns events, which end only when the client disconnects."""
        return "text/event-stream" in str(self.responses)

    @property
    def body(self) -> tuple[str, Any] | None:
        """The body's media type and example."""
        content = self.spec.get("requestBody", {}).get("content", {})
        for media_type, shape in content.items():
            return media_type, shape["example"]
        return None

    def codes(self, status: int) -> set[str]:
        """Return the problem codes that the document lists for this status."""
        content = self.responses.get(str(status), {}).get("content", {})
        return set(content.get(PROBLEM_MEDIA_TYPE, {}).get("examples", {}))

    @property
    def all_codes(self) -> set[str]:
        return {code for status in self.responses for code in self.codes(int(status))}

    def example_request(self, query: Mapping[str, Any] | None = None) -> ExampleRequest:
        """Return the documented example: the required parameters, the body, and the parameters in `query`."""
        path, needed = self.path, {}
        for parameter in self.parameters:
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", quote(example_of(parameter), safe=""))
            elif parameter["in"] == "query" and parameter.get("required"):
                needed[parameter["name"]] = example_of(parameter)
        headers, content = {}, None
        if self.body is not None:
            headers["Content-Type"], example = self.body
            content = (example if isinstance(example, str) else json.dumps(example)).encode()
        return ExampleRequest(self.method, path, {**needed, **(query or {})}, headers, content)


def example_of(parameter: Mapping[str, Any]) -> Any:
    """Return the first example of a parameter."""
    return parameter["schema"]["examples"][0]


class Document:
    """A document, with look-ups by operation and path."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    @cached_property
    def operations(self) -> dict[str, Operation]:
        """All operations by name."""
        return {
            spec["operationId"]: Operation(spec["operationId"], method.upper(), path, self._resolved(spec))
            for path, methods in self.content["paths"].items()
            for method, spec in methods.items()
        }

    def _resolved(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Return the operation, with references to responses replaced by the responses."""
        shared = self.content["components"].get("responses", {})
        answers = {
            status: shared[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
            for status, answer in spec["responses"].items()
        }
        return {**spec, "responses": answers}

    def operation_at(self, method: str, path: str) -> Operation | None:
        """Return the operation of this method and path, or None."""
        for operation in self.operations.values():
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(operation.path))
            if operation.method == method and re.fullmatch(pattern, path):
                return operation
        return None

    def assert_fits(self, value: Any, schema: dict[str, Any]) -> None:
        """Check that `value` matches the schema."""
        whole = {**schema, "components": self.content["components"]}
        jsonschema_rs.Draft202012Validator(whole).validate(value)

    def assert_foresees(self, response: httpx.Response) -> None:
        """Check that the operation documents the response's status and, for a problem, its code."""
        request = response.request
        operation = self.operation_at(request.method, request.url.raw_path.partition(b"?")[0].decode())
        if operation is None or (response.status_code == 405 and request.method != operation.method):
            return
        assert str(response.status_code) in operation.responses, (operation.name, response.text)
        documented = map(str.lower, operation.responses[str(response.status_code)].get("headers", {}))
        sent = {name for name in response.headers if not name.startswith("access-control-")}
        sent -= UNDOCUMENTED_HEADERS
        assert sent <= set(documented), (operation.name, response.status_code, sent)
        if response.headers.get("content-type") == PROBLEM_MEDIA_TYPE and response.content:
            code = response.json()["code"]
            assert code in operation.codes(response.status_code), (operation.name, code)
