"""Convert the rows of a DataFrame to NDJSON lines, and cut the lines into chunks, one column at a time and
without a Python object for each row.

`entry_form` decides what each column becomes, and `values` converts the values to text. A line contains the
fields of an entry as `entries:import` accepts them, in exactly the form in which the server stores them, so
that the server need not rewrite them. Null values are left out. If a batch has a binary column, each line is
a complete entry in base64 instead (`shape=entry`), because text cannot contain arbitrary bytes. Maps of all
fields, and ids to keep, become complete entries, too: see `entry_lines`.

A chunk is the body of one request, and a retry sends the same bytes again. It ends at a number of rows, or
before the row that would exceed a number of bytes. A row that alone exceeds that number is a chunk of its
own. The cuts depend only on the rows, never on the batches in which Spark passes them: a replay with another
batch size cuts the same chunks.

This module sends no requests.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tailrace_spark.errors import SinkError
from tailrace_spark.sink.entry_form import ID, EntryForm
from tailrace_spark.sink.entry_lines import entry_lines, with_ids
from tailrace_spark.values.texts import escaped, texts_of

COMPLETE_ID: Final = r"^[0-9]{1,20}-[0-9]{1,20}$"


def row_lines(batch: pa.RecordBatch, form: EntryForm) -> pa.Array:
    """Return one line for each row, with its newline. Raises `SinkError` for a row without a complete id, if
    the ids are kept."""
    ids = None if form.id is None else checked_ids(batch.column(form.id))
    if form.all_fields is not None:
        return entry_lines(batch.column(form.all_fields), ids)
    contents = _texts(batch, form)
    lines = lines_of(contents)
    return lines if ids is None else with_ids(lines, ids, are_whole=holds_bytes(contents.schema))


def checked_ids(ids: pa.Array) -> pa.Array:
    """Return the ids. Raises `SinkError` if one of them is null or no complete id."""
    is_id = pc.match_substring_regex(ids, COMPLETE_ID).fill_null(False)  # noqa: FBT003 - Arrow's parameter
    if not pc.all(is_id).as_py():
        wrong = ids.filter(pc.invert(is_id))[0].as_py()
        raise SinkError(
            f"keep_ids: the {ID!r} of a row is {wrong!r}, which is not a complete id like 1692632086370-0"
        )
    return ids


def _texts(batch: pa.RecordBatch, form: EntryForm) -> pa.RecordBatch:
    fields = [form.schema[number] for number in form.fields]
    if not fields:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
    texts = [
        texts_of(batch.column(number), field.dataType)
        for number, field in zip(form.fields, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(texts, names=[field.name for field in fields])


# --- lines of fields --------------------------------------------------------------------------------------


LINE: Final = "line"
"""The name of the only column in a batch of lines."""


def holds_bytes(schema: pa.Schema) -> bool:
    """Return whether the lines of such batches are complete entries in base64."""
    return any(_is_bytes(field.type) for field in schema)


def lines_of(batch: pa.RecordBatch) -> pa.Array:
    """Return one line for each row, with its newline. O(bytes)."""
    if holds_bytes(batch.schema):
        fields = [(_base64_text(name), _base64(column)) for name, column in _columns(batch)]
        return _joined(b'{"fields":{', fields, b'},"encoding":"base64"}\n', batch.num_rows)
    fields = [(name, escaped(column.view(pa.binary()))) for name, column in _columns(batch)]
    return _joined(b"{", fields, b"}\n", batch.num_rows)


def _columns(batch: pa.RecordBatch) -> list[tuple[str, pa.Array]]:
    return list(zip(batch.schema.names, batch.columns, strict=True))


def _joined(opening: bytes, fields: list[tuple[str, pa.Array]], closing: bytes, rows: int) -> pa.Array:
    """Join the fields of each row between `opening` and `closing`."""
    if fields and not any(texts.null_count for _, texts in fields):
        lines = _joined_at_once(opening, fields, closing)
    else:
        lines = _joined_without_nulls(opening, fields, closing, rows)
    assert len(lines) == rows
    return lines


def _joined_at_once(opening: bytes, fields: list[tuple[str, pa.Array]], closing: bytes) -> pa.Array:
    """Join fields that have a value in each row: in one pass, and half the time."""
    pieces: list[bytes | pa.Array] = []
    before = opening
    for name, texts in fields:
        pieces += [before + _name(name), texts]
        before = b'",'
    return pc.binary_join_element_wise(*pieces, b'"' + closing, b"")


def _joined_without_nulls(
    opening: bytes, fields: list[tuple[str, pa.Array]], closing: bytes, rows: int
) -> pa.Array:
    """Join the fields that a row has.

    Each member begins with a comma. The opening replaces the first byte of the joined members, also in a row
    without members. (Arrow's own way to leave out nulls between separators, `null_handling="skip"`, drops
    rows that contain only nulls.)
    """
    members = [pc.binary_join_element_wise(b"," + _name(name), texts, b'"', b"") for name, texts in fields]
    nothing = pa.repeat(pa.scalar(b""), rows)
    inside = pc.binary_join_element_wise(
        nothing, *members, b"", null_handling="replace", null_replacement=b""
    )
    return pc.binary_join_element_wise(pc.binary_replace_slice(inside, 0, 1, opening), closing, b"")


def _name(name: str) -> bytes:
    """Return the name as JSON, up to the mark that begins its value."""
    return json.dumps(name, ensure_ascii=False).encode() + b':"'


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind))


# --- base64, where a batch has bytes -----------------------------------------------------------------


def _base64(column: pa.Array) -> pa.Array:
    raw = column.view(pa.binary()).to_pylist()
    encoded = [None if value is None else b2a_base64(value, newline=False) for value in raw]
    return pa.array(encoded, pa.binary())


def _base64_text(name: str) -> str:
    return b2a_base64(name.encode(), newline=False).decode()


# --- chunks -----------------------------------------------------------------------------------------------


def chunks_of(batches: Iterable[pa.RecordBatch], rows_max: int, bytes_max: int) -> Iterator[pa.Table]:
    """Cut batches with the column `LINE` into chunks. Keeps one chunk and one batch in memory."""
    chunk = _Chunk(rows_max, bytes_max)
    for batch in batches:
        rest = batch
        while rest.num_rows:
            rest = chunk.take(rest)
            if rest.num_rows:
                yield chunk.end()
    if chunk.pieces:
        yield chunk.end()


class _Chunk:
    """A chunk that is being filled. `pieces`: slices of batches, without copying."""

    def __init__(self, rows_max: int, bytes_max: int) -> None:
        self._rows_max = rows_max
        self._bytes_max = bytes_max
        self._begin()

    def take(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Take the rows that fit, and return the others."""
        lines = batch.column(LINE)
        bounds = memoryview(lines.buffers()[1]).cast("i")[lines.offset :]
        count = self._count_that_fit(bounds, batch.num_rows)
        if count:
            self.pieces.append(batch.slice(0, count))
            self._rows += count
            self._bytes += bounds[count] - bounds[0]
        return batch.slice(count)

    def end(self) -> pa.Table:
        """Return the chunk and begin the next one."""
        table = pa.Table.from_batches(self.pieces)
        self._begin()
        return table

    def _begin(self) -> None:
        self.pieces: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0

    def _count_that_fit(self, bounds: memoryview, rows: int) -> int:
        within_rows = min(rows, self._rows_max - self._rows)
        last_bound = bounds[0] + self._bytes_max - self._bytes
        count = bisect_right(bounds, last_bound, 0, within_rows + 1) - 1
        return max(count, 0 if self.pieces else 1)
