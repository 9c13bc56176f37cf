"""Heads of requests and of hot answers, and the reader of plain heads, which needs no parser.

A head is plain if it is whole in one read, and consists of a request line and header lines in the form that
every HTTP client writes. The HTTP parser reads all other heads, so this module refuses none: it leaves them.
It never decides what a header means (`api.operations.headers`).

Rules that must hold:

* A plain head means what the parser finds in it. So its characters are visible ASCII, with single spaces and
  tabs inside of values only, and each line ends with CR and LF. Nothing here repairs a line.
* The length of the body is one `Content-Length` of digits. A head with `Transfer-Encoding`, `Expect` or
  `Upgrade` is never plain.

A client repeats most lines of its heads. The server remembers what a line says, so that it reads only new
lines. Most bytes of a browser's head are lines that say nothing to the server.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tailrace.api.operations.headers import ELSEWHERE, USED, VARYING, HotClient, HotClients, UsedHeaders
from tailrace.api.operations.requests import HotRoute, hot_route
from tailrace.api.problems.table import NO_STORE
from tailrace.core.limits import HEADERS_MAX

Headers = Sequence[tuple[bytes, bytes]]

PLAIN_HEAD_BYTES_MAX: Final = 16_384
"""A longer head goes to the parser. Browsers and proxies send less than half of this."""

LINES_MAX: Final = 4_096
LINE_BYTES_MAX: Final = 512
"""The lines that a server remembers, and the longest of them. At this number it forgets all."""

_END: Final = b"\r\n\r\n"
_REQUEST_LINE: Final = re.compile(rb"(GET|POST) (/[!\"$-~]*) HTTP/1\.1")
_LINE: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?((?:[!-~](?:[\t -~]*[!-~])?)?)")
_LENGTH: Final = re.compile(rb"[0-9]{1,9}")

_NO_HEADER: Final = (b"", b"")
"""What a line says that means nothing."""


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

    def to_bytes(self) -> bytes:
        """Return the head as bytes of HTTP."""
        lines = b"".join(b"%b: %b\r\n" % header for header in self.headers)
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), lines)


class PlainHead(Struct, frozen=True):
    """A head as bytes, and what it says. `head_size`: the length of `raw`. `size`: the bytes of the whole
    request, with its body."""

    raw: bytes
    head_size: int
    size: int
    route: HotRoute
    client: HotClient
    headers: UsedHeaders


class PlainHeads:
    """The reader of plain heads of one server. `clients` finds out what their headers mean."""

    def __init__(self, clients: HotClients) -> None:
        self._clients = clients
        self._lines: dict[bytes, tuple[bytes, bytes]] = {}

    def find(self, data: bytes, start: int) -> PlainHead | None:
        """Return the head at `start` of `data`; None if it is not plain, or not that of a hot request.
        O(head)."""
        end = data.find(_END, start, start + PLAIN_HEAD_BYTES_MAX)
        if end < 0:
            return None
        lines = data[start:end].split(b"\r\n")
        found = _REQUEST_LINE.fullmatch(lines[0])
        if found is None or len(lines) > HEADERS_MAX:
            return None
        lines[0] = b""
        headers = self._headers(lines)
        client = None if headers is None else self._clients.of(headers)
        if headers is None or client is None:
            return None
        route = hot_route(found[1], found[2], headers, client)
        if route is None:
            return None
        length = headers.get(b"content-length", b"0")
        head_size = end - start + len(_END)
        return PlainHead(
            data[start : start + head_size], head_size, head_size + int(length), route, client, headers
        )

    def _headers(self, lines: list[bytes]) -> UsedHeaders | None:
        """Return what the lines say; None if one of them is for the parser or the documented route."""
        found: dict[bytes, bytes] = {}
        known = self._lines
        for line in lines:
            said = known.get(line)
            if said is None:
                said = self._read(line)
                if said is None:
                    return None
            name, value = said
            if name:
                if name in found:
                    return None
                found[name] = value
        return found

    def _read(self, line: bytes) -> tuple[bytes, bytes] | None:
        """Return what a line says; None if only the parser can tell, or if a request with it is not hot."""
        if not line:
            said = _NO_HEADER
        else:
            found = _LINE.fullmatch(line)
            if found is None:
                return None
            name = found[1].lower()
            if name in ELSEWHERE:
                return None
            said = (name, found[2]) if name in USED else _NO_HEADER
            if name == b"content-length" and _LENGTH.fullmatch(found[2]) is None:
                return None
            if name in VARYING and name != b"content-length":
                return said  # another value comes with the next request
        if len(line) <= LINE_BYTES_MAX:
            if len(self._lines) >= LINES_MAX:
                self._lines.clear()
            self._lines[line] = said
        return said


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
