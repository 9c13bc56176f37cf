"""Exports a range of a stream to a file in parts; a continued export starts after the last complete part.

It owns the plan, the state, and the lines of the file: NDJSON of whole entries or of fields, or CSV
(RFC 4180). An entry that CSV cannot hold, with a repeated name, with bytes that are not UTF-8, or with a
field that has no column, raises an error that names its id. Fields are dropped only if the user chose the
columns."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from tailrace.app.cli.server import Server, request_of, stream_path
from tailrace.app.cli.transfer.files import BadFile, Target
from tailrace.app.cli.transfer.progress import Meter
from tailrace.app.cli.transfer.state import StateFile
from tailrace.app.reasons import reason
from tailrace_client.blocking.following import exported
from tailrace_client.lines import Export as ExportedLines

# --- the lines of a file ------------------------------------------------------------------------


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


# --- the export ---------------------------------------------------------------------------------


PART_BYTES: Final = 4 << 20
"""A part is compressed, written and synced when it has at least this many bytes of entries."""


class ExportPlan(msgspec.Struct, frozen=True):
    """The settings of an export. A continued export must have equal settings."""

    url: str
    stream: str
    format: str
    shape: str
    columns: list[str]
    id_column: str
    start: str
    end: str
    filter: str | None = None


class ExportState(msgspec.Struct, frozen=True):
    """The progress of an export, stored after each part.

    `length`: the size of the file in bytes. `rows`: the number of entries in it. `last_id`: the last of them.
    """

    plan: ExportPlan
    columns: list[str]
    length: int = 0
    rows: int = 0
    last_id: str | None = None

    @property
    def next_start(self) -> str:
        """Return the start of the remaining range."""
        return self.plan.start if self.last_id is None else f"({self.last_id}"


class _OnlyId(msgspec.Struct):
    id: str


_decode_id: Final = msgspec.json.Decoder(_OnlyId).decode


def id_of_line(line: bytes) -> str:
    """Return the id of an exported entry."""
    return _decode_id(line).id


def last_line(lines: bytes) -> bytes:
    """Return the last of complete lines."""
    return lines[lines.rfind(b"\n", 0, -1) + 1 :]


class _Lines(ExportedLines):
    """The lines of an export, for a key of any bytes."""

    def _request(self, start: str) -> Mapping[str, Any]:
        chosen = [] if self._condition is None else [("filter", self._condition)]
        bounds = [("start", start), ("end", self._end), *chosen]
        return request_of("GET", stream_path(os.fsencode(self._key), "/entries:export"), bounds)


def exported_parts(
    server: Server, stream: str, start: str, end: str, condition: str | None = None
) -> Iterator[bytes]:
    """Yield the entries from `start` to `end`, those that match `condition`, in blocks of complete lines.

    After a lost connection it reconnects and continues after the last complete line. Raises `Unreachable` if
    all retries in a row fail.
    """
    with server.problems():
        yield from exported(server.session, _Lines(stream, start, end, "entry", None, condition))


class Export:
    """One export to `target` that starts at `state`. Without `state_file` it cannot be continued."""

    def __init__(
        self, server: Server, target: Target, state: ExportState, state_file: StateFile[ExportState] | None
    ) -> None:
        self._server = server
        self._target = target
        self.state = state
        self._state_file = state_file

    def run(self, writer: EntryWriter, end: str, meter: Meter) -> None:
        """Write all entries up to `end`. Raises `BadFile` or `ServerProblem`."""
        self._save()
        plan, part = self.state.plan, b""
        try:
            if not self.state.rows:
                self._target.write(writer.heading())
            for block in exported_parts(self._server, plan.stream, self.state.next_start, end, plan.filter):
                part += block
                if len(part) >= PART_BYTES:
                    self._write(part, writer, meter)
                    part = b""
            self._write(part, writer, meter)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise BadFile(f"cannot write: {reason(error)}") from None

    def _write(self, part: bytes, writer: EntryWriter, meter: Meter) -> None:
        """Write one part: first sync the file, then store the state."""
        if part:
            self._target.write(writer.written(part))
        length, rows = self._target.settle(), part.count(b"\n")
        last_id = id_of_line(last_line(part)) if part else self.state.last_id
        self.state = replace(self.state, length=length, rows=self.state.rows + rows, last_id=last_id)
        self._save()
        meter.add(rows, len(part), meter.bytes + len(part))

    def _save(self) -> None:
        if self._state_file is not None:
            self._state_file.save(self.state)
