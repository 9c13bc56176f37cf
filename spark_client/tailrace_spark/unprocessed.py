"""Entries that a query cannot process, in the form of the dead letters of a consumer group.

A query that reads a stream sets such an entry aside in another stream. There it has its own fields, byte for
byte, followed by the six fields that the server adds when a group gives an entry up. If the group names that
stream as its `dead_letter_stream`, the server can send the entry back: `tailrace redrive` and the console do.

This module builds rows. A sink or the data source writes them. Rows that the server refuses are no entries
and not its concern: `tailrace_spark.sink.appender` stores those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.errors import BadOption
from tailrace_spark.sink.entry_form import FIELDS, ID, STREAM, is_map_of_fields, is_part

NAMES: Final = ("_source_stream", "_source_id", "_group", "_deliveries", "_last_consumer", "_reason")
"""The fields that follow those of the entry, in this order."""

DELIVERIES: Final = "1"
CONSUMER: Final = "spark"

_REASON: Final = "reason"
_NEEDED: Final = f"{ID} string, {STREAM} string, {FIELDS} map<string,string> or map<binary,binary>"


def dead_letters(frame: DataFrame, *, group: str, reason: str | Column) -> DataFrame:
    """Return the entries of `frame` as dead letters of the consumer group `group`: one column `fields`, which
    a sink or the data source writes as it is.

    `frame`: rows of the data source, batch or streaming, with its columns `_id`, `_stream` and `fields`.
    `group`: a group of the stream from which the rows are. `reason`: why the query sets them aside, as a text
    or as a column of strings. Raises `BadOption` if a column is missing.
    """
    _check(frame.schema)
    kind = frame.schema[FIELDS].dataType
    why = F.lit(reason) if isinstance(reason, str) else reason
    rows = frame.select(ID, STREAM, FIELDS, why.cast("string").alias(_REASON))
    return rows.mapInArrow(_task(group), T.StructType([T.StructField(FIELDS, kind)]))


def _check(schema: T.StructType) -> None:
    has_parts = all(name in schema.names and is_part(schema[name]) for name in (ID, STREAM))
    if not (has_parts and FIELDS in schema.names and is_map_of_fields(schema[FIELDS].dataType)):
        columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
        raise BadOption(
            f"dead_letters needs the columns {_NEEDED} of the data source; the columns are {columns}. Read "
            "without a schema, or name these columns in the schema"
        )


def _task(group: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def letters(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([_letters(batch, group)], [FIELDS])

    return letters


def _letters(batch: pa.RecordBatch, group: str) -> pa.Array:
    """Return the maps of the letters. A name may repeat, as in the entry, so the maps are built in Arrow:
    Spark's own functions for maps refuse that."""
    maps = batch.column(FIELDS)
    kind = maps.type
    names, values = (_as_bytes(texts) for texts in (maps.keys, maps.items))
    ids, streams, reasons = (batch.column(name).to_pylist() for name in (ID, STREAM, _REASON))
    starts = maps.offsets.to_pylist()
    offsets, new_names, new_values = [0], list[bytes | None](), list[bytes | None]()
    for row, (entry_id, stream, reason) in enumerate(zip(ids, streams, reasons, strict=True)):
        added = (stream, entry_id, group, DELIVERIES, CONSUMER, reason or "")
        own = slice(starts[row], starts[row + 1])
        new_names += [*names[own], *(name.encode() for name in NAMES)]
        new_values += [*values[own], *(value.encode() for value in added)]
        offsets.append(len(new_names))
    texts = (_of_type(new_names, kind.key_type), _of_type(new_values, kind.item_type))
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), *texts, type=kind)


def _as_bytes(texts: pa.Array) -> list[bytes | None]:
    """Return the texts as they are: a string of the data source need not be UTF-8."""
    return list(texts.cast(_binary(texts.type)).to_pylist())


def _of_type(texts: list[bytes | None], kind: pa.DataType) -> pa.Array:
    return pa.array(texts, _binary(kind)).view(kind)


def _binary(kind: pa.DataType) -> pa.DataType:
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    return pa.large_binary() if is_large else pa.binary()
