"""Group commit on a disk whose syncs become slow and fast again: which rows the event loop writes.

The durations come from a clock that the disk moves, so no test depends on the speed of the machine.
"""

from __future__ import annotations

import threading
from itertools import groupby

from tailrace.app.store.commit_place import MEAN_NS_MAX, RETRY_NS_MIN, CommitPlace
from tests.support.commit_scene import FakeDisk, Scene, play

FAST_NS = 100_000
SLOW_NS = 20_000_000
LOOP, THREAD = threading.main_thread().name, "tailrace-writer"


class Clock:
    now_ns = 10**12

    def __call__(self) -> int:
        return self.now_ns


class TimedDisk(FakeDisk):
    """A disk whose syncs take `sync_ns` by the clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.sync_ns = FAST_NS

    def append(self, seq: int, body: bytes) -> None:
        self.clock.now_ns += self.sync_ns
        super().append(seq, body)

    @property
    def places(self) -> list[tuple[str, int]]:
        """The threads that wrote rows, each with the number of its rows one after another."""
        return [(name, len(list(rows))) for name, rows in groupby(self.threads)]


def timed() -> tuple[TimedDisk, CommitPlace]:
    disk = TimedDisk(Clock())
    return disk, CommitPlace(MEAN_NS_MAX, disk.clock)


def test_rows_move_to_the_thread_while_the_disk_is_slow_and_back_when_it_is_fast_again() -> None:
    disk, place = timed()

    async def story(scene: Scene) -> None:
        for number in range(1, 21):
            if number == 6:
                disk.sync_ns = SLOW_NS
            if number == 16:
                disk.sync_ns = FAST_NS
                disk.clock.now_ns += RETRY_NS_MIN
            assert await scene.change(b"%d" % number) == number

    play(story, place=place, disk=disk)
    assert disk.places == [(LOOP, 6), (THREAD, 9), (LOOP, 5)]
    assert disk.names == [[b"%d" % number] for number in range(1, 21)]


def test_a_try_on_a_disk_that_is_still_slow_sends_the_next_rows_back_to_the_thread() -> None:
    disk, place = timed()

    async def story(scene: Scene) -> None:
        disk.sync_ns = SLOW_NS
        for number in range(1, 9):
            if number == 5:
                disk.clock.now_ns += RETRY_NS_MIN
            assert await scene.change(b"a") == number

    play(story, place=place, disk=disk)
    assert disk.places == [(LOOP, 1), (THREAD, 3), (LOOP, 1), (THREAD, 3)]


def test_while_a_slow_sync_runs_the_loop_serves_and_gathers_for_the_next_row() -> None:
    disk, place = timed()

    async def story(scene: Scene) -> None:
        disk.sync_ns = SLOW_NS
        await scene.change(b"a")
        await scene.syncing()  # that of the first row, which the loop wrote
        with scene.held():
            first = scene.change(b"b")
            await scene.syncing()
            others = [scene.change(name) for name in (b"c", b"d")]
            assert not first.done()
        assert await first == 2
        for other in others:
            assert await other == 3

    play(story, place=place, disk=disk)
    assert disk.names == [[b"a"], [b"b"], [b"c", b"d"]]
    assert disk.places == [(LOOP, 1), (THREAD, 2)]
