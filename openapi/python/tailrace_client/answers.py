"""Read HTTP/1.1 responses from the bytes of a connection: the head, and then the body.

`http.client` parses heads with the parser for e-mail, which takes more time than everything else that a small
request costs the client. It also loses bytes that a server sends after a response. This module keeps those
bytes visible, because a connection with unread bytes must not be used again.

Input that is not a complete, valid response raises `RemoteProtocolError`; a body is never returned short.
Errors of the socket pass through unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import httpx

READ_BYTES: Final = 1 << 16
"""The most bytes that one read from a connection returns."""

HEAD_BYTES_MAX: Final = 1 << 16

_END_OF_LINE: Final = b"\r\n"
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")
_DECIMAL: Final = re.compile(rb"[0-9]{1,18}")
_WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})

Headers = list[tuple[bytes, bytes]]


class Head(NamedTuple):
    """The head of a response.

    `length`: the size of the body in bytes; None if the body is sent in chunks, whose last chunk ends it.
    `is_kept`: whether the connection can be used again after the response. `is_coded`: whether the body is
    compressed.
    """

    status: int
    headers: Headers
    length: int | None
    is_kept: bool
    is_coded: bool


class WholeAnswer:
    """A response that was read completely. It has the members of `httpx.Response` that calls need, at a
    fraction of the cost."""

    __slots__ = ("_headers", "content", "status_code")

    def __init__(self, status_code: int, headers: Headers, content: bytes) -> None:
        self.status_code = status_code
        self._headers = headers
        self.content = content

    @property
    def is_success(self) -> bool:
        """Return whether the request succeeded."""
        return HTTPStatus.OK <= self.status_code < HTTPStatus.MULTIPLE_CHOICES

    @property
    def headers(self) -> httpx.Headers:
        """Return the headers by name, in any case."""
        return httpx.Headers(self._headers)

    def json(self) -> Any:
        """Return the body, parsed as JSON."""
        return json.loads(self.content)


class Incoming:
    """The bytes that a connection receives, in order. `receive(n)` returns at most n more bytes, and none at
    the end of the connection."""

    __slots__ = ("_at", "_data", "_receive")

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._data = b""
        self._at = 0

    @property
    def is_empty(self) -> bool:
        """Return whether all received bytes are read."""
        return self._at == len(self._data)

    def until(self, mark: bytes) -> bytes:
        """Return the bytes before the next `mark`, and remove both."""
        end = self._data.find(mark, self._at)
        while end < 0:
            if len(self._data) - self._at > HEAD_BYTES_MAX:
                raise httpx.RemoteProtocolError(f"the head of the response exceeds {HEAD_BYTES_MAX} bytes")
            self._data, self._at = self._data[self._at :] + self._more(), 0
            end = self._data.find(mark)
        taken = self._data[self._at : end]
        self._at = end + len(mark)
        return taken

    def some(self, bytes_max: int) -> bytes:
        """Return the next bytes, at least one and at most `bytes_max`."""
        if self.is_empty:
            self._data, self._at = self._more(), 0
        taken = self._data[self._at : self._at + bytes_max]
        self._at += len(taken)
        return taken

    def _more(self) -> bytes:
        data = self._receive(READ_BYTES)
        if not data:
            raise httpx.RemoteProtocolError("the connection was closed before the response was complete")
        return data


def read_head(incoming: Incoming, method: str) -> Head:
    """Return the head of the final response to a request with this method. Interim responses (1xx) are
    skipped."""
    while True:
        first, *lines = incoming.until(_END_OF_LINE * 2).split(_END_OF_LINE)
        found = _STATUS_LINE.fullmatch(first)
        if found is None:
            raise httpx.RemoteProtocolError(f"not an HTTP/1.1 response: {first[:100]!r}")
        status = int(found[2])
        if status >= HTTPStatus.OK:
            return _head(status, [_header(line) for line in lines], method, is_1_1=found[1] == b"1")


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    if not colon or not name or name != name.strip():
        raise httpx.RemoteProtocolError(f"invalid header: {line[:100]!r}")
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
    """Return the length of the body; None for chunks. A body that only the end of the connection ends is
    refused, because it cannot be distinguished from a body that was cut off."""
    if codings:
        if codings != b"chunked":
            raise httpx.RemoteProtocolError(f"Transfer-Encoding {codings!r} is not supported")
        return None
    if len(lengths) != 1 or not _DECIMAL.fullmatch(length := lengths.pop()):
        raise httpx.RemoteProtocolError("the response has neither one valid Content-Length nor chunks")
    return int(length)


def parts_of(incoming: Incoming, length: int | None) -> Iterator[bytes]:
    """Yield the body in parts, as they arrive, to its end."""
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
            raise httpx.RemoteProtocolError("a chunk is longer than its size")
    while incoming.until(_END_OF_LINE):
        pass  # Trailers are ignored.


def _chunk_size(line: bytes) -> int:
    found = _CHUNK_SIZE.fullmatch(line)
    if found is None:
        raise httpx.RemoteProtocolError(f"invalid chunk size: {line[:100]!r}")
    return int(found[1], 16)
