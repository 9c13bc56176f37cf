"""A group commit over a disk in memory, and the story of a test that uses it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from tailrace.app.observability.counters import CommitFigures
from tailrace.app.store.commit import GroupCommit
from tailrace.app.store.commit_place import CommitPlace
from tailrace.app.store.writer_thread import WriterThread
from tailrace.core.effects import ConsumerSeen, Effect, StreamCreated
from tailrace.core.storage.journal import effects_in

WITHIN_S = 5


def created(name: bytes) -> tuple[Effect, ...]:
    return (StreamCreated(name),)


SEEN = (ConsumerSeen(b"s", b"g", b"c", 1000, active=False),)
ACTIVE = (ConsumerSeen(b"s", b"g", b"c", 1000, active=True),)


class FakeDisk:
    """Rows in the order of their appends. While `gate` is closed, the thread waits in the sync of a row.

    `threads`: the name of the thread that wrote each row.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[int, list[Effect]]] = []
        self.threads: list[str] = []
        self.synced = 0
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)
        self.fails_at = 0

    def append(self, seq: int, body: bytes) -> None:
        self.rows.append((seq, effects_in(body)))
        self.threads.append(threading.current_thread().name)
        self.entered.release()
        assert self.gate.wait(WITHIN_S)
        if seq == self.fails_at:
            raise OSError(28, "No space left on device")
        self.synced = seq

    @property
    def names(self) -> list[list[bytes]]:
        return [[getattr(effect, "key", b"") for effect in effects] for _, effects in self.rows]


class Scene:
    """A group commit over a fake disk, and what it told."""

    def __init__(self, disk: FakeDisk, place: CommitPlace | None, seq: int) -> None:
        self.disk = disk
        self.told: list[object] = []
        self.thread = WriterThread(asyncio.get_running_loop())
        self.log = GroupCommit(
            self.thread,
            disk.append,
            seq,
            place=place,
            on_row=lambda effects: self.told.append(("row", len(effects))),
            on_commit=lambda size_bytes: self.told.append(("commit", size_bytes > 0)),
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


IN_THREAD = 0
"""No mean duration is below this, so the thread writes every row."""

ON_LOOP = 3600 * 10**9
"""Every mean duration is below this, so the event loop writes every row that it may write."""


def play(
    story: Callable[[Scene], Coroutine[Any, Any, None]],
    *,
    waits: bool = True,
    seq: int = 0,
    mean_ns_max: int = IN_THREAD,
    place: CommitPlace | None = None,
    disk: FakeDisk | None = None,
) -> Scene:
    async def run() -> Scene:
        scene = Scene(disk or FakeDisk(), (place or CommitPlace(mean_ns_max)) if waits else None, seq)
        try:
            await asyncio.wait_for(story(scene), WITHIN_S)
        finally:
            scene.disk.gate.set()
            scene.thread.close()
        return scene

    return asyncio.run(run())
