"""Entries of any bytes in an archive: every reader of Parquet reads all files, and the history has each entry
as the stream had it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from tailrace_client import Tailrace
from tailrace_spark import TailraceDataSource, archive_stream, read_history
from tests.support.pages import fenced
from tests.support.server_process import running_server

Pairs = list[tuple[bytes, bytes]]

IN_FIELDS: Final[dict[str, Pairs]] = {
    "text": [(b"rider", b"Castilla"), (b"speed", b"30.2")],
    "empty name and value": [(b"", b"")],
    "characters of all lengths": [("é".encode(), "€ 𝄞 \ufffe".encode()), (b",", b'",\\')],
    "a null character": [(b"a\0b", b"\0")],
}
IN_PAIRS: Final[dict[str, Pairs]] = {
    "a value that is not UTF-8": [(b"name", b"\xff\0"), (b"other", b"text")],
    "a name that is not UTF-8": [(b"\xc3", b"1"), (b"\xa9", b"2")],
    "the halves of a character": [(b"head", b"\xc3"), (b"tail", b"\xa9")],
    "a surrogate": [(b"half", b"\xed\xa0\x80")],
    "a name twice": [(b"k", b"2"), (b"k", b"1"), (b"j", b"3"), (b"k", b"1")],
    "a name twice and bytes": [(b"k", b"\xff"), (b"k", b"\xfe")],
}
ALL: Final = {**IN_FIELDS, **IN_PAIRS}
FIRST_MS: Final = 1_767_229_200_000
"""2026-01-01, 01:00 in UTC."""
MANIFEST_FILES: Final = """
    set variable files = (
      select list('{path}/' || file.path)
      from (select unnest(files) as file from read_json('{path}/_tailrace/*.json'))
    )"""


@pytest.fixture(scope="module")
def tailrace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tailrace]:
    with running_server(tmp_path_factory.mktemp("server")) as server, Tailrace(server.base_url) as client:
        yield client


@pytest.fixture(scope="module")
def archive(spark: SparkSession, tailrace: Tailrace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with all entries, in steps of three, and nothing left in the stream."""
    path = tmp_path_factory.mktemp("archive")
    add_all(tailrace, "all")
    report = archive_stream(spark, url_of(tailrace), "all", str(path), entries_per_step=3)
    assert (report.entries, report.trimmed) == (len(ALL), len(ALL))
    return path


def url_of(tailrace: Tailrace) -> str:
    return tailrace.session.settings.url


def add_all(tailrace: Tailrace, stream: str) -> dict[str, Pairs]:
    """Append all entries, and return them by id."""
    return {
        tailrace.stream(stream).append(pairs, id=f"{FIRST_MS + number}-0"): pairs
        for number, pairs in enumerate(ALL.values())
    }


def read_back(frame: DataFrame) -> dict[str, Pairs]:
    """The fields of each entry by id, in their order, as Spark has them."""
    pairs = frame.selectExpr(
        "_id", "cast(map_entries(fields) as array<struct<name:binary,value:binary>>) as pairs"
    )
    return {
        row["_id"]: [(bytes(name), bytes(value)) for name, value in row["pairs"]] for row in pairs.collect()
    }


def by_case(rows: list[tuple[str, Any, Any]]) -> dict[str, Pairs]:
    """What a reader found in `_id`, `fields` and `pairs`, by the name of the case."""
    names = {f"{FIRST_MS + number}-0": name for number, name in enumerate(ALL)}
    found = {}
    for entry_id, fields, pairs in rows:
        assert (fields is None) is not (pairs is None)
        if fields is not None:
            found[names[entry_id]] = [(name.encode(), value.encode()) for name, value in dict(fields).items()]
        else:
            found[names[entry_id]] = [(pair["name"], pair["value"]) for pair in pairs]
    return found


def test_duckdb_reads_every_entry_of_the_files_that_the_manifests_name(archive: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(MANIFEST_FILES.format(path=archive))
        rows = connection.execute(
            "select _id, fields, pairs from read_parquet(getvariable('files'), hive_partitioning = true)"
        ).fetchall()
        speed = connection.execute(
            "select fields['speed'] from read_parquet(getvariable('files')) where fields['speed'] is not null"
        ).fetchall()
    assert len(rows) == len(ALL)
    assert by_case(rows) == ALL
    assert speed == [("30.2",)]


def test_the_query_of_the_page_counts_the_entries_of_the_archive(archive: Path) -> None:
    [query] = fenced("docs/spark.md", "duckdb")
    with duckdb.connect() as connection:
        rows = connection.execute(query.replace("/archive/readings", str(archive))).fetchall()
    assert dict(rows) == {"Castilla": 1, None: len(ALL) - 1}


def test_pandas_and_pyarrow_read_every_entry(archive: Path) -> None:
    frame = pd.read_parquet(archive)
    assert by_case(list(frame[["_id", "fields", "pairs"]].itertuples(index=False, name=None))) == ALL
    table = pq.read_table(archive, columns=["_id", "fields", "pairs"])
    table.validate(full=True)
    rows = [(row["_id"], row["fields"], row["pairs"]) for row in table.to_pylist()]
    assert by_case(rows) == ALL


def test_text_is_a_map_and_only_other_entries_are_pairs(archive: Path) -> None:
    frame = pd.read_parquet(archive).sort_values("_id")
    assert frame["pairs"].isna().tolist() == [name in IN_FIELDS for name in ALL]


@pytest.mark.parametrize("rows_per_batch", [1, 10_000])
def test_the_history_has_every_entry_as_the_stream_had_it(
    spark: SparkSession, tailrace: Tailrace, archive: Path, rows_per_batch: int
) -> None:
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(setting, rows_per_batch)
    try:
        history = read_history(spark, url_of(tailrace), "all", str(archive))
        assert history.count() == len(ALL)
        assert read_back(history) == dict(zip(by_id(), ALL.values(), strict=True))
    finally:
        spark.conf.unset(setting)


def by_id() -> list[str]:
    return [f"{FIRST_MS + number}-0" for number in range(len(ALL))]


def test_the_live_and_the_archived_part_of_a_history_are_alike(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    entries = add_all(tailrace, "halves")
    half = by_id()[len(ALL) // 2]
    archive_stream(spark, url_of(tailrace), "halves", str(tmp_path), until=half)
    history = read_history(spark, url_of(tailrace), "halves", str(tmp_path))
    assert read_back(history) == entries
    times = history.selectExpr("_id", "unix_millis(_timestamp) as ms", "_stream").collect()
    assert {row["_id"]: row["ms"] for row in times} == {key: FIRST_MS + n for n, key in enumerate(entries)}
    assert {row["_stream"] for row in times} == {"halves"}


def test_an_archive_of_an_earlier_release_is_read_and_continued(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    entries = add_all(tailrace, "earlier")
    [*archived, last] = entries
    archive_in_format_1(spark, tailrace, tmp_path, archived)
    assert read_back(read_history(spark, url_of(tailrace), "earlier", str(tmp_path))) == entries
    report = archive_stream(spark, url_of(tailrace), "earlier", str(tmp_path))
    assert (report.steps, report.entries, report.trimmed) == (1, 1, len(ALL))
    assert report.end == last
    assert read_back(read_history(spark, url_of(tailrace), "earlier", str(tmp_path))) == entries


def archive_in_format_1(spark: SparkSession, tailrace: Tailrace, path: Path, ids: list[str]) -> None:
    """One step, as an earlier release wrote it: all entries in `fields`, and no trim."""
    spark.dataSource.register(TailraceDataSource)
    reader = spark.read.format("tailrace").options(
        url=url_of(tailrace), stream="earlier", endingOffsets=ids[-1]
    )
    placed = reader.load().selectExpr(
        "_id", "_timestamp", "fields", "date(_timestamp) as day", "hour(_timestamp) as hour", "0 as step"
    )
    placed.write.partitionBy("day", "hour", "step").mode("append").parquet(str(path))
    files = [
        {"path": str(file.relative_to(path)), "bytes": file.stat().st_size}
        for file in path.rglob("*.parquet")
    ]
    manifest = {
        "format": 1,
        "step": 0,
        "stream": "earlier",
        "after": "0-0",
        "end": ids[-1],
        "count": len(ids),
    }
    (path / "_tailrace").mkdir()
    (path / "_tailrace" / f"{0:020d}.json").write_text(json.dumps({**manifest, "files": files}))


def test_ids_of_any_time_are_read_by_every_reader(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    """In the year 1970, 5000, 12000, and later than a timestamp can be."""
    times_ms = [1, 95_617_584_000_000, 316_537_977_600_000]
    ids = [*(f"{ms}-0" for ms in times_ms), f"{(1 << 64) - 1}-5"]
    for entry_id in ids:
        tailrace.stream("times").append({"a": "b"}, id=entry_id)
    archive_stream(spark, url_of(tailrace), "times", str(tmp_path))
    fits_nanoseconds = dict(zip(ids, [1, None, None, None], strict=True))
    with duckdb.connect() as connection:
        connection.execute(MANIFEST_FILES.format(path=tmp_path))
        found = connection.execute("select _id, epoch_ms(_timestamp) from read_parquet(getvariable('files'))")
        assert dict(found.fetchall()) == fits_nanoseconds
    frame = pd.read_parquet(tmp_path)
    assert dict(zip(frame["_id"], frame["_timestamp"].notna(), strict=True)) == {
        entry_id: ms is not None for entry_id, ms in fits_nanoseconds.items()
    }
    history = read_history(spark, url_of(tailrace), "times", str(tmp_path))
    rows = history.selectExpr("_id", "unix_millis(_timestamp) as ms").collect()
    assert {row["_id"]: row["ms"] for row in rows} == dict(zip(ids, [*times_ms, None], strict=True))
