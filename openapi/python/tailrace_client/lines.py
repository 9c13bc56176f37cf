"""An export that resumes after a broken connection: it turns chunks of bytes into blocks of complete lines.

A connection can break in the middle of a line. All complete lines before that point are already returned, so
the next request begins after the id on the last of them. This module sends nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from tailrace_client import entry_calls

LineShape = Literal["entry", "pairs", "fields"]

BLOCK_BYTES: Final = 1 << 18
"""The least size of a block, except the last one. At this size the cost of each block is negligible."""


class Export:
    """One export. `request` is the next request to send; `take` and `end` return blocks of complete lines."""

    def __init__(
        self,
        key: str,
        start: str,
        end: str,
        shape: LineShape,
        fields: Sequence[str] | None = None,
        condition: str | None = None,
    ) -> None:
        self._key = key
        self._start = start
        self._end = end
        self._shape: LineShape = shape
        self._fields = fields
        self._condition = condition
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._last_line = b""

    @property
    def request(self) -> Mapping[str, Any]:
        """Return the request for the lines that are still missing. Discards an incomplete line, because the
        server sends it again."""
        self._keep(b"")
        if self._last_line:
            self._start = f"({json.loads(self._last_line)['id']}"
            self._last_line = b""
        return self._request(self._start)

    def _request(self, start: str) -> Mapping[str, Any]:
        """Return the request for the lines from `start` on."""
        return entry_calls.export(self._key, start, self._end, self._shape, self._fields, self._condition)

    @property
    def can_resume(self) -> bool:
        """Return whether the export can resume: its lines contain ids, or no line was returned yet."""
        return self._shape != "fields" or not self._last_line

    def take(self, chunk: bytes) -> bytes:
        """Add received bytes. Return a block, or nothing if it is not large enough yet."""
        self._rest.append(chunk)
        self._rest_bytes += len(chunk)
        return b"" if self._rest_bytes < BLOCK_BYTES else self.end()

    def end(self) -> bytes:
        """Return all complete lines that were received and not returned yet."""
        received = b"".join(self._rest)
        cut = received.rfind(b"\n") + 1
        self._keep(received[cut:])
        block = received[:cut]
        if block:
            self._last_line = block[block.rfind(b"\n", 0, -1) + 1 :]
        return block

    def _keep(self, rest: bytes) -> None:
        self._rest = [rest]
        self._rest_bytes = len(rest)
