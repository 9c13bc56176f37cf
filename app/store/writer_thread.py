"""The writer thread: runs blocking jobs on the disk one after another.

It owns the thread and the order of its jobs. It never decides what is written.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable

Job = Callable[[], object]


class WriterThread:
    """A thread that runs blocking jobs one after another and reports results on the event loop.

    After a job fails, later jobs do not run; they report the same error. `pending_count`: how many jobs were
    submitted and have not reported yet.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.pending_count = 0
        self._jobs: queue.SimpleQueue[tuple[Job, Callable[[Exception | None], None]] | None]
        self._jobs = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tailrace-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job, done: Callable[[Exception | None], None]) -> None:
        """Run `job` in the thread, then call `done` on the loop with its error, or None."""
        self.pending_count += 1
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
            self._loop.call_soon_threadsafe(self._report, done, failure)

    def _report(self, done: Callable[[Exception | None], None], failure: Exception | None) -> None:
        self.pending_count -= 1
        done(failure)


def _failure_of(job: Job) -> Exception | None:
    try:
        job()
    except Exception as error:  # noqa: BLE001 - reported to the caller of `submit`
        return error
    return None
