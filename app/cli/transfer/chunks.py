"""Chunks of an import: the NDJSON body of one request, and the lines of its rows in the file.

It owns the definition of a chunk and its limits: a number of rows or of bytes, whichever is reached first.
The readers `ndjson_rows` and `csv_rows` build chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from tailrace.app.cli.transfer.lines import Position
from tailrace.core.errors import StreamError
from tailrace.core.limits import MIB
from tailrace.core.stream_id import parse_id

CHUNK_BYTES_MAX: Final = 8 * MIB
"""A chunk ends when it has this many bytes: an eighth of the largest request body, so a long row fits."""


class BadRow(Exception):
    """A row that cannot be imported. The text names its file, line and column."""


class Chunk(NamedTuple):
    """Rows that are appended together or not at all.

    `body` is NDJSON with `rows` rows. `lines`: the line number in the file of each line of `body`. `end`: the
    position after the chunk. `last_id`: the explicit id of the last row; None if the server chooses ids.
    `bytes_read`: how many bytes of the file, compressed or not, were read up to here.
    """

    body: bytes
    rows: int
    lines: Sequence[int]
    end: Position
    last_id: str | None
    bytes_read: int


class RowReader(Protocol):
    """A reader that builds chunks from the rows of a file."""

    @property
    def shape(self) -> str:
        """Return the shape of the lines in chunks: `fields` or `entry`."""
        ...

    def skip_to(self, position: Position) -> None:
        """Continue at the end of an earlier chunk. Raises `BadFile` if the file differs before it."""
        ...

    def chunks(self, rows_max: int) -> Iterator[Chunk]:
        """Yield the remaining chunks, each with at most `rows_max` rows. Raises `BadRow` or `BadFile`."""
        ...


def last_id_of(ids: Sequence[str | None], name: str, lines: Sequence[int]) -> str | None:
    """Return the last id of a chunk; None if no row has an id.

    Raises `BadRow` unless all rows or no rows have a complete id: after an interruption, the last id then
    shows whether the chunk was appended.
    """
    if all(each is None for each in ids):
        return None
    for given, line in zip(ids, lines, strict=True):
        if given is None:
            raise BadRow(f"{name}, line {line}: the row has no id, and other rows have one")
        check_id(given, f"{name}, line {line}")
    return ids[-1]


def check_id(given: str, where: str) -> None:
    """Raise `BadRow` if `given` is not a complete id. `where` begins the text of the error."""
    try:
        if "-" not in given:
            raise BadRow(f"{where}: {given!r} is not a complete entry id like 1692632086370-0")
        parse_id(given.encode())
    except StreamError:
        raise BadRow(f"{where}: {given!r} is not a complete entry id like 1692632086370-0") from None
