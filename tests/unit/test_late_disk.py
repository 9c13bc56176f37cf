"""With `interval`, clients send no more than the disk stores: replies wait while a commit takes too long."""

from __future__ import annotations

import asyncio
import logging

import pytest

from tailrace.app.store import commit
from tailrace.app.store.commit import LATE_S, LateDisk
from tests.support.commit_scene import Scene, created, play


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the disk in seconds; commits begin as soon as the loop is idle."""
    time_s = [100.0]
    monkeypatch.setattr(commit, "INTERVAL_S", 0)
    monkeypatch.setattr(commit, "LateDisk", lambda _clock_s: LateDisk(lambda: time_s[0]))
    return time_s


async def held_up(scene: Scene, clock: list[float], wait_s: float) -> None:
    """Come back when a row is in the thread since `wait_s`, and the next one was handed over."""
    scene.log.record(created(b"a"))
    await scene.syncing()
    clock[0] += wait_s
    scene.log.record(created(b"b"))
    assert scene.log.flush() == 2


def test_replies_wait_while_the_disk_is_late_and_leave_when_it_is_not(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            await held_up(scene, clock, LATE_S)
            assert scene.log.is_behind
            replies = [scene.change(b"c"), scene.reply()]
            await asyncio.sleep(0)
            assert not any(reply.done() for reply in replies)
        # They leave with the late row: what they reveal may be in a later one, as always with `interval`.
        assert min(await asyncio.gather(*replies)) >= 1
        assert scene.change(b"d").done()

    with caplog.at_level(logging.WARNING):
        play(story, waits=False)
    [record] = caplog.records
    assert record.message == "disk late"
    assert getattr(record, "fields") == {"commit_s": LATE_S}  # noqa: B009 - unknown to mypy


def test_a_commit_that_takes_less_time_lets_no_reply_wait(clock: list[float]) -> None:
    async def story(scene: Scene) -> None:
        with scene.held():
            await held_up(scene, clock, LATE_S - 0.1)
            assert not scene.log.is_behind
            assert scene.change(b"c").done()

    play(story, waits=False)


def test_replies_that_wait_for_a_late_disk_leave_when_it_fails(clock: list[float]) -> None:
    async def story(scene: Scene) -> None:
        scene.disk.fails_at = 1
        with scene.held():
            await held_up(scene, clock, LATE_S)
            reply = scene.reply()
        assert await reply == 0
        assert scene.log.failure is not None

    play(story, waits=False)


def test_a_disk_with_several_rows_is_late_until_the_last_of_them_is_not() -> None:
    time_s = [0.0]
    disk = LateDisk(lambda: time_s[0])
    assert not disk.look()
    disk.begin()
    time_s[0] = 1.0
    disk.begin()
    time_s[0] = 1 + LATE_S
    assert disk.look()
    disk.end()
    assert disk.look()
    disk.end()
    assert not disk.look()
