"""A data directory in use: its lock, its connections, what was in it, and its checkpoints.

Joins `core.storage`, which blocks, with the event loop: everything that writes runs in one thread, one
job after another, so that a commit waits for at most one small job of a checkpoint.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from tailrace.app.observability.counters.commits import CommitFigures
from tailrace.app.store.commit import GroupCommit, WriterThread
from tailrace.core.effects import Effect, StreamCopied
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.storage import checkpoint, journal
from tailrace.core.storage.checkpoint import BlockRow, Snapshot
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.data_files import note_boot
from tailrace.core.storage.records import encode_effects
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import (
    DirectoryLock,
    connect_for_reading,
    opening,
    sync_directory,
    take_over,
)

JOURNAL_BYTES_MAX: Final = 64 * 1024 * 1024
"""A checkpoint is taken when the journal has grown by this much: replaying it takes about a second."""

COPY_BYTES: Final = 64 * 1024
"""What a copy counts for in the journal: a checkpoint comes after a thousand at the latest."""

COPIED_PART_BYTES: Final = 128
"""What each part of a copied stream counts for: 2 us of a replay."""

_logger: Final = logging.getLogger("tailrace.storage")


class Storage:
    """One open data directory. Opening blocks: it recovers what was kept, before the loop serves.

    Raises `InUse`, `Unusable`, `UnknownFormat`, `Damage`, or `OSError` and `sqlite3.Error` where the system
    refuses; then the database and its log are as they were.
    """

    def __init__(self, directory: Path, cache: BlockCache | None = None) -> None:
        _make(directory)
        self.directory = directory
        self._lock = DirectoryLock(directory)
        try:
            with opening(directory) as (self._writing, self._reading):
                recovered = recover(self._reading, self._reading, cache)
                take_over(self._writing)
                note_boot(directory)
        except BaseException:
            self._lock.release()
            raise
        self.keyspace: Keyspace = recovered.keyspace
        self._seq = recovered.seq
        self._changed_keys = {key for effect in recovered.replayed for key in _keys_of(effect)}
        self._journal_bytes = journal.size_bytes(self._writing) + self._copied_bytes(recovered.replayed)
        self._no_checkpoint_runs = asyncio.Event()
        self._no_checkpoint_runs.set()
        self.figures = CommitFigures()
        self.log: GroupCommit

    def start(self, *, waits: bool, on_failure: Callable[[Exception], None]) -> GroupCommit:
        """Begin to take effects, on the running event loop."""
        self._thread = WriterThread(asyncio.get_running_loop())
        self.log = GroupCommit(
            self._thread,
            self._append,
            self._seq,
            waits=waits,
            on_row=self._note_row,
            on_commit=self._note_commit,
            on_failure=on_failure,
            figures=self.figures,
        )
        return self.log

    @property
    def journal_bytes(self) -> int:
        """What the journal has grown by since the last checkpoint."""
        return self._journal_bytes

    def _append(self, seq: int, effects: Sequence[Effect]) -> int:
        body = encode_effects(effects)
        journal.append(self._writing, seq, body)
        return len(body)

    def _note_row(self, effects: Sequence[Effect]) -> None:
        self._changed_keys.update(key for effect in effects for key in _keys_of(effect))
        self._journal_bytes += self._copied_bytes(effects)

    def _copied_bytes(self, effects: Sequence[Effect]) -> int:
        """What copies count for: a row names two streams, and replaying it takes as long as much of a
        journal. A copy that is gone by now counts as an empty one."""
        copied = [self.keyspace.streams.get(each.new_key) for each in effects if type(each) is StreamCopied]
        parts = sum(stream.part_count for stream in copied if stream is not None)
        return COPY_BYTES * len(copied) + COPIED_PART_BYTES * parts

    def _note_commit(self, size_bytes: int) -> None:
        self._journal_bytes += size_bytes
        if self._journal_bytes >= JOURNAL_BYTES_MAX and self._no_checkpoint_runs.is_set():
            self._no_checkpoint_runs.clear()
            self._checkpoint_when_sealed()

    # --- checkpoints ---------------------------------------------------------------------------

    def _checkpoint_when_sealed(self) -> None:
        """Take a checkpoint once no block waits to be sealed: sealing all of them at once would take long."""
        if self.log.has_failed:
            self._no_checkpoint_runs.set()
        elif self.keyspace.sealing.waiting:
            self.keyspace.sealing.step()
            asyncio.get_running_loop().call_soon(self._checkpoint_when_sealed)
        else:
            self._take_checkpoint()

    def checkpoint(self) -> None:
        """Write the state beside the journal, in the background. One at a time."""
        assert self._no_checkpoint_runs.is_set(), "an older snapshot would be published after this one"
        self._no_checkpoint_runs.clear()
        self._take_checkpoint()

    def _take_checkpoint(self) -> None:
        """Take the snapshot now: the row that is flushed first holds all that the state shows, and the
        thread commits it before it comes to the checkpoint's jobs.
        """
        self._journal_bytes = 0
        seq = self.log.flush()
        changed, self._changed_keys = self._changed_keys, set()
        snapshot = checkpoint.take(self.keyspace, seq, changed)
        self._write(snapshot, iter(checkpoint.chunks(snapshot.blocks)))

    def _write(self, snapshot: Snapshot, portions: Iterator[Sequence[BlockRow]]) -> None:
        """Write the next portion of blocks, or publish. Commits that come meanwhile get their turn."""
        portion = next(portions, None)
        if portion is None:
            job = partial(checkpoint.publish, self._writing, snapshot)
            self._thread.submit(job, partial(self._finish, snapshot))
            return

        def go_on(error: Exception | None) -> None:
            if error is None:
                self._write(snapshot, portions)
            else:
                self._end_checkpoint(error)

        self._thread.submit(partial(checkpoint.write_blocks, self._writing, portion), go_on)

    def _finish(self, snapshot: Snapshot, error: Exception | None) -> None:
        if error is not None:
            self._end_checkpoint(error)
            return
        checkpoint.release(self._reading, snapshot)
        self.figures.checkpoints += 1
        fields = {"seq": snapshot.seq, "blocks": len(snapshot.blocks)}
        _logger.info("checkpoint", extra={"fields": fields})
        self._give_back()

    def _give_back(self) -> None:
        """Shrink the file by a portion, and by the next one behind the commits that came meanwhile."""
        is_more = False

        def job() -> None:
            nonlocal is_more
            is_more = checkpoint.give_back(self._writing)

        def go_on(error: Exception | None) -> None:
            if error is None and is_more:
                self._give_back()
            else:
                self._end_checkpoint(error)

        self._thread.submit(job, go_on)

    def _end_checkpoint(self, error: Exception | None) -> None:
        self._no_checkpoint_runs.set()
        if error is not None:
            self.log.fail(error)

    # --- the end -------------------------------------------------------------------------------

    def committed(self) -> Keyspace | None:
        """What is on disk, read anew after a failure; None where even that fails."""
        try:
            self._reading = connect_for_reading(self.directory)
            return recover(self._reading, self._reading).keyspace
        except (Damage, OSError, sqlite3.Error):
            _logger.exception("what was committed cannot be read")
            return None

    async def close(self) -> None:
        """Write what is gathered and a last checkpoint, so that the next start replays nothing."""
        # A commit that ends before this goes on may have begun another one.
        while not self._no_checkpoint_runs.is_set():
            await self._no_checkpoint_runs.wait()
        if self.log.failure is None:
            self.checkpoint()
            await self._no_checkpoint_runs.wait()
        self._thread.close()
        # The connection that may write closes last: it leaves one file and no write-ahead log.
        self._reading.close()
        self._writing.close()
        self._lock.release()


def _make(directory: Path) -> None:
    """Make the directory and its parents where they are missing, so that a power cut does not take them:
    SQLite syncs the names of its own files, and nobody else those above."""
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_directory(made.parent)


def _keys_of(effect: Effect) -> tuple[bytes, ...]:
    """The streams whose state an effect changed."""
    return tuple(
        getattr(effect, name) for name in ("key", "new_key") if name in type(effect).__struct_fields__
    )
