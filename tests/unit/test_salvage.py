"""Salvage finds all intact data of a damaged directory, names all lost data, and changes nothing else."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage import journal
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.data_files import FILE_NAME, LostDatabase
from tailrace.core.storage.inspection import NoData, check_groups, copy_whole, inspected, salvageable
from tailrace.core.storage.recovery import check_payloads, recover
from tailrace.core.storage.salvage import Salvage
from tailrace.core.storage.schema import DirectoryLock, connect
from tests.support.seeds import seeds
from tests.unit.test_replay import picture
from tests.unit.test_storage import Disk, program_for

LATER_MS = 10**6
KEYS = (b"one", b"two")


def contents(directory: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in directory.iterdir()}


def salvaged(directory: Path, tmp_path: Path) -> tuple[Keyspace, list[str]]:
    """Return the data in the new directory after a start, and the losses; the old directory is unchanged."""
    before = contents(directory)
    with inspected(directory) as inspection:
        found = Salvage(inspection.connection)
        target = tmp_path / "salvaged"
        target.mkdir()
        found.write(target)
    assert contents(directory) == before
    with closing(connect(target)) as connection:
        keyspace = recover(connection, connection).keyspace
        list(check_payloads(keyspace))
        check(keyspace)
        return _in_memory(keyspace), found.losses


def _in_memory(keyspace: Keyspace) -> Keyspace:
    for stream in keyspace.streams.values():
        for block in stream.log.blocks:
            if not block.is_open:
                payload = block.payload()
                block.release(lambda _, payload=payload: payload)  # type: ignore[misc]
    return keyspace


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Any]:
    """Two streams of several blocks with a group each, a checkpoint, and a journal above it."""
    directory = tmp_path / "data"
    directory.mkdir()
    with closing(Disk(directory)) as disk:

        def do(command: c.Command) -> None:
            disk.write(disk.engine.execute(command, 1000).effects)

        for key in KEYS:
            do(c.Append(key, [b'{"n":"%d"}' % number for number in range(350)]))
            do(c.CreateGroup(key, b"g", 0))
            do(c.ReadGroup(b"g", b"alice", (c.ReadFrom(key, c.Special.NEW),), c.ReadLimits(count=250)))
        disk.checkpoint()
        for key in KEYS:
            do(c.Append(key, [b'{"n":"later"}'] * 20))
            stream = disk.engine.keyspace.streams[key]
            do(c.DeleteEntries(key, tuple(stream.log.range()[0][90:110])))
            do(c.TrimStream(key, c.Trim(max_length=300)))
        expected = picture(disk.engine.keyspace, LATER_MS)
    return directory, expected


def damage(directory: Path, statement: str) -> None:
    with closing(connect(directory)) as connection:
        connection.create_function("spoiled", 1, lambda value: bytes([value[0] ^ 1]) + value[1:])
        connection.execute(statement)


@pytest.mark.parametrize("damaged_serial", [1, 2])
def test_a_copy_loses_the_block_that_is_damaged_under_its_own_name_or_under_the_first_ones(
    tmp_path: Path, damaged_serial: int
) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    with closing(Disk(directory)) as disk:
        disk.write(disk.engine.execute(c.Append(b"one", [b'{"n":"1"}'] * 350), 1000).effects)
        disk.checkpoint()
        disk.write(disk.engine.execute(c.CopyKey(b"one", b"two"), 1000).effects)
        disk.checkpoint(until="blocks")
    first = "UPDATE payloads SET body = spoiled(body) WHERE first_id = (SELECT min(first_id) FROM payloads)"
    damage(directory, f"{first} AND serial = {damaged_serial}")
    keyspace, losses = salvaged(directory, tmp_path)
    loss = "100 entries from 1000-0 to 1000-99: the checksum does not match"
    assert losses == [f"stream {damaged_serial}: {loss}"]
    lengths = [keyspace.streams[key].length for key in (b"one", b"two")]
    assert lengths == ([250, 250] if damaged_serial == 1 else [350, 250])


@pytest.mark.parametrize("seed", seeds(5))
def test_nothing_is_lost_of_a_directory_that_is_intact(tmp_path: Path, seed: int) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    with closing(Disk(directory)) as disk:
        program = program_for(disk, seed)
        now_ms = disk.run(program, 120, 1000)
        disk.checkpoint()
        disk.run(program, 60, now_ms)
        expected = picture(disk.engine.keyspace, LATER_MS)
    keyspace, losses = salvaged(directory, tmp_path)
    assert losses == []
    assert picture(keyspace, LATER_MS) == expected


def test_a_damaged_block_is_lost_alone_and_what_happened_since_still_hits_what_it_hit(
    kept: tuple[Path, Any], tmp_path: Path
) -> None:
    directory, expected = kept
    damage(
        directory,
        "UPDATE payloads SET body = spoiled(body) WHERE (serial, first_id) = "
        "(SELECT serial, first_id FROM payloads WHERE serial = 1 ORDER BY first_id LIMIT 1 OFFSET 1)",
    )
    keyspace, losses = salvaged(directory, tmp_path)
    assert losses == ["stream 1: 100 entries from 1000-100 to 1000-199: the checksum does not match"]
    infos, *_ = picture(keyspace, LATER_MS)
    assert infos["two"] == expected[0]["two"]
    stream = keyspace.streams[b"one"]
    assert [value % 2**64 for value in stream.log.range()[0]] == [*range(50, 90), *range(200, 370)]
    assert stream.groups[b"g"].pending.count == 250


@pytest.mark.parametrize(
    ("statement", "loss"),
    [
        ("UPDATE groups SET body = spoiled(body) WHERE serial = 1", "group b'g' of stream 1"),
        ("UPDATE streams SET body = spoiled(body) WHERE serial = 1", "stream 1: the checksum"),
        ("DELETE FROM streams WHERE serial = 1", "stream 1: its state is missing"),
        ("UPDATE blocks SET head = spoiled(head) WHERE serial = 1", "block"),
        ("DELETE FROM blocks WHERE serial = 1", "stream b'one': 300 entries are missing"),
        (
            "UPDATE meta SET value = spoiled(value) WHERE name = 'checkpoint'",
            "the server's settings",
        ),
        ("UPDATE meta SET value = spoiled(value) WHERE name = 'tail'", "the journal: meta tail"),
        ("UPDATE journal SET body = spoiled(body) WHERE seq = 9", "the journal: journal row 9"),
        ("DELETE FROM journal WHERE seq = 9", "the journal: journal row 9: missing"),
        ("DELETE FROM journal WHERE seq = 12", "the journal: journal row 12: missing; the last is 12"),
    ],
)
def test_each_thing_that_is_damaged_is_named_and_the_other_stream_is_as_it_was_at_the_checkpoint_or_later(
    kept: tuple[Path, Any], tmp_path: Path, statement: str, loss: str
) -> None:
    directory, _ = kept
    damage(directory, statement)
    keyspace, losses = salvaged(directory, tmp_path)
    assert any(each.startswith(loss) for each in losses), losses
    assert keyspace.streams[b"two"].length in (300, 350, 370)
    assert keyspace.streams[b"two"].groups[b"g"].pending.count == 250


def test_a_row_that_breaks_the_reading_of_its_table_off_costs_no_row_behind_it(
    kept: tuple[Path, Any], tmp_path: Path
) -> None:
    directory, _ = kept
    damage(
        directory,
        "UPDATE blocks SET head = CAST(x'ff' AS TEXT) WHERE (serial, first_id) = "
        "(SELECT serial, first_id FROM blocks WHERE serial = 1 ORDER BY first_id LIMIT 1 OFFSET 1)",
    )
    keyspace, losses = salvaged(directory, tmp_path)
    assert losses[0].startswith("table blocks: not all rows can be read")
    assert losses[1] == "stream b'one': 100 entries are missing from the index of blocks"
    assert keyspace.streams[b"two"].length == 300
    assert keyspace.streams[b"one"].log.last_id % 2**64 == 369


def test_a_directory_that_never_had_a_checkpoint_is_salvaged_from_its_journal(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    with closing(Disk(directory)) as disk:
        disk.write(disk.engine.execute(c.Append(b"s", [b'{"n":"1"}']), 1000).effects)
    keyspace, losses = salvaged(directory, tmp_path)
    assert (losses, keyspace.streams[b"s"].length) == ([], 1)


def test_pages_that_cannot_be_read_cost_what_lies_in_them(kept: tuple[Path, Any], tmp_path: Path) -> None:
    directory, _ = kept
    original = (directory / FILE_NAME).read_bytes()
    chance = random.Random(5)
    named = 0
    for number in range(60):
        page = chance.randrange(8, len(original) // 4096)
        spoiled = bytearray(original)
        spoiled[page * 4096 : page * 4096 + 4096] = chance.randbytes(4096)
        (directory / FILE_NAME).write_bytes(spoiled)
        place = tmp_path / str(number)
        place.mkdir()
        try:
            _, losses = salvaged(directory, place)
        except (Damage, sqlite3.DatabaseError):
            named += 1
        else:
            named += bool(losses)
    assert named > 10


# --- looking, and copying ----------------------------------------------------------------------------


def test_a_directory_without_data_is_no_data_directory(tmp_path: Path) -> None:
    with pytest.raises(NoData, match=r"tailrace\.db"), inspected(tmp_path):
        pass


def test_a_file_that_is_no_database_is_damage(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"whatever its name says" * 1000)
    with pytest.raises(Damage, match="not a database"), inspected(tmp_path):
        pass


def test_a_crashed_directory_is_read_with_what_lies_in_its_log_and_not_changed(tmp_path: Path) -> None:
    directory = tmp_path / "crashed"
    directory.mkdir()
    with closing(Disk(tmp_path)) as disk:
        disk.write(disk.engine.execute(c.Append(b"s", [b'{"n":"1"}']), 1000).effects)
        for name in (FILE_NAME, f"{FILE_NAME}-wal"):
            (directory / name).write_bytes((tmp_path / name).read_bytes())
    before = contents(directory)
    with inspected(directory) as inspection:
        assert recover(inspection.connection, inspection.connection).keyspace.streams[b"s"].length == 1
    assert contents(directory) == before


def test_a_directory_in_use_is_read_as_of_one_instant(tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path)
    with closing(Disk(tmp_path)) as disk:
        disk.write(disk.engine.execute(c.Append(b"s", [b'{"n":"1"}']), 1000).effects)
        with inspected(tmp_path) as inspection:
            assert inspection.is_in_use
            disk.write(disk.engine.execute(c.Append(b"s", [b'{"n":"2"}']), 1000).effects)
            assert recover(inspection.connection, inspection.connection).keyspace.streams[b"s"].length == 1
    lock.release()


def test_no_server_can_start_on_a_directory_that_is_looked_at(kept: tuple[Path, Any]) -> None:
    directory, _ = kept
    DirectoryLock(directory).release()
    with inspected(directory) as inspection:
        assert not inspection.is_in_use
        with pytest.raises(Exception, match="another server"):
            DirectoryLock(directory)


def test_a_copy_is_the_same(kept: tuple[Path, Any], tmp_path: Path) -> None:
    directory, expected = kept
    target = tmp_path / "copy"
    target.mkdir()
    steps: list[tuple[int, int]] = []
    with inspected(directory) as inspection:
        copy_whole(inspection.connection, target, "copy", lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] > 0
    with inspected(target) as copied:
        keyspace = recover(copied.connection, copied.connection).keyspace
        check_groups(keyspace)
        assert picture(keyspace, LATER_MS) == expected
        assert journal.tail(copied.connection) == 12


def test_a_group_that_contradicts_itself_is_damage(kept: tuple[Path, Any]) -> None:
    directory, _ = kept
    with inspected(directory) as inspection:
        keyspace = recover(inspection.connection, inspection.connection).keyspace
        keyspace.streams[b"one"].groups[b"g"].pending.table.count += 1
        with pytest.raises(Damage, match="b'g' of stream b'one'"):
            check_groups(keyspace)


# --- a lost database, and its log --------------------------------------------------------------------


def rescued(directory: Path, tmp_path: Path) -> tuple[Keyspace, list[str]]:
    """Salvage a directory with damaged files, like `salvaged`."""
    before = contents(directory)
    target = tmp_path / "rescued"
    target.mkdir()
    with salvageable(directory) as inspection:
        found = Salvage(inspection.connection, inspection.damage, is_log_alone=inspection.is_log_alone)
        found.write(target)
    assert contents(directory) == before
    with closing(connect(target)) as connection:
        keyspace = recover(connection, connection).keyspace
        list(check_payloads(keyspace))
        check(keyspace)
        return _in_memory(keyspace), found.losses


def log_alone(disk: Disk, tmp_path: Path) -> Path:
    """Salvage a directory in which only the log is left."""
    directory = tmp_path / "lost"
    directory.mkdir()
    (directory / f"{FILE_NAME}-wal").write_bytes((disk.directory / f"{FILE_NAME}-wal").read_bytes())
    return directory


def append(disk: Disk, key: bytes, number: int, **options: Any) -> None:
    fragment = b'{"n":"%d","padding":"%b"}' % (number, b"x" * 500)
    disk.write(disk.engine.execute(c.Append(key, [fragment], **options), 1000 + number).effects)


def test_a_log_that_holds_all_commits_brings_everything_back(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        disk.run(program_for(disk, 7), 60, 1000)
        expected = picture(disk.engine.keyspace, LATER_MS)
        keyspace, losses = rescued(log_alone(disk, tmp_path), tmp_path)
    assert losses == ["tailrace.db: missing, but tailrace.db-wal next to it shows that it had data"]
    assert picture(keyspace, LATER_MS) == expected


def test_a_log_that_holds_the_newest_commits_brings_back_their_entries(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        append(disk, b"s", 0)
        disk.write(disk.engine.execute(c.CreateGroup(b"s", b"g", 0), 1000).effects)
        for number in range(1, 60):
            append(disk, b"s", number)
        disk.writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        trim = c.Trim(max_length=60)
        for number in range(60, 90):
            append(disk, b"s", number, trim=trim)
        new = (c.ReadFrom(b"s", c.Special.NEW),)
        disk.write(disk.engine.execute(c.ReadGroup(b"g", b"alice", new), 1600).effects)
        keyspace, losses = rescued(log_alone(disk, tmp_path), tmp_path)
    kept = keyspace.streams[b"s"]
    assert 30 <= kept.length < 60
    assert kept.log.last_id >> 64 == 1089
    assert not kept.groups
    assert losses[1].startswith("table journal: not all rows can be read")
    assert losses[2].startswith("the journal: rows 1 to ")
    assert losses[3].startswith("stream b's': everything older than its entry ")
    assert losses[4].startswith("the journal: ")
    assert losses[4].endswith(" changes refer to streams, groups or entries that are lost")


def test_streams_of_a_checkpoint_that_is_lost_are_counted(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        append(disk, b"s", 1)
        disk.checkpoint()
        disk.writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        append(disk, b"s", 2)
        keyspace, losses = rescued(log_alone(disk, tmp_path), tmp_path)
    assert losses[1:] == [
        "table streams: 1 streams are missing",
        "stream b's': everything older than its entry 1002-0",
    ]
    assert keyspace.streams[b"s"].length == 1


def test_a_journal_of_which_no_row_is_left_is_a_loss(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    with closing(Disk(directory)) as disk:
        append(disk, b"s", 1)
        disk.writing.execute("DELETE FROM journal")
    _, losses = salvaged(directory, tmp_path)
    assert losses == ["the journal: journal row 1: missing; the last is 1; all later changes are lost"]


@pytest.mark.parametrize("content", [b"", b"\xff" * 4096])
def test_a_lost_database_whose_log_holds_nothing_cannot_be_salvaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / f"{FILE_NAME}-wal").write_bytes(content)
    with pytest.raises(LostDatabase), salvageable(tmp_path):
        pass


def test_a_log_without_a_whole_commit_brings_nothing_back(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        append(disk, b"s", 1)
        directory = log_alone(disk, tmp_path)
    log = bytearray((directory / f"{FILE_NAME}-wal").read_bytes())
    log[100] ^= 1
    (directory / f"{FILE_NAME}-wal").write_bytes(log)
    keyspace, losses = rescued(directory, tmp_path)
    assert (len(losses), len(keyspace.streams)) == (1, 0)


def test_a_database_that_was_cut_off_is_salvaged_as_far_as_it_goes(
    kept: tuple[Path, Any], tmp_path: Path
) -> None:
    directory, _ = kept
    connect(directory).close()
    os.truncate(directory / FILE_NAME, (directory / FILE_NAME).stat().st_size - 3 * 4096)
    keyspace, losses = rescued(directory, tmp_path)
    assert losses[0].startswith("tailrace.db: it was cut off")
    assert len(losses) > 1
    assert keyspace.streams


def test_a_log_that_is_damaged_is_salvaged_up_to_there(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        for number in range(5):
            append(disk, b"s", number)
        directory = log_alone(disk, tmp_path)
        (directory / FILE_NAME).write_bytes((tmp_path / FILE_NAME).read_bytes())
    log = bytearray((directory / f"{FILE_NAME}-wal").read_bytes())
    log[len(log) // 2] ^= 1
    (directory / f"{FILE_NAME}-wal").write_bytes(log)
    keyspace, losses = rescued(directory, tmp_path)
    assert losses[0].startswith("the write-ahead log: the commit after frame")
    assert 0 < keyspace.streams[b"s"].length < 5


def test_what_is_intact_is_salvaged_without_a_loss(kept: tuple[Path, Any], tmp_path: Path) -> None:
    directory, expected = kept
    keyspace, losses = rescued(directory, tmp_path)
    assert losses == []
    assert picture(keyspace, LATER_MS) == expected


@pytest.mark.parametrize("lost", ["source", "dead letters", "nothing"])
@pytest.mark.parametrize("is_redriven", [False, True])
def test_an_entry_that_was_moved_survives_in_the_stream_that_is_intact(
    tmp_path: Path, lost: str, *, is_redriven: bool
) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    with closing(Disk(directory)) as disk:

        def do(command: c.Command) -> None:
            disk.write(disk.engine.execute(command, 1000).effects)

        do(c.Append(b"one", [b'{"n":"1"}', b'{"n":"2"}']))
        do(c.CreateGroup(b"one", b"g", 0))
        do(c.ConfigureGroup(b"one", b"g", 1, b"dead"))
        do(c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"one", c.Special.NEW),), c.ReadLimits(count=1)))
        do(c.Append(b"dead", [b'{"other":"1"}']))
        if is_redriven:
            do(c.AutoClaim(b"one", b"g", b"bob", 0, 0))
        disk.checkpoint()
        do(c.Redrive(b"one", b"g", 10) if is_redriven else c.AutoClaim(b"one", b"g", b"bob", 0, 0))
        expected = picture(disk.engine.keyspace, LATER_MS)
    serial = {"source": 1, "dead letters": 2, "nothing": 3}[lost]
    damage(directory, f"UPDATE streams SET body = spoiled(body) WHERE serial = {serial}")  # noqa: S608 - ours
    keyspace, losses = salvaged(directory, tmp_path)
    if lost == "nothing":
        assert picture(keyspace, LATER_MS) == expected
        assert losses == []
        return
    assert losses
    kept = keyspace.streams[b"dead" if lost == "source" else b"one"]
    if lost == "source":
        assert kept.length == (1 if is_redriven else 2)
    else:
        assert kept.length == (3 if is_redriven else 2)
        assert kept.groups[b"g"].pending.count == 0


def test_a_schema_with_text_that_is_not_utf8_is_damage(kept: tuple[Path, Any], tmp_path: Path) -> None:
    database = kept[0] / FILE_NAME
    database.write_bytes(database.read_bytes().replace(b"CREATE TABLE", b"CREATE\xceTABLE"))
    with pytest.raises(Damage, match="UTF-8"):
        connect(kept[0])
    with pytest.raises(Damage, match="UTF-8"):
        salvaged(kept[0], tmp_path)
