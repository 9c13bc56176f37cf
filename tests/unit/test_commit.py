"""Group commit: which effects form a row, when waiting replies are released, and what a failure ends."""

from __future__ import annotations

import asyncio

import pytest

from tailrace.app.store import commit
from tailrace.app.store.log import NoLog
from tests.support.commit_scene import ACTIVE, SEEN, Scene, created, play


def test_a_reply_leaves_when_its_row_is_synced_and_never_before() -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            reply = scene.change(b"a")
            await scene.syncing()
            await asyncio.sleep(0.02)
            assert not reply.done()
        assert await reply == 1

    scene = play(story)
    assert scene.told == [("row", 1), ("commit", True)]


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
