"""The archive job in one session: what is written where, what is trimmed, what stops it; and the history."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tailrace_client import Tailrace
from tailrace_spark import archive_stream, read_history
from tailrace_spark.errors import BadArchive, BadOption
from tests.support.server_process import running_server

FIRST_MS = 1_767_229_200_000
"""2026-01-01, 01:00 in UTC."""
MS_AN_HOUR = 3_600_000


@pytest.fixture(scope="module")
def tailrace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tailrace]:
    with running_server(tmp_path_factory.mktemp("server")) as server, Tailrace(server.base_url) as client:
        yield client


def url_of(tailrace: Tailrace) -> str:
    return tailrace.session.settings.url


def add(tailrace: Tailrace, stream: str, *hours: float) -> list[str]:
    return [
        tailrace.stream(stream).append({"hour": str(hour)}, id=f"{FIRST_MS + round(hour * MS_AN_HOUR)}-*")
        for hour in hours
    ]


def history_ids(spark: SparkSession, tailrace: Tailrace, stream: str, path: Path) -> list[str]:
    return sorted(row["_id"] for row in read_history(spark, url_of(tailrace), stream, str(path)).collect())


def test_entries_are_archived_by_day_and_hour_and_trimmed_and_the_history_has_each_once(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    archived = add(tailrace, "by-hour", 0, 0.5, 1, 23, 24)
    report = archive_stream(spark, url_of(tailrace), "by-hour", str(tmp_path), entries_per_step=2)
    assert (report.steps, report.entries, report.trimmed, report.end) == (3, 5, 5, archived[-1])
    assert sorted(
        {str(file.parent.parent.relative_to(tmp_path)) for file in tmp_path.rglob("*.parquet")}
    ) == [
        "day=2026-01-01/hour=1",
        "day=2026-01-01/hour=2",
        "day=2026-01-02/hour=0",
        "day=2026-01-02/hour=1",
    ]
    assert tailrace.stream("by-hour").length() == 0
    live = add(tailrace, "by-hour", 25)
    assert history_ids(spark, tailrace, "by-hour", tmp_path) == sorted(archived + live)


def test_what_is_archived_and_not_trimmed_stands_in_the_history_once(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    ids = add(tailrace, "kept", 0, 1, 2)
    archive_stream(spark, url_of(tailrace), "kept", str(tmp_path), until=ids[1], trim="nothing")
    assert tailrace.stream("kept").length() == 3
    assert history_ids(spark, tailrace, "kept", tmp_path) == ids
    report = archive_stream(spark, url_of(tailrace), "kept", str(tmp_path))
    assert (report.entries, report.trimmed) == (1, 3)


def test_leftovers_that_no_manifest_names_are_no_part_of_the_archive(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    ids = add(tailrace, "left", 0)
    archive_stream(spark, url_of(tailrace), "left", str(tmp_path))
    [directory] = tmp_path.glob("day=*/hour=*/step=0")
    shutil.copytree(directory, directory.with_name("step=1"))
    assert history_ids(spark, tailrace, "left", tmp_path) == ids
    ids += add(tailrace, "left", 1)
    archive_stream(spark, url_of(tailrace), "left", str(tmp_path))
    assert not directory.with_name("step=1").exists()
    assert history_ids(spark, tailrace, "left", tmp_path) == ids


def test_files_of_tasks_that_a_killed_driver_had_finished_are_no_part_of_the_next_run(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    ids = add(tailrace, "unfinished", 0)
    archive_stream(spark, url_of(tailrace), "unfinished", str(tmp_path), trim="nothing")
    [directory] = tmp_path.glob("day=*/hour=*/step=0")
    # The state in which Hadoop's committer leaves a finished task of a job that never ends.
    task = tmp_path / "_temporary/0/task_202601010100001234567890123456789_0004_m_000000"
    shutil.move(directory, task / directory.relative_to(tmp_path))
    shutil.rmtree(tmp_path / "_tailrace")
    report = archive_stream(spark, url_of(tailrace), "unfinished", str(tmp_path))
    assert (report.entries, report.trimmed) == (1, 1)
    assert history_ids(spark, tailrace, "unfinished", tmp_path) == ids


def test_nothing_is_trimmed_once_a_file_of_the_archive_is_missing(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    add(tailrace, "missing", 0)
    archive_stream(spark, url_of(tailrace), "missing", str(tmp_path), trim="nothing")
    [file] = tmp_path.rglob("*.parquet")
    file.unlink()
    with pytest.raises(BadArchive, match=r"\.parquet: the manifest says \d+ bytes, found no file"):
        archive_stream(spark, url_of(tailrace), "missing", str(tmp_path))
    assert tailrace.stream("missing").length() == 1


def test_an_archive_of_another_stream_is_refused(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    for stream in ("one", "other"):
        add(tailrace, stream, 0)
    archive_stream(spark, url_of(tailrace), "one", str(tmp_path))
    with pytest.raises(BadArchive, match="holds the stream 'one', not 'other'"):
        archive_stream(spark, url_of(tailrace), "other", str(tmp_path))
    assert tailrace.stream("other").length() == 1


def test_a_history_without_an_archive_is_refused_unless_it_may_be_empty(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    ids = add(tailrace, "wrong-path", 0, 1)
    archive_stream(spark, url_of(tailrace), "wrong-path", str(tmp_path / "right"), until=ids[0])
    wrong = str(tmp_path / "wrong")
    with pytest.raises(BadArchive, match=r"/wrong: there is no archive .* pass allow_empty=True"):
        read_history(spark, url_of(tailrace), "wrong-path", wrong)
    live = read_history(spark, url_of(tailrace), "wrong-path", wrong, allow_empty=True)
    assert [row["_id"] for row in live.collect()] == ids[1:]


def test_a_damaged_manifest_is_an_error_that_names_it(
    spark: SparkSession, tailrace: Tailrace, tmp_path: Path
) -> None:
    add(tailrace, "damaged", 0)
    archive_stream(spark, url_of(tailrace), "damaged", str(tmp_path))
    [manifest] = tmp_path.glob("_tailrace/*.json")
    text = manifest.read_text()
    for content, said in (
        (text[:-9], "is not a manifest; restore it"),
        ("[]", "is not a manifest; restore it"),
        (text.replace('"format": 2', '"format": 9'), "a later version wrote this manifest"),
    ):
        manifest.write_text(content)
        manifest.with_name(f".{manifest.name}.crc").unlink(missing_ok=True)
        with pytest.raises(BadArchive, match=rf"{manifest.name}: .*{said}"):
            read_history(spark, url_of(tailrace), "damaged", str(tmp_path))


@pytest.mark.parametrize("name", ["a*", "{a,b}", "[a]", "a?", "a\\b"])
def test_a_path_that_spark_reads_as_a_pattern_is_refused_before_anything_is_sent(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    path = str(tmp_path / name)
    for act in (archive_stream, read_history):
        with pytest.raises(BadOption, match=r"^path: .* reads as a pattern; use a path without them"):
            act(spark, "http://127.0.0.1:1", "s", path)
    assert not list(tmp_path.iterdir())
