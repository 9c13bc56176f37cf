"""Chunks of an import: rows as the NDJSON body of one request, and where in the file they stand.

It owns what a chunk is and where it ends: after so many rows, or bytes, whichever comes first. A reader of
rows makes them from NDJSON (`ndjson_rows`) or CSV (`csv_rows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from tailrace.app.cli.transfer.lines import Position
from tailrace.core.errors import StreamError
from tailrace.core.limits import MIB
from tailrace.core.stream_id import parse_id

CHUNK_BYTES_MAX: Final = 8 * MIB
"""A chunk ends once it has so many bytes: an eighth of what a body may take, so one long row more fits."""


class BadRow(Exception):
    """A row that cannot be taken; the text names its file, line and column."""


class Chunk(NamedTuple):
    """Rows that are appended together or not at all.

    `lines`: the line of each row in the file, or of each line of `body` where blank ones are among them.
    `last_id`: the id that the last row brings itself, None where the server chooses.
    `bytes_read`: how far the file, as it lies there, was read for it.
    """

    body: bytes
    rows: int
    lines: Sequence[int]
    end: Position
    last_id: str | None
    bytes_read: int


class RowReader(Protocol):
    """What both readers are to the import. `shape` is that of the lines of their chunks' bodies."""

    @property
    def shape(self) -> str:
        """`fields` or `entry`."""
        ...

    def skip_to(self, position: Position) -> None:
        """Go on at a position where a chunk ended."""
        ...

    def chunks(self, rows_max: int) -> Iterator[Chunk]:
        """The chunks from here on. Raises `BadRow` or `BadFile`."""
        ...


def last_id_of(ids: Sequence[str | None], name: str, lines: Sequence[int]) -> str | None:
    """The last of a chunk's ids, None where no row has one. Raises `BadRow`.

    Either all rows bring a whole id or none does: only then is it known after a cut what was appended.
    """
    if all(each is None for each in ids):
        return None
    for given, line in zip(ids, lines, strict=True):
        if given is None:
            raise BadRow(f"{name}, line {line}: the row has no id, and other rows have one")
        check_id(given, f"{name}, line {line}")
    return ids[-1]


def check_id(given: str, where: str) -> None:
    """Raises `BadRow` where `given` is no whole id."""
    try:
        if "-" not in given:
            raise BadRow(f"{where}: {given!r} is not a complete entry id like 1692632086370-0")
        parse_id(given.encode())
    except StreamError:
        raise BadRow(f"{where}: {given!r} is not a complete entry id like 1692632086370-0") from None
