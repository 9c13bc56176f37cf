"""Responses of each operation if the stream or the group is missing: the table of docs/concepts.md is
correct. It has a row for every operation of the document that names a stream.

Every operation of the document that names a stream is a row of it.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from httpx import Response

from tailrace.api.follow.sse import OUTPUT_EXTENSION
from tests.support.api_client import ApiClient, assert_problem, the_document
from tests.support.documented import ExampleRequest, Operation

PAGE = Path(__file__).parents[2] / "docs" / "concepts.md"
CODES = ("NO_SUCH_STREAM", "NOGROUP")


class Rule(NamedTuple):
    """A row: the response if the stream is missing, and the response if only the group is missing."""

    stream: str
    group: str


@cache
def the_rules() -> dict[str, Rule]:
    section = PAGE.read_text().partition("## Missing streams and groups")[2]
    rows = re.findall(r"^\| (`\w+`.*) \| (.*) \| ?(.*)\|$", section, re.MULTILINE)
    return {
        name: Rule(stream.strip().strip("`"), group.strip().strip("`"))
        for operations, stream, group in rows
        for name in re.findall(r"`(\w+)`", operations)
    }


def names_a_stream(operation: Operation) -> bool:
    return "{key}" in operation.path or operation.name in {"xread", "xreadgroup", "tail_streams"}


OPERATIONS = {
    name: operation
    for name, operation in the_document().operations.items()
    if names_a_stream(operation) and operation.method != "HEAD"
}
GROUP_OPERATIONS = [name for name in OPERATIONS if the_rules()[name].group in CODES]


def test_every_operation_that_names_a_stream_has_a_rule() -> None:
    assert the_rules().keys() == OPERATIONS.keys()


class NoOutput:
    """The output of a tail of which only the head is examined."""

    can_push = True
    on_relief: Callable[[], None]

    def send(self, event: bytes) -> None:
        """Drop an event."""


async def _status_of_events(api: ApiClient, request: ExampleRequest) -> int:
    """The status of an answer that has no end: the client leaves when it has begun."""
    begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    told = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        if (first := next(told, None)) is not None:
            return first
        await begun
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            begun.set_result(message["status"])

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "server": ("tailrace", 80),
        "root_path": "",
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": urlencode(request.query, doseq=True).encode(),
        "headers": [],
        "extensions": {OUTPUT_EXTENSION: lambda _scope, _stall_s: NoOutput()},
    }
    await api.app(scope, receive, send)
    return begun.result()


def _renamed_value(value: Any, old: str, new: str) -> Any:
    return [new if each == old else each for each in value] if isinstance(value, list) else value


def renamed(request: ExampleRequest, old: str, new: str) -> ExampleRequest:
    """The request with another name wherever it has the old one."""
    quoted = old.replace(":", "%3A")
    return request._replace(
        path=request.path.replace(quoted, new),
        query={name: _renamed_value(value, old, new) for name, value in request.query.items()},
        content=None if request.content is None else request.content.replace(old.encode(), new.encode()),
    )


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_missing_stream_is_answered_as_the_page_says(name: str) -> None:
    operation, rule = OPERATIONS[name], the_rules()[name]
    api = ApiClient.with_race()
    request = renamed(operation.example_request(), "race:france", "spain")
    assert "spain" in str(request)
    if operation.is_endless:
        assert asyncio.run(_status_of_events(api, request)) == 200
        return
    response = api.request(request.method, request.path, **request.options)
    if rule.stream in CODES:
        problem = assert_problem(response, 404, rule.stream)
        assert problem["key"] == "spain"
        assert "'spain'" in problem["detail"]
        assert problem.get("missing") == ("stream" if rule.stream == "NOGROUP" else None)
    else:
        assert response.is_success
    exists = api.get("/v1/streams/spain").is_success
    assert exists is (rule.stream == "created")


@pytest.mark.parametrize("name", GROUP_OPERATIONS)
def test_a_missing_group_is_answered_as_the_page_says(name: str) -> None:
    request = renamed(OPERATIONS[name].example_request(), "judges", "nobody")
    response = ApiClient.with_race().request(request.method, request.path, **request.options)
    problem = assert_problem(response, 404, the_rules()[name].group)
    assert (problem["key"], problem["group"], problem["missing"]) == ("race:france", "nobody", "group")
    assert "'race:france'" in problem["detail"]
    assert "'nobody'" in problem["detail"]


@pytest.mark.parametrize("name", ["tail", "tail_streams"])
@pytest.mark.parametrize(("key", "missing"), [("race:france", "group"), ("spain", "stream")])
def test_a_tail_of_a_group_needs_the_group(name: str, key: str, missing: str) -> None:
    request = OPERATIONS[name].example_request({"group": "nobody", "consumer": "alice"})
    request = renamed(request, "race:france", key)
    response = ApiClient.with_race().request(request.method, request.path, **request.options)
    problem = assert_problem(response, 404, "NOGROUP")
    assert (problem["key"], problem["missing"]) == (key, missing)


@pytest.mark.parametrize("name", ["xlen", "split_entries", "seek_entries", "export_entries", "xrange"])
def test_a_missing_stream_reads_as_one_that_exists_and_is_empty(name: str) -> None:
    api = ApiClient.with_race()
    request = renamed(OPERATIONS[name].example_request(), "race:france", "spain")
    missing = api.request(request.method, request.path, **request.options)
    api.put("/v1/streams/spain")
    empty = api.request(request.method, request.path, **request.options)
    assert without_incarnation(empty) == without_incarnation(missing)


def without_incarnation(answer: Response) -> bytes:
    """The body of the answer; only a stream that exists has an incarnation."""
    return re.sub(rb',"incarnation":"[^"]*"', b"", answer.content)


def test_a_missing_entry_and_a_missing_consumer_are_named() -> None:
    api = ApiClient.with_race()
    problem = assert_problem(api.get("/v1/streams/race:france/entries/1-0"), 404, "NO_SUCH_ENTRY")
    assert (problem["key"], problem["id"]) == ("race:france", "1-0")
    path = "/v1/streams/race:france/groups/judges/consumers/nobody"
    problem = assert_problem(api.delete(path), 404, "NO_SUCH_CONSUMER")
    assert (problem["key"], problem["group"], problem["consumer"]) == ("race:france", "judges", "nobody")


def test_names_that_are_not_utf8_are_base64_and_marked_so() -> None:
    api = ApiClient.with_race()
    problem = assert_problem(api.get("/v1/streams/%FF"), 404, "NO_SUCH_STREAM")
    assert (problem["key"], problem["encoding"]) == (b64encode(b"\xff").decode(), "base64")
    problem = assert_problem(api.get("/v1/streams/race:france/groups/%FE/pending"), 404, "NOGROUP")
    assert problem["key"] == b64encode(b"race:france").decode()
    assert (problem["group"], problem["encoding"]) == (b64encode(b"\xfe").decode(), "base64")
    problem = assert_problem(api.get("/v1/streams/%FF/entries/1-0"), 404, "NO_SUCH_STREAM")
    assert problem["encoding"] == "base64"


def test_the_command_keeps_the_reply_of_redis() -> None:
    api = ApiClient.with_race()
    for words in (["XACK", "race:france", "nobody", "1-0"], ["XACK", "spain", "nobody", "1-0"]):
        assert api.post("/v1/command", words).json() == {"result": 0}
    words = ["XACKDEL", "spain", "nobody", "KEEPREF", "IDS", "1", "1-0"]
    assert api.post("/v1/command", words).json() == {"result": [-1]}
    problem = assert_problem(api.post("/v1/command", ["XPENDING", "spain", "nobody"]), 404, "NOGROUP")
    assert problem["error"] == "NOGROUP No such key 'spain' or consumer group 'nobody'"
    assert (problem["key"], problem["group"]) == ("spain", "nobody")


@pytest.mark.parametrize("key", ["race:france", "spain"])
def test_acknowledging_with_deletion_needs_the_group_too(key: str) -> None:
    path = f"/v1/streams/{key}/groups/nobody:ack"
    assert_problem(ApiClient.with_race().post(path, {"ids": ["1-0"], "delete": True}), 404, "NOGROUP")
