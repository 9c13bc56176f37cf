"""An export that goes on after a cut: from chunks of bytes to blocks of whole lines, and where to resume.
Sends nothing.

A cut comes in the middle of a line. What was received up to the last whole line has been handed on, so the
next request begins after the id on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from tailrace_client import stream_calls

LineShape = Literal["entry", "pairs", "fields"]

BLOCK_BYTES: Final = 1 << 18
"""A block is at least so large, unless it is the last: the cost of a block then does not show."""


class Export:
    """One export. `request` is the next one to send; `take` and `end` give blocks of whole lines."""

    def __init__(self, key: str, start: str, end: str, shape: LineShape) -> None:
        self._key = key
        self._start = start
        self._end = end
        self._shape: LineShape = shape
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._last_line = b""

    @property
    def request(self) -> Mapping[str, Any]:
        """What asks for the lines that are still to come. What was received of a line is forgotten: it comes
        again."""
        self._keep(b"")
        if self._last_line:
            self._start = f"({json.loads(self._last_line)['id']}"
            self._last_line = b""
        return stream_calls.export(self._key, self._start, self._end, self._shape)

    @property
    def can_resume(self) -> bool:
        """Whether lines tell where they are, or none has been handed on."""
        return self._shape != "fields" or not self._last_line

    def take(self, chunk: bytes) -> bytes:
        """Bytes that were received; a block, or nothing yet."""
        self._rest.append(chunk)
        self._rest_bytes += len(chunk)
        return b"" if self._rest_bytes < BLOCK_BYTES else self.end()

    def end(self) -> bytes:
        """All whole lines that were received and not handed on."""
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
