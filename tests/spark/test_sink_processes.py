"""Every row once, though drivers and executors are killed and tasks run twice, on clusters of their own.

Each case has the rows twice: from files to the sink, and from a stream through the data source to the sink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from pyspark.sql import SparkSession

from tailrace_spark import TailraceSink
from tests.spark.faults import attempts_at, attempts_stream
from tests.spark.queries import (
    ROWS,
    assert_each_once,
    next_page,
    numbered_rows,
    numbers_in,
    target_of,
    write_input,
)
from tests.spark.spark_processes import Driver, driver

pytestmark = pytest.mark.long

PROGRAM: Final = "tests.spark.sink_driver"
SOURCES: Final = ("files", "stream")
SECRET: Final = "tlr_9_seen-by-nobody"  # noqa: S105 - it opens nothing


class Rows(NamedTuple):
    """All rows, in two micro-batches of two partitions each: where files and stream of them are."""

    url: str
    files: Path
    stream: str

    def written_to(self, target: str, directory: Path, **options: object) -> dict[str, object]:
        """Options of the driver."""
        checkpoint = directory / "checkpoint"
        return {**self._asdict(), "target": target, "checkpoint": checkpoint, **options}


@pytest.fixture(scope="module")
def rows(spark: SparkSession, base_url: str, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    files = write_input(spark, tmp_path_factory.mktemp("input") / "rows", ROWS, batches=2)
    stream = "processes:rows"
    in_order = numbered_rows(spark, 0, ROWS).coalesce(1)
    TailraceSink(base_url, stream, producer_id="rows")(in_order, 0)
    return Rows(base_url, files, stream)


def test_a_driver_killed_before_in_and_after_the_commit_of_a_batch_adds_no_row_twice(
    rows: Rows, tmp_path: Path
) -> None:
    target = "killed-driver"
    options = rows.written_to(target, tmp_path, master="local[2,4]")
    with together(tmp_path / "first.log", options, fault="linger"):
        for source in SOURCES:
            next_page(rows.url, attempts_stream(target_of(target, source)))
    for source in SOURCES:
        assert numbers_in(rows.url, target_of(target, source)) == []
    with together(tmp_path / "in-the-commit.log", options, hold_chunks=1):
        for source in SOURCES:
            next_page(rows.url, target_of(target, source))
    for source in SOURCES:
        assert 0 < len(numbers_in(rows.url, target_of(target, source))) < ROWS // 2
    with together(tmp_path / "second.log", options, hold=0) as second:
        begun = by_source(second.next_object() for _ in SOURCES)
    for source in SOURCES:
        assert 0 < begun[source, 0]["replayed"] < begun[source, 0]["requests"]
        assert len(numbers_in(rows.url, target_of(target, source))) == ROWS // 2
    with together(tmp_path / "third.log", options) as third:
        ended = by_source(third.finish())
    for source in SOURCES:
        assert (ended[source, 0]["requests"], ended[source, 0]["rows"]) == (0, ROWS // 2)
        assert ended[source, 1]["requests"] > 0
        assert_each_once(rows.url, target_of(target, source))


def test_an_executor_that_is_killed_amid_its_rows_adds_none_twice_and_no_plan_or_log_shows_the_token(
    rows: Rows, tmp_path: Path
) -> None:
    target = "killed-executor"
    events = tmp_path / "events"
    events.mkdir()
    logged = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(events),
        "spark.eventLog.compress": "false",
        "spark.log.level": "INFO",
    }
    cluster = {"master": "local-cluster[2,1,1024]", "fault": "kill_executor", "token": SECRET}
    options = rows.written_to(target, tmp_path, **cluster)
    with driver(PROGRAM, tmp_path / "driver.log", logged, **options) as running:
        running.finish()
    for source in SOURCES:
        assert_each_once(rows.url, target_of(target, source))
        assert attempts_at(rows.url, target_of(target, source)) == [("0", "0")]
    assert running.log_text.count("ExecutorLostFailure") >= len(SOURCES)
    texts = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"write_to_tailrace" in text for text in texts), "the plan was not logged"
    assert not any(SECRET.encode() in text for text in texts)


def test_a_task_that_runs_twice_at_a_time_adds_no_row_twice(
    rows: Rows, standalone: str, tmp_path: Path
) -> None:
    target = "speculated"
    speculation = {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.multiplier": "1.1",
        "spark.executor.memory": "512m",
    }
    options = rows.written_to(target, tmp_path, master=standalone, fault="dawdle")
    with driver(PROGRAM, tmp_path / "driver.log", speculation, **options) as running:
        running.finish()
    for source in SOURCES:
        assert_each_once(rows.url, target_of(target, source))
        attempts = attempts_at(rows.url, target_of(target, source))
        assert ("0", "0") in attempts
        assert ("0", "1") in attempts


def test_an_interrupt_ends_the_wait_and_a_write_that_is_repeated_adds_no_row_twice(
    rows: Rows, tmp_path: Path
) -> None:
    target = "interrupted"
    options = {"url": rows.url, "files": rows.files, "target": target, "directory": tmp_path}
    program = "tests.spark.interrupt_driver"
    with driver(program, tmp_path / "log", {}, checkpoint=tmp_path / "checkpoint", **options) as running:
        seen = {each.pop("step"): each for each in running.finish()}
    assert seen["query"] == {"is_interrupted": True, "is_active": True}
    assert_each_once(rows.url, target)
    assert seen["direct"] == seen["saved"] == {"is_interrupted": True}
    assert_each_once(rows.url, f"{target}:direct", 100)
    assert "DATA_SOURCE_NOT_FOUND" in seen["after"]["refusal"]
    assert_each_once(rows.url, f"{target}:after", 100)
    assert_each_once(rows.url, f"{target}:saved", 100)


def together(log_file: Path, options: Mapping[str, object], **more: object) -> AbstractContextManager[Driver]:
    """A driver whose queries run at the same time, so that it can be killed during both."""
    return driver(PROGRAM, log_file, {}, **options, **more, at_once=len(SOURCES))


def by_source(reports: Iterable[dict[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    """What was printed, by source and batch."""
    return {(report["source"], report["batch"]): report for report in reports}
