"""Group commit: effects become journal rows, and each reply waits for its row.

While the disk is fast, the event loop commits small rows itself, at the end of the turn in which their
commands ran (`commit_place`). If the last row had several commands, the next one waits while each turn brings
another command. Otherwise a thread writes the rows: while it syncs one row, new effects collect in the next
row. Under load, one sync therefore covers many commands; without load, a command waits for one sync. When a
row is durable, the event loop releases the replies that wait for it, in order. A reply waits for everything
that it reveals, including changes by other commands.

With `--durability interval`, no reply waits for its row. If the disk stored less than clients send, the rows
that wait for it would take more and more memory, and a crash would lose more and more seconds. So replies
wait while the disk is late, and clients send no more than it stores. Redis waits for a late sync as well.

After the first failed commit, no other commit runs: the state of the disk after a failed sync is unknown, so
a retry is unsafe. The log then releases all waiting replies, which become errors, and writes no more rows.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from tailrace.app.observability.counters import CommitFigures
from tailrace.app.store.commit_place import BYTES_MAX, CommitPlace, is_quickly_encoded
from tailrace.app.store.log import Release
from tailrace.app.store.rows import PART_BYTES, Row, RowParts, estimated_bytes
from tailrace.app.store.writer_thread import WriterThread
from tailrace.core.effects import ConsumerSeen, Effect
from tailrace.core.storage.records import encode_effects

LATE_S: Final = 2.0
"""The disk is late while a row that the thread got this long ago is not durable. Redis has the same limit."""

_logger: Final = logging.getLogger("tailrace.storage")


class LateDisk:
    """The rows of one log. `clock_s`: the clock of the event loop."""

    def __init__(self, clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self._begun_at_s: deque[float] = deque()
        self._was_late = False

    def begin(self) -> None:
        """Note that the thread got a row."""
        self._begun_at_s.append(self._clock_s())

    def end(self) -> None:
        """Note that the oldest row is durable."""
        self._begun_at_s.popleft()

    def look(self) -> bool:
        """Return whether the disk is late, and log it once each time. O(1)."""
        commit_s = self._clock_s() - self._begun_at_s[0] if self._begun_at_s else 0.0
        is_late = commit_s >= LATE_S
        if is_late and not self._was_late:
            _logger.warning("disk late", extra={"fields": {"commit_s": round(commit_s, 1)}})
        self._was_late = is_late
        return is_late


INTERVAL_S: Final = 1.0
"""The time between commits with `--durability interval`."""

GATHERING_TURNS_MAX: Final = 8
"""How many turns of the loop a row waits at most for further commands."""


class GroupCommit:
    """The log that commits effects in groups.

    `append(seq, body)` commits one row of encoded effects, and blocks; the first row has the number
    `seq + 1`. `place` decides which rows the event loop commits itself; None: replies do not wait for their
    rows (`interval`), and the thread commits all of them. On the event loop, `on_row` gets the effects of a
    row before it is written, `on_commit` the size of each durable row in bytes, and `on_failure` the first
    error.
    """

    def __init__(
        self,
        thread: WriterThread,
        append: Callable[[int, bytes], None],
        seq: int,
        *,
        place: CommitPlace | None,
        on_row: Callable[[Sequence[Effect]], None],
        on_commit: Callable[[int], None],
        on_failure: Callable[[Exception], None],
        figures: CommitFigures,
    ) -> None:
        self._thread = thread
        self._append = append
        self._waits = place is not None
        self._place = place or CommitPlace(mean_ns_max=0)
        self._on_row = on_row
        self._on_commit = on_commit
        self._on_failure = on_failure
        self._figures = figures
        self._gathered: list[Effect] = []
        self._gathered_count = 0
        self._gathered_bytes = 0
        """The estimated bytes of the collected effects, if replies do not wait for their rows."""
        self._parts: RowParts | None = None
        """The effects of the next row before the collected ones."""
        self._is_arranged = False
        self._is_shared = False  # Whether the last row had more than one command.
        self._waiting: deque[tuple[int, Release]] = deque()
        self._disk = LateDisk(asyncio.get_running_loop().time)
        self.seq = seq
        """The number of the last row."""
        self.durable_seq = seq
        self.is_behind = False
        """Whether a reply must wait. Kept up to date, because each request asks for it more than once."""
        self.failure: Exception | None = None

    def record(self, effects: Sequence[Effect]) -> None:
        """Collect effects for the next row. Effects that only record the activity of a consumer start no
        sync: they wait for the next row."""
        self._gathered.extend(effects)
        self._gathered_count += 1
        if not self._is_arranged and not all(map(_is_idle_sighting, effects)):
            self._is_arranged = True
            self._note_progress()
            self._arrange()
        if not self._waits:
            self._gathered_bytes += estimated_bytes(effects)
            if self._gathered_bytes >= PART_BYTES:
                self._begin_part()

    def _begin_part(self) -> None:
        """Let the thread encode the collected effects now: they are a part of the next row."""
        self._parts = self._parts or RowParts()
        effects, self._gathered, self._gathered_bytes = self._gathered, [], 0
        self._on_row(effects)
        self._thread.submit(partial(self._parts.add, effects), self._fail_on)

    def _fail_on(self, error: Exception | None) -> None:
        if error is not None:
            self.fail(error)

    def joined(self, count: int) -> None:
        """Count `count` further commands for the next row."""
        self._gathered_count += count

    def _arrange(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._waits:
            loop.call_later(INTERVAL_S, self._start)
        elif self.durable_seq == self.seq:
            # On the next turn of the loop: the row then includes the effects of this turn's other requests.
            # If the last row had several commands, several clients wait, and the next requests are close.
            turns = GATHERING_TURNS_MAX if self._is_shared else 0
            loop.call_soon(self._gather, 0, turns)

    def _gather(self, count_before: int, turns_left: int) -> None:
        """Start the commit as soon as a turn of the loop has brought no further command."""
        if turns_left and count_before < self._gathered_count:
            loop = asyncio.get_running_loop()
            loop.call_soon(self._gather, self._gathered_count, turns_left - 1)
        else:
            self._start()

    def _start(self) -> None:
        """Commit the collected effects, on the loop if that is fast, otherwise in the thread."""
        if self.failure is not None or not self._is_arranged:
            return
        row = self._next_row()
        if row is None:
            return
        if self._is_for_loop(row):
            self._commit_here(row)
        else:
            self._submit(row)

    def _is_for_loop(self, row: Row) -> bool:
        # The thread must be idle: it uses the same connection, and the rows must stay in order.
        is_idle = not self._thread.pending_count
        return is_idle and self._place.is_loop() and is_quickly_encoded(row.effects)

    def flush(self) -> int:
        """Pass the collected effects to the thread now; return the number of the last row."""
        row = self._next_row()
        if row is not None:
            self._submit(row)
        return self.seq

    def _next_row(self) -> Row | None:
        self._is_arranged = False
        self._note_progress()
        if not self._gathered and self._parts is None:
            return None
        effects, self._gathered, self._gathered_bytes = self._gathered, [], 0
        command_count, self._gathered_count = self._gathered_count, 0
        parts, self._parts = self._parts, None
        self.seq += 1
        self._note_progress()
        self._on_row(effects)
        return Row(self.seq, effects, command_count, parts)

    def _commit_here(self, row: Row) -> None:
        try:
            body = encode_effects(row.effects)
            if len(body) > BYTES_MAX:
                self._submit(row, body)
                return
            begin_ns = self._place.clock_ns()
            self._append(row.seq, body)
        except Exception as error:  # noqa: BLE001 - every error ends the log
            self.fail(error)
            return
        duration_ns = self._place.clock_ns() - begin_ns
        self._place.note(duration_ns)
        self._publish(row, len(body), duration_ns)

    def _submit(self, row: Row, body: bytes | None = None) -> None:
        size = duration_ns = 0

        def job() -> None:
            nonlocal size, duration_ns
            begin_ns = time.perf_counter_ns()
            content, size = row.encoded() if body is None else (body, len(body))
            self._append(row.seq, content)
            duration_ns = time.perf_counter_ns() - begin_ns

        def done(error: Exception | None) -> None:
            if error is not None:
                self.fail(error)
            elif self.failure is None:
                self._disk.end()
                self._publish(row, size, duration_ns)

        self._disk.begin()
        self._thread.submit(job, done)

    def _publish(self, row: Row, size_bytes: int, duration_ns: int) -> None:
        """Note that `row` is durable, and release what waits for it."""
        self._figures.note(duration_ns, row.command_count, size_bytes)
        self._on_commit(size_bytes)
        self.durable_seq = row.seq
        self._note_progress()
        self._is_shared = row.command_count > 1
        has_gathered = self._is_arranged
        while self._waiting and (self._waiting[0][0] <= row.seq or not self.is_behind):
            self._waiting.popleft()[1]()
        # Effects that a released callback recorded are committed at the end of the turn, as `_arrange` says.
        if has_gathered and self._waits and self.durable_seq == self.seq:
            self._start()

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

    def _note_progress(self) -> None:
        has_more = self._is_arranged or self.durable_seq < self.seq
        self.is_behind = has_more if self._waits else self._disk.look()

    def when_durable(self, release: Release) -> None:
        """Call `release` when the row with all effects recorded so far is durable, when the log fails, or,
        with `interval`, when the disk is no longer late. O(1)."""
        if self.failure is None and self.is_behind:
            self._waiting.append((self.seq + self._is_arranged, release))
        else:
            release()


def _is_idle_sighting(effect: Effect) -> bool:
    return isinstance(effect, ConsumerSeen) and not effect.active
