"""A stream as the source gives it, through both writers: the same fields, and the same ids if asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from tailrace_client import Tailrace
from tailrace_client.entries import Entry
from tailrace_client.fields import ExactFields, Text
from tailrace_spark import TailraceDataSource, TailraceSink
from tailrace_spark.errors import BadOption
from tailrace_spark.sink.entry_form import entry_form
from tailrace_spark.sink.options import sink_options
from tailrace_spark.source.columns import FIELDS_AS_BYTES, SCHEMA
from tests.spark.queries import run_query
from tests.support.server_process import running_server

ENTRIES: Final[list[list[tuple[Text, Text]]]] = [
    [("b", "1"), ("a", "2"), ('é"\\\n', "")],
    [("k", "first"), ("k", "second"), ("a", "3")],
    [(b"\x00", b"\xff"), (b"text", b"more")],
    [(b"\xff", b"1"), (b"\xff", b"2")],
]
"""Fields in an order that is not the alphabet's, a name that repeats, and bytes."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("copies")) as server:
        with Tailrace(server.base_url) as tailrace:
            for number, fields in enumerate(ENTRIES, start=1):
                tailrace.stream("in").append(fields, id=f"{number}-{number}")
        yield server.base_url


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> SparkSession:
    spark.dataSource.register(TailraceDataSource)
    return spark


def entries(source: SparkSession, url: str, *, as_bytes: bool = False) -> DataFrame:
    reader = source.read.format("tailrace").options(url=url, stream="in", minPartitions=2)
    with_bytes = StructType([*SCHEMA.fields[:3], StructField("fields", FIELDS_AS_BYTES)])
    return (reader.schema(with_bytes) if as_bytes else reader).load()


def stored(url: str, stream: str) -> list[Entry]:
    with Tailrace(url) as tailrace:
        return list(tailrace.stream(stream).read())


def pairs_in(url: str, stream: str) -> list[object]:
    return [
        list(fields.pairs if isinstance(fields, ExactFields) else fields.items())
        for _, fields in stored(url, stream)
    ]


@pytest.mark.parametrize("as_bytes", [False, True])
def test_what_the_source_gives_arrives_with_the_same_fields_through_both_writers(
    source: SparkSession, url: str, *, as_bytes: bool
) -> None:
    frame = entries(source, url, as_bytes=as_bytes).coalesce(1)
    TailraceSink(url, f"sink:{as_bytes}", producer_id="copy")(frame, 0)
    frame.write.format("tailrace").mode("append").options(url=url, stream=f"format:{as_bytes}").save()
    assert pairs_in(url, f"sink:{as_bytes}") == pairs_in(url, "in")
    assert pairs_in(url, f"format:{as_bytes}") == pairs_in(url, "in")


def test_a_copy_that_keeps_ids_is_the_same_stream_and_a_replay_adds_nothing(
    source: SparkSession, url: str, tmp_path: Path
) -> None:
    """The rows arrive from two partitions; the second run repeats the batch that was not committed."""
    reader = source.readStream.format("tailrace").options(url=url, stream="in", minPartitions=2)
    for _ in range(2):
        run_query(reader.load(), TailraceSink(url, "kept", keep_ids=True), tmp_path)
        for commit in (tmp_path / "commits").glob("*0*"):
            commit.unlink()
    assert stored(url, "kept") == stored(url, "in")


def test_a_write_of_the_data_source_that_keeps_ids_needs_one_partition(
    source: SparkSession, url: str
) -> None:
    def write(frame: DataFrame, stream: str) -> None:
        writer = frame.write.format("tailrace").mode("append").option("producerId", "copy")
        writer.options(batchId=0, url=url, stream=stream, keepIds="true").save()

    for _ in range(2):
        write(entries(source, url).repartition(1), "kept:format")
    assert stored(url, "kept:format") == stored(url, "in")
    with pytest.raises(PySparkException, match=r"keepIds: the rows are in several partitions"):
        write(entries(source, url), "kept:parts")


def test_ids_that_the_stream_has_passed_are_an_error(source: SparkSession, url: str) -> None:
    with Tailrace(url) as tailrace:
        tailrace.stream("later").append({"a": "1"}, id="9-0")
    with pytest.raises(Exception, match=r"keep_ids: .*ends at 9-0"):
        TailraceSink(url, "later", producer_id="copy", keep_ids=True)(entries(source, url), 0)


# --- what each column becomes --------------------------------------------------------------------------

ID: Final = SCHEMA["_id"]
TIMESTAMP: Final = SCHEMA["_timestamp"]
STREAM: Final = SCHEMA["_stream"]
FIELDS: Final = SCHEMA["fields"]
N: Final = StructField("n", StringType())


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        ([ID, N], {}, "the column '_id' can be a field, or the part of an entry"),
        ([N, TIMESTAMP], {}, "the column '_timestamp' can be a field, or the part"),
        ([N, STREAM], {}, "the column '_stream' can be a field, or the part"),
        (
            [ID, FIELDS, N],
            {},
            "the column 'fields' contains all fields of an entry, and 'n' would be one more",
        ),
        ([FIELDS], {"keep_ids": True}, "keep_ids: there is no string column '_id'"),
        ([N, N], {}, "the column 'n' occurs twice"),
        ([N], {"stream_column": "x"}, "stream_column: 'x' is not a string column; the columns are n string"),
    ],
)
def test_columns_that_can_be_meant_in_two_ways_are_refused(
    columns: list[StructField], options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(BadOption) as refusal:
        entry_form(StructType(columns), sink_options(options))
    assert str(refusal.value).startswith(sentence)


def test_the_parts_of_an_entry_are_no_fields_of_it() -> None:
    plain = entry_form(StructType([ID, N, TIMESTAMP, STREAM]), sink_options({"keep_ids": "false"}))
    assert (plain.fields, plain.id, plain.stream, plain.has_whole_entries) == ((1,), None, None, False)
    kept = entry_form(
        StructType([N, ID, STREAM]), sink_options({"keep_ids": True, "stream_column": "_stream"})
    )
    assert (kept.fields, kept.id, kept.stream, kept.has_whole_entries) == ((0,), 1, 2, True)
    other = entry_form(StructType([StructField("fields", StringType()), N]), sink_options({}))
    assert other.fields == (0, 1)
