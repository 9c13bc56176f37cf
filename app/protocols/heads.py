"""Heads of requests and of hot answers, and the reader of plain heads, which needs no parser.

A head is plain if it is whole in one read, and consists of a request line and header lines in the form that
every HTTP client writes. The HTTP parser reads all other heads, so this module refuses none: it leaves them.
It never decides what a header means (`api.operations.headers`).

Rules that must hold:

* A plain head means what the parser finds in it. So its characters are visible ASCII, with single spaces and
  tabs inside of values only, and each line ends with CR and LF. Nothing here repairs a line.
* The length of the body is one `Content-Length` of digits. A head with `Transfer-Encoding`, `Expect` or
  `Upgrade` is never plain.

A client repeats its headers, apart from a few lines whose values vary. The server remembers what the other
lines say together, so that it reads these only once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tailrace.api.operations.headers import VARYING, HotClients, HotHeaders, used_headers, with_varying
from tailrace.api.operations.requests import HotRoute, hot_route
from tailrace.api.problems.table import NO_STORE
from tailrace.core.limits import HEADERS_MAX

Headers = Sequence[tuple[bytes, bytes]]

PLAIN_HEAD_BYTES_MAX: Final = 16_384
"""A longer head goes to the parser. Browsers and proxies send less than half of this."""

BLOCKS_MAX: Final = 1_024
BLOCK_BYTES_MAX: Final = 2_048
"""The blocks of headers that a server remembers, and the longest of them. At this number it forgets all."""

_END: Final = b"\r\n\r\n"
_VALUE: Final = rb"(?:[!-~](?:[\t -~]*[!-~])?)?"
_HEADER: Final = rb"\r\n([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?(" + _VALUE + rb")"
_BLOCK: Final = re.compile(rb"(?:" + _HEADER + rb")*")
_HEADERS: Final = re.compile(_HEADER)
_VARYING: Final = re.compile(
    rb"\r\n((?i:" + b"|".join(sorted(VARYING)) + rb")): ?(" + _VALUE + rb")(?=\r\n|\Z)"
)


class RequestHead(NamedTuple):
    """A parsed head. `target`: in origin form, a path with its query. `version`: `1.0` or `1.1`.

    `headers`: in their order, names in lower case. `keep_alive`: the client may send another request.
    """

    method: bytes
    target: bytes
    version: str
    headers: Headers
    keep_alive: bool

    @classmethod
    def of_plain(cls, raw: bytes) -> RequestHead:
        """Return the head with these bytes, which are plain (`PlainHeads`). O(head)."""
        first, *lines = raw.removesuffix(b"\r\n\r\n").split(b"\r\n")
        method, target, _ = first.split(b" ")
        pairs = (line.partition(b":") for line in lines)
        headers = [(name.lower(), value.strip(b" ")) for name, _, value in pairs]
        return cls(method, target, "1.1", headers, keep_alive=True)

    @property
    def line(self) -> bytes:
        """The request line."""
        return b"%b %b HTTP/%b" % (self.method, self.target, self.version.encode())

    def to_bytes(self) -> bytes:
        """Return the head as bytes of HTTP."""
        lines = b"".join(b"%b: %b\r\n" % header for header in self.headers)
        return b"%b\r\n%b\r\n" % (self.line, lines)


class PlainHead(Struct, frozen=True, gc=False):
    """A head as bytes, and what it says. `head_size`: the length of `raw`. `size`: the bytes of the whole
    request, with its body."""

    raw: bytes
    head_size: int
    size: int
    route: HotRoute
    headers: HotHeaders


class PlainHeads:
    """The reader of plain heads of one server. `clients` finds out what their headers mean."""

    def __init__(self, clients: HotClients) -> None:
        self._clients = clients
        self._blocks: dict[bytes, HotHeaders] = {}

    def find(self, data: bytes, start: int) -> PlainHead | None:
        """Return the head at `start` of `data`; None if it is not plain, or not that of a hot request.
        O(head)."""
        end = data.find(_END, start, start + PLAIN_HEAD_BYTES_MAX)
        if end < 0:
            return None
        line_end = data.find(b"\r\n", start)
        block = data[line_end:end]
        headers = self._blocks.get(block) or self._headers(block)
        if headers is None:
            return None
        route = hot_route(data[start:line_end], headers)
        if route is None:
            return None
        end += len(_END)
        head_size = end - start
        return PlainHead(data[start:end], head_size, head_size + (headers.length or 0), route, headers)

    def _headers(self, block: bytes) -> HotHeaders | None:
        """Return what the headers of a block say; None if one of them is for the parser or the documented
        route."""
        parts = _VARYING.split(block)
        if len(parts) == 1:
            return self._read(block)
        stable = b"".join(parts[::3])
        headers = self._blocks.get(stable) or self._read(stable)
        if headers is None:
            return None
        used = {**headers.used}
        for index in range(1, len(parts), 3):
            used[parts[index].lower()] = parts[index + 1]
        if len(used) < len(headers.used) + len(parts) // 3:
            return None  # a header is given twice
        return with_varying(headers, used)

    def _read(self, block: bytes) -> HotHeaders | None:
        """Do the same for a block without headers that vary, and remember it."""
        if _BLOCK.fullmatch(block) is None or block.count(b"\r\n") > HEADERS_MAX:
            return None
        used = used_headers((name.lower(), value) for name, value in _HEADERS.findall(block))
        headers = None if used is None else self._clients.read(used)
        if headers is not None and len(block) <= BLOCK_BYTES_MAX:
            if len(self._blocks) >= BLOCKS_MAX:
                self._blocks.clear()
            self._blocks[block] = headers
        return headers


# --- heads of answers ------------------------------------------------------------------------------

NO_STORE_LINES: Final = [(name.lower().encode(), value.encode()) for name, value in NO_STORE.items()]
"""`Cache-Control`, as the connection writes it."""


def answer_head(start: str, size: int, media_type: str, request_id: str, lines: str = "") -> str:
    """Return the head of an answer. `start`: from `AnswerStarts`; `size`: the bytes of its body; `lines`:
    further headers."""
    return (
        f"{start}content-length: {size}\r\ncontent-type: {media_type}\r\n"
        f"x-request-id: {request_id}\r\n{lines}\r\n"
    )


class AnswerStarts:
    """The first lines of answers, by status: status line and default headers, which uvicorn renews."""

    def __init__(self) -> None:
        self._headers: Headers | None = None
        self._starts: dict[int, str] = {}

    def of(self, status: int, headers: Headers) -> str:
        """Return the lines before the headers of a single answer."""
        if headers is not self._headers:
            self._headers = headers
            self._starts.clear()
        start = self._starts.get(status)
        if start is None:
            lines = b"".join(b"%b: %b\r\n" % header for header in (*headers, *NO_STORE_LINES))
            start = self._starts[status] = (STATUS_LINE[status] + lines).decode()
        return start
