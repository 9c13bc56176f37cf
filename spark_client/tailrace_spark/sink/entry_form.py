"""Decide what each column of a DataFrame becomes: a field, all fields, the id, the stream, or nothing.

A column of its own name and type is a part of the entry, in both directions:

    _id string, _timestamp timestamp, _stream string, fields map<string,string> or map<binary,binary>

The data source returns these columns without a schema, so such a DataFrame is written as it is: `fields`
becomes the fields, and the server chooses new ids unless the ids are kept. Every other column becomes the
field of its name. If a column can be meant as a part and as a field, the module raises `BadOption`.

This module decides from names and types only. It never reads a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.errors import BadOption
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.values.types import check_types

ID: Final = "_id"
TIMESTAMP: Final = "_timestamp"
STREAM: Final = "_stream"
FIELDS: Final = "fields"

PARTS: Final[dict[str, type[T.DataType]]] = {
    ID: T.StringType,
    TIMESTAMP: T.TimestampType,
    STREAM: T.StringType,
}
"""The parts in addition to the fields, with their types."""


@dataclass(frozen=True, slots=True)
class EntryForm:
    """The columns of a DataFrame by what they become, each by its number.

    `schema`: all columns. `fields`: columns that become a field each. `all_fields`: the map that contains the
    fields. `id`: the column of ids to keep. `stream`: the column that names the stream of each row.
    """

    schema: T.StructType
    fields: tuple[int, ...]
    all_fields: int | None
    id: int | None
    stream: int | None

    @property
    def has_whole_entries(self) -> bool:
        """Return whether each line is a whole entry, rather than only its fields."""
        kinds = (self.schema[number].dataType for number in self.fields)
        has_bytes = any(isinstance(kind, T.BinaryType) for kind in kinds)
        return has_bytes or self.all_fields is not None or self.id is not None


def entry_form(schema: T.StructType, options: SinkOptions) -> EntryForm:
    """Return what the columns become. Raises `BadOption`."""
    _refuse_repeated(schema.names)
    check_types(schema)
    routing = _routing(schema, options.stream_column)
    all_fields = _map_of_fields(schema)
    parts = {number for number, field in enumerate(schema) if is_part(field)} - {routing}
    if all_fields is None and options.keep_ids is None and parts:
        raise _ambiguous(schema[min(parts)].name)
    others = tuple(n for n in range(len(schema)) if n not in parts and n not in (routing, all_fields))
    if all_fields is not None and others:
        raise _beside_all_fields(schema[others[0]].name)
    return EntryForm(schema, others, all_fields, _kept_id(schema, options, routing), routing)


def is_part(field: T.StructField) -> bool:
    """Return whether the column is a part of the entry other than its fields."""
    return field.name in PARTS and isinstance(field.dataType, PARTS[field.name])


def is_map_of_fields(kind: T.DataType) -> bool:
    """Return whether the type can contain all fields of an entry: a map of strings, or of bytes."""
    return isinstance(kind, T.MapType) and any(
        isinstance(kind.keyType, text) and isinstance(kind.valueType, text)
        for text in (T.StringType, T.BinaryType)
    )


def _map_of_fields(schema: T.StructType) -> int | None:
    is_there = FIELDS in schema.names and is_map_of_fields(schema[FIELDS].dataType)
    return schema.names.index(FIELDS) if is_there else None


def _routing(schema: T.StructType, name: str | None) -> int | None:
    if name is None:
        return None
    if name not in schema.names or not isinstance(schema[name].dataType, T.StringType):
        columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
        raise BadOption(f"stream_column: {name!r} is not a string column; the columns are {columns}")
    return schema.names.index(name)


def _kept_id(schema: T.StructType, options: SinkOptions, routing: int | None) -> int | None:
    if not options.keep_ids:
        return None
    if ID not in schema.names or not is_part(schema[ID]) or schema.names.index(ID) == routing:
        raise BadOption(
            f"keep_ids: there is no string column {ID!r} to take the ids from; the columns are "
            f"{', '.join(schema.names)}"
        )
    return schema.names.index(ID)


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise BadOption(f"the column {repeated[0]!r} occurs twice in the DataFrame; rename one of them")


def _ambiguous(name: str) -> BadOption:
    return BadOption(
        f"the column {name!r} can be a field, or the part of an entry that the data source returns under "
        "this name. For a field, rename the column. For the part, set keep_ids: true keeps the ids of the "
        f"column {ID!r}, false lets the server choose new ids; neither writes the column as a field"
    )


def _beside_all_fields(name: str) -> BadOption:
    return BadOption(
        f"the column {FIELDS!r} contains all fields of an entry, and {name!r} would be one more. Add it to "
        f"the map (map_concat), drop it, or rename {FIELDS!r}"
    )
