"""Checkpoints of a running store: when they run, one at a time, and how much disk space they return."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from tailrace.api.ports import StoreUnavailable
from tailrace.app.lifespan import keeping
from tailrace.app.store import storage as storage_module
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.core import commands as c
from tailrace.core import engine as engine_module
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage import checkpoint, journal
from tailrace.core.storage.data_files import FILE_NAME
from tailrace.core.storage.draft import Draft, Snapshot, StreamRows
from tailrace.core.storage.records import encode_effects
from tailrace.core.storage.recovery import check_payloads, recover
from tailrace.core.storage.schema import connect, get_meta

KEY = b"s"
FRAGMENTS = [b'{"n":"%030d"}' % number for number in range(5000)]


def play(directory: Path, story: Callable[[EngineStore, Storage], Awaitable[None]]) -> None:
    """A store that is kept in `directory` from its start to its orderly stop."""

    async def run() -> None:
        storage = Storage(directory)
        store = EngineStore(Engine(storage.keyspace))
        async with keeping(store, storage, waits=True):
            await story(store, storage)

    asyncio.run(run())


def kept(directory: Path) -> Keyspace:
    with closing(connect(directory)) as connection:
        keyspace = recover(connection, connection).keyspace
        list(check_payloads(keyspace))
        return keyspace


def test_a_stop_in_the_midst_of_a_checkpoint_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "BLOCKS_PER_TRANSACTION", 1)

    async def story(store: EngineStore, storage: Storage) -> None:
        await store.execute(c.Append(KEY, FRAGMENTS))
        storage.checkpoint()
        await store.execute(c.Append(KEY, FRAGMENTS[:150]))
        assert get_meta(storage._reading, "checkpoint") is None, "it is over already"

    play(tmp_path, story)
    assert kept(tmp_path).streams[KEY].length == len(FRAGMENTS) + 150


def test_after_an_orderly_stop_a_start_replays_nothing(tmp_path: Path) -> None:
    async def story(store: EngineStore, _: Storage) -> None:
        await store.execute(c.Append(KEY, FRAGMENTS))

    play(tmp_path, story)
    with closing(connect(tmp_path)) as connection:
        assert journal.size_bytes(connection) == 0
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(FILE_NAME)] == [FILE_NAME]


def test_what_earlier_runs_left_in_the_journal_counts_towards_the_next_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(connect(tmp_path)) as connection:
        journal.append(connection, 1, b"\x90")
        journal.append(connection, 2, b"\x90")
    monkeypatch.setattr(storage_module, "JOURNAL_BYTES_MAX", 100)

    async def story(store: EngineStore, storage: Storage) -> None:
        assert storage._journal_bytes == len(b"\x90\x90")
        storage._journal_bytes = 60
        await store.execute(c.Append(KEY, FRAGMENTS[:1]))
        assert not storage._checkpoints.none_runs.is_set()

    play(tmp_path, story)


def test_a_checkpoint_waits_until_full_blocks_are_sealed_and_then_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_module, "JOURNAL_BYTES_MAX", 100)
    monkeypatch.setattr(engine_module, "STEP_BYTES", 0)
    waiting: list[int] = []
    snapshot = Draft.snapshot

    def noted(draft: Draft, keyspace: Keyspace, seq: int, streams: Iterable[StreamRows]) -> Snapshot:
        waiting.append(len(keyspace.sealing.waiting))
        return snapshot(draft, keyspace, seq, streams)

    monkeypatch.setattr(Draft, "snapshot", noted)

    async def story(store: EngineStore, storage: Storage) -> None:
        monkeypatch.setattr(store._recorder._sealing, "_is_arranged", True)
        await store.execute(c.Append(KEY, FRAGMENTS * 20))
        await storage._checkpoints.none_runs.wait()
        assert storage.figures.checkpoints == 1

    play(tmp_path, story)
    assert waiting[0] == 0
    assert kept(tmp_path).streams[KEY].length == 20 * len(FRAGMENTS)


def test_a_checkpoint_that_waits_is_given_up_where_the_storage_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_module, "JOURNAL_BYTES_MAX", 100)
    monkeypatch.setattr(engine_module, "STEP_BYTES", 0)

    async def story(store: EngineStore, storage: Storage) -> None:
        monkeypatch.setattr(store._recorder._sealing, "_is_arranged", True)
        # Answered when it is durable, which is when the checkpoint begins to wait.
        await store.execute(c.Append(KEY, FRAGMENTS * 20))
        storage.log.fail(OSError("the disk is gone"))
        await storage._checkpoints.none_runs.wait()
        assert storage.figures.checkpoints == 0

    play(tmp_path, story)


def test_copies_count_towards_the_next_checkpoint_as_what_their_replay_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_module, "COPY_BYTES", 1_000_000)
    monkeypatch.setattr(storage_module, "COPIED_PART_BYTES", 10_000)

    async def story(store: EngineStore, storage: Storage) -> None:
        await store.execute(c.Append(KEY, FRAGMENTS[:300]))
        before = storage.journal_bytes
        await store.execute_all([c.CopyKey(KEY, b"t"), c.CopyKey(KEY, b"u"), c.DeleteKeys((b"u",))])
        assert 2_030_000 <= storage.journal_bytes - before < 2_031_000

    play(tmp_path, story)


def test_a_start_counts_the_copies_that_it_replayed(tmp_path: Path) -> None:
    with closing(connect(tmp_path)) as connection:
        engine = Engine()
        effects = [
            *engine.execute(c.Append(KEY, FRAGMENTS[:300]), 1000).effects,
            *engine.execute(c.CopyKey(KEY, b"t"), 1000).effects,
        ]
        journal.append(connection, 1, encode_effects(effects))

    async def story(_: EngineStore, storage: Storage) -> None:
        assert storage.journal_bytes > storage_module.COPY_BYTES

    play(tmp_path, story)


def test_the_file_shrinks_when_entries_are_trimmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FREE_PAGES_KEPT", 10)
    monkeypatch.setattr(checkpoint, "FREED_PAGES_PER_TRANSACTION", 3)
    sizes = []

    async def fill(store: EngineStore, _storage: Storage) -> None:
        for _ in range(40):
            await store.execute(c.Append(KEY, FRAGMENTS))

    async def trim(store: EngineStore, _: Storage) -> None:
        await store.execute(c.TrimStream(KEY, c.Trim(max_length=10)))

    for story in (fill, trim):
        play(tmp_path, story)
        sizes.append((tmp_path / FILE_NAME).stat().st_size)
    assert sizes[1] < sizes[0] / 3, sizes


def test_what_a_command_left_half_done_when_it_met_damage_is_never_written(tmp_path: Path) -> None:
    async def fill(store: EngineStore, _storage: Storage) -> None:
        await store.execute(c.Append(KEY, FRAGMENTS[:350]))

    async def meet_damage(store: EngineStore, _storage: Storage) -> None:
        await store.execute(c.Append(KEY, FRAGMENTS[:1]))
        with pytest.raises(StoreUnavailable, match="the checksum does not match"):
            await store.execute(c.TrimStream(KEY, c.Trim(max_length=300)))
        with pytest.raises(StoreUnavailable, match="storage failed: block"):
            await store.execute(c.Append(KEY, FRAGMENTS[:1]))

    play(tmp_path, fill)
    with closing(connect(tmp_path)) as connection:
        connection.execute("UPDATE payloads SET body = zeroblob(length(body)) WHERE rowid = 1")
    play(tmp_path, meet_damage)
    with closing(connect(tmp_path)) as connection:
        assert recover(connection, connection).keyspace.streams[KEY].length == 351
