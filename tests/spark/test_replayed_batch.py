"""What tasks and driver do with a batch that an earlier run began, request by request, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import httpx
import pyarrow as pa
import pytest
from pyspark.sql.types import StringType, StructField, StructType

from tailrace_client import Tailrace, TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.errors import SinkError
from tailrace_spark.sink.entry_form import entry_form
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.partition_writer import Job, _PartitionWriter
from tailrace_spark.sink.replayed_batch import finish
from tailrace_spark.sink.run_sender import Checked, RunSender
from tailrace_spark.sink.sender import Replay, Sent
from tailrace_spark.tokens import TokenSource
from tests.support.server_process import running_server

LAYOUT: Final = "chunks of 1 rows; columns 1"
Chunks = Mapping[str, str]
"""The number in the only row of each chunk, by the key of the chunk."""

FOUR: Final[Sequence[Chunks]] = [{"0-0": "1"}, {"1-0": "2"}, {"2-0": "3"}, {"3-0": "4"}]
TWO: Final[Sequence[Chunks]] = [{"0-0": "1", "0-1": "2"}, {"1-0": "3", "1-1": "4"}]
"""The rows of one batch, in four partitions and in two."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("server"), "--durability", "none") as server:
        yield server.base_url


@pytest.fixture
def stream(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


class Run:
    """One run of a query that writes batch 7."""

    def __init__(self, url: str, stream: str, name: str, layout: str = LAYOUT, **options: Any) -> None:
        self.stream = stream
        self.replay = Replay("query", 7, layout, name)
        self._endpoint = Endpoint((url,), TokenSource(None, None, None), 60)
        self._options = SinkOptions(retry_deadline_s=0, **options)

    def task(self, chunks: Chunks) -> Checked:
        """Write one partition."""
        checked = Checked()
        sender = RunSender(self._endpoint, self.replay, self._options, Sent(), 0, checked)
        for key, number in chunks.items():
            sender.send(self.stream, b'{"n":"%b"}\n' % number.encode(), key, "fields")
        return checked

    def commit(self, parts: Sequence[Checked]) -> None:
        finish(self._endpoint, self._options, self.replay, parts)

    def write(self, partitions: Sequence[Chunks]) -> None:
        """Write the batch."""
        self.commit([self.task(chunks) for chunks in partitions])


def numbers(url: str, stream: str) -> list[str]:
    with Tailrace(url) as tailrace:
        return sorted(str(fields["n"]) for _, fields in tailrace.stream(stream).read())


def test_a_run_that_begins_the_batch_appends_at_once(url: str, stream: str) -> None:
    first = Run(url, stream, "first")
    assert first.task(FOUR[0]) == Checked()
    assert numbers(url, stream) == ["1"]


def test_a_later_run_appends_only_what_is_missing_and_only_from_its_driver(url: str, stream: str) -> None:
    Run(url, stream, "first").task(FOUR[1])
    later = Run(url, stream, "later")
    parts = [later.task(chunks) for chunks in FOUR]
    assert numbers(url, stream) == ["2"]
    later.commit(parts)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_a_batch_that_is_complete_comes_back_and_adds_nothing(url: str, stream: str) -> None:
    for name in ("first", "second", "third"):
        Run(url, stream, name).write(FOUR)
        assert numbers(url, stream) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("begun", [[0], [1], [3], [0, 1], [0, 1, 2, 3]])
def test_other_partitions_are_refused_add_nothing_and_leave_the_batch_to_the_first_ones(
    url: str, stream: str, begun: Sequence[int]
) -> None:
    first = Run(url, stream, "first")
    for partition in begun:
        first.task(FOUR[partition])
    before = numbers(url, stream)
    if begun == [0]:
        # All that was written is in the same chunk of both: the batch may be finished either way.
        Run(url, stream, "later").write(TWO)
    else:
        for name in ("later", "and again"):
            with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED"):
                Run(url, stream, name).write(TWO)
            assert numbers(url, stream) == before
        Run(url, stream, "back").write(FOUR)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_a_run_that_takes_the_batch_over_fences_the_tasks_of_the_earlier_one(url: str, stream: str) -> None:
    first = Run(url, stream, "first")
    first.task(FOUR[0])
    alive = RunSender(first._endpoint, first.replay, first._options, Sent(), 0, Checked())
    alive.send(stream, b'{"n":"1"}\n', "0-0", "fields")
    Run(url, stream, "later").write(TWO)
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED"):
        alive.send(stream, b'{"n":"4"}\n', "3-0", "fields")
    first.task(FOUR[3])
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_keys_that_an_earlier_task_adds_meanwhile_make_the_later_run_fail_and_the_next_one_ends(
    url: str, stream: str
) -> None:
    first = Run(url, stream, "first")
    first.task(FOUR[0])
    later = Run(url, stream, "later")
    parts = [later.task(chunks) for chunks in FOUR]
    first.task(FOUR[3])
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED"):
        later.commit(parts)
    assert numbers(url, stream) == ["1", "4"]
    Run(url, stream, "third").write(FOUR)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_a_driver_that_dies_between_two_appends_leaves_a_batch_that_the_next_run_ends(
    url: str, stream: str
) -> None:
    Run(url, stream, "first").task(FOUR[0])
    second = Run(url, stream, "second")
    parts = [second.task(chunks) for chunks in FOUR]
    parts[2].missing.clear()
    parts[3].missing.clear()
    second.commit(parts)
    assert numbers(url, stream) == ["1", "2"]
    with pytest.raises(SinkError):
        Run(url, stream, "other partitions").write(TWO)
    Run(url, stream, "third").write(FOUR)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_of_two_runs_at_a_time_one_takes_the_batch_over_and_the_other_fails(url: str, stream: str) -> None:
    Run(url, stream, "first").task(FOUR[0])
    runs = [Run(url, stream, name) for name in ("one", "other")]
    found = [[run.task(chunks) for chunks in FOUR] for run in runs]
    runs[0].commit(found[0])
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED"):
        runs[1].commit(found[1])
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_a_task_of_a_run_that_took_over_may_run_twice(url: str, stream: str) -> None:
    Run(url, stream, "first").task(FOUR[0])
    later = Run(url, stream, "later")
    later.write(FOUR)
    assert later.task(FOUR[2]) == Checked()
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_another_chunk_size_is_refused_by_the_task_itself(url: str, stream: str) -> None:
    Run(url, stream, "first").task(FOUR[0])
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED: .*was cut as \[chunks of 1"):
        Run(url, stream, "later", "chunks of 2 rows; columns 1").task(FOUR[1])
    assert numbers(url, stream) == ["1"]


def test_rows_that_all_differ_are_named_as_the_cause(url: str, stream: str) -> None:
    Run(url, stream, "first").write(FOUR)
    other = [{key: f"{number}0" for key, number in chunks.items()} for chunks in FOUR]
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED: .*only 0 of them are in .*rand\(\)"):
        Run(url, stream, "later").write(other)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_a_batch_of_an_earlier_release_of_this_package_is_finished(url: str, stream: str) -> None:
    Run(url, stream, "").task({})
    with Tailrace(url) as tailrace:
        tailrace.stream(stream).import_lines(
            b'{"n":"1"}\n',
            producer_id="query",
            producer_epoch=7,
            producer_layout=LAYOUT,
            idempotency_key="0-0",
        )
    Run(url, stream, "later").write(FOUR)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_compressed_chunks_come_back_as_they_were_sent(url: str, stream: str) -> None:
    Run(url, stream, "first", compression="zstd").task(FOUR[0])
    Run(url, stream, "later", compression="zstd").write(FOUR)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_a_server_that_cannot_check_gets_the_chunks_under_the_layout_of_the_earlier_run(
    url: str, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_there(*_: object) -> bool:
        raise TailraceError("NO_SUCH_ROUTE", "no such route", status=404)

    Run(url, stream, "first").task(FOUR[0])
    monkeypatch.setattr("tailrace_spark.sink.run_sender.is_known", not_there)
    Run(url, stream, "later").write(FOUR)
    assert numbers(url, stream) == ["1", "2", "3", "4"]


def test_a_row_that_the_server_refuses_goes_up_from_a_check_as_from_an_append(url: str, stream: str) -> None:
    Run(url, stream, "first").task(FOUR[0])
    later = Run(url, stream, "later")
    sender = RunSender(later._endpoint, later.replay, later._options, Sent(), 0, Checked())
    with pytest.raises(TailraceError) as refusal:
        sender.send(stream, b'{"n":1}\n', "1-0", "fields")
    assert refusal.value.status == httpx.codes.UNPROCESSABLE_ENTITY


def test_an_epoch_that_is_too_old_is_an_error(url: str, stream: str) -> None:
    for batch in (8, 9, 10):
        with Tailrace(url) as tailrace:
            tailrace.stream(stream).import_lines(
                b'{"n":"1"}\n', producer_id="query", producer_epoch=batch, idempotency_key="0-0"
            )
    with pytest.raises(SinkError, match=r"^STALE_EPOCH"):
        Run(url, stream, "first").task(FOUR[0])


# --- rows that are refused, and rows that choose their stream ----------------------------------------


class Rows:
    """A run that writes rows from Arrow, with the chunks, dead letters and streams that the options ask
    for."""

    def __init__(self, run: Run, columns: Sequence[str], **options: Any) -> None:
        self._run = run
        options = {"chunk_rows": 2, "retry_deadline_s": 0, **options}
        sink = SinkOptions(**options)
        form = entry_form(StructType([StructField(name, StringType()) for name in columns]), sink)
        self._job = Job(run._endpoint, run.stream, form, sink, run.replay)

    def task(self, partition: int, *columns: Sequence[str | None]) -> Checked:
        writer = _PartitionWriter(self._job, partition)
        names = [str(number) for number in range(len(columns))]
        writer.write([pa.RecordBatch.from_pydict(dict(zip(names, columns, strict=True)))])
        return writer.checked


def test_dead_letters_come_back_once_also_if_the_earlier_run_wrote_only_some(url: str, stream: str) -> None:
    dead = f"{stream}:dead"
    parts: list[Sequence[str | None]] = [["1", None, "2"], [None, "3"]]
    first = Rows(Run(url, stream, "first"), ["n"], dead_letter_stream=dead)
    first.task(0, parts[0])
    for name in ("second", "third"):
        run = Run(url, stream, name)
        later = Rows(run, ["n"], dead_letter_stream=dead)
        run.commit([later.task(number, rows) for number, rows in enumerate(parts)])
        assert numbers(url, stream) == ["1", "2", "3"]
        assert httpx.get(f"{url}/v1/streams/{dead}/length").json() == {"length": 2}


def test_dead_letters_in_other_partitions_are_refused(url: str, stream: str) -> None:
    dead = f"{stream}:dead"
    Rows(Run(url, stream, "first"), ["n"], dead_letter_stream=dead).task(1, [None, "3"])
    run = Run(url, stream, "later")
    later = Rows(run, ["n"], dead_letter_stream=dead)
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED"):
        run.commit([later.task(0, ["1", "2", None, "3"])])
    assert numbers(url, stream) == ["3"]


def test_each_stream_of_a_batch_is_compared_on_its_own(url: str, stream: str) -> None:
    to, rows = [f"{stream}:a", f"{stream}:b"], ["1", "2"]
    Rows(Run(url, stream, "first"), ["to", "n"], stream_column="to").task(0, to, rows)
    run = Run(url, stream, "later")
    later = Rows(run, ["to", "n"], stream_column="to")
    run.commit([later.task(0, to, rows), later.task(1, to[::-1], ["3", "4"])])
    assert numbers(url, to[0]) == ["1", "4"]
    assert numbers(url, to[1]) == ["2", "3"]
    other = Run(url, stream, "other")
    moved = Rows(other, ["to", "n"], stream_column="to")
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED"):
        other.commit([moved.task(0, to, rows)])
    assert numbers(url, to[0]) == ["1", "4"]
