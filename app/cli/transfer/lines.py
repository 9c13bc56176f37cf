"""Reads the lines of a file and tracks the exact position: bytes, lines, and a digest of these bytes.

It owns that position. `ndjson_rows` and `csv_rows` interpret the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from typing import Final

import msgspec

from tailrace.app.cli.transfer.files import READ_BYTES, UNREADABLE, BadFile, Source, unreadable

DIGEST_BYTES: Final = 16


class Position(msgspec.Struct, frozen=True):
    """A position in a file: `offset` in bytes after decompression, `lines`, and the digest of these bytes."""

    offset: int
    lines: int
    digest: str


class Lines:
    """The lines of `source` with their line ends."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._digest = blake2b(digest_size=DIGEST_BYTES)
        self._offset = 0
        self.taken = 0
        """How many lines were read; the number of the last line, counted from 1."""

    @property
    def name(self) -> str:
        """Return the name of the file for messages."""
        return self._source.name

    @property
    def position(self) -> Position:
        """Return the position after the last line that was read."""
        return Position(self._offset, self.taken, self._digest.hexdigest())

    def take(self, most: int) -> list[bytes]:
        """Read the next lines, at most `most`; empty at the end. Raises `BadFile`. O(bytes)."""
        try:
            lines = list(islice(self._source.content, most))
        except UNREADABLE as error:
            raise unreadable(self.name, error) from None
        joined = b"".join(lines)
        self._digest.update(joined)
        self._offset += len(joined)
        self.taken += len(lines)
        return lines

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines; each counts as read when it is yielded."""
        while lines := self.take(1):
            yield lines[0]

    def skip_to(self, position: Position) -> None:
        """Continue at `position`. Raises `BadFile` if the bytes before it have changed. O(bytes)."""
        while self._offset < position.offset:
            try:
                content = self._source.content.read(min(READ_BYTES, position.offset - self._offset))
            except UNREADABLE as error:
                raise unreadable(self.name, error) from None
            if not content:
                break
            self._digest.update(content)
            self._offset += len(content)
        self.taken = position.lines
        if self.position != position:
            raise BadFile(
                f"{self.name} does not begin with the {position.lines} lines that were imported before: "
                "it is another file, or these lines were changed"
            )
