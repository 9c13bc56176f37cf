"""Waiting readers, in process: the test sets both clocks, and there is no socket."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from tailrace.api.ports import Answer, StoreUnavailable, Watch
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import (
    Append,
    Batch,
    Command,
    ConfigureGroup,
    CreateGroup,
    DestroyGroup,
    NackMode,
    NegativeAcknowledge,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    ServerInfo,
    Special,
)
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.replies import ReadReply, ServerStats

START_MS = 1_692_632_086_370
FRAGMENT = b'{"rider":"Castilla"}'
APPEND = Append(b"s", [FRAGMENT])


class Clocks:
    """The system's clock and the monotonic one; the second runs with the loop's own time."""

    def __init__(self) -> None:
        self.wall_offset_ms = START_MS

    def monotonic_ms(self) -> int:
        return int(asyncio.get_running_loop().time() * 1000)

    def wall_ms(self) -> int:
        return self.monotonic_ms() + self.wall_offset_ms


def served(story: Callable[[EngineStore, Clocks], Coroutine[Any, Any, None]]) -> None:
    """Run a story with a store of its own; it may take ten seconds at most."""

    async def run() -> None:
        clocks = Clocks()
        await asyncio.wait_for(story(EngineStore(Engine(), clocks.wall_ms, clocks.monotonic_ms), clocks), 10)

    asyncio.run(run())


def read(block_ms: int = 0, key: bytes = b"s") -> Read:
    return Read((ReadFrom(key, Special.LAST_ID),), block_ms=block_ms)


def group_read(consumer: bytes = b"x", block_ms: int = 0, **options: Any) -> ReadGroup:
    return ReadGroup(b"g", consumer, (ReadFrom(b"s", Special.NEW),), block_ms=block_ms, **options)


async def waiting(store: EngineStore, *commands: Read | ReadGroup) -> list[asyncio.Task[Any]]:
    """Start the reads one after another, and return when all of them wait."""
    tasks = []
    for command in commands:
        tasks.append(asyncio.ensure_future(_as_coroutine(store.execute(command))))
        await asyncio.sleep(0)
    stats = await store.execute(ServerInfo())
    assert isinstance(stats, ServerStats)
    assert stats.blocked_clients == len(commands)
    return tasks


async def _as_coroutine(reply: Awaitable[Any]) -> Any:
    return await reply


def count(reply: Any) -> int:
    assert isinstance(reply, ReadReply)
    return sum(len(each.entries) for each in reply.streams)


def test_every_plain_reader_is_given_the_entry() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        tasks = await waiting(store, read(), read(), read())
        await store.execute(APPEND)
        assert [count(await task) for task in tasks] == [1, 1, 1]

    served(story)


def test_the_first_reader_of_a_group_takes_all_and_the_others_wait_on() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        first, second = await waiting(store, group_read(b"x"), group_read(b"y"))
        await store.execute_all([APPEND, APPEND])
        assert count(await first) == 2
        assert not second.done()
        await store.execute(APPEND)
        assert count(await second) == 1

    served(story)


def test_a_count_leaves_the_rest_to_the_next_reader() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        one = ReadLimits(count=1)
        tasks = await waiting(store, group_read(b"x", limits=one), group_read(b"y", limits=one))
        await store.execute_all([APPEND, APPEND, APPEND])
        assert [count(await task) for task in tasks] == [1, 1]

    served(story)


def test_a_cancelled_reader_takes_nothing() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        gone, second = await waiting(store, group_read(b"x"), group_read(b"y"))
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        await store.execute(APPEND)
        assert count(await second) == 1

    served(story)


def test_a_timeout_answers_without_entries_and_with_the_resolved_position() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        appended: Any = await store.execute(APPEND)
        reply: Any = await store.execute(read(block_ms=20))
        assert count(reply) == 0
        assert reply.streams[0].next == appended.ids[0]

    served(story)


def test_a_reader_of_a_destroyed_group_is_told() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        (task,) = await waiting(store, group_read())
        await store.execute(DestroyGroup(b"s", b"g"))
        with pytest.raises(StreamError) as refused:
            await task
        assert refused.value.code is ErrorCode.NOGROUP

    served(story)


def test_an_entry_is_claimed_when_it_becomes_idle_enough_by_the_earliest_threshold_first() -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await store.execute(APPEND)
        delivered_ms = clocks.wall_ms()
        await store.execute(group_read(b"dead"))
        late, early = await waiting(
            store, group_read(b"late", claim_min_idle_ms=400), group_read(b"early", claim_min_idle_ms=60)
        )
        assert count(await early) == 1
        assert clocks.wall_ms() - delivered_ms >= 60
        assert not late.done()
        late.cancel()

    served(story)


def test_a_nacked_entry_is_claimed_at_once() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        appended: Any = await store.execute(APPEND)
        await store.execute(group_read(b"dead"))
        (task,) = await waiting(store, group_read(b"heir", claim_min_idle_ms=3_600_000))
        await store.execute(NegativeAcknowledge(b"s", b"g", NackMode.FAIL, tuple(appended.ids)))
        assert count(await task) == 1

    served(story)


@pytest.mark.parametrize("waits_before", [True, False])
def test_a_waiting_read_that_moves_an_entry_wakes_the_reader_of_its_dead_letters(
    *, waits_before: bool
) -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await store.execute(ConfigureGroup(b"s", b"g", 1, b"dead"))
        await store.execute(APPEND)
        await store.execute(group_read(b"alice"))
        (dead,) = await waiting(store, read(key=b"dead"))
        heir = group_read(b"heir", claim_min_idle_ms=20 if waits_before else 0)
        task = asyncio.ensure_future(_as_coroutine(store.execute(heir)))
        assert count(await dead) == 1
        assert not task.done()
        task.cancel()
        assert store.figures.counters.dead_letters == 1

    served(story)


def test_a_watched_read_that_moves_an_entry_wakes_the_reader_of_its_dead_letters() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await store.execute(ConfigureGroup(b"s", b"g", 1, b"dead"))
        await store.execute(APPEND)
        await store.execute(group_read(b"alice"))
        (dead,) = await waiting(store, read(key=b"dead"))
        watch = watched(store, group_read(b"heir", claim_min_idle_ms=0), lambda _: None)
        assert count(await dead) == 1
        watch.cancel()

    served(story)


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_read_that_moves_an_entry_wakes_the_last_reader_for_which_there_is_room_and_waits_in_its_place(
    *, is_watched: bool
) -> None:
    async def story(_: EngineStore, clocks: Clocks) -> None:
        store = EngineStore(Engine(), clocks.wall_ms, clocks.monotonic_ms, readers_max=1)
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await store.execute(ConfigureGroup(b"s", b"g", 1, b"dead"))
        await store.execute(APPEND)
        await store.execute(group_read(b"alice"))
        (dead,) = await waiting(store, read(key=b"dead"))
        heir, answers = group_read(b"heir", claim_min_idle_ms=0), list[Answer]()
        if is_watched:
            watched(store, heir, answers.append)
        else:
            task = asyncio.ensure_future(_as_coroutine(store.execute(heir)))
        assert count(await dead) == 1
        await asyncio.sleep(0)
        assert store.waiting_count == 1
        assert not answers
        if not is_watched:
            task.cancel()

    served(story)


@pytest.mark.parametrize("step_ms", [-3_600_000, 3_600_000])
def test_a_step_of_the_system_clock_neither_ends_a_wait_nor_prolongs_it(step_ms: int) -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        begun_ms = clocks.monotonic_ms()
        short, long = await waiting(store, read(block_ms=80), read(block_ms=3_000_000))
        clocks.wall_offset_ms += step_ms
        await store.execute(Append(b"other", [FRAGMENT]))
        assert count(await short) == 0
        assert clocks.monotonic_ms() - begun_ms >= 80
        assert not long.done()
        long.cancel()

    served(story)


def test_a_claim_under_a_clock_that_stepped_back_is_late_but_comes() -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await store.execute(APPEND)
        await store.execute(group_read(b"dead"))
        (task,) = await waiting(store, group_read(b"heir", claim_min_idle_ms=50))
        clocks.wall_offset_ms -= 100
        begun_ms = clocks.monotonic_ms()
        assert count(await task) == 1
        assert clocks.monotonic_ms() - begun_ms >= 100

    served(story)


def test_a_claim_comes_within_a_tick_of_a_step_forward_that_makes_its_entry_idle() -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await store.execute(APPEND)
        await store.execute(group_read(b"dead"))
        store.tick()
        (task,) = await waiting(store, group_read(b"heir", claim_min_idle_ms=3_600_000))
        store.tick()
        assert not task.done()
        clocks.wall_offset_ms += 3_600_000
        store.tick()
        assert count(await task) == 1

    served(story)


def test_deadlines_count_from_the_instant_of_their_command() -> None:
    """The system's clock steps between two readings: a second reading would make the wait a day longer."""

    async def run() -> None:
        clocks = Clocks()
        readings = 0

        def stepping() -> int:
            nonlocal readings
            readings += 1
            return clocks.wall_ms() + (-86_400_000 if readings % 2 else 86_400_000)

        store = EngineStore(Engine(), stepping, clocks.monotonic_ms)
        begun_ms = clocks.monotonic_ms()
        assert count(await asyncio.wait_for(store.execute(read(block_ms=50)), 10)) == 0
        assert clocks.monotonic_ms() - begun_ms >= 50

    asyncio.run(run())


def test_draining_tells_every_reader_why() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        tasks = await waiting(store, read(), read(block_ms=50_000))
        store.drain()
        for task in tasks:
            with pytest.raises(StoreUnavailable, match="shutting down"):
                await task

    served(story)


# --- reads without a task ----------------------------------------------------------------------------


def watched(store: EngineStore, command: Command, receive: Callable[[Answer], None]) -> Watch:
    """Submit a read that waits, and return how to stop it."""
    watches: list[Watch] = []
    store.submit(command, receive, watches.append)
    return watches[0]


def never(_: Watch) -> None:
    raise AssertionError("the read waits")


def test_a_read_that_waits_hands_over_its_answer_once_and_one_that_finds_entries_at_once() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        answers: list[Answer] = []
        await store.execute(APPEND)
        store.submit(Read((ReadFrom(b"s", 0),), block_ms=0), answers.append, never)
        assert count(answers.pop()) == 1
        watched(store, read(), answers.append)
        await store.execute(APPEND)
        await store.execute(APPEND)
        assert count(answers.pop()) == 1
        assert answers == []

    served(story)


def test_a_cancelled_read_is_never_answered() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        answers: list[Answer] = []
        watch = watched(store, read(), answers.append)
        assert watch.cancel()
        assert not watch.cancel()
        await store.execute(APPEND)
        assert answers == []

    served(story)


def test_a_refused_read_is_answered_with_the_refusal() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        answers: list[Answer] = []
        store.submit(group_read(), answers.append, never)
        store.drain()
        store.submit(read(), answers.append, never)
        assert isinstance(answers[0], StreamError)
        assert isinstance(answers[1], StoreUnavailable)

    served(story)


def test_a_reader_that_fails_at_its_answer_stops_no_other() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        reported: list[str] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: reported.append(str(context["exception"])))

        def fail(_: Answer) -> None:
            raise RuntimeError("no room")

        answers: list[Answer] = []
        watched(store, read(), fail)
        watched(store, read(), answers.append)
        await store.execute(APPEND)
        assert count(answers.pop()) == 1
        assert reported == ["no room"]

    served(story)


def test_a_reader_that_an_earlier_answer_made_leave_is_not_served() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        answers: list[Answer] = []
        watches: list[Watch] = []

        def make_the_other_leave(_: Answer) -> None:
            watches[1].cancel()

        watches.append(watched(store, read(), make_the_other_leave))
        watches.append(watched(store, read(), answers.append))
        await store.execute(APPEND)
        assert answers == []

    served(story)


def test_an_append_among_ten_thousand_readers_runs_the_commands_of_its_own_readers_only() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        streams, readers_a_stream = 1_000, 10
        answers: list[bytes] = []

        def note(answer: Answer) -> None:
            assert isinstance(answer, ReadReply)
            answers.append(answer.streams[0].key)

        for number in range(streams * readers_a_stream):
            watched(store, read(key=b"s%d" % (number % streams)), note)
        executed = 0
        engine = store._engine.engine
        execute = engine.execute

        def counted(command: Command, now_ms: int) -> Outcome:
            nonlocal executed
            executed += 1
            return execute(command, now_ms)

        engine.execute = counted  # type: ignore[method-assign]
        await store.execute(Append(b"s7", [FRAGMENT]))
        assert answers == [b"s7"] * readers_a_stream
        assert executed == 1 + readers_a_stream

    served(story)


# --- gathering -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [read, group_read])
def test_a_reader_that_gathers_returns_after_it_has_lingered(make: Callable[..., Any]) -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        [task] = await waiting(store, replace(make(), batch=Batch(100, 30)))
        await store.execute_all([APPEND, APPEND])
        assert not task.done()
        assert count(await task) == 2

    served(story)


@pytest.mark.parametrize("make", [read, group_read])
def test_a_reader_that_gathers_returns_at_once_when_it_has_enough(make: Callable[..., Any]) -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        [task] = await waiting(store, replace(make(), batch=Batch(3, 1 << 40)))
        for number in range(3):
            assert not task.done(), number
            await store.execute(APPEND)
        assert count(await task) == 3

    served(story)


@pytest.mark.parametrize("step_ms", [3_600_000, -3_600_000])
@pytest.mark.parametrize("make", [read, group_read])
def test_the_end_of_the_wait_returns_what_was_gathered_whatever_the_clock_does(
    make: Callable[..., Any], step_ms: int
) -> None:
    async def story(store: EngineStore, clocks: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        [task] = await waiting(store, replace(make(block_ms=60), batch=Batch(3, None)))
        await store.execute(APPEND)
        clocks.wall_offset_ms += step_ms
        assert count(await task) == 1

    served(story)


def test_a_group_that_is_destroyed_ends_the_gathering() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        [task] = await waiting(store, replace(group_read(), batch=Batch(3, None)))
        await store.execute(APPEND)
        await store.execute(DestroyGroup(b"s", b"g"))
        with pytest.raises(StreamError) as refused:
            await task
        assert refused.value.code is ErrorCode.NOGROUP

    served(story)


def test_a_setting_that_changes_while_a_reader_gathers_applies_to_it() -> None:
    async def story(store: EngineStore, _: Clocks) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await store.execute(APPEND)
        await store.execute(replace(group_read(b"gone"), block_ms=None))
        [task] = await waiting(store, replace(group_read(b"x"), batch=Batch(3, None)))
        await store.execute(ConfigureGroup(b"s", b"g", claim_min_idle_ms=1))
        assert count(await task) == 1

    served(story)
