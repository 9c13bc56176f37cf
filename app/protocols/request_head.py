"""The head of a request as the parser gives it, and as bytes again."""

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
        """The head as it could have been sent."""
        lines = b"".join(b"%b: %b\r\n" % header for header in self.headers)
        return b"%b %b HTTP/%b\r\n%b\r\n" % (self.method, self.target, self.version.encode(), lines)
