"""The archive job dies and is started again: each entry is in Parquet or in the stream exactly once at any
time, and nothing was ever trimmed that was not written."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tailrace_client import Stream, Tailrace
from tailrace_spark import archive_stream, read_history
from tests.spark.spark_processes import Driver, driver
from tests.support.server_process import running_server

ENTRIES = 1_000
ENTRIES_SLOW = 1_000_000
STEPS = 8
KILLS_SLOW = 5
LINES_A_STEP = 6
"""That the job logs: writing, written, read back, a part of the archive, trimmed, progress."""


class DiedHereError(Exception):
    """In place of a kill, where the job says that it has come so far."""


class DiesAt(logging.Handler):
    """At the n-th line that is logged, from 1."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self._left = line

    def emit(self, record: logging.LogRecord) -> None:
        self._left -= 1
        if not self._left:
            raise DiedHereError(record.getMessage())


@contextmanager
def dying_at(line: int) -> Iterator[None]:
    logger = logging.getLogger("tailrace_spark.archive.job")
    handler, level = DiesAt(line), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def test_a_job_that_dies_between_any_two_of_its_acts_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "archive"
    with running_server(tmp_path) as server, Tailrace(server.base_url) as tailrace:
        stream = fill(tailrace, ENTRIES)
        for line in range(1, 1 + LINES_A_STEP + 1):  # the first line says what is to archive
            with dying_at(line), pytest.raises(DiedHereError):
                archive_stream(spark, server.base_url, "s", str(path), entries_per_step=ENTRIES // STEPS)
            assert_each_once(spark, server.base_url, path, ENTRIES)
        report = archive_stream(spark, server.base_url, "s", str(path))
        assert 0 < report.entries < ENTRIES
        assert stream.length() == 0
        assert_each_once(spark, server.base_url, path, ENTRIES)


@pytest.mark.long
def test_a_million_entries_survive_five_kills_of_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    """At random points. The next driver starts its Spark while the one before is at work."""
    seed = int(os.environ.get("ARCHIVE_SEED", random.randrange(1 << 32)))
    print(f"ARCHIVE_SEED={seed}")  # noqa: T201 - to have the same again
    chance = random.Random(seed)
    path = tmp_path / "archive"
    with running_server(tmp_path) as server, Tailrace(server.base_url) as tailrace:
        stream = fill(tailrace, ENTRIES_SLOW)
        under_kills(spark, server.base_url, path, chance)
        assert stream.length() == 0
        assert_each_once(spark, server.base_url, path, ENTRIES_SLOW)


def under_kills(spark: SparkSession, url: str, path: Path, chance: random.Random) -> None:
    with ExitStack() as stack:
        running = stack.enter_context(job(url, path, path.with_name("0.log")))
        running.go()
        for number in range(1, KILLS_SLOW + 1):
            following = stack.enter_context(job(url, path, path.with_name(f"{number}.log")))
            # The first run that dies early, and those after it, leave steps for the last one to do.
            for _ in range(chance.randint(1, LINES_A_STEP + 1)):
                running.next_object()
            running.kill()
            assert_each_once(spark, url, path, ENTRIES_SLOW)
            following.go()
            running = following
        assert running.finish()[-1]["steps"] >= 1


def job(url: str, path: Path, log_file: Path) -> AbstractContextManager[Driver]:
    """A driver that archives on request."""
    options = {"master": "local[2,4]", "url": url, "stream": "s", "path": str(path)}
    program, a_step = "tests.spark.archive_driver", ENTRIES_SLOW // STEPS
    return driver(program, log_file, {}, **options, entries_per_step=a_step)


def fill(tailrace: Tailrace, entries: int) -> Stream:
    stream = tailrace.stream("s")
    stream.append_many(({"n": str(number)} for number in range(entries)), chunk=10_000)
    return stream


def assert_each_once(spark: SparkSession, url: str, path: Path, entries: int) -> None:
    history = read_history(spark, url, "s", str(path), allow_empty=True)
    numbers = history.selectExpr("cast(fields['n'] as bigint) as n")
    found = numbers.selectExpr("count(*)", "count(distinct n)", "min(n)", "max(n)").head()
    assert found is not None
    assert tuple(found) == (entries, entries, 0, entries - 1)
