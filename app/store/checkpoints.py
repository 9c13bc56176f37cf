"""The checkpoints of an open data directory: one at a time, in the background.

It owns the order of their steps on the event loop and in the writer thread, and lets a copy of the process
encode large states, so that no step stops the loop for long. It never decides when a checkpoint is due.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from tailrace.app.observability.counters import CommitFigures
from tailrace.app.store.commit import GroupCommit
from tailrace.app.store.encoding_process import IS_SUPPORTED, EncodingFailed, EncodingProcess
from tailrace.app.store.writer_thread import WriterThread
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage import checkpoint
from tailrace.core.storage.draft import (
    BlockRow,
    Draft,
    Incomplete,
    Snapshot,
    StreamRows,
    passage_of,
    rows_of,
    stream_rows,
)
from tailrace.core.storage.publishing import publishing

KEYS_PER_TURN: Final = 500
"""The streams that one turn of the event loop gathers: about a millisecond."""

_BACKLOG_SHARE: Final = 16
"""With many streams, a turn gathers at least this share of them, so that changes cannot outrun it."""

TURNS_MAX: Final = 200
"""After this many turns, the rest is gathered at once."""

PARTS_ENCODED_HERE_MAX: Final = 20_000
"""More parts are encoded by a copy of the process: encoding this many takes 20 to 40 ms."""

_END: Final = object()
"""The result of a step after the last one."""

_logger: Final = logging.getLogger("tailrace.storage")


class Checkpoints:
    """The checkpoints of one keyspace. `changed_keys`: the keys of streams that changed since the last
    checkpoint; add to it before a row with the change is written."""

    def __init__(
        self,
        keyspace: Keyspace,
        writing: sqlite3.Connection,
        reading: sqlite3.Connection,
        figures: CommitFigures,
    ) -> None:
        self.changed_keys: set[bytes] = set()
        self.none_runs = asyncio.Event()
        self.none_runs.set()
        self._keyspace = keyspace
        self._writing = writing
        self._reading = reading
        self._figures = figures
        self._draft = Draft()
        self._log: GroupCommit
        self._thread: WriterThread
        self._on_taken: Callable[[], None]

    def use(self, log: GroupCommit, thread: WriterThread, on_taken: Callable[[], None]) -> None:
        """Write with `thread`, as of rows of `log`. `on_taken` is called at the instant of a snapshot."""
        self._log, self._thread, self._on_taken = log, thread, on_taken

    def begin(self) -> None:
        """Start a checkpoint in steps, unless one runs."""
        if self.none_runs.is_set():
            self.none_runs.clear()
            self._gather(TURNS_MAX)

    def begin_now(self) -> None:
        """Start a checkpoint of this instant; none may run. Blocks while it encodes the streams."""
        assert self.none_runs.is_set(), "an older snapshot would be published after this one"
        self.none_runs.clear()
        self._take_here()

    # --- the snapshot --------------------------------------------------------------------------

    def _gather(self, turns_left: int) -> None:
        """Seal full blocks, gather the blocks of changed streams, a few in each turn, and take the
        snapshot."""
        if self._log.has_failed:
            self.none_runs.set()
            return
        if self._keyspace.sealing.waiting:
            self._keyspace.sealing.step()
        elif len(self.changed_keys) > KEYS_PER_TURN and turns_left:
            turns_left -= 1
            share = len(self.changed_keys) // _BACKLOG_SHARE
            self._gather_some(max(KEYS_PER_TURN, share))
        else:
            self._take()
            return
        asyncio.get_running_loop().call_soon(self._gather, turns_left)

    def _gather_some(self, count: int) -> None:
        for _ in range(count):
            self._draft.add(self._keyspace, self.changed_keys.pop())

    def _mark(self) -> int:
        """Gather the rest, and return the row of this instant. The row that is flushed first has all effects
        up to now; the thread commits it before the jobs of the checkpoint."""
        self._on_taken()
        seq = self._log.flush()
        self._gather_some(len(self.changed_keys))
        return seq

    def _take(self) -> None:
        seq = self._mark()
        process = self._encoding_process()
        if process is None:
            self._take_here()
            return
        snapshot = self._draft.snapshot(self._keyspace, seq, ())
        process.when_ended(partial(self._receive, process, snapshot))

    def _encoding_process(self) -> EncodingProcess | None:
        """Start a process that encodes the streams of the draft; None if that does not pay, or failed."""
        if not IS_SUPPORTED or self._draft.part_count <= PARTS_ENCODED_HERE_MAX:
            return None
        try:
            return EncodingProcess(passage_of(stream_rows(self._keyspace, self._draft.keys)))
        except OSError as error:
            _note_failure(error)
            return None

    def _take_here(self) -> None:
        seq = self._mark()
        streams = list(stream_rows(self._keyspace, self._draft.keys))
        self._store(self._draft.snapshot(self._keyspace, seq, streams))

    def _receive(self, process: EncodingProcess, snapshot: Snapshot) -> None:
        """Read in the thread what the copy has encoded; if it failed, encode it here."""
        rows: list[StreamRows] | None = None

        def job() -> None:
            nonlocal rows
            try:
                rows = rows_of(process.result())
            except (EncodingFailed, Incomplete) as failure:
                _note_failure(failure)

        def go_on(error: Exception | None) -> None:
            if error is not None:
                process.discard()
                self._end(error)
            elif rows is None:
                self._take_here()
            else:
                self._store(snapshot._replace(streams=rows))

        self._thread.submit(job, go_on)

    # --- writing -------------------------------------------------------------------------------

    def _store(self, snapshot: Snapshot) -> None:
        self._write(snapshot, iter(checkpoint.chunks(snapshot.blocks)))

    def _write(self, snapshot: Snapshot, portions: Iterator[Sequence[BlockRow]]) -> None:
        """Write the next portion of blocks, or publish the snapshot. Commits can run between two portions."""
        portion = next(portions, None)
        if portion is None:
            self._publish(snapshot, publishing(self._writing, snapshot))
            return

        def go_on(error: Exception | None) -> None:
            if error is None:
                self._write(snapshot, portions)
            else:
                self._end(error)

        self._thread.submit(partial(checkpoint.write_blocks, self._writing, portion), go_on)

    def _publish(self, snapshot: Snapshot, steps: Iterator[None]) -> None:
        """Publish the snapshot in short transactions. Commits can run between two of them."""
        is_more = True

        def job() -> None:
            nonlocal is_more
            is_more = next(steps, _END) is not _END

        def go_on(error: Exception | None) -> None:
            if error is not None:
                self._end(error)
            elif is_more:
                self._publish(snapshot, steps)
            else:
                self._finish(snapshot)

        self._thread.submit(job, go_on)

    def _finish(self, snapshot: Snapshot) -> None:
        self._draft = Draft()
        checkpoint.release(self._reading, snapshot)
        self._figures.checkpoints += 1
        fields = {"seq": snapshot.seq, "blocks": len(snapshot.blocks)}
        _logger.info("checkpoint", extra={"fields": fields})
        self._give_back()

    def _give_back(self) -> None:
        """Shrink the file in portions. Commits can run between two portions."""
        is_more = False

        def job() -> None:
            nonlocal is_more
            is_more = checkpoint.give_back(self._writing)

        def go_on(error: Exception | None) -> None:
            if error is None and is_more:
                self._give_back()
            else:
                self._end(error)

        self._thread.submit(job, go_on)

    def _end(self, error: Exception | None) -> None:
        self.none_runs.set()
        if error is not None:
            self._log.fail(error)


def _note_failure(failure: Exception) -> None:
    fields = {"error": str(failure)}
    _logger.warning("a copy of the process could not encode the checkpoint", extra={"fields": fields})
