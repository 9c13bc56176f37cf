"""Wherever rows are committed, no reply comes before its entry is on the disk.

Each test forces a place: the event loop, the writer thread, or both in turn. The journal is a real file, and
every commit is slow, so that a reply that did not wait would come first.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest

from tailrace.app.observability.counters import CommitFigures
from tailrace.app.store.commit import GroupCommit
from tailrace.app.store.commit_place import CommitPlace
from tailrace.app.store.service import EngineStore
from tailrace.app.store.writer_thread import WriterThread
from tailrace.core.commands import Append
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.core.replies import AppendReply
from tailrace.core.storage import journal
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import connect, connect_for_reading
from tests.support.commit_scene import IN_THREAD, ON_LOOP

SLOWED_S = 0.002
CLIENTS = 6
APPENDS = 5
LOOP, THREAD = threading.main_thread().name, "tailrace-writer"


class InTurn(CommitPlace):
    """Every second row is for the loop."""

    def __init__(self) -> None:
        super().__init__(ON_LOOP)
        self._turns = cycle((True, False))

    def is_loop(self) -> bool:
        return next(self._turns)


@contextmanager
def serving(directory: Path, place: CommitPlace, threads: set[str]) -> Iterator[EngineStore]:
    """A store over a journal in `directory` whose commits are slow. `threads`: gets the names of those that
    commit."""
    store = EngineStore(Engine(Keyspace()))
    with closing(connect(directory)) as writing:

        def append(seq: int, body: bytes) -> None:
            time.sleep(SLOWED_S)
            journal.append(writing, seq, body)
            threads.add(threading.current_thread().name)

        thread = WriterThread(asyncio.get_running_loop())
        log = GroupCommit(
            thread,
            append,
            0,
            place=place,
            on_row=lambda _: None,
            on_commit=lambda _: None,
            on_failure=lambda error: store.fail(str(error)),
            figures=CommitFigures(),
        )
        store.use_log(log, lambda: None)
        try:
            yield store
        finally:
            thread.close()


async def append_and_look(store: EngineStore, directory: Path) -> None:
    """Append entries one after another. Each must be on the disk when its reply comes."""
    for _ in range(APPENDS):
        reply = await store.execute(Append(b"s", (b'{"a":"b"}',)))
        assert isinstance(reply, AppendReply)
        with closing(connect_for_reading(directory)) as reading:
            [stream] = recover(reading, reading).keyspace.streams.values()
            assert stream.last_id >= reply.ids[0]


@pytest.mark.parametrize(
    ("make_place", "expected"),
    [
        pytest.param(partial(CommitPlace, ON_LOOP), {LOOP}, id="loop"),
        pytest.param(partial(CommitPlace, IN_THREAD), {THREAD}, id="thread"),
        pytest.param(InTurn, {LOOP, THREAD}, id="in turn"),
    ],
)
def test_no_reply_comes_before_its_entry_is_on_a_slow_disk(
    tmp_path: Path, make_place: type[CommitPlace], expected: set[str]
) -> None:
    threads: set[str] = set()

    async def story() -> None:
        with serving(tmp_path, make_place(), threads) as store:
            await asyncio.gather(*(append_and_look(store, tmp_path) for _ in range(CLIENTS)))

    asyncio.run(story())
    assert threads == expected
    with closing(connect_for_reading(tmp_path)) as reading:
        assert recover(reading, reading).keyspace.streams[b"s"].length == CLIENTS * APPENDS
