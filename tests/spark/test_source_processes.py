"""The source across processes: a driver is killed during a batch, entries go, and another driver replays it.

Each case has a cluster of its own, with two executors. Nothing is written twice, and no loss is silent.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

from tailrace_client import Tailrace
from tailrace_spark import TailraceSink
from tests.spark.faults import attempts_stream
from tests.spark.queries import CHUNK_ROWS, ROWS, next_page, numbered_rows, numbers_in, target_of
from tests.spark.spark_processes import Driver, driver
from tests.spark.test_sink_processes import PROGRAM

pytestmark = pytest.mark.long

CHUNKS_PER_PART: Final = 6


def fill(spark: SparkSession, url: str, stream: str) -> None:
    TailraceSink(url, stream, producer_id="rows")(numbered_rows(spark, 0, ROWS).coalesce(1), 0)


def copying(
    url: str, stream: str, directory: Path, log_name: str, **more: object
) -> AbstractContextManager[Driver]:
    """A driver that copies the stream in two batches of two parts each."""
    return driver(
        PROGRAM,
        directory / log_name,
        {},
        master="local-cluster[2,1,1024]",
        url=url,
        files=directory,
        stream=stream,
        target=stream,
        checkpoint=directory / "checkpoint",
        sources="stream",
        **more,
    )


def test_entries_that_were_deleted_before_a_replay_move_no_row_to_another_part(
    spark: SparkSession, base_url: str, tmp_path: Path
) -> None:
    """The deleted ones are of a chunk that was not written yet."""
    stream = "processes:deleted"
    out = target_of(stream, "stream")
    fill(spark, base_url, stream)
    with copying(base_url, stream, tmp_path, "first.log", fault="linger"):
        next_page(base_url, attempts_stream(out))
    deleted = range((CHUNKS_PER_PART - 1) * CHUNK_ROWS, CHUNKS_PER_PART * CHUNK_ROWS)
    with Tailrace(base_url) as tailrace:
        ids = [entry_id for entry_id, fields in tailrace.stream(stream).read() if int(fields["n"]) in deleted]
        tailrace.stream(stream).delete_entries(*ids)
    with copying(base_url, stream, tmp_path, "second.log") as second:
        reports = second.finish()
    assert reports[0]["replayed"] > 0
    numbers = numbers_in(base_url, out)
    assert len(numbers) == len(set(numbers))
    assert sorted(numbers) == [n for n in range(ROWS) if n not in deleted]


@pytest.mark.parametrize("loss", ["trimmed", "created again"])
def test_a_batch_that_is_gone_before_its_replay_is_data_loss(
    spark: SparkSession, base_url: str, tmp_path: Path, loss: str
) -> None:
    stream = f"processes:{loss}"
    fill(spark, base_url, stream)
    with copying(base_url, stream, tmp_path, "first.log", hold=0) as first:
        first.next_object()
    with Tailrace(base_url) as tailrace:
        if loss == "trimmed":
            tailrace.stream(stream).trim(0, approximate=False)
        else:
            tailrace.stream(stream).delete()
    if loss == "created again":
        fill(spark, base_url, stream)
    with copying(base_url, stream, tmp_path, "second.log") as second, pytest.raises(AssertionError):
        second.finish()
    sentence = {
        "trimmed": "entries were trimmed before they were read",
        "created again": "the stream was deleted and created again",
    }
    assert sentence[loss] in second.log_text
    assert sorted(numbers_in(base_url, target_of(stream, "stream"))) == list(range(ROWS // 2))
