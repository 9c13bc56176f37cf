"""Convert entries to the columns of a read.

`_id`, `_timestamp`, `_stream` and `fields` are the parts of the entry itself if the schema gives them their
own type. Every other column contains the field of that name, cast to the type of the column. A field that the
entry lacks is null; of a repeated field the last value is used. The mode decides what happens to text that
its column cannot hold: it becomes null and the entry is copied to the column of corrupt records, the entry is
dropped, or the read fails. If no column needs the fields, only the ids are parsed. This module sends no
requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from sys import maxsize
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.pandas.types import to_arrow_schema

from tailrace_spark.errors import BadOption, BadValue
from tailrace_spark.sink.entry_form import FIELDS as ALL_FIELDS
from tailrace_spark.sink.entry_form import ID, STREAM, TIMESTAMP, is_map_of_fields, is_part
from tailrace_spark.sink.entry_lines import entry_lines
from tailrace_spark.source.line_parser import entries_of, ids_of
from tailrace_spark.source.line_scanner import MAP, Entries
from tailrace_spark.source.options import Mode
from tailrace_spark.values.parsing import Cast, cast_to, typed
from tailrace_spark.values.types import check_types

FIELDS: Final = T.MapType(T.StringType(), T.StringType(), valueContainsNull=False)
FIELDS_AS_BYTES: Final = T.MapType(T.BinaryType(), T.BinaryType(), valueContainsNull=False)
SCHEMA: Final = T.StructType(
    [
        T.StructField("_id", T.StringType(), nullable=False),
        T.StructField("_timestamp", T.TimestampType()),
        T.StructField("_stream", T.StringType(), nullable=False),
        T.StructField("fields", FIELDS, nullable=False),
    ]
)
"""The columns of a read without a schema."""

MICROSECONDS_A_MS: Final = 1_000
MS_MAX: Final = ((1 << 63) - 1) // MICROSECONDS_A_MS
"""The greatest time that fits a timestamp. The time of an id can be later."""

BLOCK_BYTES: Final = 2 << 20
"""The size of the lines that become one Arrow batch: some ten thousand entries. A larger block exceeds the
cache of a processor."""
SHOWN_OF_A_VALUE: Final = 80

Rows = set[int]
Column = Callable[[Entries, Rows], pa.Array]
"""Builds a column, and adds the rows with text that the column cannot hold."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The information that a task needs to create Arrow batches: the schema, the name of the stream, the
    mode for bad values, and the name of the column for entries with such values."""

    schema: T.StructType
    stream: str
    mode: Mode
    corrupt_record: str

    def batches(self, blocks: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """Yield one Arrow batch for each larger block of lines."""
        arrow_schema = to_arrow_schema(self.schema, timezone="UTC")
        fields = sorted(self.schema, key=self._is_corrupt_record)  # corrupt records last
        columns = [self._column(field, arrow_schema.field(field.name).type) for field in fields]
        places = [fields.index(field) for field in self.schema]
        parse = _ids_alone if all(map(is_part, self.schema)) else entries_of
        for block in _larger(blocks):
            entries, bad = parse(block), Rows()
            arrays = [column(entries, bad) for column in columns]
            batch = pa.RecordBatch.from_arrays([arrays[place] for place in places], schema=arrow_schema)
            yield _without(batch, bad) if self.mode == "dropmalformed" else batch

    def check(self) -> None:
        """Raise `BadOption` for a column whose type cannot be read from text."""
        check_types(self.schema)
        for field in self.schema:
            if self._is_corrupt_record(field) and not isinstance(field.dataType, T.StringType):
                raise BadOption(
                    f"columnNameOfCorruptRecord: the column {field.name!r} is "
                    f"{field.dataType.simpleString()}; declare it as string"
                )

    def _is_corrupt_record(self, field: T.StructField) -> bool:
        return field.name == self.corrupt_record

    def _column(self, field: T.StructField, arrow_type: pa.DataType) -> Column:
        name, kind = field.name, field.dataType
        if self._is_corrupt_record(field):
            return _corrupt_records
        if is_part(field):
            return self._part(name, arrow_type)
        if name == ALL_FIELDS and is_map_of_fields(kind):
            return lambda entries, _: _map(entries, arrow_type)
        return self._field(name, cast_to(kind, arrow_type), arrow_type)

    def _part(self, name: str, arrow_type: pa.DataType) -> Column:
        if name == ID:
            return lambda entries, _: entries.ids
        if name == TIMESTAMP:
            return lambda entries, _: _times(entries.ids).cast(arrow_type)
        assert name == STREAM
        return lambda entries, _: pa.repeat(pa.scalar(self.stream), len(entries.ids))

    def _field(self, name: str, cast: Cast, arrow_type: pa.DataType) -> Column:
        key = pa.scalar(name.encode(), pa.binary())

        def column(entries: Entries, bad: Rows) -> pa.Array:
            values = pc.map_lookup(entries.fields, key, "last")

            def on_bad(place: int) -> None:
                if self.mode == "failfast":
                    raise self._bad_value(name, entries, values, place)
                bad.add(place)

            return typed(values, cast, arrow_type, on_bad)

        return column

    def _bad_value(self, name: str, entries: Entries, values: pa.Array, place: int) -> BadValue:
        shown = values[place].as_py()[:SHOWN_OF_A_VALUE].decode("utf-8", "backslashreplace")
        kind = self.schema[name].dataType.simpleString()
        return BadValue(
            f"stream {self.stream!r}, entry {entries.ids[place]}: the field {name!r} is {shown!r}, which is "
            f"not a valid {kind}. With the mode 'permissive' the value becomes null"
        )


def _larger(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Join blocks until an Arrow batch of them is worth its overhead."""
    gathered: list[bytes] = []
    size = 0
    for block in blocks:
        gathered.append(block)
        size += len(block)
        if size >= BLOCK_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


def _times(ids: pa.Array) -> pa.Array:
    """Return the time of each id; null if it is too late for a timestamp."""
    parts = pc.split_pattern(ids, "-")
    ms = pc.list_element(parts, 0).cast(pa.uint64())
    in_range = pc.if_else(pc.less_equal(ms, pa.scalar(MS_MAX, pa.uint64())), ms, pa.scalar(None, pa.uint64()))
    return pc.multiply(in_range.cast(pa.int64()), MICROSECONDS_A_MS).cast(pa.timestamp("us", "UTC"))


def _map(entries: Entries, arrow_type: pa.DataType) -> pa.Array:
    fields = entries.fields
    names, values = fields.keys.view(arrow_type.key_type), fields.items.view(arrow_type.item_type)
    return pa.MapArray.from_arrays(fields.offsets, names, values, type=arrow_type)


def _ids_alone(lines: bytes) -> Entries:
    ids = ids_of(lines)
    return Entries(ids, pa.nulls(len(ids), MAP))


def _corrupt_records(entries: Entries, bad: Rows) -> pa.Array:
    """Return the lines of the entries with bad text, as an export has them; null for all others."""
    places = pa.array(sorted(bad), pa.int64())
    lines = entry_lines(entries.fields.take(places), entries.ids.take(places))
    is_bad = np.zeros(len(entries.ids), np.bool_)
    is_bad[places] = True
    nothing = pa.nulls(len(entries.ids), pa.binary())
    records = pc.binary_replace_slice(lines, -1, maxsize, b"")
    return pc.replace_with_mask(nothing, pa.array(is_bad), records).view(pa.string())


def _without(batch: pa.RecordBatch, bad: Rows) -> pa.RecordBatch:
    is_kept = np.ones(batch.num_rows, np.bool_)
    is_kept[list(bad)] = False
    return batch.filter(pa.array(is_kept))
