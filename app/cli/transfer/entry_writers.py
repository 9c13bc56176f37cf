"""Converts exported entries to the lines of a file: NDJSON of whole entries or of fields, or CSV (RFC 4180).

It owns the limits of CSV. An entry with a repeated name, with bytes that are not UTF-8, or with a field that
has no column raises an error that names its id. Fields are dropped only if the user chose the columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

from tailrace.app.cli.transfer.files import BadFile


class _Entry(msgspec.Struct):
    id: str
    fields: dict[str, str] | None = None
    pairs: list[tuple[str, str]] | None = None
    encoding: str | None = None


class _RawEntry(msgspec.Struct):
    fields: msgspec.Raw = msgspec.Raw()
    encoding: str | None = None


_decode_entries: Final = msgspec.json.Decoder(_Entry).decode_lines
_decode_raw: Final = msgspec.json.Decoder(_RawEntry).decode


class EntryWriter(Protocol):
    """Converts the server's NDJSON lines to the content of the file."""

    def heading(self) -> bytes:
        """Return the content before the first entry."""
        ...

    def written(self, lines: bytes) -> bytes:
        """Convert complete lines of entries. Raises `BadFile`."""
        ...


class WholeEntries:
    """Writes the server's lines unchanged: id, fields or pairs, and encoding."""

    def heading(self) -> bytes:
        """Return empty content: NDJSON has no heading."""
        return b""

    def written(self, lines: bytes) -> bytes:
        """Return `lines`."""
        return lines


class FieldsAlone:
    """Writes the fields of each entry. An entry with repeated names or bytes in base64 is written whole."""

    def heading(self) -> bytes:
        """Return empty content: NDJSON has no heading."""
        return b""

    def written(self, lines: bytes) -> bytes:
        """Return one object per line."""
        return b"".join(map(_fields_line, lines.splitlines()))


def _fields_line(line: bytes) -> bytes:
    entry = _decode_raw(line)
    fields = bytes(entry.fields)
    return (fields if fields and entry.encoding is None else line) + b"\n"


class CsvRecords:
    """Writes one CSV record per entry.

    `id_column`: the name of the column with the ids; empty: no such column. `is_choice`: the user chose
    `columns`, so other fields are dropped; otherwise they raise `BadFile`.
    """

    def __init__(self, columns: Sequence[str], id_column: str, *, is_choice: bool) -> None:
        if id_column in columns:
            raise BadFile(
                f"the entries have a field {id_column!r}: choose another name for the ids with --id-column"
            )
        self._columns = columns
        self._known = None if is_choice else frozenset(columns)
        self._id_column = id_column

    def heading(self) -> bytes:
        """Return the header record."""
        return _records([[*self._ids(self._id_column), *self._columns]])

    def written(self, lines: bytes) -> bytes:
        """Return the records of the entries. A missing field becomes an empty cell. Raises `BadFile`."""
        return _records(map(self._record, _decode_entries(lines)))

    def _record(self, entry: _Entry) -> list[str]:
        fields = fields_of(entry)
        if self._known is not None and not self._known.issuperset(fields):
            others = ", ".join(sorted(fields.keys() - self._known))
            raise BadFile(
                f"entry {entry.id} has fields without a column in the file: {others}; see --columns"
            )
        return [*self._ids(entry.id), *[fields.get(name, "") for name in self._columns]]

    def _ids(self, value: str) -> list[str]:
        return [value] if self._id_column else []


def _records(rows: Iterable[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def fields_of(entry: _Entry) -> dict[str, str]:
    """Return the fields of an entry. Raises `BadFile` if CSV cannot represent them."""
    if entry.encoding is not None:
        raise BadFile(f"entry {entry.id} has bytes that are not UTF-8: use NDJSON, CSV cannot represent them")
    if entry.fields is None:
        raise BadFile(f"entry {entry.id} repeats the name of a field: use NDJSON, CSV cannot represent it")
    return entry.fields


def names_of(parts: Iterable[bytes]) -> list[str]:
    """Return the names of all fields in the order of first appearance. Raises `BadFile`."""
    names: dict[str, None] = {}
    for part in parts:
        for entry in _decode_entries(part):
            names.update(dict.fromkeys(fields_of(entry)))
    return list(names)
