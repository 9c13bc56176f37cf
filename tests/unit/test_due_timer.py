"""The timer of what is due rings at its time by the wall clock, in steps, and survives failures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tailrace.app.store.service import EngineStore
from tailrace.app.store.upkeep import DueTimer
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.core.replies import AppendReply, ReadReply, Reply, ScheduleReply

KEY = b"race"
FRAGMENT = b'{"n":"1"}'
START_MS = 1_700_000_000_000


class Scene:
    """A timer whose steps do what `does` says, one a step, and then say that nothing is due."""

    def __init__(self, *does: Callable[[], bool]) -> None:
        self.now_ms = START_MS
        self.keyspace = Keyspace()
        self.is_ready = True
        self.steps = 0
        self.rang = asyncio.Event()
        self._does = list(does)
        self.timer = DueTimer(self._step, lambda: self.keyspace, lambda: self.is_ready, lambda: self.now_ms)

    def _step(self) -> bool:
        self.steps += 1
        self.rang.set()
        is_more_due = self._does.pop(0)() if self._does else False
        if not is_more_due:
            self.keyspace.agenda.clear()
        return is_more_due


async def until(rang: asyncio.Event) -> None:
    await asyncio.wait_for(rang.wait(), 60)
    rang.clear()


def test_the_timer_rings_at_the_first_deadline_of_the_agenda() -> None:
    async def scenario() -> None:
        scene = Scene()
        scene.keyspace.agenda.note((1, b""), START_MS + 3_600_000)
        scene.keyspace.agenda.note((2, b""), START_MS)
        await until(scene.rang)
        assert scene.steps == 1
        scene.timer.stop()

    asyncio.run(scenario())


def test_while_more_is_due_the_steps_follow_each_other() -> None:
    async def scenario() -> None:
        scene = Scene(lambda: True, lambda: True)
        scene.keyspace.agenda.note((1, b""), START_MS)
        while scene.steps < 3:
            await until(scene.rang)
        scene.timer.stop()

    asyncio.run(scenario())


def test_a_store_that_accepts_no_writes_does_nothing() -> None:
    async def scenario() -> None:
        scene = Scene()
        scene.is_ready = False
        scene.keyspace.agenda.note((1, b""), START_MS)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        scene.timer.do_now()
        assert scene.steps == 0
        scene.timer.stop()

    asyncio.run(scenario())


def test_a_tick_follows_a_step_of_the_clock_and_another_keyspace() -> None:
    async def scenario() -> None:
        scene = Scene()
        scene.timer.tick()
        scene.keyspace.agenda.note((1, b""), START_MS + 3_600_000)
        scene.now_ms += 3_600_000
        scene.timer.tick()
        await until(scene.rang)
        scene.keyspace = Keyspace()
        scene.timer.tick()
        scene.keyspace.agenda.note((1, b""), scene.now_ms)
        await until(scene.rang)
        scene.timer.stop()

    asyncio.run(scenario())


def test_a_step_that_fails_is_reported_and_the_next_tick_rings_again() -> None:
    def fail() -> bool:
        raise OSError

    async def scenario() -> None:
        reported: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        scene = Scene(fail)
        scene.keyspace.agenda.note((1, b""), START_MS)
        await until(scene.rang)
        await asyncio.sleep(0)
        scene.timer.tick()
        await until(scene.rang)
        assert len(reported) == 1
        scene.timer.stop()

    asyncio.run(scenario())


# --- with a store ----------------------------------------------------------------------------


def read_new(group: bytes) -> c.ReadGroup:
    streams = (c.ReadFrom(KEY, c.Special.NEW),)
    return c.ReadGroup(group, b"bob", streams, block_ms=60_000, claim_min_idle_ms=1 << 40)


def ids_of(reply: Reply) -> Sequence[int]:
    assert isinstance(reply, ReadReply)
    return reply.streams[0].entries.ids


def test_waiting_readers_get_an_entry_when_its_time_comes() -> None:
    async def scenario() -> None:
        store = EngineStore(Engine())
        await store.execute(c.CreateGroup(KEY, b"g", 0, create_stream=True))
        plain = c.Read((c.ReadFrom(KEY, 0),), block_ms=60_000)
        waiting = [asyncio.create_task(store.execute(each)) for each in (plain, read_new(b"g"))]
        await asyncio.sleep(0)
        before_ms = store.now_ms()
        reply = await store.execute(c.ScheduleEntries(KEY, [FRAGMENT], delay_ms=30))
        assert isinstance(reply, ScheduleReply)
        assert not any(task.done() for task in waiting)
        replies = await asyncio.wait_for(asyncio.gather(*waiting), 60)
        [value], again = map(ids_of, replies)
        assert list(again) == [value]
        assert value >> 64 >= before_ms + 30

    asyncio.run(scenario())


def test_a_waiting_claim_gets_a_delayed_retry_when_its_time_comes() -> None:
    async def scenario() -> None:
        store = EngineStore(Engine())
        await store.execute(c.CreateGroup(KEY, b"g", 0, create_stream=True))
        appended = await store.execute(c.Append(KEY, [FRAGMENT]))
        assert isinstance(appended, AppendReply)
        await store.execute(c.ReadGroup(b"g", b"alice", (c.ReadFrom(KEY, c.Special.NEW),)))
        before_ms = store.now_ms()
        nack = c.NegativeAcknowledge(KEY, b"g", c.NackMode.FAIL, tuple(appended.ids), delay_ms=30)
        assert await store.execute(nack) == 1
        reply = await asyncio.wait_for(store.execute(read_new(b"g")), 60)
        assert len(ids_of(reply)) == 1
        assert store.now_ms() >= before_ms + 30

    asyncio.run(scenario())


def test_a_clock_that_is_moved_by_hand_makes_due_what_has_passed() -> None:
    now_ms = START_MS

    async def scenario() -> None:
        nonlocal now_ms
        store = EngineStore(Engine(), lambda: now_ms, lambda: now_ms)
        await store.execute(c.ScheduleEntries(KEY, [FRAGMENT], delay_ms=3_600_000))
        now_ms += 3_600_000
        store.serve_due()
        assert await store.execute(c.StreamLength(KEY)) == 1

    asyncio.run(scenario())
