"""Answers of HTTP/1.1, from the bytes of a connection: the head, and the body as far as it goes.

`http.client` reads heads with the parser for e-mail, which takes longer than all else that a small request
costs the client; and it loses what a server sends beyond an answer. Here that stays in sight: a connection
with something left over must not be used again.

Whatever is not an answer, or ends early, is a `RemoteProtocolError`, never a short answer. Errors of the
socket go up as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import httpx

READ_BYTES: Final = 1 << 16
"""How much is read from a connection at once, at most."""

HEAD_BYTES_MAX: Final = 1 << 16

_END_OF_LINE: Final = b"\r\n"
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")
_DECIMAL: Final = re.compile(rb"[0-9]{1,18}")
_WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})

Headers = list[tuple[bytes, bytes]]


class Head(NamedTuple):
    """`length`: of the body, in bytes; None where it comes in chunks, whose last one ends it. `is_kept`:
    whether the connection can be used again after it. `is_coded`: whether the body is compressed."""

    status: int
    headers: Headers
    length: int | None
    is_kept: bool
    is_coded: bool


class WholeAnswer:
    """An answer that was read to its end: what calls need of `httpx.Response`, for a fraction of its cost."""

    __slots__ = ("_headers", "content", "status_code")

    def __init__(self, status_code: int, headers: Headers, content: bytes) -> None:
        self.status_code = status_code
        self._headers = headers
        self.content = content

    @property
    def is_success(self) -> bool:
        """Whether what was asked for was done."""
        return HTTPStatus.OK <= self.status_code < HTTPStatus.MULTIPLE_CHOICES

    @property
    def headers(self) -> httpx.Headers:
        """By name, in any case."""
        return httpx.Headers(self._headers)

    def json(self) -> Any:
        """What the body says."""
        return json.loads(self.content)


class Incoming:
    """What a connection receives, in order. `receive`: more of it, at most so many bytes; none at the end."""

    __slots__ = ("_at", "_data", "_receive")

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._data = b""
        self._at = 0

    @property
    def is_empty(self) -> bool:
        """Whether all that was received was taken."""
        return self._at == len(self._data)

    def until(self, mark: bytes) -> bytes:
        """What stands before the next `mark`; both are taken."""
        end = self._data.find(mark, self._at)
        while end < 0:
            if len(self._data) - self._at > HEAD_BYTES_MAX:
                raise httpx.RemoteProtocolError(f"more than {HEAD_BYTES_MAX} bytes of an answer's head")
            self._data, self._at = self._data[self._at :] + self._more(), 0
            end = self._data.find(mark)
        taken = self._data[self._at : end]
        self._at = end + len(mark)
        return taken

    def some(self, bytes_max: int) -> bytes:
        """The next bytes, at least one."""
        if self.is_empty:
            self._data, self._at = self._more(), 0
        taken = self._data[self._at : self._at + bytes_max]
        self._at += len(taken)
        return taken

    def _more(self) -> bytes:
        data = self._receive(READ_BYTES)
        if not data:
            raise httpx.RemoteProtocolError("the connection ends before the answer does")
        return data


def read_head(incoming: Incoming, method: str) -> Head:
    """The head of the answer to a request of that method; those that announce another one are passed over."""
    while True:
        first, *lines = incoming.until(_END_OF_LINE * 2).split(_END_OF_LINE)
        found = _STATUS_LINE.fullmatch(first)
        if found is None:
            raise httpx.RemoteProtocolError(f"not an answer of HTTP/1.1: {first[:100]!r}")
        status = int(found[2])
        if status >= HTTPStatus.OK:
            return _head(status, [_header(line) for line in lines], method, is_1_1=found[1] == b"1")


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    if not colon or not name or name != name.strip():
        raise httpx.RemoteProtocolError(f"not a header: {line[:100]!r}")
    return name, value.strip(b" \t")


def _head(status: int, headers: Headers, method: str, *, is_1_1: bool) -> Head:
    lengths: set[bytes] = set()
    is_kept, is_coded, codings = is_1_1, False, b""
    for name, value in headers:
        match name.lower():
            case b"content-length":
                lengths.add(value)
            case b"transfer-encoding":
                codings = value.lower()
            case b"connection":
                is_kept = is_kept and b"close" not in value.lower()
            case b"content-encoding":
                is_coded = True
    length = 0 if method == "HEAD" or status in _WITHOUT_BODY else _length(lengths, codings)
    return Head(status, headers, length, is_kept, is_coded)


def _length(lengths: set[bytes], codings: bytes) -> int | None:
    """How the body ends. An answer that ends with its connection is refused: nothing tells it from a cut."""
    if codings:
        if codings != b"chunked":
            raise httpx.RemoteProtocolError(f"Transfer-Encoding {codings!r} is not understood")
        return None
    if len(lengths) != 1 or not _DECIMAL.fullmatch(length := lengths.pop()):
        raise httpx.RemoteProtocolError("the answer does not say where its body ends")
    return int(length)


def parts_of(incoming: Incoming, length: int | None) -> Iterator[bytes]:
    """The body as it comes, to its end."""
    return _chunked(incoming) if length is None else _measured(incoming, length)


def _measured(incoming: Incoming, length: int) -> Iterator[bytes]:
    while length:
        part = incoming.some(length)
        length -= len(part)
        yield part


def _chunked(incoming: Incoming) -> Iterator[bytes]:
    while size := _chunk_size(incoming.until(_END_OF_LINE)):
        yield from _measured(incoming, size)
        if incoming.until(_END_OF_LINE):
            raise httpx.RemoteProtocolError("a chunk is longer than it says")
    while incoming.until(_END_OF_LINE):
        pass  # trailers


def _chunk_size(line: bytes) -> int:
    found = _CHUNK_SIZE.fullmatch(line)
    if found is None:
        raise httpx.RemoteProtocolError(f"not the size of a chunk: {line[:100]!r}")
    return int(found[1], 16)
