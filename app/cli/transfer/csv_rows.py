"""Reads the rows of a CSV file (RFC 4180): the first record names the fields, each other record is an entry.

It owns the errors of CSV: quotes, the number of columns, bytes that are not UTF-8. An empty cell is an empty
value, because CSV has no missing values.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from tailrace.app.cli.transfer.chunks import CHUNK_BYTES_MAX, BadRow, Chunk, check_id
from tailrace.app.cli.transfer.files import BadFile, Source
from tailrace.app.cli.transfer.lines import Lines, Position
from tailrace.core.limits import ENTRY_BYTES_MAX

_BYTE_ORDER_MARK: Final = "\ufeff"
_UNDECODABLE: Final = frozenset(map(chr, range(0xDC80, 0xDD00)))
"""`surrogateescape` decodes bytes that are not UTF-8 to these characters, so an error can name the column."""

_encode: Final = msgspec.json.Encoder().encode


class CsvRows:
    """The rows of one CSV file; implements `RowReader`.

    `columns`: the fields to import, in this order; empty: all. `id_column`: the column with the ids. Raises
    `BadRow` or `BadFile` if the header is invalid.
    """

    def __init__(self, source: Source, columns: Sequence[str], id_column: str | None) -> None:
        csv.field_size_limit(ENTRY_BYTES_MAX)
        self._source = source
        self._lines = Lines(source)
        self._records = csv.reader(self._texts(), strict=True)
        self._header = self._read_header()
        self._id_at = None if id_column is None else self._place(id_column)
        wanted = columns or [name for at, name in enumerate(self._header) if at != self._id_at]
        self._fields = [(name, self._place(name)) for name in wanted]
        self.shape = "fields" if id_column is None else "entry"

    def skip_to(self, position: Position) -> None:
        """Continue at `position`."""
        self._lines.skip_to(position)

    def chunks(self, rows_max: int) -> Iterator[Chunk]:
        """Yield the remaining chunks. Blank lines are skipped."""
        rows: list[bytes] = []
        numbers: list[int] = []
        size, last_id = 0, None
        for line, record in self._read():
            row, last_id = self._row(record, line)
            rows.append(row)
            numbers.append(line)
            size += len(row)
            if len(rows) == rows_max or size >= CHUNK_BYTES_MAX:
                yield self._chunk(rows, numbers, last_id)
                rows, numbers, size = [], [], 0
        if rows:
            yield self._chunk(rows, numbers, last_id)

    def _chunk(self, rows: list[bytes], numbers: list[int], last_id: str | None) -> Chunk:
        body = b"\n".join(rows)
        return Chunk(body, len(rows), numbers, self._lines.position, last_id, self._source.bytes_read)

    # --- reading -----------------------------------------------------------------------------------

    def _texts(self) -> Iterator[str]:
        for line in self._lines:
            yield line.decode("utf-8", "surrogateescape")

    def _read(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each record that is not blank, with the line on which it begins."""
        while True:
            line = self._lines.taken + 1
            try:
                record = next(self._records)
            except StopIteration:
                return
            except csv.Error as error:
                raise BadRow(f"{self._where(self._lines.taken)}: {error}") from None
            if record:
                yield line, record

    def _read_header(self) -> list[str]:
        for line, record in self._read():
            record[0] = record[0].removeprefix(_BYTE_ORDER_MARK)
            for at, name in enumerate(record):
                if name in record[:at]:
                    raise BadRow(f"{self._where(line)}, column {at + 1}: the name {name!r} is repeated")
                self._check_text(name, line, at, name)
            return record
        raise BadFile(f"{self._lines.name} has no header row that names the fields")

    def _place(self, name: str) -> int:
        if name not in self._header:
            raise BadFile(f"{self._lines.name} has no column {name!r}; it has {', '.join(self._header)}")
        return self._header.index(name)

    # --- rows --------------------------------------------------------------------------------------

    def _row(self, record: list[str], line: int) -> tuple[bytes, str | None]:
        """Convert a record to one line of NDJSON; return the line and its id, if it has one."""
        if len(record) != len(self._header):
            raise BadRow(
                f"{self._where(line)}, column {min(len(record), len(self._header)) + 1}: "
                f"the row has {len(record)} columns, the header {len(self._header)}"
            )
        fields = {name: record[at] for name, at in self._fields}
        try:
            if self._id_at is None:
                return _encode(fields), None
            given = record[self._id_at]
            where = f"{self._where(line)}, column {self._id_at + 1} ({self._header[self._id_at]})"
            check_id(given, where)
            return _encode({"id": given, "fields": fields}), given
        except UnicodeEncodeError:
            raise self._not_text(record, line) from None

    def _not_text(self, record: list[str], line: int) -> BadRow:
        for at, value in enumerate(record):
            try:
                self._check_text(value, line, at, self._header[at])
            except BadRow as error:
                return error
        return BadRow(f"{self._where(line)}: not UTF-8")

    def _check_text(self, value: str, line: int, at: int, name: str) -> None:
        if not _UNDECODABLE.isdisjoint(value):
            shown = name.encode("utf-8", "backslashreplace").decode()
            raise BadRow(f"{self._where(line)}, column {at + 1} ({shown}): not UTF-8")

    def _where(self, line: int) -> str:
        return f"{self._lines.name}, line {line}"
