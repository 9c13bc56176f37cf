"""The head of a request, parsed and as bytes. This module never parses or checks a head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Headers = Sequence[tuple[bytes, bytes]]


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
        """Return the head with these bytes, which are plain (`plain_heads`). O(head)."""
        first, *lines = raw.removesuffix(b"\r\n\r\n").split(b"\r\n")
        method, target, _ = first.split(b" ")
        pairs = (line.partition(b":") for line in lines)
        headers = [(name.lower(), value.strip(b" ")) for name, _, value in pairs]
        return cls(method, target, "1.1", headers, keep_alive=True)

    def to_bytes(self) -> bytes:
        """Return the head as bytes of HTTP."""
        lines = b"".join(b"%b: %b\r\n" % header for header in self.headers)
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), lines)
