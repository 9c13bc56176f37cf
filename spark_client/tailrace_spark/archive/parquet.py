"""The Parquet files of an archive: their columns, how a step is written, and how steps are read.

    _id        string                                the id of the entry
    _timestamp timestamp                             the time in the id; null after 2262-04-11
    fields     map<string,string>                    the fields, or null
    pairs      array<struct<name: binary,            the fields, if `fields` is null
                            value: binary>>
    day, hour, step                                  from the names of the directories

How it works. Parquet's strings must be UTF-8, and many readers refuse a map in which a name occurs twice:
DuckDB then reads no row of such a file. So an entry with a repeated name, or with bytes that are not UTF-8,
is in `pairs`, and every reader can read every file. Exactly one of `fields` and `pairs` is null.

By default, Spark writes timestamps as INT96, and pandas reads an INT96 after 2262-04-11 as another time. So
`_timestamp` is null for such entries, and `archived` takes the time from the id.

`archived` returns what the stream had: one map for each entry, with repeated names and with all bytes.
Spark's own functions cannot build a map with a repeated name, so Python does it, for the entries in `pairs`
only. Files of the manifest format 1 have no `pairs`, and all entries in `fields`.

This module never decides which files are part of the archive, and never reads a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.source.columns import FIELDS, MS_MAX, SCHEMA

MS_A_DAY: Final = 86_400_000
MS_AN_HOUR: Final = 3_600_000
LAST_HOUR_MS: Final = 253_402_297_200_000
"""9999-12-31, 23:00 in UTC."""
NANOSECONDS_END_MS: Final = ((1 << 63) - 1) // 1_000_000
"""The last time that 64 bits of nanoseconds hold: in the year 2262."""
ASCII_SEPARATOR: Final = ","
"""Joined by an ASCII character, texts are valid UTF-8 if and only if each of them is."""

PAIRS: Final = T.ArrayType(
    T.StructType(
        [
            T.StructField("name", T.BinaryType(), nullable=False),
            T.StructField("value", T.BinaryType(), nullable=False),
        ]
    ),
    containsNull=False,
)
ENTRY: Final = [SCHEMA["_id"], SCHEMA["_timestamp"]]
COLUMNS: Final = T.StructType([*ENTRY, T.StructField("fields", FIELDS), T.StructField("pairs", PAIRS)])
"""The columns of a file without those that the directories name."""
IN_FIELDS: Final = T.StructType([*ENTRY, T.StructField("fields", FIELDS)])


@dataclass(frozen=True, slots=True)
class Counts:
    """What the files of a step have: `entries`, how many different ids, and how many entries in `pairs`."""

    entries: int
    ids: int
    in_pairs: int


def write_step(entries: DataFrame, step: int, path: str) -> None:
    """Write the entries to Parquet by day and hour in UTC, in any session time zone.

    An id whose time is later than a date with four digits of the year is in the last hour of the last such
    day: readers do not recognise other dates in the names of directories.
    """
    ms = F.unix_millis("_timestamp")
    placed_ms = F.least(F.coalesce(ms, F.lit(LAST_HOUR_MS)), F.lit(LAST_HOUR_MS))
    day = F.date_add(F.lit("1970-01-01").cast("date"), F.floor(placed_ms / MS_A_DAY).cast("int"))
    hour = F.floor(F.pmod(placed_ms, F.lit(MS_A_DAY)) / MS_AN_HOUR).cast("int")
    in_fields = _fits_a_map_of_text(F.col("fields"))
    placed = entries.select(
        "_id",
        F.when(ms <= NANOSECONDS_END_MS, F.col("_timestamp")).alias("_timestamp"),
        F.when(in_fields, F.col("fields")).alias("fields"),
        F.when(~in_fields, F.map_entries("fields").cast(PAIRS)).alias("pairs"),
        day.alias("day"),
        hour.alias("hour"),
        F.lit(step).alias("step"),
    )
    placed.write.partitionBy("day", "hour", "step").mode("append").parquet(path)


def counts_of(spark: SparkSession, paths: list[str]) -> Counts:
    """Read the files of a step back and return their counts."""
    if not paths:
        return Counts(0, 0, 0)
    found = (
        _files(spark, COLUMNS, paths).agg(F.count("_id"), F.count_distinct("_id"), F.count("pairs")).head()
    )
    assert found is not None
    return Counts(*found)


def archived(spark: SparkSession, paths: list[str], *, has_pairs: bool) -> DataFrame:
    """Return `_id`, `_timestamp` and `fields` of all entries of the files. `has_pairs`: whether some of the
    entries are in `pairs`."""
    entries = _files(spark, IN_FIELDS, paths)
    if has_pairs:
        in_pairs = _files(spark, COLUMNS, paths).where("pairs is not null").drop("fields")
        entries = entries.where("fields is not null").union(in_pairs.mapInArrow(_with_maps, IN_FIELDS))
    return entries.withColumn("_timestamp", F.coalesce("_timestamp", _time_of_id()))


def _time_of_id() -> Column:
    """The time in the id; null if it is too late for a timestamp."""
    ms = F.split_part("_id", F.lit("-"), F.lit(1)).try_cast("bigint")
    return F.timestamp_millis(F.when(ms <= MS_MAX, ms))


def _fits_a_map_of_text(fields: Column) -> Column:
    names, values = F.map_keys(fields), F.map_values(fields)
    has_text = F.is_valid_utf8(F.array_join(names, ASCII_SEPARATOR)) & F.is_valid_utf8(
        F.array_join(values, ASCII_SEPARATOR)
    )
    return has_text & (F.size(F.array_distinct(names)) == F.size(names))


def _files(spark: SparkSession, schema: T.StructType, paths: Iterable[str]) -> DataFrame:
    """Return the rows of the files. A missing or damaged file is an error, whatever the session's settings
    say."""
    reader = spark.read.schema(schema).options(ignoreMissingFiles=False, ignoreCorruptFiles=False)
    return reader.parquet(*paths).select(*schema.names)


def _with_maps(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the entries with their pairs as a map, as the data source has them. Runs in a task."""
    for batch in batches:
        pairs = batch["pairs"]
        texts = [pairs.values.field(n).cast(pa.binary()).view(pa.string()) for n in range(2)]
        maps = pa.MapArray.from_arrays(pairs.offsets.cast(pa.int32()), *texts)
        columns = [batch["_id"], batch["_timestamp"], maps]
        yield pa.RecordBatch.from_arrays(columns, names=IN_FIELDS.names)
