"""The commit of staged batches, request by request, without Spark: every row once, whatever a replay is."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from threading import main_thread
from typing import Any, Final

import pytest

from tailrace_client import Tailrace, TailraceError
from tailrace_spark.endpoint import Endpoint, TokenSource
from tailrace_spark.errors import SinkError
from tailrace_spark.sink.appender import Appender
from tailrace_spark.sink.commit import BEGUN, Batch, Commit, State
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.reports import PartitionCounts
from tailrace_spark.sink.sender import Replay, Sender, Sent
from tailrace_spark.sink.staging import Chunk, Places, Stager, encoding_of, places_of
from tests.support.engines import RedisOnPort, executable_of
from tests.support.live_gateway import live_gateway
from tests.support.redis_server import required
from tests.support.server_process import running_server

Parts = Sequence[Sequence[Sequence[int]]]
"""The rows of a batch: partitions of chunks of numbers."""

WAYS: Final = ("whole", "killed", "killed", "sleeps", "overtaken")
SEEDS: Final = int(os.environ.get("SPARK_CHAOS_SEEDS", "3"))

FIRST: Final[Parts] = [[[1, 2], [3]], [[4]]]
OTHER: Final[Parts] = [[[1]], [[2, 3], [4]]]


@pytest.fixture(scope="module", params=["server", "gateway"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with its own storage, and a gateway."""
    if request.param == "server":
        with running_server(tmp_path_factory.mktemp("server"), "--durability", "none") as server:
            yield server.base_url
        return
    executable = executable_of("redis-7.0.15")
    if executable is None and not required():
        pytest.skip("redis-7.0.15 is not installed")
    assert executable is not None
    with RedisOnPort(executable) as redis, live_gateway(redis.url) as gateway:
        yield gateway.url


@pytest.fixture
def stream(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Mortal:
    """An endpoint of a process that is killed at its n-th request: before it, or when it is carried out."""

    endpoint: Endpoint
    requests_left: int | None = None
    is_carried_out: bool = False
    urls: tuple[str, ...] = ()

    def client(self, turn: int = 0) -> Any:
        client = self.endpoint.client(turn)
        if self.requests_left is None:
            return client
        self.requests_left -= 1
        if self.requests_left > 0:
            return client
        if self.requests_left == 0 and self.is_carried_out:
            return _Last(client)
        raise Killed


class _Last:
    """A client whose process is killed before it has the answer of the request."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._of, name)

        def call(*arguments: Any, **named: Any) -> Any:
            found = method(*arguments, **named)
            if name == "stream":
                return _Last(found)
            raise Killed

        return call


class Run:
    """One run of a query that writes a batch. It may be killed at one of its requests."""

    def __init__(
        self, url: str, stream: str, run: str, batch: int = 7, producer: str = "query", **options: Any
    ) -> None:
        self.mortal = Mortal(Endpoint((url,), TokenSource(), 60))
        self.options = SinkOptions(retry_deadline_s=0, **options)
        self.batch = Batch(producer, batch, "", run)
        self.places = places_of(stream, producer)
        self._stream = stream
        self._url = url

    @property
    def commit(self) -> Commit:
        return Commit(self.mortal, self.options, self._stream, self.batch)  # type: ignore[arg-type]

    def stage(self, parts: Parts) -> list[list[Chunk]]:
        return [self.staged(number, part) for number, part in enumerate(parts)]

    def staged(self, number: int, part: Sequence[Sequence[int]]) -> list[Chunk]:
        replay = Replay(self.batch.producer_id, self.batch.number, "")
        sender = Sender(self.mortal, replay, self.options, Sent(), 0)  # type: ignore[arg-type]
        stager = Stager(sender, self.places, encoding_of(self.options), [])
        for chunk, rows in enumerate(part):
            body = "".join(f'{{"n":"{row}"}}\n' if row >= 0 else "{}\n" for row in rows).encode()
            stager.write(self._stream, f"{number}-{chunk}", body, len(rows))
        return stager.staged

    def write(self, parts: Parts) -> PartitionCounts:
        """The whole write, as the sink does it."""
        begun = self.commit.begin()
        if begun.state != BEGUN:
            return self.commit.finish(begun)
        return self.commit.finish(self.choose(begun, self.stage(parts)))

    def choose(self, begun: State, staged: list[list[Chunk]]) -> State:
        return self.commit.choose({begun.id}, staged, "fields")


def numbers(url: str, stream: str) -> list[int]:
    with Tailrace(url) as tailrace:
        return sorted(int(fields["n"]) for _, fields in tailrace.stream(stream).read())


def staged_chunks(url: str, places: Places) -> int:
    with Tailrace(url) as tailrace:
        return sum("chunk" in fields for _, fields in tailrace.stream(places.chunks).read())


def test_a_batch_is_written_once_and_its_chunks_are_removed(url: str, stream: str) -> None:
    run = Run(url, stream, "first")
    assert run.write(FIRST).rows == 4
    assert numbers(url, stream) == [1, 2, 3, 4]
    with Tailrace(url) as tailrace:
        assert [list(fields) for _, fields in tailrace.stream(run.places.chunks).read()] == [
            ["trimmed_up_to"]
        ]
    assert Run(url, stream, "second").write(OTHER).rows == 4
    assert numbers(url, stream) == [1, 2, 3, 4]


def test_rows_are_seen_by_no_reader_before_the_commit_and_dropped_if_there_is_none(
    url: str, stream: str
) -> None:
    first = Run(url, stream, "first")
    first.commit.begin()
    first.stage(FIRST)
    assert numbers(url, stream) == []
    second = Run(url, stream, "second")
    second.commit.begin()
    assert staged_chunks(url, second.places) == 0


@pytest.mark.parametrize("is_carried_out", [False, True])
def test_a_driver_may_be_killed_at_any_of_its_requests_and_another_cut_ends_the_batch(
    url: str, stream: str, *, is_carried_out: bool
) -> None:
    for at in range(1, 100):
        name = f"{stream}:{at}"
        killed = Run(url, name, "first")
        killed.mortal.requests_left, killed.mortal.is_carried_out = at, is_carried_out
        try:
            killed.write(FIRST)
        except Killed:
            ended = False
        else:
            ended = True
        Run(url, name, "second").write(OTHER)
        assert numbers(url, name) == [1, 2, 3, 4], at
        # Chunks that were published when the driver was killed go with those of the next batch.
        Run(url, name, "third", batch=8).write([[[5]]])
        assert staged_chunks(url, killed.places) == 0
        if ended:
            break
    assert at > 10


def test_of_two_runs_at_a_time_the_one_that_began_first_is_refused_and_wrote_nothing(
    url: str, stream: str
) -> None:
    first, second = Run(url, stream, "first"), Run(url, stream, "second")
    begun = first.commit.begin()
    staged = first.stage(FIRST)
    later = second.commit.begin()
    again = second.stage(OTHER)
    with pytest.raises(SinkError, match=r"^TAKEN_OVER: .*This run wrote no rows"):
        first.choose(begun, staged)
    assert numbers(url, stream) == []
    second.commit.finish(second.choose(later, again))
    assert numbers(url, stream) == [1, 2, 3, 4]
    assert first.commit.finish(first.choose(begun, staged)).rows == 4


def test_chunks_that_a_run_stages_while_another_one_ends_its_batch_stay(url: str, stream: str) -> None:
    first, second = Run(url, stream, "first"), Run(url, stream, "second", batch=8)
    chosen = first.choose(first.commit.begin(), first.stage(FIRST))
    late = second.stage([[[5]]])
    first.commit.finish(chosen)
    assert staged_chunks(url, first.places) == 1
    second.commit.finish(second.choose(second.commit.begin(), late))
    assert numbers(url, stream) == [1, 2, 3, 4, 5]


def test_tasks_that_staged_under_two_tokens_are_not_committed(url: str, stream: str) -> None:
    run, other = Run(url, stream, "run"), Run(url, stream, "other")
    tokens = {run.commit.begin().id}
    assert tokens == {run.commit.begin().id}
    part = run.staged(0, FIRST[0])
    other.commit.begin()
    tokens.add(run.commit.begin().id)
    with pytest.raises(SinkError, match=r"^TAKEN_OVER"):
        run.commit.choose(tokens, [part, run.staged(1, FIRST[1])], "fields")


def test_an_older_batch_is_refused_and_an_unfinished_one_is_finished_before_the_next(
    url: str, stream: str
) -> None:
    unfinished = Run(url, stream, "first", batch=1)
    unfinished.choose(unfinished.commit.begin(), unfinished.stage(FIRST))
    Run(url, stream, "second", batch=2).write([[[5]]])
    assert numbers(url, stream) == [1, 2, 3, 4, 5]
    with pytest.raises(
        SinkError, match=r"STALE_EPOCH: .*a later batch \(2\) of this query was already started"
    ):
        Run(url, stream, "third", batch=1).write(FIRST)


def test_the_next_batch_begins_though_somebody_removed_the_state(url: str, stream: str) -> None:
    first = Run(url, stream, "first")
    first.write(FIRST)
    with Tailrace(url) as tailrace:
        tailrace.stream(first.places.commit).trim(max_length=0, approximate=False)
    Run(url, stream, "second", batch=8).write([[[5]]])
    assert numbers(url, stream) == [1, 2, 3, 4, 5]


def test_a_replay_whose_state_somebody_removed_is_refused(url: str, stream: str) -> None:
    first = Run(url, stream, "first")
    first.write(FIRST)
    with Tailrace(url) as tailrace:
        tailrace.stream(first.places.commit).delete()
    with pytest.raises(SinkError, match=r"^LAYOUT_CHANGED: .*was deleted"):
        Run(url, stream, "second").write(OTHER)
    assert numbers(url, stream) == [1, 2, 3, 4]


def test_a_batch_of_another_query_with_the_same_producer_is_no_replay(url: str, stream: str) -> None:
    Run(url, stream, "first").write(FIRST)
    other = Run(url, stream, "second")
    other.batch = Batch("query", 7, "another checkpoint", "second")
    with pytest.raises(SinkError, match=r"producer_id: .*already written by another query"):
        other.write(OTHER)


def test_a_row_that_is_refused_stops_the_commit_until_there_is_a_place_for_it(url: str, stream: str) -> None:
    with pytest.raises(SinkError, match="there is no `dead_letter_stream`"):
        Run(url, stream, "first").write([[[1, -1, 2], [3]]])
    run = Run(url, stream, "second", dead_letter_stream=f"{stream}:dead")
    assert run.write(FIRST).dead_letters == 1
    assert numbers(url, stream) == [1, 2, 3]


def test_a_chunk_that_is_gone_is_an_error_that_says_so(url: str, stream: str) -> None:
    run = Run(url, stream, "first")
    run.choose(run.commit.begin(), run.stage(FIRST))
    with Tailrace(url) as tailrace:
        tailrace.stream(run.places.chunks).delete()
    with pytest.raises(SinkError, match=r"CHUNK_GONE: .*of its rows are not published and gone"):
        Run(url, stream, "second").write(FIRST)


def test_an_interrupt_ends_the_commit_and_no_thread_appends_after_it(
    url: str, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(range(60))
    run = Run(url, stream, "first")
    chosen = run.choose(run.commit.begin(), run.stage([[[row] for row in rows]]))
    appended = count(1)
    append = Appender.append

    def interrupted(*arguments: Any) -> None:
        append(*arguments)
        if next(appended) == 2:
            signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)

    monkeypatch.setattr(Appender, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.commit.finish(chosen)
    published = numbers(url, stream)
    assert 2 <= len(published) < len(rows)
    assert next(appended) == len(published) + 1
    monkeypatch.undo()
    Run(url, stream, "second").write([[rows]])
    assert numbers(url, stream) == rows


@pytest.mark.parametrize("killed_at", range(4, 12))
def test_a_target_that_is_deleted_between_two_attempts_gets_all_rows_of_the_batch_once(
    url: str, stream: str, killed_at: int
) -> None:
    killed = Run(url, stream, "first")
    killed.mortal.requests_left, killed.mortal.is_carried_out = killed_at, True
    with suppress(Killed):
        killed.write(FIRST)
    with Tailrace(url) as tailrace:
        with suppress(TailraceError):  # killed before the first append
            tailrace.stream(stream).delete()
        ((_, state),) = tailrace.stream(killed.places.commit).last()
    Run(url, stream, "second").write(OTHER)
    assert numbers(url, stream) == ([] if state["state"] == "done" else [1, 2, 3, 4])


def test_a_chunk_larger_than_an_entry_is_staged_in_pieces(
    url: str, stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace_spark.sink.staging.PIECE_BYTES", 7)
    run = Run(url, stream, "first")
    rows = list(range(100))
    assert len(run.staged(0, [rows])[0].ids) > 3
    run.write([[rows]])
    assert numbers(url, stream) == rows


# --- chaos -------------------------------------------------------------------------------------------------


@dataclass
class Chaos:
    """Batches of one query, each written by runs that cut it at random, are killed, or wait and continue
    later. `sleeping`: runs that staged, and continue while others write."""

    url: str
    stream: str
    producer: str
    random: random.Random
    sleeping: list[tuple[Run, State, list[list[Chunk]]]] = field(default_factory=list)
    did: Counter[str] = field(default_factory=Counter)

    def write(self, batch: int, rows: Sequence[int]) -> None:
        """Run after run, until one ends."""
        for attempt in range(30):
            run = Run(self.url, self.stream, f"{batch}.{attempt}", batch, self.producer)
            is_first = batch == attempt == 0  # which is killed: a write has more requests
            way = "killed" if is_first else self.random.choice(WAYS)
            self.did[way] += 1
            try:
                if way == "sleeps":
                    self.sleep(run, rows)
                    continue
                if way != "whole":
                    run.mortal.requests_left = self.random.randint(1, 6 if is_first else 25)
                    run.mortal.is_carried_out = self.random.random() < 0.5
                if way == "overtaken":
                    self.wake()
                run.write(self.cut(rows))
            except (Killed, SinkError) as error:
                self.did[type(error).__name__] += 1
                continue
            return
        Run(self.url, self.stream, f"{batch}.last", batch, self.producer).write(self.cut(rows))

    def sleep(self, run: Run, rows: Sequence[int]) -> None:
        begun = run.commit.begin()
        self.sleeping.append((run, begun, run.stage(self.cut(rows)) if begun.state == BEGUN else []))

    def wake(self) -> None:
        """A run that seemed dead continues."""
        if not self.sleeping:
            return
        run, begun, staged = self.sleeping.pop(self.random.randrange(len(self.sleeping)))
        try:
            run.commit.finish(run.choose(begun, staged) if begun.state == BEGUN else begun)
        except SinkError as error:
            self.did["woke: " + str(error).partition(":")[0]] += 1

    def cut(self, rows: Sequence[int]) -> Parts:
        """The rows in another order, over other partitions and chunks."""
        left = list(rows)
        self.random.shuffle(left)
        parts: list[list[list[int]]] = [[] for _ in range(self.random.randint(1, 3))]
        while left:
            count = self.random.randint(1, 5)
            self.random.choice(parts).append(left[:count])
            left = left[count:]
        return parts


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_row_of_two_queries_is_there_once_though_runs_are_killed_sleep_and_cut_a_batch_at_random(
    url: str, stream: str, seed: int
) -> None:
    queries = [Chaos(url, stream, name, random.Random(f"{seed} {name}")) for name in ("one", "other")]
    for batch in range(5):
        for place, query in enumerate(queries):
            first = batch * 20 + place * 10
            query.write(batch, range(first, first + 10))
    for query in queries:
        while query.sleeping:
            query.wake()
        assert query.did["Killed"] > 0
    assert numbers(url, stream) == list(range(100)), [query.did for query in queries]
