"""A large checkpoint is written in parts: short transactions, after each of which a crash loses nothing."""

from __future__ import annotations

import sqlite3
from collections import deque
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from tailrace.core import commands as c
from tailrace.core.invariants import check
from tailrace.core.storage import checkpoint, journal, publishing
from tailrace.core.storage.checkpoint import take
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.draft import Snapshot
from tailrace.core.storage.inspection import copy_whole, inspected
from tailrace.core.storage.prepared import Overlay, Part, read_part, write_part
from tailrace.core.storage.recovery import check_payloads, recover
from tailrace.core.storage.salvage import Salvage
from tailrace.core.storage.schema import connect, get_meta
from tailrace.core.storage.totals import decode_totals
from tests.support.engine_calls import FRAGMENT
from tests.support.seeds import seeds
from tests.unit.test_replay import Program, picture
from tests.unit.test_storage import Disk

LATER_MS: Final = 10**6
STREAMS: Final = 12


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "PART_ROWS", 4)
    monkeypatch.setattr(publishing, "FORGOTTEN_ROWS", 7)


def varied(directory: Path) -> Disk:
    """Two generations of streams with blocks and groups: one is stored, the other changes and replaces it."""
    disk = Disk(directory)

    def do(command: c.Command) -> None:
        disk.write(disk.engine.execute(command, 1000).effects)

    do(c.SetConfig((("stream-node-max-entries", 10),)))
    for number in range(STREAMS):
        do(c.Append(b"%d" % number, [FRAGMENT] * 25))
        do(c.CreateGroup(b"%d" % number, b"g", 0))
    disk.checkpoint()
    for number in range(STREAMS):
        key = b"%d" % number
        do(c.Append(key, [FRAGMENT] * 25))
        if number % 3 == 0:
            do(c.DeleteKeys((key,)))
        elif number % 3 == 1:
            do(c.TrimStream(key, c.Trim(max_length=20)))
            do(c.CreateGroup(key, b"h", 0))
        else:
            do(c.DestroyGroup(key, b"g"))
    return disk


def read_back(directory: Path) -> Any:
    with closing(connect(directory)) as connection:
        keyspace = recover(connection, connection).keyspace
        check(keyspace)
        list(check_payloads(keyspace))
        return picture(keyspace, LATER_MS)


def test_a_crash_after_any_step_leaves_the_state_and_a_start_finishes_the_checkpoint(tmp_path: Path) -> None:
    finished = step = 0
    while not finished:
        directory = tmp_path / str(step)
        directory.mkdir()
        with closing(varied(directory)) as disk:
            steps = disk.checkpoint_steps()
            for _ in range(step):
                if next(steps, steps) is steps:
                    finished = step
            expected = picture(disk.engine.keyspace, LATER_MS)
        assert read_back(directory) == expected
        with closing(Disk(directory)) as disk:
            assert picture(disk.engine.keyspace, LATER_MS) == expected
            assert _parts(disk.writing) == 0
            disk.write(disk.engine.execute(c.Append(b"1", [FRAGMENT]), 2000).effects)
            expected = picture(disk.engine.keyspace, LATER_MS)
            disk.checkpoint()
            assert disk.writing.execute("SELECT count(*) FROM journal").fetchone() == (0,)
        assert read_back(directory) == expected
        step += 1
    assert finished > 20


def _parts(connection: sqlite3.Connection) -> int:
    raw = get_meta(connection, "checkpoint")
    return 0 if raw is None else decode_totals(raw).parts


@pytest.mark.parametrize("seed", seeds(8))
def test_commands_between_the_steps_are_kept_wherever_the_checkpoint_stops(tmp_path: Path, seed: int) -> None:
    now_ms, expected = 1000, None
    for round_number in range(6):
        with closing(Disk(tmp_path)) as disk:
            check(disk.engine.keyspace)
            assert expected in (None, picture(disk.engine.keyspace, now_ms))
            program = Program(1_000 * seed + round_number, disk.engine)
            now_ms = disk.run(program, 60, now_ms)
            steps = disk.checkpoint_steps()
            for _ in range(program.random.randrange(60)):
                now_ms = disk.run(program, program.random.randrange(2), now_ms)
                next(steps, None)
            now_ms = disk.run(program, 5, now_ms)
            expected = picture(disk.engine.keyspace, now_ms)


def rows_of_steps(disk: Disk) -> list[int]:
    """Take a checkpoint; return how many rows each of its transactions changed."""
    counts = [disk.writing.total_changes]
    for _ in disk.checkpoint_steps():
        assert not disk.writing.in_transaction
        counts.append(disk.writing.total_changes)
    return [after - before for before, after in pairwise(counts)]


def test_no_step_writes_more_rows_than_a_part_however_many_streams_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "PART_ROWS", 50)
    monkeypatch.setattr(publishing, "FORGOTTEN_ROWS", 50)
    with closing(Disk(tmp_path)) as disk:
        for number in range(300):
            disk.write(disk.engine.execute(c.Append(b"%d" % number, [FRAGMENT]), 1000).effects)
            disk.write(disk.engine.execute(c.CreateGroup(b"%d" % number, b"g", 0), 1000).effects)
        assert max(rows_of_steps(disk)) == 50
        disk.changed = set(disk.engine.keyspace.streams)
        # The rows of groups are deleted before they are written.
        assert max(rows_of_steps(disk)) <= 2 * 50
        disk.write(disk.engine.execute(c.DeleteKeys(tuple(disk.engine.keyspace.streams)), 1000).effects)
        assert max(rows_of_steps(disk)) <= 2 * 50
        assert disk.writing.execute("SELECT count(*) FROM groups").fetchone() == (0,)


def test_the_blocks_of_a_deleted_stream_are_removed_a_part_at_a_time(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        for line in (c.SetConfig((("stream-node-max-entries", 2),)), c.Append(b"s", [FRAGMENT] * 100)):
            disk.write(disk.engine.execute(line, 1000).effects)
        disk.checkpoint()
        disk.write(disk.engine.execute(c.DeleteKeys((b"s",)), 1000).effects)
        assert max(rows_of_steps(disk)) <= 2 * 4
        for table in ("streams", "blocks", "payloads"):
            assert disk.writing.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608


def test_a_part_ends_where_its_bytes_suffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "PART_ROWS", 1_000)
    monkeypatch.setattr(publishing, "PART_BYTES", 2_000)
    monkeypatch.setattr(publishing, "FORGOTTEN_BYTES", 1)
    with closing(Disk(tmp_path)) as disk:
        for number in range(20):
            disk.write(disk.engine.execute(c.Append(b"%d" % number, [FRAGMENT * 20]), 1000).effects)
        expected = picture(disk.engine.keyspace, LATER_MS)
        steps = disk.checkpoint_steps()
        next(steps)
        assert _parts(disk.writing) == 0
        deque(steps, maxlen=0)
    assert read_back(tmp_path) == expected


def test_changed_blocks_in_parts_stand_before_the_later_blocks_of_the_table(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        for line in (c.SetConfig((("stream-node-max-entries", 2),)), c.Append(b"s", [FRAGMENT] * 40)):
            disk.write(disk.engine.execute(line, 1000).effects)
        disk.checkpoint()
        blocks = disk.engine.keyspace.streams[b"s"].log.blocks
        first_ids = tuple(block.first_id for block in blocks[:8])
        disk.write(disk.engine.execute(c.DeleteEntries(b"s", first_ids), 1000).effects)
        steps = disk.checkpoint_steps()
        while not _parts(disk.writing):
            next(steps)
        expected = picture(disk.engine.keyspace, LATER_MS)
    assert read_back(tmp_path) == expected


# --- what reads a directory in the midst of a checkpoint -----------------------------------------------


def half_merged(directory: Path) -> Disk:
    """A directory whose checkpoint is in effect and merged in part, with commits after it."""
    directory.mkdir()
    disk = varied(directory)
    steps = disk.checkpoint_steps()
    while not _parts(disk.writing):
        next(steps)
    for _ in range(3):
        next(steps)
    disk.write(disk.engine.execute(c.Append(b"1", [FRAGMENT] * 3), 2000).effects)
    return disk


def test_an_earlier_release_refuses_the_parts_and_opens_what_an_orderly_stop_left(tmp_path: Path) -> None:
    with closing(half_merged(tmp_path / "data")) as disk:
        assert get_meta(disk.writing, "format") == b"2"
    with closing(Disk(tmp_path / "data")) as disk:
        assert get_meta(disk.writing, "format") == b"1"


def test_a_backup_in_the_midst_of_a_checkpoint_has_everything(tmp_path: Path) -> None:
    with closing(half_merged(tmp_path / "data")) as disk:
        expected = picture(disk.engine.keyspace, LATER_MS)
    target = tmp_path / "backup"
    target.mkdir()
    with inspected(tmp_path / "data") as inspection:
        copy_whole(inspection.connection, target, "other", lambda _done, _total: None)
    assert read_back(target) == expected


def salvage(directory: Path, target: Path) -> tuple[Any, list[str]]:
    target.mkdir()
    with inspected(directory) as inspection:
        found = Salvage(inspection.connection)
        found.write(target)
    return read_back(target), found.losses


def test_salvage_in_the_midst_of_a_checkpoint_loses_nothing(tmp_path: Path) -> None:
    with closing(half_merged(tmp_path / "data")) as disk:
        expected = picture(disk.engine.keyspace, LATER_MS)
    assert salvage(tmp_path / "data", tmp_path / "found") == (expected, [])


def test_salvage_names_a_part_that_is_damaged_and_keeps_the_others(tmp_path: Path) -> None:
    with closing(half_merged(tmp_path / "data")) as disk:
        last = _parts(disk.writing)
        disk.writing.execute("UPDATE journal SET body = zeroblob(length(body)) WHERE seq = ?", (-last,))
    with pytest.raises(Damage, match=f"part {last} of the checkpoint: the checksum"):
        read_back(tmp_path / "data")
    state, losses = salvage(tmp_path / "data", tmp_path / "found")
    assert losses[0].startswith(f"the checkpoint: part {last} of the checkpoint: the checksum")
    assert "1" in state[0]


def test_a_part_that_is_missing_or_of_another_checkpoint_is_damage(tmp_path: Path) -> None:
    with closing(connect(tmp_path)) as connection:
        write_part(connection, 1, 7, Part(gone=[3]))
        assert read_part(connection, 1, 7).gone == [3]
        with pytest.raises(Damage, match="part 1 of the checkpoint: the checksum"):
            read_part(connection, 1, 8)
        with pytest.raises(Damage, match="part 2 of the checkpoint: missing"):
            read_part(connection, 2, 7)


def test_parts_that_never_came_into_effect_are_ignored_and_deleted(tmp_path: Path) -> None:
    with closing(varied(tmp_path)) as disk:
        expected = picture(disk.engine.keyspace, LATER_MS)
        steps = disk.checkpoint_steps()
        while disk.writing.execute("SELECT count(*) FROM journal WHERE seq < 0").fetchone() == (0,):
            next(steps)
        size = journal.size_bytes(disk.writing)
    with closing(Disk(tmp_path)) as disk:
        assert picture(disk.engine.keyspace, LATER_MS) == expected
        assert journal.size_bytes(disk.writing) == size
        disk.checkpoint()
        assert disk.writing.execute("SELECT count(*) FROM journal").fetchone() == (0,)


def test_a_checkpoint_without_a_change_is_a_part_without_rows(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        snapshot: Snapshot = take(disk.engine.keyspace, disk.seq, ())
        checkpoint.publish(disk.writing, snapshot)
        assert get_meta(disk.writing, "checkpoint") is not None


def test_an_overlay_without_parts_gives_the_rows_of_the_tables() -> None:
    overlay, rows = Overlay(()), [(1, b"state")]
    assert not overlay
    assert overlay.streams(rows) is rows
    assert list(overlay.groups([(1, b"g", b"state")])) == [(1, b"g", b"state")]
    assert overlay.heads(rows) is rows
