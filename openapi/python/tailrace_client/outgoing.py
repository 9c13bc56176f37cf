"""Requests as they are sent: from what a generated operation says to the bytes of a head. Sends nothing.

`httpx.Request` says the same, with more than this interface needs, and takes longer than encoding a hundred
entries. How an address is written stays httpx's affair; each is worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import httpx

from tailrace_client.json_lines import encode_json

_url: Final = lru_cache(maxsize=256)(httpx.URL)
"""Addresses of operations, read once: a program uses the same few over and over."""


_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
"""They say how long their body is, even where it is empty."""


class Outgoing(NamedTuple):
    """A request. `parts`: its body, in order, nothing where it has none; they can be iterated again where it
    is sent again."""

    method: str
    url: httpx.URL
    headers: Mapping[str, str]
    parts: Iterable[bytes]

    @property
    def head(self) -> bytes:
        """All up to the body. Raises `LocalProtocolError`."""
        lines = [f"{name}: {value}".encode("ascii") for name, value in self.headers.items()]
        return head_of(self.method, self.url, [b"Host: " + self.url.netloc, *lines])


def outgoing(base_url: str, headers: Mapping[str, str], request: Mapping[str, Any]) -> Outgoing:
    """The request that a generated operation's arguments describe. `headers`: of every request."""
    url = _url(base_url + request["url"])
    if params := request.get("params"):
        url = url.copy_merge_params(params)
    method = request["method"].upper()
    parts, length = _body_of(request)
    own: dict[str, str] = dict(request.get("headers", {}))
    if length or method in _WITH_BODY:
        own["Content-Length"] = str(length)
    return Outgoing(method, url, {**headers, **own}, parts)


def _body_of(request: Mapping[str, Any]) -> tuple[Iterable[bytes], int]:
    content = encode_json(request["json"]) if "json" in request else request.get("content")
    if not content:
        return (), 0
    return (content,) if isinstance(content, bytes) else content, len(content)


def head_of(method: str, url: httpx.URL, headers: Sequence[bytes]) -> bytes:
    """Request line and headers, and the empty line behind them."""
    head = b"\r\n".join([b"%b %b HTTP/1.1" % (method.encode("ascii"), url.raw_path), *headers, b"", b""])
    if head.count(b"\n") != len(headers) + 2 or head.count(b"\r") != len(headers) + 2:
        raise httpx.LocalProtocolError("a header holds the end of a line")
    return head
