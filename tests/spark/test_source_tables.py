"""SQL over streams: tables, temporary views, and a format without registration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tailrace_client import Tailrace
from tests.spark.queries import once_started
from tests.support.pages import fenced

STREAM: Final = "tables:readings"
RIDERS: Final = ["Castilla", "Norem", "Prickett"]


@pytest.fixture(scope="module")
def url(base_url: str) -> str:
    with Tailrace(base_url) as tailrace:
        tailrace.stream(STREAM).append_many([{"rider": rider, "speed": "30.5"} for rider in RIDERS])
    return base_url


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session in which nothing is registered, with a database of its own."""
    session = spark.newSession()
    session.sql("CREATE DATABASE tables")
    session.sql("USE tables")
    yield session
    session.sql("DROP DATABASE tables CASCADE")


def options(url: str, stream: str = STREAM, **others: str) -> str:
    named = {"url": url, "stream": stream, **others}
    return "(" + ", ".join(f"{name} = '{value}'" for name, value in named.items()) + ")"


def test_the_format_needs_no_registration_where_the_package_is_installed(
    session: SparkSession, url: str
) -> None:
    assert session.read.format("tailrace").options(url=url, stream=STREAM).load().count() == len(RIDERS)


def test_a_table_without_columns_can_be_selected_from_and_followed(session: SparkSession, url: str) -> None:
    session.sql(
        f"CREATE TABLE readings USING tailrace OPTIONS {options(url, startingOffsets='earliest')} "
        "TBLPROPERTIES ('made-by' = 'a test')"
    )
    found = session.sql("SELECT fields['rider'] AS rider FROM readings WHERE _stream = 'tables:readings'")
    assert [row.rider for row in found.collect()] == RIDERS
    writer = session.readStream.table("readings").writeStream.format("memory").queryName("followed")
    once_started(writer.trigger(availableNow=True), StreamingQuery.awaitTermination)
    assert session.table("followed").count() == len(RIDERS)


def test_a_temporary_view_with_columns_can_be_selected_from_and_inserted_into(
    session: SparkSession, url: str
) -> None:
    session.sql(
        "CREATE TEMPORARY VIEW speeds (rider STRING, speed DOUBLE) USING tailrace "
        f"OPTIONS {options(url, 'tables:view')}"
    )
    session.sql("INSERT INTO speeds VALUES ('Royce', 31.5), ('Norem', NULL)")
    assert {tuple(row) for row in session.table("speeds").collect()} == {("Royce", 31.5), ("Norem", None)}


def test_a_table_with_columns_takes_its_options_from_each_query(session: SparkSession, url: str) -> None:
    session.sql(f"CREATE TABLE speeds (rider STRING) USING tailrace OPTIONS {options(url)}")
    named = f"speeds WITH {options(url, 'tables:with')}"
    session.sql(f"INSERT INTO {named} VALUES ('Royce')")  # noqa: S608 - our own words
    assert [row.rider for row in session.sql(f"SELECT * FROM {named}").collect()] == ["Royce"]  # noqa: S608
    with pytest.raises(AnalysisException, match="only if CREATE TABLE names no columns: leave them out"):
        session.sql("SELECT * FROM speeds").collect()


def test_the_statements_of_the_page_run(session: SparkSession, url: str) -> None:
    for block in fenced("docs/spark.md", "sql"):
        for statement in filter(str.strip, block.replace("http://tailrace:8080", url).split(";")):
            session.sql(statement.replace("'readings'", "'tables:page'")).collect()
    with Tailrace(url) as tailrace:
        riders = [fields["rider"] for _, fields in tailrace.stream("tables:page").read()]
    assert riders == ["Castilla", "Castilla"]


def test_a_write_never_takes_the_options_of_a_table_because_they_could_be_those_of_another_one(
    session: SparkSession, url: str
) -> None:
    for name, stream in (("one", STREAM), ("other", "tables:other")):
        session.sql(f"CREATE TABLE {name} USING tailrace OPTIONS {options(url, stream)}")
    for write in ("INSERT INTO other SELECT * FROM one", "INSERT INTO one VALUES ('1-1', now(), '', map())"):
        with pytest.raises(AnalysisException, match="Spark passes its options to no write: use CREATE TEMP"):
            session.sql(write)


def test_a_table_that_has_the_options_of_another_one_is_refused(session: SparkSession, url: str) -> None:
    session.sql(f"CREATE TABLE one USING tailrace OPTIONS {options(url)}")
    copy = session.table("one").write.format("tailrace").options(url=url, stream="tables:copied")
    copy.saveAsTable("copied")
    with Tailrace(url) as tailrace:
        assert tailrace.stream("tables:copied").length() == len(RIDERS)
    with pytest.raises(AnalysisException, match="Spark keeps the options of that other table"):
        session.table("copied").collect()


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"token": "tlr_1_seen-by-all"}, "token: the catalog would show it to all its users"),
        ({"strem": "s"}, "unknown option 'strem'; did you mean 'stream'?"),
        ({"minPartitions": "none"}, "minPartitions: 'none' is not an integer"),
    ],
)
def test_a_table_with_an_option_that_cannot_be_is_not_created(
    session: SparkSession, url: str, option: dict[str, str], sentence: str
) -> None:
    with pytest.raises(AnalysisException) as refusal:
        session.sql(f"CREATE TABLE t USING tailrace OPTIONS {options(url, **option)}")
    assert sentence in str(refusal.value)
    assert not session.catalog.tableExists("t")
