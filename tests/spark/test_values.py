"""The casting rule: both writers give a value the same text, and every reader gets the same value back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource, TailraceSink
from tailrace_spark.errors import BadOption
from tests.spark.queries import settings
from tests.spark.values_table import REFUSED, TEXTS, VALUES
from tests.support.server_process import running_server

NAMES: Final = [f"c{number}" for number in range(len(VALUES))]
SCHEMA: Final = ", ".join(f"{name} {value.kind}" for name, value in zip(NAMES, VALUES, strict=True))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("values")) as server:
        yield server.base_url


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> Iterator[SparkSession]:
    spark.dataSource.register(TailraceDataSource)
    with settings(spark, {"spark.sql.timeType.enabled": "true"}):
        yield spark


def values_in(session: SparkSession) -> DataFrame:
    """All values of the table, in one row."""
    columns = ", ".join(f"{value.sql} as {name}" for name, value in zip(NAMES, VALUES, strict=True))
    return session.sql(f"select {columns}").coalesce(1)


def shown(frame: DataFrame) -> list[dict[str, str | None]]:
    """The rows as Spark shows them: Python has no objects for some of the values."""
    rows = frame.selectExpr(*[f"cast(`{name}` as string) as `{name}`" for name in frame.columns]).collect()
    return [row.asDict() for row in rows]


def write_with_sink(frame: DataFrame, url: str, stream: str) -> None:
    TailraceSink(url, stream, producer_id="values")(frame, 0)


def write_with_format(frame: DataFrame, url: str, stream: str) -> None:
    frame.write.format("tailrace").mode("append").options(url=url, stream=stream).save()


Writer = Callable[[DataFrame, str, str], None]
WRITERS: Final[list[Writer]] = [write_with_sink, write_with_format]


@pytest.fixture(scope="module")
def written(source: SparkSession, url: str) -> list[str]:
    """The streams with all values, one of each writer, from a session in another zone than UTC."""
    with settings(source, {"spark.sql.session.timeZone": "America/New_York"}):
        for write in WRITERS:
            write(values_in(source), url, write.__name__)
    return [write.__name__ for write in WRITERS]


def test_both_writers_write_each_value_as_the_table_says(url: str, written: list[str]) -> None:
    table = {name: value.text for name, value in zip(NAMES, VALUES, strict=True)}
    for stream in written:
        with Tailrace(url) as tailrace:
            [(_, fields)] = tailrace.stream(stream).read()
        assert dict(fields) == table


def test_the_source_reads_each_text_back_to_the_same_value(
    source: SparkSession, url: str, written: list[str]
) -> None:
    reader = source.read.format("tailrace").schema(SCHEMA)
    back = reader.options(url=url, stream=written[0], mode="failfast").load()
    assert shown(back) == shown(values_in(source))


def test_spark_itself_reads_each_text_back_to_the_same_value(source: SparkSession) -> None:
    texts = [(number, value.text) for number, value in enumerate(VALUES)]
    rows = source.createDataFrame(texts, "number int, t string").coalesce(1)
    columns = [f"if(number = {n}, {value.read_by_spark}, null) as c{n}" for n, value in enumerate(VALUES)]
    read = shown(rows.selectExpr(*columns))
    assert {name: read[number][name] for number, name in enumerate(NAMES)} == shown(values_in(source))[0]


@pytest.mark.parametrize(("kind", "sql"), REFUSED)
def test_a_type_without_a_text_is_refused_by_all_in_the_same_words_before_anything_is_written(
    source: SparkSession, url: str, kind: str, sql: str
) -> None:
    frame = source.sql(f"select 'x' as n, {sql} as c")
    with pytest.raises(BadOption) as refusal:
        write_with_sink(frame, url, "refused")
    assert "use a string instead" in str(refusal.value)
    with pytest.raises(PySparkException) as refused:
        write_with_format(frame, url, "refused")
    assert str(refusal.value) in str(refused.value)
    reader = source.read.format("tailrace").schema(f"c {kind}").options(url=url, stream="any")
    with pytest.raises(PySparkException) as unread:
        reader.load().collect()
    assert str(refusal.value) in str(unread.value)
    with Tailrace(url) as tailrace:
        assert tailrace.stream("refused").length() == 0


def test_an_interval_of_months_and_days_is_refused_by_the_sink_too(source: SparkSession, url: str) -> None:
    """Spark refuses it for every table, so neither the data source's writer nor its reader sees it."""
    frame = source.sql("select make_interval(1, 2, 3) as c")
    with pytest.raises(BadOption, match="column 'c': the type interval has no text"):
        write_with_sink(frame, url, "refused")
    with pytest.raises(PySparkException, match='Cannot use "INTERVAL" type'):
        write_with_format(frame, url, "refused")


def test_a_struct_that_repeats_a_member_is_refused(source: SparkSession, url: str) -> None:
    frame = source.sql("select named_struct('a', 1, 'a', 2) as c")
    for write in WRITERS:
        with pytest.raises((BadOption, PySparkException), match="column 'c': the struct has two members 'a'"):
            write(frame, url, "refused")


def test_text_of_any_origin_is_read_as_spark_reads_it_or_not_at_all(source: SparkSession, url: str) -> None:
    rows = [(kind, text) for kind, texts in TEXTS.items() for text in texts]
    with Tailrace(url) as tailrace:
        tailrace.stream("texts").append_many(
            {"kind": kind, f"t{list(TEXTS).index(kind)}": text} for kind, text in rows
        )
    schema = ", ".join(f"t{number} {kind}" for number, kind in enumerate(TEXTS))
    read = source.read.format("tailrace").schema(schema).options(url=url, stream="texts").load()
    judged = source.createDataFrame(rows, "kind string, t string").coalesce(1)
    expressions = [
        f"if(kind = '{kind}', {_by_spark(kind)}, null) as t{number}" for number, kind in enumerate(TEXTS)
    ]
    found, expected = shown(read), shown(judged.selectExpr(*expressions))
    differing = [
        (row, ours, sparks)
        for row, ours, sparks in zip(rows, found, expected, strict=True)
        if any(value is not None and value != sparks[name] for name, value in ours.items())
    ]
    assert differing == [], differing


def _by_spark(kind: str) -> str:
    return f"from_json(t, '{kind}')" if kind.startswith(("struct", "array")) else f"try_cast(t as {kind})"
