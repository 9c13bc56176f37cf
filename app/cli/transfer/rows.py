"""Rows of a file to import, in chunks: the NDJSON body of one request, and the lines of its rows in the file.

It owns the definition of a chunk and its limits: a number of rows or of bytes, whichever is reached first.
The lines of an NDJSON file are sent unchanged, and the server validates them; only their ids are read. The
first record of a CSV file (RFC 4180) names the fields, and each other record is an entry. An empty cell is an
empty value, because CSV has no missing values."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from tailrace.app.cli.transfer.files import BadFile, Lines, Position, Source
from tailrace.core.errors import StreamError
from tailrace.core.limits import ENTRY_BYTES_MAX, MIB
from tailrace.core.stream_id import parse_id

# --- chunks -------------------------------------------------------------------------------------


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


# --- NDJSON -------------------------------------------------------------------------------------


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


# --- CSV ----------------------------------------------------------------------------------------


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
