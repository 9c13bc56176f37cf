"""Gives every request an id: the client's, if it sends a valid one, otherwise a new one.

It owns the header `X-Request-Id`, and stores the id in the scope for problems and logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from secrets import token_hex
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID_HEADER: Final = "X-Request-Id"

# A random prefix and a counter: asking the system for randomness at every request costs more than an append.
_PROCESS: Final = token_hex(8)
_LAST_DIGITS: Final = tuple(f"{number:03x}" for number in range(16**3))

_HEADER_BYTES: Final = REQUEST_ID_HEADER.lower().encode()
_USABLE: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
"""Ids that can be written to logs and headers without escaping. Any other id is replaced by a new one."""


class RequestId:
    """ASGI middleware that stores the id in the scope's state and adds it to every response."""

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
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        await self._app(scope, receive, send_named)


def request_id_of_header(headers: Sequence[tuple[bytes, bytes]]) -> str:
    """Return the id of a request with these raw headers, whose names are in lower case."""
    given = next((value for name, value in headers if name == _HEADER_BYTES), b"")
    return _request_id(given.decode("latin-1"))


def _new_ids() -> Iterator[str]:
    """Yield ids of 32 hexadecimal digits. The first digits are formatted once for every 4 096 ids."""
    for number in count():
        begin = f"{_PROCESS}{number:013x}"
        for last_digits in _LAST_DIGITS:
            yield begin + last_digits


_ids: Final = _new_ids()


def new_request_id() -> str:
    """Return a new id, for a request without a valid one or without readable headers."""
    return next(_ids)


def _request_id(given: str) -> str:
    return given if _USABLE.fullmatch(given) else new_request_id()
