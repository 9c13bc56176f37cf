"""Gives every request an id: the client's, if it sends a valid one, otherwise a new one.

It owns the headers that every response has: `X-Request-Id`, and `Cache-Control` unless the response has its
own. It stores the id in the scope for problems and logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, count
from secrets import token_hex
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.problems.table import NO_STORE

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
