"""Filters of a batch read narrow its range, and never what it returns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    CaseInsensitiveDict,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)
from pyspark.sql.types import StructType

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource
from tailrace_spark.entry_ids import LAST_POSSIBLE_ID, SEQ_MAX, ZERO_ID
from tailrace_spark.source.columns import SCHEMA, Columns
from tailrace_spark.source.pushdown import NOTHING, narrowed
from tests.spark.queries import settings
from tests.support.server_process import running_server

ENTRIES: Final = 40
FIRST_MS: Final = 1_700_000_000_000
PUSHDOWN: Final = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("filters")) as server:
        with Tailrace(server.base_url) as tailrace:
            for number in range(ENTRIES):
                tailrace.stream("s").append({"n": str(number)}, id=f"{FIRST_MS + number // 2}-{number % 2}")
        yield server.base_url


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> SparkSession:
    spark.dataSource.register(TailraceDataSource)
    return spark


def entries_read(url: str, *filters: Filter) -> list[str]:
    """The ids that the tasks of a plan with these filters read, in this process."""
    options = CaseInsensitiveDict({"url": url, "stream": "s", "pushDownPredicate": "true"})
    reader = TailraceDataSource(options).reader(SCHEMA)
    assert reader.pushFilters(list(filters)) == list(filters)
    ids: list[str] = []
    for part in reader.partitions():
        for batch in reader.read(part):
            assert isinstance(batch, pa.RecordBatch)
            ids += batch.column("_id").to_pylist()
    return ids


ALL: Final = [f"{FIRST_MS + number // 2}-{number % 2}" for number in range(ENTRIES)]
AT: Final = datetime.fromtimestamp(FIRST_MS / 1000, UTC) + timedelta(milliseconds=5)
MS: Final = timedelta(milliseconds=1)
ID: Final = f"{FIRST_MS + 5}-1"


@pytest.mark.parametrize(
    ("filters", "first", "last"),
    [
        ([EqualTo(("_timestamp",), AT)], 10, 11),
        ([GreaterThanOrEqual(("_timestamp",), AT)], 10, 39),
        ([GreaterThan(("_timestamp",), AT)], 10, 39),
        ([LessThan(("_timestamp",), AT)], 0, 11),
        ([GreaterThan(("_timestamp",), AT), LessThanOrEqual(("_timestamp",), AT + 2 * MS)], 10, 15),
        ([In(("_timestamp",), (AT, AT - MS))], 8, 11),
        ([EqualTo(("_id",), ID)], 11, 11),
        ([In(("_id",), (ID, f"{FIRST_MS + 2}-0", "none"))], 4, 11),
        ([GreaterThanOrEqual(("_id",), ID)], 10, 39),
        ([LessThan(("_id",), ID)], 0, 11),
        ([EqualTo(("_stream",), "s")], 0, 39),
        ([IsNotNull(("fields",))], 0, 39),
    ],
)
def test_a_filter_narrows_the_range_that_is_read(
    url: str, filters: list[Filter], first: int, last: int
) -> None:
    assert entries_read(url, *filters) == ALL[first : last + 1]


@pytest.mark.parametrize("condition", [EqualTo(("_id",), "0"), EqualTo(("_stream",), "other")])
def test_a_filter_that_no_entry_meets_reads_nothing(url: str, condition: Filter) -> None:
    assert entries_read(url, condition) == []


def test_spark_passes_its_filters_and_still_applies_them(source: SparkSession, url: str) -> None:
    """Each part has one entry, so the parts count the entries that the tasks would read."""
    with settings(source, {PUSHDOWN: "true"}):
        reader = source.read.format("tailrace").options(url=url, stream="s", minPartitions=40)
        frame = reader.option("pushDownPredicate", "true").load()
        condition = f"_timestamp > timestamp'{AT - MS}' and _id < '{ID}' and fields['n'] % 2 = 0"
        found = frame.where(condition)
        assert found.rdd.getNumPartitions() == 4
        assert [row["_id"] for row in found.collect()] == [ALL[10]]


def test_without_sparks_setting_the_option_is_an_error_that_names_the_setting(
    source: SparkSession, url: str
) -> None:
    reader = source.read.format("tailrace").options(url=url, stream="s")
    with pytest.raises(PySparkException, match=PUSHDOWN):
        reader.option("pushDownPredicate", "true").load().count()


def test_a_read_without_fields_parses_only_ids() -> None:
    """The block is one that no parser of entries accepts."""
    lines = b'{"id":"1-0","fields":broken}\n{"id":"1-1"\n{"id":"2-0","pairs":[["a","b"],["a","c"]]}\n'
    schema = StructType([SCHEMA["_stream"], SCHEMA["_id"], SCHEMA["_timestamp"]])
    [batch] = Columns(schema, "s", "permissive", "_corrupt_record").batches(iter([lines]))
    assert batch.column("_id").to_pylist() == ["1-0", "1-1", "2-0"]
    assert batch.column("_stream").to_pylist() == ["s"] * 3


@pytest.mark.parametrize(
    ("condition", "whole", "range_"),
    [
        # Ids of different lengths are not ordered as text is: '9-0' is the greatest of them in Spark.
        (GreaterThan(("_id",), "10-0"), ("8-0", "11-0"), ("8-0", "11-0")),
        (LessThan(("_id",), "9-0"), ("8-0", "11-0"), ("8-0", "11-0")),
        (EqualTo(("_id",), "9-0"), ("8-0", "11-0"), ("8-18446744073709551615", "9-0")),
        (EqualTo(("_id",), "09-0"), ("8-0", "11-0"), NOTHING),
        (GreaterThanOrEqual(("_id",), "95-3"), ("90-0", "99-0"), (f"94-{SEQ_MAX}", "99-0")),
        (GreaterThanOrEqual(("_id",), "9"), ("90-0", "99-0"), ("90-0", "99-0")),
        (GreaterThan(("_id",), "x"), ("90-0", "99-0"), ("90-0", "99-0")),
        (In(("_stream",), ("a", "b")), ("90-0", "99-0"), NOTHING),
        (In(("_stream",), ("a", "s")), ("90-0", "99-0"), ("90-0", "99-0")),
        (Not(EqualTo(("_id",), "95-0")), ("90-0", "99-0"), ("90-0", "99-0")),
        (IsNotNull(("_id",)), ("90-0", "99-0"), ("90-0", "99-0")),
        (EqualTo(("fields", "_id"), "95-0"), ("90-0", "99-0"), ("90-0", "99-0")),
        (EqualTo(("_timestamp",), "text"), ("90-0", "99-0"), ("90-0", "99-0")),
        (EqualTo(("n",), 1), (ZERO_ID, LAST_POSSIBLE_ID), (ZERO_ID, LAST_POSSIBLE_ID)),
    ],
)
def test_only_a_filter_that_orders_ids_as_numbers_narrows(
    condition: Filter, whole: tuple[str, str], range_: tuple[str, str]
) -> None:
    assert narrowed([condition], "s", whole) == range_
