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

    def to_bytes(self) -> bytes:
        """Return the head as bytes of HTTP."""
        lines = b"".join(b"%b: %b\r\n" % header for header in self.headers)
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), lines)
