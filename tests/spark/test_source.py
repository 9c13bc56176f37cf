"""The data source in one session: batches and streams, read and written, and what goes wrong on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource
from tailrace_spark.sink.sink import named
from tests.spark.queries import (
    assert_each_once,
    numbered_rows,
    numbers_in,
    once_started,
    read_stream,
    write_input,
)
from tests.support.server_process import running_server
from tests.support.tokens import make_token

ROWS = 2_000
NUMBER = "cast(fields['n'] as bigint) as n"


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> SparkSession:
    spark.dataSource.register(TailraceDataSource)
    return spark


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server.base_url


def fill(url: str, stream: str, start: int = 0, end: int = ROWS) -> None:
    with Tailrace(url) as tailrace:
        tailrace.stream(stream).append_many({"n": str(number)} for number in range(start, end))


def reading(spark: SparkSession, url: str, stream: str, **options: object) -> DataFrame:
    return spark.read.format("tailrace").options(url=url, stream=stream, **options).load()  # type: ignore[arg-type]


def following(spark: SparkSession, url: str, stream: str, **options: object) -> DataFrame:
    return spark.readStream.format("tailrace").options(url=url, stream=stream, **options).load()  # type: ignore[arg-type]


def writing(frame: DataFrame, checkpoint: Path, url: str, out: str) -> DataStreamWriter:
    writer = frame.writeStream.format("tailrace").options(url=url, stream=out)
    return writer.option("checkpointLocation", str(checkpoint))


def fields_of(schema: str) -> list[T.StructField]:
    kind = T.DataType.fromDDL(schema)
    assert isinstance(kind, T.StructType)
    return kind.fields


def finish(writer: DataStreamWriter) -> StreamingQuery:
    """Process all available entries, then end."""
    return once_started(writer.trigger(availableNow=True), StreamingQuery.awaitTermination)


def running(writer: DataStreamWriter) -> StreamingQuery:
    """A query that has processed all available entries, and continues."""
    return once_started(writer, StreamingQuery.processAllAvailable)


# --- batches ---------------------------------------------------------------------------------------


def test_a_batch_reads_each_entry_once_over_its_partitions(source: SparkSession, url: str) -> None:
    fill(url, "batch")
    frame = reading(source, url, "batch", minPartitions=3)
    assert frame.rdd.getNumPartitions() == 3
    assert sorted(row["n"] for row in frame.selectExpr(NUMBER).collect()) == list(range(ROWS))
    first = frame.orderBy("_id").head()
    assert first is not None
    assert first["_stream"] == "batch"
    assert first["fields"] == {"n": "0"}


def test_a_range_by_ids_includes_both_ends_and_may_be_empty(source: SparkSession, url: str) -> None:
    with Tailrace(url) as tailrace:
        for ms in (1, 2, 3, 4):
            tailrace.stream("range").append({"n": str(ms)}, id=f"{ms}-1")
    frame = reading(source, url, "range", startingOffsets="2-1", endingOffsets="3")
    assert [row["_id"] for row in frame.collect()] == ["2-1", "3-1"]
    assert reading(source, url, "range", startingOffsets="5-0").collect() == []


def test_every_type_is_written_and_read_back(source: SparkSession, url: str) -> None:
    """The table of docs/spark.md, there and back."""
    schema = (
        "text string, small tinyint, big bigint, `a float` float, `odd.name` double, price decimal(20,9),"
        " yes boolean, day date, at timestamp, wall timestamp_ntz,"
        " point struct<x:bigint,y:decimal(5,2),when:timestamp>, list array<double>, map map<string,bigint>,"
        " raw binary"
    )
    frame = source.sql(
        """select 'é"\\n' as text, cast(-7 as tinyint) as small, 9007199254740993 as big,
        cast(1.5 as float) as `a float`, double('NaN') as `odd.name`,
        cast('0.000000012' as decimal(20,9)) as price, true as yes,
        date'2026-02-03' as day,
        timestamp'2026-01-02 03:04:05.000600 +02:00' as at,
        timestamp_ntz'2026-01-02 03:04:05' as wall,
        named_struct('x', 1L, 'y', 2.50BD, 'when', timestamp'2026-01-01 00:00:00Z') as point,
        array(1.5D, null) as list, map('k', 1L, 'l', null) as map, unhex('FF00') as raw
        union all select null, null, null, null, null, null, null, null, null, null, null, null, null,
        unhex('41')"""
    )
    typed = frame.select(*[named(field.name).cast(field.dataType) for field in fields_of(schema)])
    typed.coalesce(1).write.format("tailrace").options(url=url, stream="types").mode("append").save()
    options = {"url": url, "stream": "types", "mode": "failfast"}
    back = source.read.format("tailrace").schema(schema).options(**options).load()
    assert [repr(row) for row in back.collect()] == [repr(row) for row in typed.collect()]


def test_text_that_its_column_cannot_hold_is_null_or_an_error_that_names_the_entry(
    source: SparkSession, url: str
) -> None:
    with Tailrace(url) as tailrace:
        for ms, speed in enumerate(("30.2", "fast", "7"), start=1):
            tailrace.stream("bad").append({"speed": speed}, id=f"{ms}-0")
    reader = source.read.format("tailrace").schema("_id string, speed double").options(url=url, stream="bad")
    assert [row["speed"] for row in reader.load().collect()] == [30.2, None, 7.0]
    with pytest.raises(
        PySparkException, match="entry 2-0: the field 'speed' is 'fast', which is not a valid double"
    ):
        reader.option("mode", "failfast").load().collect()


def test_bytes_and_repeated_names_are_read(source: SparkSession, url: str) -> None:
    with Tailrace(url) as tailrace:
        tailrace.stream("odd").append({b"raw": b"\xff\x00"})
        tailrace.stream("odd").append([("raw", "first"), ("raw", "last")])
    frame = source.read.format("tailrace").schema("raw binary").options(url=url, stream="odd").load()
    assert [bytes(row["raw"]) for row in frame.collect()] == [b"\xff\x00", b"last"]


def test_a_batch_write_that_is_repeated_under_its_producer_adds_nothing(
    source: SparkSession, url: str
) -> None:
    for _ in range(2):
        writer = numbered_rows(source, 0, ROWS).write.format("tailrace").mode("append")
        writer.options(url=url, stream="again", producerId="p", batchId=7, chunkRows=300).save()
    assert_each_once(url, "again", ROWS)


def test_a_row_that_is_refused_goes_to_the_dead_letters_or_fails_the_write(
    source: SparkSession, url: str
) -> None:
    rows = source.sql("select 'good' as n union all select cast(null as string)").coalesce(1)
    writer = rows.write.format("tailrace").mode("append").options(url=url, stream="refused")
    writer.option("deadLetterStream", "refused:dead").save()
    with Tailrace(url) as tailrace:
        assert tailrace.stream("refused").length() == tailrace.stream("refused:dead").length() == 1
    with pytest.raises(PySparkException, match="HTTP 422"):
        rows.write.format("tailrace").mode("append").options(url=url, stream="refused").save()


def test_overwriting_a_stream_is_refused(source: SparkSession, url: str) -> None:
    writer = numbered_rows(source, 0, 1).write.format("tailrace").mode("overwrite")
    with pytest.raises(PySparkException, match=r"'overwrite' .* would delete the stream; use 'append'"):
        writer.options(url=url, stream="over").save()


# --- streams ---------------------------------------------------------------------------------------


def test_a_query_takes_what_is_there_in_batches_no_larger_than_said_and_goes_on_after_a_restart(
    source: SparkSession, url: str, tmp_path: Path
) -> None:
    fill(url, "in")
    frame = following(source, url, "in", maxEntriesPerTrigger=900, group="spark").selectExpr(NUMBER)
    query = finish(writing(frame, tmp_path, url, "out"))
    sizes = [progress.numInputRows for progress in query.recentProgress]
    assert [size for size in sizes if size] == [900, 900, 200]
    assert query.recentProgress[0].sources[0].latestOffset is not None
    with Tailrace(url) as tailrace:
        group = tailrace.stream("in").group("spark").info()
        assert (group.entries_read, group.lag) == (ROWS, 0)
    fill(url, "in", ROWS, ROWS + 100)
    finish(writing(frame, tmp_path, url, "out"))
    assert_each_once(url, "out", ROWS + 100)


def test_a_query_that_begins_at_the_latest_reads_what_comes_after_its_first_look(
    source: SparkSession, url: str, tmp_path: Path
) -> None:
    fill(url, "later", 0, 10)
    frame = following(source, url, "later", startingOffsets="latest").selectExpr(NUMBER)
    finish(writing(frame, tmp_path, url, "later:out"))
    fill(url, "later", 10, 20)
    finish(writing(frame, tmp_path, url, "later:out"))
    assert sorted(numbers_in(url, "later:out")) == list(range(10, 20))


def test_a_query_reads_several_streams_and_takes_up_new_ones_of_its_pattern(
    source: SparkSession, url: str, tmp_path: Path
) -> None:
    fill(url, "many:1", 0, 10)
    fill(url, "many:2", 10, 30)
    reader = source.readStream.format("tailrace").options(url=url, streamPattern=r"many:\d")
    frame = reader.option("maxEntriesPerTrigger", 15).load().selectExpr(NUMBER, "_stream as name")
    query = finish(writing(frame, tmp_path, url, "many:out"))
    sizes = [progress.numInputRows for progress in query.recentProgress]
    assert [size for size in sizes if size] == [15, 15]
    behind = [json.loads(str(each.sources[0].latestOffset)) for each in query.recentProgress]
    assert behind[0]["entries_behind"] == 15
    assert behind[-1]["entries_behind"] == 0
    fill(url, "many:3", 30, 40)
    finish(writing(frame, tmp_path, url, "many:out"))
    assert_each_once(url, "many:out", 40)
    with Tailrace(url) as tailrace:
        names = [fields["name"] for _, fields in tailrace.stream("many:out").read()]
    assert {name: names.count(name) for name in names} == {"many:1": 10, "many:2": 20, "many:3": 10}


def test_a_batch_reads_several_streams(source: SparkSession, url: str) -> None:
    fill(url, "both:1", 0, 10)
    fill(url, "both:2", 10, 30)
    frame = source.read.format("tailrace").options(url=url, streams="both:1,both:2").load()
    assert {row["_stream"]: row["count"] for row in frame.groupBy("_stream").count().collect()} == {
        "both:1": 10,
        "both:2": 20,
    }


@pytest.mark.parametrize("is_lossy", [False, True])
def test_a_stream_created_again_with_later_ids_is_an_error_unless_entries_may_be_lost(
    source: SparkSession, url: str, tmp_path: Path, *, is_lossy: bool
) -> None:
    name = f"anew:{is_lossy}"
    fill(url, name, 0, 10)
    frame = following(source, url, name, failOnDataLoss=str(not is_lossy)).selectExpr(NUMBER)
    finish(writing(frame, tmp_path, url, f"{name}:out"))
    with Tailrace(url) as tailrace:
        tailrace.stream(name).delete()
    fill(url, name, 10, 20)
    if is_lossy:
        finish(writing(frame, tmp_path, url, f"{name}:out"))
        assert_each_once(url, f"{name}:out", 20)
        return
    with pytest.raises(PySparkException, match="the stream was deleted and created again"):
        finish(writing(frame, tmp_path, url, f"{name}:out"))


def test_entries_that_were_trimmed_before_they_were_read_are_an_error_unless_they_may_be_lost(
    source: SparkSession, url: str, tmp_path: Path
) -> None:
    fill(url, "trimmed", 0, 10)
    finish(writing(following(source, url, "trimmed").selectExpr(NUMBER), tmp_path, url, "trimmed:out"))
    fill(url, "trimmed", 10, 20)
    with Tailrace(url) as tailrace:
        tailrace.stream("trimmed").trim(5, approximate=False)
    with pytest.raises(PySparkException, match="entries were trimmed before they were read"):
        finish(writing(following(source, url, "trimmed").selectExpr(NUMBER), tmp_path, url, "trimmed:out"))
    lossy = following(source, url, "trimmed", failOnDataLoss="false").selectExpr(NUMBER)
    finish(writing(lossy, tmp_path, url, "trimmed:out"))
    assert sorted(numbers_in(url, "trimmed:out")) == [*range(10), *range(15, 20)]


def test_a_batch_that_is_replayed_through_the_writer_adds_nothing(
    source: SparkSession, url: str, tmp_path: Path
) -> None:
    frame = read_stream(source, write_input(source, tmp_path / "input", ROWS, 2))
    finish(writing(frame, tmp_path / "checkpoint", url, "replayed"))
    for commit in (tmp_path / "checkpoint" / "commits").glob("*1*"):
        commit.unlink()
    finish(writing(frame, tmp_path / "checkpoint", url, "replayed"))
    assert_each_once(url, "replayed", ROWS)


def test_a_server_that_goes_away_and_comes_back_costs_nothing(source: SparkSession, tmp_path: Path) -> None:
    """The query waits inside `latestOffset` meanwhile; the second server has the address of the first."""
    with running_server(tmp_path) as server:
        fill(server.base_url, "s", 0, 10)
        frame = following(source, server.base_url, "s").selectExpr(NUMBER)
        query = running(writing(frame, tmp_path / "checkpoint", server.base_url, "out"))
        port = server.port
    try:
        with running_server(tmp_path, "--port", str(port)) as again:
            fill(again.base_url, "s", 10, 20)
            query.processAllAvailable()
            assert query.exception() is None
            assert sorted(numbers_in(again.base_url, "out")) == list(range(20))
    finally:
        query.stop()


def test_a_server_that_never_comes_back_is_an_error_after_the_deadline(
    source: SparkSession, tmp_path: Path
) -> None:
    with running_server(tmp_path) as server:
        fill(server.base_url, "s", 0, 1)
        frame = following(source, server.base_url, "s", retryDeadlineMs=0)
    with pytest.raises(PySparkException, match=r"NOT_CONNECTED.*no HTTP response"):
        finish(writing(frame, tmp_path / "checkpoint", server.base_url, "out"))


# --- permissions, and missing streams ----------------------------------------------------------------


def test_a_stream_that_is_not_there_is_an_error_that_names_it(source: SparkSession, url: str) -> None:
    with pytest.raises(PySparkException, match=r"stream 'nowhere' at http.*: there is no such stream"):
        reading(source, url, "nowhere").collect()


def test_an_unknown_option_is_an_error_that_names_the_nearest(source: SparkSession, url: str) -> None:
    with pytest.raises(PySparkException, match=r"did you mean 'startingOffsets'\?"):
        reading(source, url, "s", startingOffset="5-0")


def test_a_token_is_needed_where_the_server_asks_for_one_and_no_plan_shows_it(
    source: SparkSession, tmp_path: Path
) -> None:
    token = make_token(tmp_path / "tokens.json", "append", "read")
    with running_server(tmp_path, "--tokens-file", str(tmp_path / "tokens.json")) as server:
        numbered_rows(source, 0, 10).write.format("tailrace").mode("append").options(
            url=server.base_url, stream="s", token=token
        ).save()
        frame = reading(source, server.base_url, "s", token=token)
        assert frame.count() == 10
        assert token not in shown_plan(frame)
        with pytest.raises(PySparkException, match=r"HTTP 401.*check that the token is valid") as error:
            reading(source, server.base_url, "s", token="tlr_wrong_not-to-be-seen").collect()  # noqa: S106
        assert "not-to-be-seen" not in str(error.value)


def shown_plan(frame: DataFrame) -> str:
    plan: str = frame._jdf.queryExecution().toString()
    return plan
