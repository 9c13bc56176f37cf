"""Convert entries to the columns of a read.

`_id`, `_timestamp`, `_stream` and `fields` are the parts of the entry itself if the schema gives them their
own type. Every other column contains the field of that name, cast to the type of the column. A field that the
entry lacks is null; of a repeated field the last value is used. This module sends no requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.pandas.types import to_arrow_schema

from tailrace_spark.errors import BadValue
from tailrace_spark.source.line_parser import entries_of
from tailrace_spark.source.line_scanner import Entries
from tailrace_spark.source.options import Mode
from tailrace_spark.source.text_casts import Cast, cast_to, typed

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

Column = Callable[[Entries], pa.Array]


@dataclass(frozen=True, slots=True)
class Columns:
    """The information that a task needs to create Arrow batches: the schema, the name of the stream and the
    mode for bad values."""

    schema: T.StructType
    stream: str
    mode: Mode

    def batches(self, blocks: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """Yield one Arrow batch for each larger block of lines."""
        arrow_schema = to_arrow_schema(self.schema, timezone="UTC")
        columns = [self._column(field, arrow_schema.field(field.name)) for field in self.schema]
        for block in _larger(blocks):
            entries = entries_of(block)
            yield pa.RecordBatch.from_arrays([column(entries) for column in columns], schema=arrow_schema)

    def check(self) -> None:
        """Raise `BadOption` for a column whose type cannot be read from text."""
        arrow_schema = to_arrow_schema(self.schema, timezone="UTC")
        for field in self.schema:
            self._column(field, arrow_schema.field(field.name))

    def _column(self, field: T.StructField, arrow_field: pa.Field) -> Column:
        name, kind, arrow_type = field.name, field.dataType, arrow_field.type
        if name == "_id" and isinstance(kind, T.StringType):
            return lambda entries: entries.ids
        if name == "_timestamp" and isinstance(kind, T.TimestampType):
            return lambda entries: _times(entries.ids).cast(arrow_type)
        if name == "_stream" and isinstance(kind, T.StringType):
            return lambda entries: pa.repeat(pa.scalar(self.stream), len(entries.ids))
        if name == "fields" and _is_map_of(kind, T.StringType):
            return lambda entries: _map(entries, pa.string(), arrow_type)
        if name == "fields" and _is_map_of(kind, T.BinaryType):
            return lambda entries: _map(entries, pa.binary(), arrow_type)
        return self._field(name, cast_to(field, arrow_type), arrow_type)

    def _field(self, name: str, cast: Cast, arrow_type: pa.DataType) -> Column:
        key = pa.scalar(name.encode(), pa.binary())

        def column(entries: Entries) -> pa.Array:
            values = pc.map_lookup(entries.fields, key, "last")
            return typed(values, cast, arrow_type, lambda place: self._on_bad(name, entries, values, place))

        return column

    def _on_bad(self, name: str, entries: Entries, values: pa.Array, place: int) -> None:
        if self.mode == "permissive":
            return
        shown = values[place].as_py()[:SHOWN_OF_A_VALUE].decode("utf-8", "backslashreplace")
        kind = self.schema[name].dataType.simpleString()
        raise BadValue(
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


def _map(entries: Entries, text: pa.DataType, arrow_type: pa.DataType) -> pa.Array:
    fields = entries.fields
    return pa.MapArray.from_arrays(
        fields.offsets, fields.keys.view(text), fields.items.view(text), type=arrow_type
    )


def _is_map_of(kind: T.DataType, text: type[T.DataType]) -> bool:
    return isinstance(kind, T.MapType) and isinstance(kind.keyType, text) and isinstance(kind.valueType, text)
