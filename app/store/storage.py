"""An open data directory: its lock, its connections, the recovered keyspace, and its log.

It connects `core.storage`, whose functions block, with the event loop: one thread runs all writes one after
another, so a commit waits for at most one small job of a checkpoint. It never runs a command.

SQLite copies its write-ahead log into the database at the first commit that finds a thousand pages in it.
This takes several milliseconds, and the commit may run on the event loop. So the pages are estimated, and the
writer thread empties the log in time.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

from tailrace.app.observability.counters import CommitFigures
from tailrace.app.store.checkpoints import Checkpoints
from tailrace.app.store.commit import GroupCommit
from tailrace.app.store.commit_place import CommitPlace
from tailrace.app.store.writer_thread import WriterThread
from tailrace.core.effects import Effect, StreamCopied
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.storage import journal
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.data_files import note_boot
from tailrace.core.storage.publishing import merging
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import (
    DirectoryLock,
    connect_for_reading,
    kept_identity,
    opening,
    sync_directory,
    take_over,
)

IDENTITY_BYTES: Final = 8


def new_identity() -> str:
    """Return 16 random hexadecimal digits."""
    return secrets.token_hex(IDENTITY_BYTES)


_MEMBERS = ("key", "new_key")


def add_changed_keys(keys: set[bytes], effects: Iterable[Effect]) -> None:
    """Add to `keys` the keys of the streams that `effects` change. O(effects), about 0.1 us each."""
    for kind, group in groupby(effects, type):
        alike = list(group)
        for key_of in _getters(kind):
            keys.update(map(key_of, alike))


@cache
def _getters(kind: type[Effect]) -> list[attrgetter[bytes]]:
    return [attrgetter(name) for name in _MEMBERS if name in kind.__struct_fields__]


PAGES_MAX: Final = 900
"""Leaves room for the commits of one more turn below SQLite's thousand."""

_PAGE_BYTES: Final = 4096
_PAGES_PER_COMMIT: Final = 3
"""The ends of the two tables that each commit changes, and the page that the row begins on."""


class LogPages:
    """Counts the pages of the commits since the log was last emptied."""

    def __init__(self) -> None:
        self._count = 0

    def are_many_after(self, size_bytes: int) -> bool:
        """Count a commit with a row of `size_bytes`. Return True if the log should be emptied; the count then
        begins again. O(1)."""
        self._count += _PAGES_PER_COMMIT + size_bytes // _PAGE_BYTES
        if self._count < PAGES_MAX:
            return False
        self._count = 0
        return True


JOURNAL_BYTES_MAX: Final = 64 * 1024 * 1024
"""The growth of the journal after which a checkpoint starts: replaying it takes about a second."""

COPY_BYTES: Final = 64 * 1024
"""How many journal bytes a copy counts as: a checkpoint starts after a thousand copies at the latest."""

COPIED_PART_BYTES: Final = 128
"""How many journal bytes each part of a copied stream counts as: replaying it takes 2 us."""

_logger: Final = logging.getLogger("tailrace.storage")


class Storage:
    """One open data directory. Opening blocks while it recovers the keyspace: do this before serving.

    Raises `InUse`, `Unusable`, `UnknownFormat`, `Damage`, `OSError` or `sqlite3.Error`; the database and its
    log are then unchanged.
    """

    def __init__(self, directory: Path, cache: BlockCache | None = None) -> None:
        _make(directory)
        self.directory = directory
        self._lock = DirectoryLock(directory)
        try:
            with opening(directory) as (self._writing, self._reading):
                recovered = recover(self._reading, self._reading, cache)
                take_over(self._writing)
                # A checkpoint that a crash interrupted. The next one may replace the same rows.
                deque(merging(self._writing), maxlen=0)
                identity = kept_identity(self._writing, new_identity())
                note_boot(directory)
        except BaseException:
            self._lock.release()
            raise
        self.keyspace: Keyspace = recovered.keyspace
        self.keyspace.identity = identity
        self._seq = recovered.seq
        self._journal_bytes = journal.size_bytes(self._writing, recovered.covered_seq)
        self._journal_bytes += self._copied_bytes(recovered.replayed)
        self._log_pages = LogPages()
        self.figures = CommitFigures()
        self.log: GroupCommit
        self._checkpoints = Checkpoints(self.keyspace, self._writing, self._reading, self.figures)
        add_changed_keys(self._checkpoints.changed_keys, recovered.replayed)

    def start(self, *, waits: bool, on_failure: Callable[[Exception], None]) -> GroupCommit:
        """Start the writer thread and return the log; call this on the running event loop.

        `waits`: replies wait for the disk. `on_failure` is called once, with the first error of a commit.
        """
        self._thread = WriterThread(asyncio.get_running_loop())
        self.log = GroupCommit(
            self._thread,
            partial(journal.append, self._writing),
            self._seq,
            place=CommitPlace() if waits else None,
            on_row=self._note_row,
            on_commit=self._note_commit,
            on_failure=on_failure,
            figures=self.figures,
        )
        self._checkpoints.use(self.log, self._thread, self._note_checkpoint)
        return self.log

    @property
    def journal_bytes(self) -> int:
        """Return the growth of the journal since the last checkpoint in bytes."""
        return self._journal_bytes

    def _note_row(self, effects: Sequence[Effect]) -> None:
        add_changed_keys(self._checkpoints.changed_keys, effects)
        self._journal_bytes += self._copied_bytes(effects)

    def _copied_bytes(self, effects: Sequence[Effect]) -> int:
        """Return how many journal bytes the copies in `effects` count as.

        The row of a copy is small, but replaying it takes as long as replaying much of a journal. A copy that
        no longer exists counts as an empty one.
        """
        if StreamCopied not in map(type, effects):
            return 0
        copied = [self.keyspace.streams.get(each.new_key) for each in effects if type(each) is StreamCopied]
        parts = sum(stream.part_count for stream in copied if stream is not None)
        return COPY_BYTES * len(copied) + COPIED_PART_BYTES * parts

    def _note_commit(self, size_bytes: int) -> None:
        self._journal_bytes += size_bytes
        if self._log_pages.are_many_after(size_bytes):
            self._thread.submit(partial(journal.empty_log, self._writing), self._fail_on)
        if self._journal_bytes >= JOURNAL_BYTES_MAX:
            self._checkpoints.begin()

    def _note_checkpoint(self) -> None:
        self._journal_bytes = 0

    def _fail_on(self, error: Exception | None) -> None:
        if error is not None:
            self.log.fail(error)

    def checkpoint(self) -> None:
        """Start a checkpoint of this instant in the background. Only one may run at a time."""
        self._checkpoints.begin_now()

    # --- the end -------------------------------------------------------------------------------

    def committed(self) -> Keyspace | None:
        """Read the committed keyspace from disk after a failure; return None if that fails too.

        It is read as of one instant: the thread may still end a checkpoint, if not the disk failed but a
        command.
        """
        try:
            self._reading = connect_for_reading(self.directory)
            self._reading.execute("BEGIN")
            keyspace = recover(self._reading, self._reading).keyspace
            self._reading.execute("COMMIT")
        except (Damage, OSError, sqlite3.Error):
            _logger.exception("the committed data cannot be read")
            return None
        keyspace.identity = self.keyspace.identity
        return keyspace

    async def close(self) -> None:
        """Commit the remaining effects and take a last checkpoint: the next start then replays no journal."""
        # A commit that finishes meanwhile may have started another checkpoint.
        none_runs = self._checkpoints.none_runs
        while not none_runs.is_set():
            await none_runs.wait()
        if self.log.failure is None:
            self.checkpoint()
            await none_runs.wait()
        self._thread.close()
        # The writing connection closes last, so that SQLite removes the write-ahead log.
        self._reading.close()
        self._writing.close()
        self._lock.release()


def _make(directory: Path) -> None:
    """Create the directory and its missing parents, and sync them.

    SQLite syncs the directory entries of its own files only, so a power failure could lose the directory.
    """
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_directory(made.parent)
