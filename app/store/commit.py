"""Group commit: a thread writes effects as journal rows, and each reply waits for its row.

While the thread syncs one row, new effects collect in the next row. Under load, one sync therefore covers
many commands; without load, a command waits for one sync. When a row is durable, the event loop releases the
replies that wait for it, in order. A reply waits for everything that it reveals, including changes by other
commands.

After the first failed commit, no other commit runs: the state of the disk after a failed sync is unknown, so
a retry is unsafe. The log then releases all waiting replies, which become errors, and writes no more rows.
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
"""The time between commits with `--durability interval`."""


class Log(Protocol):
    """Records effects, and releases callbacks when they are durable."""

    def record(self, effects: Sequence[Effect]) -> None:
        """Record the effects of one command or transaction. O(effects)."""
        ...

    @property
    def is_behind(self) -> bool:
        """Return whether replies must wait, because recorded effects are not durable yet."""
        ...

    def when_durable(self, release: Release) -> None:
        """Call `release` when all effects recorded so far are durable, or when the log has failed."""
        ...

    def fail(self, error: Exception) -> None:
        """Stop writing because of `error`."""
        ...


class NoLog:
    """The log for `--durability none`: it stores no effects, and replies never wait."""

    is_behind = False

    def record(self, effects: Sequence[Effect]) -> None:
        """Discard the effects."""

    def when_durable(self, release: Release) -> None:
        """Call `release` at once."""
        release()

    def fail(self, error: Exception) -> None:
        """Do nothing: this log never writes."""


class WriterThread:
    """A thread that runs blocking jobs one after another and reports results on the event loop.

    After a job fails, later jobs do not run; they report the same error.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: queue.SimpleQueue[tuple[Job, Callable[[Exception | None], None]] | None]
        self._jobs = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tailrace-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job, done: Callable[[Exception | None], None]) -> None:
        """Run `job` in the thread, then call `done` on the loop with its error, or None."""
        self._jobs.put((job, done))

    def close(self) -> None:
        """Wait until the queued jobs have ended, then stop the thread. Blocks."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        # After a failed job no other job runs: the journal must not have gaps.
        failure: Exception | None = None
        while (item := self._jobs.get()) is not None:
            job, done = item
            if failure is None:
                failure = _failure_of(job)
            self._loop.call_soon_threadsafe(done, failure)


def _failure_of(job: Job) -> Exception | None:
    try:
        job()
    except Exception as error:  # noqa: BLE001 - reported to the caller of `submit`
        return error
    return None


class GroupCommit:
    """The log that commits effects in groups.

    `append(seq, effects)` commits one row, blocks, and returns its size in bytes; the first row has the
    number `seq + 1`. `waits`: replies wait for their row (`always`) or do not wait (`interval`). On the event
    loop, `on_row` gets the effects of each row before the thread writes it, `on_commit` gets the size of each
    durable row, and `on_failure` gets the first error.
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
        """The number of the last row that was passed to the thread."""
        self.durable_seq = seq
        self.failure: Exception | None = None

    def record(self, effects: Sequence[Effect]) -> None:
        """Collect effects for the next row. Effects that only record the activity of a consumer start no
        sync: they wait for the next row."""
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
            # On the next turn of the loop: the row then includes the effects of this turn's other requests.
            loop.call_soon(self._start)

    def _start(self) -> None:
        if self.failure is None and self._is_arranged:
            self.flush()

    def flush(self) -> int:
        """Pass the collected effects to the thread now; return the number of the last row."""
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
        """Stop writing, call `on_failure` once, and release all waiting callbacks."""
        if self.failure is None:
            self.failure = error
            self._on_failure(error)
            while self._waiting:
                self._waiting.popleft()[1]()

    @property
    def has_failed(self) -> bool:
        """Return whether a commit has failed; the log then writes no more rows."""
        return self.failure is not None

    # --- waiting -------------------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        """Return whether a reply must wait. O(1)."""
        return self._waits and (self._is_arranged or self.durable_seq < self.seq)

    def when_durable(self, release: Release) -> None:
        """Call `release` when the row with all effects recorded so far is durable, or when the log fails.

        O(1).
        """
        if self.failure is not None or not self.is_behind:
            release()
        else:
            self._waiting.append((self.seq + self._is_arranged, release))


def _is_idle_sighting(effect: Effect) -> bool:
    return isinstance(effect, ConsumerSeen) and not effect.active
