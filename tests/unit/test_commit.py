"""Group commit: what gathers into a row, when what waits is released, and what a failure ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tailrace.app.observability.counters.commits import CommitFigures
from tailrace.app.store import commit
from tailrace.app.store.commit import GroupCommit, NoLog, WriterThread
from tailrace.core.effects import ConsumerSeen, Effect, StreamCreated

WITHIN_S = 5


def created(name: bytes) -> tuple[Effect, ...]:
    return (StreamCreated(name),)


SEEN = (ConsumerSeen(b"s", b"g", b"c", 1000, active=False),)
ACTIVE = (ConsumerSeen(b"s", b"g", b"c", 1000, active=True),)


class FakeDisk:
    """Rows in the order of their appends. While `gate` is closed, the thread waits in the sync of a row."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, list[Effect]]] = []
        self.synced = 0
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)
        self.fails_at = 0

    def append(self, seq: int, effects: Sequence[Effect]) -> int:
        self.rows.append((seq, list(effects)))
        self.entered.release()
        assert self.gate.wait(WITHIN_S)
        if seq == self.fails_at:
            raise OSError(28, "No space left on device")
        self.synced = seq
        return 100

    @property
    def names(self) -> list[list[bytes]]:
        return [[getattr(effect, "key", b"") for effect in effects] for _, effects in self.rows]


class Scene:
    """A group commit over a fake disk, and what it told."""

    def __init__(self, disk: FakeDisk, *, waits: bool, seq: int) -> None:
        self.disk = disk
        self.told: list[object] = []
        self.thread = WriterThread(asyncio.get_running_loop())
        self.log = GroupCommit(
            self.thread,
            disk.append,
            seq,
            waits=waits,
            on_row=lambda effects: self.told.append(("row", len(effects))),
            on_commit=lambda size_bytes: self.told.append(("commit", size_bytes)),
            on_failure=lambda error: self.told.append(("failure", str(error))),
            figures=CommitFigures(),
        )

    def change(self, name: bytes) -> asyncio.Future[int]:
        """Record an effect; the future gives what was synced when its reply was released."""
        self.log.record(created(name))
        return self.reply()

    def reply(self) -> asyncio.Future[int]:
        released: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.log.when_durable(lambda: released.set_result(self.disk.synced))
        return released

    async def syncing(self) -> None:
        """Come back when the thread is in the sync of the next row."""
        assert await asyncio.to_thread(self.disk.entered.acquire, timeout=WITHIN_S)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Syncs do not end inside."""
        self.disk.gate.clear()
        try:
            yield
        finally:
            self.disk.gate.set()


def play(story: Callable[[Scene], Coroutine[Any, Any, None]], *, waits: bool = True, seq: int = 0) -> Scene:
    async def run() -> Scene:
        scene = Scene(FakeDisk(), waits=waits, seq=seq)
        try:
            await asyncio.wait_for(story(scene), WITHIN_S)
        finally:
            scene.disk.gate.set()
            scene.thread.close()
        return scene

    return asyncio.run(run())


def test_a_reply_leaves_when_its_row_is_synced_and_never_before() -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            reply = scene.change(b"a")
            await scene.syncing()
            await asyncio.sleep(0.02)
            assert not reply.done()
        assert await reply == 1

    scene = play(story)
    assert scene.told == [("row", 1), ("commit", 100)]


def test_what_one_turn_of_the_loop_changes_goes_into_one_row() -> None:
    async def story(scene: Scene) -> None:
        replies = [scene.change(name) for name in (b"a", b"b", b"c")]
        assert await asyncio.gather(*replies) == [1, 1, 1]

    assert play(story).disk.names == [[b"a", b"b", b"c"]]


def test_what_comes_during_a_sync_gathers_into_the_next_row() -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            replies = [scene.change(b"a")]
            await scene.syncing()
            for name in (b"b", b"c"):
                replies.append(scene.change(name))
                await asyncio.sleep(0)
        assert await asyncio.gather(*replies) == [1, 2, 2]

    assert play(story).disk.names == [[b"a"], [b"b", b"c"]]


def test_replies_are_released_in_the_order_in_which_they_came() -> None:
    async def story(scene: Scene) -> None:
        released: list[int] = []
        with scene.held():
            for number in range(6):
                scene.log.record(created(b"s"))
                scene.log.when_durable(lambda number=number: released.append(number))  # type: ignore[misc]
                await asyncio.sleep(0.001)
        await scene.reply()
        assert released == list(range(6))

    play(story)


def test_a_reply_that_only_saw_a_change_waits_for_the_row_that_holds_it() -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            scene.change(b"a")
            await scene.syncing()
            assert scene.log.is_behind
            reader = scene.reply()
            await asyncio.sleep(0.01)
            assert not reader.done()
        assert await reader == 1
        assert not scene.log.is_behind

    play(story)


def test_a_reply_need_not_wait_where_all_is_durable() -> None:
    async def story(scene: Scene) -> None:
        assert not scene.log.is_behind
        assert scene.reply().done()

    assert play(story).disk.rows == []


def test_rows_follow_on_the_last_number_that_the_disk_knows() -> None:
    async def story(scene: Scene) -> None:
        await scene.change(b"a")
        await scene.change(b"b")

    assert [seq for seq, _ in play(story, seq=41).disk.rows] == [42, 43]


def test_a_consumer_that_was_only_seen_costs_no_commit_and_goes_with_the_next_row() -> None:
    async def story(scene: Scene) -> None:
        scene.log.record(SEEN)
        assert not scene.log.is_behind
        await asyncio.sleep(0.01)
        assert scene.disk.rows == []
        await scene.change(b"a")

    scene = play(story)
    assert scene.disk.rows == [(1, [*SEEN, *created(b"a")])]


def test_a_consumer_that_was_given_something_is_a_commit() -> None:
    async def story(scene: Scene) -> None:
        scene.log.record(ACTIVE)
        assert await scene.reply() == 1

    assert play(story).disk.rows == [(1, list(ACTIVE))]


def test_a_flush_hands_over_all_that_is_gathered_and_names_the_row_that_holds_it() -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            first = scene.change(b"a")
            await scene.syncing()
            second = scene.change(b"b")
            assert scene.log.flush() == 2
            assert scene.log.flush() == 2
            third = scene.change(b"c")
        reached = await asyncio.gather(first, second, third)
        assert [synced >= row for synced, row in zip(reached, (1, 2, 3), strict=True)] == [True] * 3

    assert play(story).disk.names == [[b"a"], [b"b"], [b"c"]]


def test_a_row_that_is_flushed_before_its_turn_is_not_written_twice() -> None:
    async def story(scene: Scene) -> None:
        reply = scene.change(b"a")
        scene.log.flush()
        assert await reply == 1
        await asyncio.sleep(0.01)

    assert play(story).disk.names == [[b"a"]]


def test_by_interval_replies_leave_at_once_and_rows_follow_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "INTERVAL_S", 0.03)

    async def story(scene: Scene) -> None:
        for name in (b"a", b"b"):
            assert scene.change(name).done()
            await asyncio.sleep(0.005)
        assert not scene.log.is_behind
        assert scene.disk.rows == []
        await scene.syncing()
        scene.log.record(created(b"c"))
        await scene.syncing()

    assert play(story, waits=False).disk.names == [[b"a", b"b"], [b"c"]]


def test_a_failure_tells_all_who_wait_after_it_told_why() -> None:
    async def story(scene: Scene) -> None:
        scene.disk.fails_at = 1
        with scene.held():
            replies = [scene.change(b"a")]
            await scene.syncing()
            replies += [scene.change(b"b"), scene.reply()]
            for reply in replies:
                reply.add_done_callback(lambda _: scene.told.append("released"))
        assert await asyncio.gather(*replies) == [0, 0, 0]
        assert str(scene.log.failure) == "[Errno 28] No space left on device"

    told = play(story).told
    assert told == [("row", 1), ("failure", "[Errno 28] No space left on device"), *["released"] * 3]


def test_nothing_is_written_after_a_failure_not_even_what_was_handed_over_before_it() -> None:
    async def story(scene: Scene) -> None:
        scene.disk.fails_at = 1
        with scene.held():
            first = scene.change(b"a")
            await scene.syncing()
            second = scene.change(b"b")
            scene.log.flush()
        await asyncio.gather(first, second)
        assert scene.change(b"c").done()
        await asyncio.sleep(0.02)

    scene = play(story)
    assert scene.disk.names == [[b"a"]]
    assert [each for each in scene.told if "failure" in str(each)] == [scene.told[2]]


def test_without_a_log_nothing_is_waited_for() -> None:
    log = NoLog()
    released: list[bool] = []
    log.record(created(b"a"))
    log.when_durable(lambda: released.append(True))
    assert released == [True]
    assert not log.is_behind
