"""From entries to the columns that were asked for.

`_id`, `_timestamp`, `_stream` and `fields` are what the entry itself has, where they are asked for with
their own type; every other column is the field of that name, cast to the column's type. A field that the
entry does not have is null, and of a field that stands twice the last one counts. It asks no server.
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
"""What an entry is without a schema."""

MICROSECONDS_A_MS: Final = 1_000
MS_MAX: Final = ((1 << 63) - 1) // MICROSECONDS_A_MS
"""Ids may have later times; those are no timestamps."""

BLOCK_BYTES: Final = 2 << 20
"""Of lines that become one Arrow batch: some ten thousand entries. More do not fit a processor's cache."""
SHOWN_OF_A_VALUE: Final = 80

Column = Callable[[Entries], pa.Array]


@dataclass(frozen=True, slots=True)
class Columns:
    """What a task needs to make batches: the schema, the stream's name, and what bad values become."""

    schema: T.StructType
    stream: str
    mode: Mode

    def batches(self, blocks: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        """The entries of blocks of lines."""
        arrow_schema = to_arrow_schema(self.schema, timezone="UTC")
        columns = [self._column(field, arrow_schema.field(field.name)) for field in self.schema]
        for block in _larger(blocks):
            entries = entries_of(block)
            yield pa.RecordBatch.from_arrays([column(entries) for column in columns], schema=arrow_schema)

    def check(self) -> None:
        """Raise `BadOption` for a column of a type that no text becomes."""
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
            f"no {kind}. With mode 'permissive' it is null"
        )


def _larger(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks put together until an Arrow batch of them is worth its overhead."""
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
    """The time in each id; null where no timestamp is so late."""
    parts = pc.split_pattern(ids, "-")
    ms = pc.list_element(parts, 0).cast(pa.uint64())
    in_range = pc.if_else(pc.less_equal(ms, MS_MAX), ms, pa.scalar(None, pa.uint64()))
    return pc.multiply(in_range.cast(pa.int64()), MICROSECONDS_A_MS).cast(pa.timestamp("us", "UTC"))


def _map(entries: Entries, text: pa.DataType, arrow_type: pa.DataType) -> pa.Array:
    fields = entries.fields
    return pa.MapArray.from_arrays(
        fields.offsets, fields.keys.view(text), fields.items.view(text), type=arrow_type
    )


def _is_map_of(kind: T.DataType, text: type[T.DataType]) -> bool:
    return isinstance(kind, T.MapType) and isinstance(kind.keyType, text) and isinstance(kind.valueType, text)
