"""Reads the rows of an NDJSON file. The lines are sent unchanged; the server validates them.

It owns the detection of the shape. It reads only the ids of the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from tailrace.app.cli.transfer.chunks import CHUNK_BYTES_MAX, BadRow, Chunk, last_id_of
from tailrace.app.cli.transfer.files import Source
from tailrace.app.cli.transfer.lines import Lines, Position

_BATCH_LINES: Final = 64
"""How many lines are read at once. A chunk ends after such a batch."""


class _WithId(msgspec.Struct):
    id: str | None = None


_decode_line: Final = msgspec.json.Decoder(_WithId).decode


class NdjsonRows:
    """The rows of one NDJSON file; implements `RowReader`. `shape`: `fields`, `entry` or `auto`."""

    def __init__(self, source: Source, shape: str) -> None:
        self._source = source
        self._lines = Lines(source)
        self._first: list[bytes] = []
        self.shape = shape if shape != "auto" else self._shape_of_first_line()

    def _shape_of_first_line(self) -> str:
        """Return `entry` if `fields` is an object or `pairs` a list: field values are neither."""
        while (line := self._lines.take(1)) and not line[0].strip():
            self._first += line
        self._first += line
        try:
            row = msgspec.json.decode(b"".join(line), type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return "fields"
        is_entry = isinstance(row.get("fields"), dict) or isinstance(row.get("pairs"), list)
        return "entry" if is_entry else "fields"

    def skip_to(self, position: Position) -> None:
        """Continue at `position`. Raises `BadFile`."""
        self._first = []
        self._lines.skip_to(position)

    def chunks(self, rows_max: int) -> Iterator[Chunk]:
        """Yield the remaining chunks. A chunk of blank lines has 0 rows; the caller skips it."""
        while lines := self._take(rows_max):
            numbers = range(self._lines.taken - len(lines) + 1, self._lines.taken + 1)
            rows = sum(1 for line in lines if not line.isspace())
            last_id = self._last_id(lines, numbers) if self.shape == "entry" and rows else None
            body = b"".join(lines)
            yield Chunk(body, rows, numbers, self._lines.position, last_id, self._source.bytes_read)

    def _take(self, rows_max: int) -> list[bytes]:
        lines, self._first = self._first, []
        size = sum(map(len, lines))
        while len(lines) < rows_max and size < CHUNK_BYTES_MAX:
            more = self._lines.take(min(_BATCH_LINES, rows_max - len(lines)))
            if not more:
                break
            lines += more
            size += sum(map(len, more))
        return lines

    def _last_id(self, lines: list[bytes], numbers: range) -> str | None:
        rows = [(line, number) for line, number in zip(lines, numbers, strict=True) if not line.isspace()]
        ids = [self._id(line, number) for line, number in rows]
        return last_id_of(ids, self._lines.name, [number for _, number in rows])

    def _id(self, line: bytes, number: int) -> str | None:
        try:
            return _decode_line(line).id
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadRow(f"{self._lines.name}, line {number}: {error}") from None
