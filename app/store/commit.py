"""Group commit: effects become journal rows in a thread of their own, and replies wait for their row.

While one row is being synced, everything that happens meanwhile gathers into the next one: under load
a sync carries many commands, and without load a command waits for one sync. The durable offset is
published on the event loop, and whatever waits for it is released in order: a reply leaves when
everything it reveals is on disk, whether its own command changed anything or only saw a change.

The first commit that fails is the last: a sync is never tried again, since what it left behind is not
known. Those who wait are told, and nothing is taken any more.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from tailrace.app.observability.counters.commits import CommitFigures
from tailrace.core.effects import ConsumerSeen, Effect

Job = Callable[[], object]
Release = Callable[[], None]

INTERVAL_S: Final = 1.0
"""How often `interval` commits."""


class Log(Protocol):
    """Where effects go, and who waits for them."""

    def record(self, effects: Sequence[Effect]) -> None:
        """Effects of one command or transaction; an offset of its own."""
        ...

    @property
    def is_behind(self) -> bool:
        """Whether something recorded is not durable yet, so that a reply must wait."""
        ...

    def when_durable(self, release: Release) -> None:
        """Call `release` once all that is recorded by now is durable, or can never be."""
        ...

    def fail(self, error: Exception) -> None:
        """Write nothing any more."""
        ...


class NoLog:
    """`durability=none`: nothing is kept, and nothing is waited for."""

    is_behind = False

    def record(self, effects: Sequence[Effect]) -> None:
        """Forget them."""

    def when_durable(self, release: Release) -> None:
        """At once."""
        release()

    def fail(self, error: Exception) -> None:
        """Nothing was to be written."""


class WriterThread:
    """One thread that does blocking jobs one after another; results come back on the event loop.

    The first job that fails is the last: those behind it are told the same error, undone.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: queue.SimpleQueue[tuple[Job, Callable[[Exception | None], None]] | None]
        self._jobs = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tailrace-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job, done: Callable[[Exception | None], None]) -> None:
        """Run `job` in the thread, then `done` on the loop with what went wrong, or None."""
        self._jobs.put((job, done))

    def close(self) -> None:
        """Let the jobs that are queued end, then the thread."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        # After a job that failed none is done: no row may stand above one that is missing.
        failure: Exception | None = None
        while (item := self._jobs.get()) is not None:
            job, done = item
            if failure is None:
                failure = _failure_of(job)
            self._loop.call_soon_threadsafe(done, failure)


def _failure_of(job: Job) -> Exception | None:
    try:
        job()
    except Exception as error:  # noqa: BLE001 - handed to whoever asked for the job
        return error
    return None


class GroupCommit:
    """`append(seq, effects)` commits one row, blocking; rows follow on `seq`.

    `waits`: whether replies wait for their row (`always`) or not (`interval`). On the loop, `on_row` sees
    the effects of each row that is handed to the thread, `on_commit` the size in bytes of each that is
    durable, and `on_failure` is called once.
    """

    def __init__(
        self,
        thread: WriterThread,
        append: Callable[[int, Sequence[Effect]], int],
        seq: int,
        *,
        waits: bool,
        on_row: Callable[[Sequence[Effect]], None],
        on_commit: Callable[[int], None],
        on_failure: Callable[[Exception], None],
        figures: CommitFigures,
    ) -> None:
        self._thread = thread
        self._append = append
        self._waits = waits
        self._on_row = on_row
        self._on_commit = on_commit
        self._on_failure = on_failure
        self._figures = figures
        self._gathered: list[Effect] = []
        self._gathered_count = 0
        self._is_arranged = False
        self._waiting: deque[tuple[int, Release]] = deque()
        self.seq = seq
        """The number of the last row handed to the thread."""
        self.durable_seq = seq
        self.failure: Exception | None = None

    def record(self, effects: Sequence[Effect]) -> None:
        """Gather effects for the next row. That a consumer was merely seen is worth no sync: it goes
        with whatever comes next."""
        self._gathered.extend(effects)
        self._gathered_count += 1
        if not self._is_arranged and not all(map(_is_idle_sighting, effects)):
            self._is_arranged = True
            self._arrange()

    def _arrange(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._waits:
            loop.call_later(INTERVAL_S, self._start)
        elif self.durable_seq == self.seq:
            # On the next turn of the loop: what other requests of this turn change goes along.
            loop.call_soon(self._start)

    def _start(self) -> None:
        if self.failure is None and self._is_arranged:
            self.flush()

    def flush(self) -> int:
        """Hand what is gathered to the thread at once; the number of the row that then holds all."""
        self._is_arranged = False
        if self._gathered:
            effects, self._gathered = self._gathered, []
            command_count, self._gathered_count = self._gathered_count, 0
            self.seq += 1
            self._on_row(effects)
            self._submit(self.seq, effects, command_count)
        return self.seq

    def _submit(self, seq: int, effects: Sequence[Effect], command_count: int) -> None:
        size = duration_ns = 0

        def job() -> None:
            nonlocal size, duration_ns
            begin_ns = time.perf_counter_ns()
            size = self._append(seq, effects)
            duration_ns = time.perf_counter_ns() - begin_ns

        def done(error: Exception | None) -> None:
            if error is not None:
                self.fail(error)
            elif self.failure is None:
                self._figures.note(duration_ns, command_count, size)
                self._on_commit(size)
                self._publish(seq)

        self._thread.submit(job, done)

    def _publish(self, seq: int) -> None:
        self.durable_seq = seq
        while self._waiting and self._waiting[0][0] <= seq:
            self._waiting.popleft()[1]()
        if self._is_arranged and self._waits and self.durable_seq == self.seq:
            self.flush()

    def fail(self, error: Exception) -> None:
        """Take nothing any more, and tell all who wait."""
        if self.failure is None:
            self.failure = error
            self._on_failure(error)
            while self._waiting:
                self._waiting.popleft()[1]()

    @property
    def has_failed(self) -> bool:
        """Whether a commit was refused: then nothing is taken any more."""
        return self.failure is not None

    # --- waiting -------------------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        """Whether a reply must wait."""
        return self._waits and (self._is_arranged or self.durable_seq < self.seq)

    def when_durable(self, release: Release) -> None:
        """Call `release` once the row that holds all recorded by now is synced, or the log failed."""
        if self.failure is not None or not self.is_behind:
            release()
        else:
            self._waiting.append((self.seq + self._is_arranged, release))


def _is_idle_sighting(effect: Effect) -> bool:
    return isinstance(effect, ConsumerSeen) and not effect.active
