"""A cache of parsed heads: the server parses the same bytes only once.

A client that appends sends the same head again and again, and parsing a head costs more than an append. If a
hot request arrives whole in one read, the cache stores the bytes of its head with the parsed head. If a later
read consists of exactly these bytes and a body of the same length, the request goes to the store without the
parser. The parser is between two requests then, and does not see this one.

A head with an idempotency key is different each time, and so the cache stores its template
(`head_templates`).

The cache stores no permission: the server authenticates every request. All other reads go to the parser:
a part of a request, several requests at once, and a head with an id or a query of its own. The cache does not
store such a head, because it is different each time.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tailrace.api.hot.requests import HotRoute
from tailrace.app.protocols.credentials import Credentials
from tailrace.app.protocols.head_templates import HeadTemplates
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.request_head import RequestHead

CACHED_HEADS_MAX: Final = 1024
"""The limit of one server, for heads and for templates. There is one head for each stream and length of body.
A full cache is emptied."""

CACHED_HEAD_BYTES_MAX: Final = 1024
CACHED_REQUEST_BYTES_MAX: Final = 256_000
"""No read of uvloop has more bytes, so a larger request never arrives in one."""

_END: Final = b"\r\n\r\n"
_ONCE: Final = b"x-request-id"
"""A header whose value differs with each request."""

_KEY: Final = b"idempotency-key"

_FRAMED: Final = frozenset({b"transfer-encoding", b"expect"})
"""Headers after which the body is encoded, or arrives only later."""


class CachedHead(Struct, frozen=True):
    """A head as bytes and parsed. `head_size`: the length of `raw`. `size`: the bytes of the whole request,
    with its body."""

    raw: bytes
    head_size: int
    size: int
    head: RequestHead
    route: HotRoute
    credentials: Credentials


class CachedHeads:
    """The cached heads of one server, by their bytes."""

    def __init__(self) -> None:
        self._heads: dict[bytes, CachedHead] = {}
        self._templates = HeadTemplates(CACHED_HEADS_MAX)

    def find(self, data: bytes, start: int) -> CachedHead | None:
        """Return the head at `start` of `data`, None if it is not cached. O(head)."""
        raw = _raw_head_of(data, start)
        cached = self._heads.get(raw)
        if cached is not None:
            return cached
        filled = self._templates.find(raw)
        if filled is None or (size := len(raw) + filled.length) > CACHED_REQUEST_BYTES_MAX:
            return None
        return CachedHead(raw, len(raw), size, filled.head, filled.route, filled.credentials)

    def keep(self, data: bytes, request: HotRequest) -> None:
        """Store the head of `request`, the first one in `data`, if `data` begins with the whole request."""
        raw = _raw_head_of(data, 0)
        if not raw.startswith(b"%b %b " % (request.head.method, request.head.target)):
            return  # blank lines come before the head, or the target is a whole URL
        size = len(raw) + len(request.body)
        names = {name for name, _ in request.head.headers}
        if not raw or size > min(len(data), CACHED_REQUEST_BYTES_MAX) or _ONCE in names:
            return
        if not names.isdisjoint(_FRAMED) or data[len(raw) : size] != request.body:
            return
        if b"?" in request.head.target or not request.route.operation.is_repeated:
            return
        if _KEY in names:
            self._templates.keep(raw, request)
            return
        if len(self._heads) >= CACHED_HEADS_MAX:
            self._heads.clear()
        self._heads[raw] = CachedHead(raw, len(raw), size, request.head, request.route, request.credentials)


def _raw_head_of(data: bytes, start: int) -> bytes:
    """Return the bytes from `start` to the body, or nothing if the head is incomplete or too long."""
    end = data.find(_END, start, start + CACHED_HEAD_BYTES_MAX)
    return data[start : end + len(_END)] if end >= 0 else b""
