"""Every row once, whatever happens to tasks, answers and the server. Each test sees that its fault fired."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tailrace_spark import TailraceSink
from tailrace_spark.errors import SinkError
from tests.spark.faults import attempts_at, kill_worker
from tests.spark.faulty_proxy import Fault, faulty_proxy
from tests.spark.queries import (
    CHUNK_ROWS,
    ROWS,
    SCHEMA,
    assert_each_once,
    follow,
    numbered_rows,
    numbers_in,
    read_stream,
    run_query,
    target_of,
    write_input,
)
from tests.support.server_process import ServerProcess, running_server

pytestmark = pytest.mark.spark_faults


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All rows, in two micro-batches of two partitions."""
    return write_input(spark, tmp_path_factory.mktemp("input") / "rows", ROWS, batches=2)


@pytest.fixture
def small_batches(spark: SparkSession) -> Iterator[None]:
    """Rows go to Python in portions far smaller than a chunk: else none is written before all are read."""
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", CHUNK_ROWS // 10)
    yield
    spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("source", ["files", "stream"])
def test_a_task_that_is_killed_amid_its_rows_and_retried_adds_none_twice(
    spark: SparkSession, base_url: str, written: Path, tmp_path: Path, source: str
) -> None:
    """What feeds the sink's own worker ends with the task: that is not the end of its rows."""
    target = target_of("sink:killed-task", source)
    sink = TailraceSink(base_url, target, chunk_rows=CHUNK_ROWS)
    if source == "stream":
        TailraceSink(base_url, "sink:rows", producer_id="rows")(numbered_rows(spark, 0, ROWS).coalesce(1), 0)
    rows = read_stream(spark, written) if source == "files" else follow(spark, base_url, "sink:rows")
    killed = rows.mapInArrow(partial(kill_worker, base_url, target), SCHEMA)
    run_query(killed, sink, tmp_path / "checkpoint")
    assert_each_once(base_url, target)
    assert attempts_at(base_url, target) == [("0", "0")]


def fault_of_a_bad_network(number: int) -> Fault:
    faults = {1: Fault.ANSWER_LOST, 3: Fault.UNAVAILABLE, 4: Fault.TOO_MANY_REQUESTS, 6: Fault.CUT}
    return faults.get(number % 8, Fault.NONE)


def test_lost_answers_429_503_and_cut_connections_add_nothing_twice(
    spark: SparkSession, server: ServerProcess, written: Path, tmp_path: Path
) -> None:
    stream = "sink:bad-network"
    with faulty_proxy(server.port, fault_of_a_bad_network) as proxy:
        sink = TailraceSink(proxy.url, stream, chunk_rows=CHUNK_ROWS)
        run_query(read_stream(spark, written), sink, tmp_path / "checkpoint")
    assert_each_once(server.base_url, stream)
    counts = [report.counts for report in sink.reports.values()]
    fired = {fault: proxy.fired[fault] for fault in Fault if fault is not Fault.NONE}
    assert all(fired.values())
    assert sum(each.retries for each in counts) == sum(fired.values())
    assert sum(each.replayed for each in counts) <= fired[Fault.ANSWER_LOST]


class BetweenWriteAndCommitError(Exception):
    pass


def write_and_fail(sink: TailraceSink, frame: DataFrame, batch_id: int) -> None:
    sink(frame, batch_id)
    raise BetweenWriteAndCommitError


def test_a_batch_that_is_replayed_after_it_was_written_adds_nothing(
    spark: SparkSession, base_url: str, written: Path, tmp_path: Path
) -> None:
    stream, checkpoint = "sink:replayed", tmp_path / "checkpoint"
    sink = TailraceSink(base_url, stream, chunk_rows=CHUNK_ROWS)
    with pytest.raises(Exception, match="BetweenWriteAndCommitError"):
        run_query(read_stream(spark, written), partial(write_and_fail, sink), checkpoint)
    assert len(numbers_in(base_url, stream)) == ROWS // 2
    run_query(read_stream(spark, written), sink, checkpoint)
    assert_each_once(base_url, stream)
    assert [(batch, report.is_replay) for (_, batch), report in sink.reports.items()] == [
        (0, True),
        (1, False),
    ]
    assert [report.counts.rows for report in sink.reports.values()] == [ROWS // 2] * 2


def test_a_batch_that_was_written_adds_nothing_whatever_its_rows_are_now(
    spark: SparkSession, base_url: str
) -> None:
    stream = "sink:other-rows"
    sink = TailraceSink(base_url, stream, producer_id="other-rows")
    assert not sink.write(numbered_rows(spark, 0, 100), 0).is_replay
    assert sink.write(numbered_rows(spark, 100, 200), 0).is_replay
    assert_each_once(base_url, stream, 100)


def test_a_batch_older_than_the_last_one_is_refused(spark: SparkSession, base_url: str) -> None:
    stream = "sink:stale"
    sink = TailraceSink(base_url, stream, producer_id="stale")
    for batch in range(3):
        sink(numbered_rows(spark, batch * 10, (batch + 1) * 10), batch)
    with pytest.raises(
        SinkError, match=r"STALE_EPOCH: .*a later batch \(2\) of this query was already started"
    ):
        sink(numbered_rows(spark, 0, 10), 0)
    assert_each_once(base_url, stream, 30)


# --- the server is away --------------------------------------------------------------------------------

CONNECTIONS_CUT = 6


def listen() -> socket.socket:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)
    return listener


def test_a_server_that_is_away_for_a_while_is_waited_for(
    spark: SparkSession, written: Path, tmp_path: Path
) -> None:
    listener = listen()
    port = listener.getsockname()[1]
    sink = TailraceSink(f"http://127.0.0.1:{port}", "s", chunk_rows=CHUNK_ROWS)
    query = threading.Thread(
        target=run_query, args=(read_stream(spark, written), sink, tmp_path / "checkpoint")
    )
    query.start()
    with closing(listener):
        for _ in range(CONNECTIONS_CUT):
            listener.accept()[0].close()
    with running_server(tmp_path, "--port", str(port)) as server:
        query.join()
        assert_each_once(server.base_url, "s")
    assert sink.reports
    assert sum(report.counts.retries for report in sink.reports.values()) >= CONNECTIONS_CUT


def test_a_server_that_never_comes_is_given_up_at_the_deadline_with_a_sentence(spark: SparkSession) -> None:
    with closing(listen()) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    sink = TailraceSink(url, "s", producer_id="nobody", retry_deadline_s=0.5)
    with pytest.raises(
        SinkError,
        match=r"NOT_CONNECTED: .* \(no HTTP response\): stream 's:staged:.*', query nobody, batch 3",
    ):
        sink(numbered_rows(spark, 0, 10), 3)


def test_where_one_of_several_urls_is_dead_another_is_used(spark: SparkSession, base_url: str) -> None:
    with closing(listen()) as listener:
        dead = f"http://127.0.0.1:{listener.getsockname()[1]}"
    sink = TailraceSink([dead, base_url], "sink:urls", producer_id="urls")
    sink(numbered_rows(spark, 0, 10), 0)
    assert_each_once(base_url, "sink:urls", 10)
