"""Build requests: from the arguments of a generated operation to the bytes of the head. This module sends
nothing.

`httpx.Request` does the same with more features than this interface needs, and takes longer than encoding a
hundred entries. httpx still owns the form of URLs; each URL is parsed once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import httpx

from tailrace_client.json_lines import encode_json

_DOTS: Final = re.compile(r"(?<=/)\.{1,2}(?=/|$)")
"""The segments that httpx removes from a path, one of them together with the segment before it."""


_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
"""These methods send the length of their body even if it is empty."""


class Outgoing(NamedTuple):
    """A request. `parts`: its body in parts; empty if there is none. The parts can be iterated again when the
    request is sent again."""

    method: str
    url: httpx.URL
    headers: Mapping[str, str]
    parts: Iterable[bytes]

    @property
    def head(self) -> bytes:
        """Return everything before the body. Raises `LocalProtocolError`."""
        lines = [f"{name}: {value}".encode("ascii") for name, value in self.headers.items()]
        return head_of(self.method, self.url, [b"Host: " + self.url.netloc, *lines])


def outgoing(base_url: str, headers: Mapping[str, str], request: Mapping[str, Any]) -> Outgoing:
    """Return the request that the arguments of a generated operation describe. `headers`: the headers of
    every request."""
    url = _url(base_url, request["url"])
    if params := request.get("params"):
        url = url.copy_merge_params(params)
    method = request["method"].upper()
    parts, length = _body_of(request)
    own: dict[str, str] = dict(request.get("headers", {}))
    if length or method in _WITH_BODY:
        own["Content-Length"] = str(length)
    return Outgoing(method, url, {**headers, **own}, parts)


def exact_path(path: str) -> str:
    """Return the path of a generated operation so that httpx sends it as it is. `.` and `..` can be names of
    streams, groups and consumers; without this, the path would name another resource."""
    segments, mark, query = path.partition("?")
    return _DOTS.sub(lambda dots: "%2E" * len(dots[0]), segments) + mark + query


@lru_cache(maxsize=256)
def _url(base_url: str, path: str) -> httpx.URL:
    """Return a parsed URL. The cache pays because a program uses the same few again and again."""
    return httpx.URL(base_url + exact_path(path))


def _body_of(request: Mapping[str, Any]) -> tuple[Iterable[bytes], int]:
    content = encode_json(request["json"]) if "json" in request else request.get("content")
    if not content:
        return (), 0
    return (content,) if isinstance(content, bytes) else content, len(content)


def head_of(method: str, url: httpx.URL, headers: Sequence[bytes]) -> bytes:
    """Return the request line, the headers and the empty line after them."""
    head = b"\r\n".join([b"%b %b HTTP/1.1" % (method.encode("ascii"), url.raw_path), *headers, b"", b""])
    if head.count(b"\n") != len(headers) + 2 or head.count(b"\r") != len(headers) + 2:
        raise httpx.LocalProtocolError("a header contains a line break")
    return head
