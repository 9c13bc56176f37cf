"""Full blocks are sealed in small steps, and a waiting block behaves like a sealed one."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tailrace.app.store.service import EngineStore
from tailrace.core import engine as engine_module
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import (
    Append,
    Command,
    CopyKey,
    DeleteEntries,
    DeleteKeys,
    Flush,
    Range,
    SetConfig,
    Trim,
    TrimStream,
)
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.node_size import MEASURED_BYTES_MAX, AlikeFragments, NodeLimits
from tailrace.core.log.sealing import STEP_BYTES
from tests.support.seeds import seeds
from tests.unit.test_replay import Program, picture
from tests.unit.test_storage import Disk

KEY = b"s"
FRAGMENT = b'{"f":"%b"}' % (b"x" * 2_000)
"""Two fill a block."""

BLOCKS = 3 * STEP_BYTES // 4_000
FRAGMENTS = [FRAGMENT] * (2 * BLOCKS)


@pytest.fixture
def nothing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command seals a block by itself."""
    monkeypatch.setattr(engine_module, "STEP_BYTES", 0)


def run(engine: Engine, command: Command) -> Any:
    return engine.execute(command, 1000).reply


def open_count(engine: Engine, key: bytes = KEY) -> int:
    return sum(block.is_open for block in engine.keyspace.streams[key].log.blocks)


def seal_all(engine: Engine) -> None:
    while engine.keyspace.sealing.waiting:
        engine.keyspace.sealing.step()


# --- how much a step seals -----------------------------------------------------------------------------


def test_an_ordinary_append_leaves_no_block_unsealed() -> None:
    engine = Engine()
    for _ in range(10):
        run(engine, Append(KEY, FRAGMENTS[:300]))
        assert open_count(engine) == 1
        assert not engine.keyspace.sealing.waiting


def test_a_large_append_seals_as_much_as_one_step_and_later_steps_the_rest() -> None:
    engine = Engine()
    run(engine, Append(KEY, FRAGMENTS))
    unsealed = [open_count(engine)]
    assert BLOCKS * 0.6 < unsealed[0] < BLOCKS * 0.7
    while engine.keyspace.sealing.waiting:
        check(engine.keyspace)
        engine.keyspace.sealing.step()
        unsealed.append(open_count(engine))
    assert unsealed[-1] == 1
    assert len(unsealed) >= 3
    assert run(engine, Range(KEY)).entries.fragments == FRAGMENTS


def test_known_names_change_nothing_about_how_much_a_step_seals() -> None:
    known, unknown = Engine(), Engine()
    for engine, kind in ((known, AlikeFragments), (unknown, list)):
        engine.keyspace.node_limits.entries_max = 2
        run(engine, Append(KEY, kind([FRAGMENT[:1_000] + b'"}'] * 4 * BLOCKS)))
    assert 1 < open_count(known) == open_count(unknown)
    assert len(known.keyspace.sealing.waiting) == len(unknown.keyspace.sealing.waiting)
    seal_all(known)
    check(known.keyspace)


def test_the_commands_of_a_transaction_or_of_a_turn_share_one_step() -> None:
    commands = [Append(KEY, [FRAGMENT])] * len(FRAGMENTS)
    transaction, turn = Engine(), Engine()
    transaction.execute_all(commands, 1000)
    turn.execute_some([commands], [ReplyRoom()], 1000)
    for engine in (transaction, turn):
        assert BLOCKS * 0.6 < open_count(engine) < BLOCKS * 0.7


def test_later_appends_seal_what_earlier_ones_left_before_their_own() -> None:
    engine = Engine()
    run(engine, Append(KEY, FRAGMENTS))
    first_left = engine.keyspace.sealing.waiting[0]
    run(engine, Append(b"t", FRAGMENTS[:3]))
    assert not first_left.is_open
    assert open_count(engine, b"t") == 2


def test_the_server_seals_the_rest_in_turns_with_others_between() -> None:
    engine = Engine()
    store = EngineStore(engine)
    left: list[int] = []

    async def story() -> None:
        await store.execute(Append(KEY, FRAGMENTS))
        await store.execute(Append(b"t", [FRAGMENT]))
        while engine.keyspace.sealing.waiting:
            left.append(len(engine.keyspace.sealing.waiting))
            await asyncio.sleep(0)

    asyncio.run(story())
    assert len(left) >= 2
    assert all(one - other <= STEP_BYTES // 4_000 for one, other in pairwise(left))
    assert open_count(engine) == 1


def test_a_replayed_journal_leaves_no_block_unsealed(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        disk.write(disk.engine.execute(Append(KEY, FRAGMENTS), 1000).effects)
    with closing(Disk(tmp_path)) as disk:
        assert not disk.engine.keyspace.sealing.waiting
        assert open_count(disk.engine) == 1


def test_a_large_fragment_is_not_taken_apart_and_has_a_block_of_its_own() -> None:
    log = EntryLog(BlockCache())
    large = b"not JSON".ljust(MEASURED_BYTES_MAX + 1)
    log.append((1, 2, 3), (large, large, FRAGMENT), NodeLimits(100, 4096))
    assert [block.count for block in log.blocks] == [1, 1, 1]


# --- a block that waits --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(12))
def test_commands_do_the_same_whether_full_blocks_are_sealed_or_wait(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = []
    for step_bytes in (STEP_BYTES, 0):
        monkeypatch.setattr(engine_module, "STEP_BYTES", step_bytes)
        engine = Engine()
        engine.keyspace.configure("stream-node-max-entries", 3)
        program = Program(seed, engine)
        shapes = []
        for step in range(300):
            with suppress(StreamError):
                engine.execute(program.next(), 1000 + 100 * step)
            logs = [stream.log for stream in engine.keyspace.streams.values()]
            shapes.append([[(block.count, block.holes) for block in log.blocks] for log in logs])
        check(engine.keyspace)
        pictures.append((picture(engine.keyspace, 50_000), shapes))
    assert pictures[0] == pictures[1]


@pytest.mark.usefixtures("nothing_at_once")
@pytest.mark.parametrize("seed", seeds(6))
def test_a_checkpoint_and_a_journal_keep_blocks_that_wait(tmp_path: Path, seed: int) -> None:
    now_ms, expected = 1000, None
    for round_number in range(4):
        with closing(Disk(tmp_path)) as disk:
            if expected is None:
                small_blocks = SetConfig((("stream-node-max-entries", 3),))
                disk.write(disk.engine.execute(small_blocks, now_ms).effects)
            else:
                assert picture(disk.engine.keyspace, now_ms) == expected
            program = Program(100 * seed + round_number, disk.engine)
            now_ms = disk.run(program, 60, now_ms)
            disk.checkpoint()
            now_ms = disk.run(program, 60, now_ms)
            check(disk.engine.keyspace)
            expected = picture(disk.engine.keyspace, now_ms)


@pytest.mark.usefixtures("nothing_at_once")
def test_a_block_that_becomes_the_last_one_again_takes_no_more_entries() -> None:
    engine = Engine()
    ids = run(engine, Append(KEY, FRAGMENTS[:6])).ids
    run(engine, DeleteEntries(KEY, ids[3:]))
    run(engine, Append(KEY, [b'{"f":"small"}']))
    assert [block.count for block in engine.keyspace.streams[KEY].log.blocks] == [2, 2, 1]
    seal_all(engine)
    assert open_count(engine) == 1
    run(engine, DeleteEntries(KEY, run(engine, Range(KEY)).entries.ids))
    check(engine.keyspace)


@pytest.mark.usefixtures("nothing_at_once")
def test_a_copy_has_blocks_of_its_own_that_wait() -> None:
    engine = Engine()
    ids = run(engine, Append(KEY, FRAGMENTS[:7])).ids
    run(engine, CopyKey(KEY, b"t"))
    run(engine, DeleteEntries(KEY, ids[:1]))
    check(engine.keyspace)
    seal_all(engine)
    assert (open_count(engine), open_count(engine, b"t")) == (1, 1)
    assert len(run(engine, Range(b"t")).entries) == 7
    assert len(run(engine, Range(KEY)).entries) == 6


@pytest.mark.usefixtures("nothing_at_once")
@pytest.mark.parametrize("gone", [DeleteKeys((KEY,)), Flush(), TrimStream(KEY, Trim(max_length=1))])
def test_blocks_that_are_gone_while_they_wait_do_no_harm(gone: Command) -> None:
    engine = Engine()
    run(engine, Append(KEY, FRAGMENTS[:7]))
    run(engine, gone)
    seal_all(engine)
    run(engine, Append(KEY, FRAGMENTS[:7]))
    check(engine.keyspace)


def test_after_a_flush_nothing_waits() -> None:
    keyspace = Keyspace()
    engine = Engine(keyspace)
    run(engine, Append(KEY, FRAGMENTS))
    run(engine, Flush())
    assert not keyspace.sealing.waiting
