"""The exceptions: which ones a program can import, and where Spark prints their sentence."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import SparkSession

import tailrace_spark
from tailrace_spark import TailraceSink, archive_stream, errors, read_history
from tailrace_spark.errors import BadOption, DataLoss, SinkError, headed_by_sentence
from tests.spark.queries import read_stream, run_query, write_input

LINES_BEFORE_THE_SENTENCE_MAX: Final = 5
NOWHERE: Final = "http://127.0.0.1:1"
OF_CONNECT: Final[Any] = SimpleNamespace(sparkSession=object())
"""A DataFrame whose session is not one of the driver's own process."""


def test_every_exception_of_the_package_is_public() -> None:
    exceptions = {
        name
        for name, found in vars(errors).items()
        if inspect.isclass(found) and issubclass(found, Exception) and found.__module__ == errors.__name__
    }
    assert exceptions <= set(tailrace_spark.__all__)
    assert all(getattr(tailrace_spark, name) is getattr(errors, name) for name in exceptions)


def line_of(sentence: str, error: BaseException) -> int:
    """The number of the line of the error that begins the sentence. Spark's own first line has number 0."""
    lines = str(error).splitlines()
    return next(number for number, line in enumerate(lines) if sentence in line)


def nothing_to_connect_to(spark: SparkSession, _: Path) -> None:
    reader = spark.read.format("tailrace").options(url=NOWHERE, stream="s", retryDeadlineMs=0)
    reader.load().collect()


def nothing_to_follow(spark: SparkSession, directory: Path) -> None:
    reader = spark.readStream.format("tailrace").options(url=NOWHERE, stream="s", retryDeadlineMs=0)
    writer = reader.load().writeStream.format("noop").option("checkpointLocation", str(directory / "c"))
    writer.trigger(availableNow=True).start().awaitTermination()


def nothing_to_write_to(spark: SparkSession, _: Path) -> None:
    writer = spark.range(1).write.format("tailrace").mode("append")
    writer.options(url=NOWHERE, stream="s", retryDeadlineMs=0).save()


def nothing_to_send_a_batch_to(spark: SparkSession, directory: Path) -> None:
    rows = read_stream(spark, write_input(spark, directory / "rows", 10, batches=1))
    run_query(rows, TailraceSink(NOWHERE, "s", retry_deadline_s=0), directory / "checkpoint")


@pytest.mark.parametrize(
    "fail", [nothing_to_connect_to, nothing_to_follow, nothing_to_write_to, nothing_to_send_a_batch_to]
)
def test_the_sentence_is_among_the_first_lines_of_what_spark_prints(
    spark: SparkSession, tmp_path: Path, fail: Callable[[SparkSession, Path], None]
) -> None:
    with pytest.raises((PySparkException, StreamingQueryException)) as failure:
        fail(spark, tmp_path)
    assert line_of("no HTTP response", failure.value) <= LINES_BEFORE_THE_SENTENCE_MAX


def test_a_sentence_heads_the_traceback_of_a_call_and_of_what_it_yields_later() -> None:
    @headed_by_sentence
    def call() -> None:
        raise SinkError("at once")

    @headed_by_sentence
    def later() -> Iterator[int]:
        yield 1
        raise DataLoss("later")

    with pytest.raises(SinkError, match="at once") as failure:
        call()
    assert (str(failure.value.__cause__), failure.value.__cause__.__traceback__) == ("at once", None)  # type: ignore[union-attr]
    numbers = later()
    assert next(numbers) == 1
    with pytest.raises(DataLoss, match="later") as failed_later:
        next(numbers)
    assert str(failed_later.value.__cause__) == "later"
    assert str(pickle.loads(pickle.dumps(failed_later.value))) == "later"  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: TailraceSink(NOWHERE, "s").write(OF_CONNECT, 0), "TailraceSink .* write with format"),
        (
            lambda: archive_stream(OF_CONNECT.sparkSession, NOWHERE, "s", "/a"),
            "archive_stream .* submit",
        ),
        (lambda: read_history(OF_CONNECT.sparkSession, NOWHERE, "s", "/a"), "read_history .* spark-submit"),
    ],
)
def test_what_a_spark_connect_session_cannot_do_is_refused_in_one_sentence(
    call: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(BadOption, match=f"^{sentence.replace(' .* ', ' does not work with .* session; .*')}"):
        call()
