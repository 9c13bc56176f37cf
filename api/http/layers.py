"""What every request passes before its route: its raw path, its id, HEAD as GET, and the limit of its body.

Each is a layer of ASGI of a few lines, or a function that one uses. None of them knows an operation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from secrets import token_hex
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.problems.table import (
    NO_STORE,
    HttpCode,
    RequestRefused,
    problem,
    problem_response,
    request_id_of,
)


class RawPath:
    """ASGI middleware that gives routes the undecoded path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Replace the decoded path in the scope."""
        if scope["type"] in {"http", "websocket"}:
            scope["path"] = raw_path_of(scope)
        await self._app(scope, receive, send)


def raw_path_of(scope: Scope) -> str:
    """Return the path as it was sent, one character for each byte. If the server does not provide it, the
    decoded path is quoted again."""
    raw: bytes | None = scope.get("raw_path")
    if raw is None:
        return quote(scope["path"], safe="/:")
    return raw.partition(b"?")[0].decode("latin-1")


REQUEST_ID_HEADER: Final = "X-Request-Id"

# A random prefix and a counter: asking the system for randomness at every request costs more than an append.
_PROCESS: Final = token_hex(8)
_LAST_DIGITS: Final = tuple(f"{number:03x}" for number in range(16**3))

_CACHING: Final = next(iter(NO_STORE.items()))
_HEADER_BYTES: Final = REQUEST_ID_HEADER.lower().encode()
_USABLE: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
"""Ids that can be written to logs and headers without escaping. Any other id is replaced by a new one."""


class RequestId:
    """ASGI middleware that stores the id in the scope's state, and adds to every response the headers that
    all have."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Assign the id of the request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope).get(REQUEST_ID_HEADER, ""))
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = request_id
                headers.setdefault(*_CACHING)
            await send(message)

        await self._app(scope, receive, send_named)


def request_id_of_header(headers: Mapping[bytes, bytes]) -> str:
    """Return the id of a request with these headers, whose names are in lower case."""
    given = headers.get(_HEADER_BYTES)
    return new_request_id() if given is None else _request_id(given.decode("latin-1"))


def _new_ids() -> Iterator[Iterator[str]]:
    """Yield ids of 32 hexadecimal digits, 4 096 at a time, whose first digits are formatted once."""
    for number in count():
        yield map(f"{_PROCESS}{number:013x}".__add__, _LAST_DIGITS)


new_request_id: Final = chain.from_iterable(_new_ids()).__next__
"""Returns a new id, for a request without a valid one or without readable headers. Calls no Python code,
except once for every 4 096 ids."""


def _request_id(given: str) -> str:
    return given if _USABLE.fullmatch(given) else new_request_id()


_STATE: Final = "is_head"
_ROUTING: Final = ("route", "endpoint", "path_params")
"""Members that the router adds to a scope, and that outer layers read."""


def is_head(request: Request) -> bool:
    """Return whether the request is a HEAD; then a handler must not wait or take entries."""
    return bool(request.scope["state"].get(_STATE))


class _Answered(Exception):
    """The head of the response is sent, so the rest of the work can stop."""


class HeadAsGet:
    """ASGI middleware, inside of the layers that provide the raw path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run HEAD as GET; pass other requests on."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or _has_own_route(scope):
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})[_STATE] = True

        async def send_head(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                raise _Answered

        # The inner scope is a copy, because the server reads the method of its own scope to decide about a
        # body.
        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, send_head)
        except _Answered:
            pass
        finally:
            scope.update({name: inner[name] for name in _ROUTING if name in inner})


def _has_own_route(scope: Scope) -> bool:
    """Return whether a route on this path is declared for HEAD. O(routes)."""
    routes: Sequence[Route] = scope["app"].state.routes
    return any("HEAD" in (route.methods or ()) and route.path_regex.match(scope["path"]) for route in routes)


class BodyLimit:
    """ASGI middleware that accepts bodies of at most `bytes_max` bytes."""

    def __init__(self, app: ASGIApp, bytes_max: int) -> None:
        self._app = app
        self._bytes_max = bytes_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413 if the declared length is too large; otherwise count the bytes as they arrive."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared_length(scope) > self._bytes_max:
            content = problem(HttpCode.BODY_TOO_LARGE, self._detail(), request_id_of(scope))
            await problem_response(content, {"Connection": "close"})(scope, receive, send)
            return
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._bytes_max:
                raise RequestRefused(HttpCode.BODY_TOO_LARGE, self._detail())
            return message

        await self._app(scope, receive_counted, send)

    def _detail(self) -> str:
        return f"the body is too large; at most {self._bytes_max} bytes are allowed"


def _declared_length(scope: Scope) -> int:
    text = Headers(scope=scope).get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() else 0
