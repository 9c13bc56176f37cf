"""The lines of a file to import, and exactly how far they were taken: bytes, lines, and a digest of them.

It owns that position. What a line means is `rows_of_*`'s.
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
    """How much of a file is taken. `digest` is that of the bytes before `offset`."""

    offset: int
    lines: int
    digest: str


class Lines:
    """The lines of `source` with their line ends, taken one by one or several at once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._digest = blake2b(digest_size=DIGEST_BYTES)
        self._offset = 0
        self.taken = 0
        """How many lines were taken: the number of the last one, counted from 1."""

    @property
    def name(self) -> str:
        """The file's, for messages."""
        return self._source.name

    @property
    def position(self) -> Position:
        """Behind the last line that was taken."""
        return Position(self._offset, self.taken, self._digest.hexdigest())

    def take(self, most: int) -> list[bytes]:
        """The next lines, at most `most`; none at the end. Raises `BadFile`."""
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
        """One line after another, each counted as taken when it is given."""
        while lines := self.take(1):
            yield lines[0]

    def skip_to(self, position: Position) -> None:
        """Go on at `position`. Raises `BadFile` where the file does not begin as it did then."""
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
