"""Group commit on a fast disk: which rows the event loop writes itself, and in which order."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tailrace.app.store.commit_place import BYTES_MAX, EFFECTS_MAX
from tailrace.core.effects import Effect, EntriesAppended
from tailrace.core.stream_id import make_id
from tests.support.commit_scene import ON_LOOP, Scene, created, play


def main_thread() -> str:
    return threading.main_thread().name


def appended(count: int, fragment: bytes = b"{}") -> tuple[Effect, ...]:
    ids = [make_id(1, number) for number in range(count)]
    return (EntriesAppended(b"s", ids, [fragment] * count),)


def test_on_a_fast_disk_the_loop_writes_what_one_turn_changed_as_one_row() -> None:
    async def story(scene: Scene) -> None:
        replies = [scene.change(name) for name in (b"a", b"b", b"c")]
        assert scene.disk.rows == []
        assert scene.log.is_behind
        assert await asyncio.gather(*replies) == [1, 1, 1]
        assert not scene.log.is_behind

    scene = play(story, mean_ns_max=ON_LOOP)
    assert scene.disk.names == [[b"a", b"b", b"c"]]
    assert scene.disk.threads == [main_thread()]


def test_a_row_for_the_loop_waits_for_the_rows_that_the_thread_has() -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            scene.log.record(created(b"a"))
            scene.log.flush()
            await scene.syncing()
            second = scene.change(b"b")
            await asyncio.sleep(0.01)
            assert not second.done()
        assert await second == 2
        assert await scene.change(b"c") == 3

    scene = play(story, mean_ns_max=ON_LOOP)
    assert scene.disk.names == [[b"a"], [b"b"], [b"c"]]
    assert scene.disk.threads[0] != main_thread()
    assert scene.disk.threads[2] == main_thread()


def test_a_row_for_the_loop_waits_for_another_job_of_the_thread() -> None:
    async def story(scene: Scene) -> None:
        gate = threading.Event()
        scene.thread.submit(gate.wait, scene.told.append)
        reply = scene.change(b"a")
        await asyncio.sleep(0.01)
        assert scene.disk.rows == []
        gate.set()
        assert await reply == 1

    assert play(story, mean_ns_max=ON_LOOP).disk.threads != [main_thread()]


@pytest.mark.parametrize(
    "effects",
    [appended(EFFECTS_MAX + 1), appended(1, b"x" * (BYTES_MAX + 1)), created(b"s") * (EFFECTS_MAX + 1)],
    ids=["many ids", "many bytes", "many effects"],
)
def test_the_thread_writes_a_large_row(effects: tuple[Effect, ...]) -> None:
    async def story(scene: Scene) -> None:
        scene.log.record(effects)
        await scene.reply()

    scene = play(story, mean_ns_max=ON_LOOP)
    assert [len(row) for _, row in scene.disk.rows] == [len(effects)]
    assert scene.disk.threads != [main_thread()]


def test_a_failure_on_the_loop_tells_all_who_wait_after_it_told_why_and_ends_the_writing() -> None:
    async def story(scene: Scene) -> None:
        scene.disk.fails_at = 1
        replies = [scene.change(b"a"), scene.change(b"b"), scene.reply()]
        for reply in replies:
            reply.add_done_callback(lambda _: scene.told.append("released"))
        assert await asyncio.gather(*replies) == [0, 0, 0]
        assert str(scene.log.failure) == "[Errno 28] No space left on device"
        assert scene.change(b"c").done()
        await asyncio.sleep(0)

    scene = play(story, mean_ns_max=ON_LOOP)
    assert scene.told == [("row", 2), ("failure", "[Errno 28] No space left on device"), *["released"] * 3]
    assert len(scene.disk.rows) == 1


def test_what_a_released_reply_changes_goes_into_the_next_row() -> None:
    async def story(scene: Scene) -> None:
        second = asyncio.get_running_loop().create_future()

        def change_again() -> None:
            scene.log.record(created(b"b"))
            scene.log.when_durable(lambda: second.set_result(scene.disk.synced))

        scene.log.record(created(b"a"))
        scene.log.when_durable(change_again)
        assert await second == 2

    assert play(story, mean_ns_max=ON_LOOP).disk.names == [[b"a"], [b"b"]]
