"""Checkpoints whose states a copy of the process encodes: what they hold, and what a failing copy causes."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tailrace.app.lifespan import keeping
from tailrace.app.store import checkpoints as checkpoints_module
from tailrace.app.store import encoding_process
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage.data_files import FILE_NAME
from tailrace.core.storage.draft import StreamRows, passage_of, stream_rows
from tailrace.core.storage.recovery import check_payloads, recover
from tailrace.core.storage.schema import connect
from tests.support.seeds import seeds
from tests.unit.test_replay import Program, picture

KEY = b"s"
FRAGMENTS = [b'{"n":"%d"}' % number for number in range(250)]
Rows = Callable[[Keyspace, Iterable[bytes]], Iterator[StreamRows]]


@pytest.fixture(autouse=True)
def every_checkpoint_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints_module, "PARTS_ENCODED_HERE_MAX", 0)


class Stage:
    """A store kept in a directory, whose copies wait for the file `go`."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.go = directory.with_name("go")
        self.began = directory.with_name("began")
        monkeypatch.setattr(checkpoints_module, "stream_rows", self._rows)
        self.storage = Storage(directory)
        self.store = EngineStore(Engine(self.storage.keyspace), clock=lambda: 1000)
        self.server = os.getpid()
        self.copies: list[int] = []
        self.is_forked = asyncio.Event()
        self._note_copies(monkeypatch)

    def _rows(self, keyspace: Keyspace, keys: Iterable[bytes]) -> Iterator[StreamRows]:
        # The server itself never waits here: it encodes if a copy failed.
        if os.getpid() != self.server:
            # A directory, because creating a file needs a descriptor for a moment.
            self.began.mkdir(exist_ok=True)
            _wait_for(self.go)
        yield from stream_rows(keyspace, keys)

    def _note_copies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        fork = os.fork

        def noted() -> int:
            process_id = fork()
            self.copies.append(process_id)
            self.is_forked.set()
            return process_id

        monkeypatch.setattr(os, "fork", noted)

    async def checkpointed(self) -> None:
        await self.storage._checkpoints.none_runs.wait()

    async def begin(self) -> int:
        """Start a checkpoint, and return the process id of the copy, which waits."""
        self.is_forked.clear()
        self.storage._checkpoints.begin()
        await self.is_forked.wait()
        return self.copies[-1]

    def play(self, story: Callable[[Stage], Awaitable[None]]) -> None:
        async def run() -> None:
            async with keeping(self.store, self.storage, waits=True):
                try:
                    await story(self)
                finally:
                    self.go.touch()

        asyncio.run(run())


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path / "data", monkeypatch)


def _wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.001)


def _exists(process_id: int) -> bool:
    return Path(f"/proc/{process_id}").exists()


def _read(process_id: int, name: str) -> str:
    return Path(f"/proc/{process_id}/{name}").read_text()


def _descriptors(process_id: int) -> list[str]:
    """What the descriptors of a process refer to."""
    return [str(each.readlink()) for each in Path(f"/proc/{process_id}/fd").iterdir()]


def found_after_a_crash(stage: Stage) -> Any:
    """What a start would find now, as a picture. The running store stays as it is."""
    directory = stage.directory
    copied = directory.with_name("copied")
    shutil.rmtree(copied, ignore_errors=True)
    copied.mkdir()
    for name in (FILE_NAME, f"{FILE_NAME}-wal"):
        shutil.copy(directory / name, copied / name)
    with closing(connect(copied)) as connection:
        keyspace = recover(connection, connection).keyspace
        list(check_payloads(keyspace))
        check(keyspace)
        keyspace.identity = stage.storage.keyspace.identity
        return picture(keyspace, 1000)


async def append(stage: Stage, key: bytes = KEY) -> None:
    await stage.store.execute(c.Append(key, FRAGMENTS))


def test_commands_run_while_the_copy_encodes_and_are_kept(stage: Stage) -> None:
    async def story(stage: Stage) -> None:
        await append(stage)
        await stage.store.execute(c.CreateGroup(KEY, b"g", 0))
        await stage.begin()
        read = c.ReadGroup(b"g", b"alice", (c.ReadFrom(KEY, c.Special.NEW),), c.ReadLimits(count=120))
        await stage.store.execute(read)
        await stage.store.execute(c.TrimStream(KEY, c.Trim(max_length=90)))
        await append(stage, b"new")
        assert stage.storage.figures.checkpoints == 0, "it did not wait for the copy"
        assert found_after_a_crash(stage) == picture(stage.storage.keyspace, 1000)
        stage.go.touch()
        await stage.checkpointed()
        assert stage.storage.figures.checkpoints == 1
        assert len(stage.copies) == 1
        assert found_after_a_crash(stage) == picture(stage.storage.keyspace, 1000)

    stage.play(story)


def test_the_next_checkpoint_holds_what_changed_while_a_copy_encoded(stage: Stage) -> None:
    async def story(stage: Stage) -> None:
        await append(stage)
        await stage.begin()
        await append(stage)
        await stage.store.execute(c.TrimStream(KEY, c.Trim(max_length=210)))
        stage.go.touch()
        await stage.checkpointed()
        await stage.begin()
        await stage.checkpointed()
        assert stage.storage.figures.checkpoints == 2
        rows = stage.storage._reading.execute("SELECT count(*) FROM journal").fetchone()
        assert rows == (0,), "the checkpoint does not cover everything"
        assert found_after_a_crash(stage) == picture(stage.storage.keyspace, 1000)

    stage.play(story)


def test_a_copy_that_is_killed_is_replaced_by_the_server(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(stage: Stage) -> None:
        await append(stage)
        os.kill(await stage.begin(), signal.SIGKILL)
        await append(stage)
        stage.go.touch()
        await stage.checkpointed()
        assert stage.storage.figures.checkpoints == 1
        assert found_after_a_crash(stage) == picture(stage.storage.keyspace, 1000)

    stage.play(story)
    assert "could not encode the checkpoint" in caplog.text


def _truncated(rows: Iterable[StreamRows]) -> Iterator[bytes]:
    *most, _ = passage_of(rows)
    yield from most


def _damaged(rows: Iterable[StreamRows]) -> Iterator[bytes]:
    passage = bytearray(b"".join(passage_of(rows)))
    passage[20] ^= 1
    yield bytes(passage)


def _ended(rows: Iterable[StreamRows]) -> Iterator[bytes]:
    for _ in rows:
        raise MemoryError
    yield b""


@pytest.mark.parametrize("passage", [_truncated, _damaged, _ended, lambda _: iter(())])
def test_a_result_that_is_not_whole_is_never_stored(
    stage: Stage, passage: Callable[[Iterable[StreamRows]], Iterator[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints_module, "passage_of", passage)
    stage.go.touch()

    async def story(stage: Stage) -> None:
        await append(stage)
        await stage.begin()
        await stage.checkpointed()
        assert stage.storage.figures.checkpoints == 1
        assert found_after_a_crash(stage) == picture(stage.storage.keyspace, 1000)

    stage.play(story)
    assert len(stage.copies) == 1


@pytest.mark.parametrize("name", ["fork", "memfd_create", "pipe2"])
def test_without_memory_for_a_copy_the_server_encodes(
    stage: Stage, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(os, name, refuse)
    stage.go.touch()
    before = len(list(Path("/proc/self/fd").iterdir()))

    async def story(stage: Stage) -> None:
        await append(stage)
        stage.storage._checkpoints.begin()
        await stage.checkpointed()
        assert stage.storage.figures.checkpoints == 1

    stage.play(story)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_a_copy_that_takes_too_long_is_ended(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding_process, "SECONDS_MAX", 0.01)

    async def story(stage: Stage) -> None:
        await append(stage)
        ended = await stage.begin()
        take_here = stage.storage._checkpoints._take_here

        def noted() -> None:
            stage.go.touch()
            take_here()

        monkeypatch.setattr(stage.storage._checkpoints, "_take_here", noted)
        await stage.checkpointed()
        assert not _exists(ended)
        assert stage.storage.figures.checkpoints == 1

    stage.play(story)


def test_a_copy_holds_no_descriptor_of_the_server_and_is_the_first_to_be_ended(stage: Stage) -> None:
    async def story(stage: Stage) -> None:
        await append(stage)
        copy = await stage.begin()
        await asyncio.to_thread(_wait_for, stage.began)
        held = sorted(each.partition(":")[0] for each in _descriptors(copy))
        assert held == ["/memfd", "pipe"]
        assert _read(copy, "oom_score_adj").strip() == "1000"
        stage.go.touch()
        await stage.checkpointed()

    stage.play(story)


def _posix_locks(directory: Path) -> list[str]:
    """The locks of this process on files of `directory`."""
    inodes = {str(each.stat().st_ino) for each in directory.iterdir()}
    lines = Path("/proc/locks").read_text().splitlines()
    return [line for line in lines if f" {os.getpid()} " in line and line.split()[5].split(":")[2] in inodes]


def test_the_server_keeps_its_locks_on_the_database_after_a_copy_ended(stage: Stage) -> None:
    async def story(stage: Stage) -> None:
        await append(stage)
        assert _posix_locks(stage.directory)
        stage.go.touch()
        await stage.begin()
        await stage.checkpointed()
        assert _posix_locks(stage.directory)

    stage.play(story)


def test_a_storage_that_fails_meanwhile_ends_the_checkpoint_and_leaves_no_process(stage: Stage) -> None:
    async def story(stage: Stage) -> None:
        await append(stage)
        ended = await stage.begin()
        stage.storage._thread.submit(_fail, stage.storage._fail_on)
        stage.go.touch()
        await stage.checkpointed()
        assert stage.storage.figures.checkpoints == 0
        assert not _exists(ended)

    stage.play(story)


def _fail() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


# --- gathering in steps --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(8))
def test_streams_that_change_while_a_checkpoint_is_gathered_are_stored_as_of_its_instant(
    stage: Stage, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints_module, "KEYS_PER_TURN", 1)
    stage.go.touch()
    program = Program(seed, stage.store._engine.engine)

    async def story(stage: Stage) -> None:
        for number in range(8):
            await stage.store.execute(c.Append(b"k%d" % number, FRAGMENTS))
        for _ in range(6):
            stage.storage._checkpoints.begin()
            while not stage.storage._checkpoints.none_runs.is_set():
                _step(stage, program)
                await asyncio.sleep(0)
            for _ in range(10):
                _step(stage, program)
            await stage.store._publisher.durable()
            assert found_after_a_crash(stage) == picture(stage.storage.keyspace, 1000)

    stage.play(story)


def _step(stage: Stage, program: Program) -> None:
    stage.store.submit(program.next(), lambda _: None)


def test_without_end_of_changes_a_checkpoint_is_taken_after_a_number_of_turns(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints_module, "KEYS_PER_TURN", 1)
    monkeypatch.setattr(checkpoints_module, "TURNS_MAX", 3)
    stage.go.touch()

    async def story(stage: Stage) -> None:
        for number in range(20):
            await append(stage, b"k%d" % number)
        stage.storage._checkpoints.begin()
        for _ in range(5):
            stage.storage._checkpoints.changed_keys |= {b"k%d" % number for number in range(20)}
            await asyncio.sleep(0)
        assert len(stage.copies) == 1
        await stage.checkpointed()

    stage.play(story)


def test_a_stream_that_is_gathered_and_then_deleted_leaves_no_row(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints_module, "KEYS_PER_TURN", 1)
    stage.go.touch()

    async def story(stage: Stage) -> None:
        for key in (b"a", b"b", b"c"):
            await append(stage, key)
        for key in (b"a", b"b", b"c"):
            stage.storage._checkpoints._draft.add(stage.storage.keyspace, key)
        await stage.store.execute(c.DeleteKeys((b"a", b"b")))
        await stage.begin()
        await stage.checkpointed()
        for table in ("streams", "blocks", "payloads"):
            statement = f"SELECT DISTINCT serial FROM {table}"  # noqa: S608 - our own names
            found = stage.storage._reading.execute(statement).fetchall()
            assert found == [(3,)], table

    stage.play(story)
