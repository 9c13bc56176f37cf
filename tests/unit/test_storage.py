"""Stored data is read back unchanged, and damage is found and named."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tailrace.core.commands import (
    Append,
    ConfigureGroup,
    CreateGroup,
    DeleteEntries,
    DeleteKeys,
    Trim,
    TrimStream,
)
from tailrace.core.effects import (
    Effect,
    EntriesAppended,
    GroupDestroyed,
    IdempotencyExpired,
    PendingBetweenRemoved,
    PendingRemoved,
    StreamCreated,
)
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.group_settings import GroupSettings
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage import checkpoint, journal
from tailrace.core.storage.damage import CHECKSUM_BYTES, Damage, opened, sealed
from tailrace.core.storage.data_files import FILE_NAME
from tailrace.core.storage.draft import Snapshot
from tailrace.core.storage.ids import ids_bytes, ids_of
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.publishing import merging, publishing
from tailrace.core.storage.records import KINDS, decode_effects, encode_effects
from tailrace.core.storage.recovery import check_payloads, recover
from tailrace.core.storage.schema import (
    DirectoryLock,
    InUse,
    UnknownFormat,
    connect,
    connect_for_reading,
    put_meta,
)
from tailrace.core.storage.state import decode_group, encode_group
from tests.support.seeds import seeds
from tests.unit.test_many_ids import command
from tests.unit.test_replay import Program, picture

PROGRAMS_MAX = 2_000
"""Random programs to look for effects of every kind: some kinds are in one of hundreds."""


class Disk:
    """A data directory, and an engine whose effects are written to it one command a row."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.writing = connect(directory)
        self.reading = connect_for_reading(directory)
        recovered = recover(self.writing, self.reading)
        # As a start does: finish the checkpoint that a crash interrupted.
        deque(merging(self.writing), maxlen=0)
        self.engine = Engine(recovered.keyspace)
        self.seq = recovered.seq
        # The next checkpoint also stores what the replayed rows changed.
        self.changed: set[bytes] = set()
        self.note(recovered.replayed)

    def run(self, program: Program, steps: int, now_ms: int) -> int:
        for _ in range(steps):
            now_ms += program.random.choice([0, 1, 100])
            with suppress(StreamError):
                self.write(self.engine.execute(program.next(), now_ms).effects)
        return now_ms

    def write(self, effects: Sequence[Effect]) -> None:
        if effects:
            self.seq += 1
            journal.append(self.writing, self.seq, encode_effects(effects))
            self.note(effects)

    def note(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            for name in ("key", "new_key"):
                self.changed.add(getattr(effect, name, b""))

    def checkpoint(self, *, until: str = "release") -> None:
        """Take a checkpoint, or stop in the middle of it as a crash would."""
        snapshot = checkpoint.take(self.engine.keyspace, self.seq, self.changed)
        for portion in checkpoint.chunks(snapshot.blocks):
            checkpoint.write_blocks(self.writing, portion)
        if until == "blocks":
            return
        checkpoint.publish(self.writing, snapshot)
        self.changed = set()
        if until == "release":
            checkpoint.release(self.reading, snapshot)

    def checkpoint_steps(self) -> Iterator[None]:
        """Take a checkpoint of this instant. Each step is at most one transaction; commands may run between
        two of them."""
        snapshot = checkpoint.take(self.engine.keyspace, self.seq, self.changed)
        self.changed = set()
        return self._store_in_steps(snapshot)

    def _store_in_steps(self, snapshot: Snapshot) -> Iterator[None]:
        for portion in checkpoint.chunks(snapshot.blocks):
            checkpoint.write_blocks(self.writing, portion)
            yield
        yield from publishing(self.writing, snapshot)
        checkpoint.release(self.reading, snapshot)
        checkpoint.give_back(self.writing)
        yield

    def close(self) -> None:
        # The last connection to close leaves one file; it must be one that may write.
        self.reading.close()
        self.writing.close()


def program_for(disk: Disk, seed: int) -> Program:
    return Program(seed, disk.engine)


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("until", ["release", "publish", "blocks"])
def test_a_keyspace_is_read_back_as_it_was_wherever_a_checkpoint_stopped(
    tmp_path: Path, seed: int, until: str
) -> None:
    now_ms = 1000
    expected: Any = None
    for round_number in range(4):
        with closing(Disk(tmp_path)) as disk:
            check(disk.engine.keyspace)
            if expected is not None:
                assert picture(disk.engine.keyspace, now_ms) == expected
            program = program_for(disk, 100 * seed + round_number)
            now_ms = disk.run(program, 60, now_ms)
            disk.checkpoint()
            now_ms = disk.run(program, 60, now_ms)
            check(disk.engine.keyspace)
            expected = picture(disk.engine.keyspace, now_ms)
            disk.checkpoint(until=until)


@pytest.mark.parametrize("stored", [250, 150])
def test_a_block_that_begins_with_the_id_of_a_removed_block_is_stored(tmp_path: Path, stored: int) -> None:
    # After XSETID, an empty stream takes ids that it had before.
    def append(disk: Disk, count: int) -> None:
        for number in range(1, count + 1):
            disk.write(disk.engine.execute(command("XADD", "s", f"{number}-0", "f", "v"), 1000).effects)

    with closing(Disk(tmp_path)) as disk:
        append(disk, 250)
        disk.checkpoint()
        for line in (["XTRIM", "s", "MAXLEN", "0"], ["XSETID", "s", "0-1"]):
            disk.write(disk.engine.execute(command(*line), 1000).effects)
        append(disk, stored)
        disk.checkpoint()
        expected = picture(disk.engine.keyspace, 1000)
    with closing(Disk(tmp_path)) as disk:
        assert picture(disk.engine.keyspace, 1000) == expected
        assert len(list(check_payloads(disk.engine.keyspace))) == len(
            disk.engine.keyspace.streams[b"s"].log.blocks
        )


def test_a_checkpoint_seeks_no_groups_for_streams_that_have_none(tmp_path: Path) -> None:
    # Each seek may read a whole row of another group, which can have megabytes.
    with closing(Disk(tmp_path)) as disk:
        disk.write(disk.engine.execute(CreateGroup(b"g", b"g", 0, create_stream=True), 1000).effects)
        keys = [b"k%d" % number for number in range(20)]
        for key in keys:
            disk.write(disk.engine.execute(Append(key, [b'{"f":"v"}']), 1000).effects)
        disk.checkpoint()
        for key in keys:
            disk.write(disk.engine.execute(Append(key, [b'{"f":"v"}']), 1000).effects)
        disk.write(disk.engine.execute(DeleteKeys((b"k0",)), 1000).effects)
        statements: list[str] = []
        disk.writing.set_trace_callback(statements.append)
        disk.checkpoint()
        assert any("DELETE FROM streams" in each for each in statements)
        assert not any("DELETE FROM groups" in each for each in statements)


def test_effects_of_every_kind_survive_their_bytes() -> None:
    missing = set(KINDS) - {IdempotencyExpired, PendingBetweenRemoved}
    for seed in range(PROGRAMS_MAX):
        engine = Engine()
        program = Program(seed, engine)
        for step in range(200):
            with suppress(StreamError):
                effects = engine.execute(program.next(), 1000 + 100 * step).effects
                read_back = decode_effects(encode_effects(effects))
                assert [_plain(each) for each in read_back] == [_plain(each) for each in effects]
                missing.difference_update(map(type, effects))
        if not missing:
            break
    assert not missing


def _plain(effect: Effect) -> list[Any]:
    values = [getattr(effect, name) for name in effect.__struct_fields__]
    return [type(effect), *(list(value) if hasattr(value, "__len__") else value for value in values)]


@pytest.mark.parametrize("ids", [(), (5,), (5, 6, 7), (5, 9), (9, 5, 7), (1 << 127, 3), range(4, 9)])
def test_ids_survive_their_bytes_in_any_order(ids: Any) -> None:
    assert list(ids_of(ids_bytes(ids))) == list(ids)


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path)
    with pytest.raises(InUse):
        DirectoryLock(tmp_path)
    lock.release()
    DirectoryLock(tmp_path).release()


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    with closing(connect(tmp_path)) as connection:
        put_meta(connection, "format", b"99")
    with pytest.raises(UnknownFormat, match="99"):
        connect(tmp_path)


def test_a_value_filed_elsewhere_is_not_taken() -> None:
    raw = sealed(b"body", b"one place")
    assert opened(raw, "here", b"one place") == b"body"
    for wrong in (raw[:-1], b"", "text", raw[:3]):
        with pytest.raises(Damage):
            opened(wrong, "here", b"one place")
    with pytest.raises(Damage, match="here"):
        opened(raw, "here", b"another")


# --- journal rows ------------------------------------------------------------------------------------


def test_a_large_row_is_kept_compressed_and_counted_as_it_came(tmp_path: Path) -> None:
    fragments = [b'{"rider":"Castilla","speed":"%d"}' % number for number in range(1000)]
    entry = EntriesAppended(b"s", range(1, 1001), fragments)
    bodies = [encode_effects([StreamCreated(b"s")]), encode_effects([entry])]
    assert len(bodies[0]) < journal.COMPRESSED_FROM_BYTES <= len(bodies[1])
    with closing(connect(tmp_path)) as connection:
        for seq, body in enumerate(bodies, start=1):
            journal.append(connection, seq, body)
        [small, large] = connection.execute("SELECT length(body) FROM journal ORDER BY seq").fetchall()
        assert small == (len(bodies[0]) + CHECKSUM_BYTES,)
        assert large < (len(bodies[1]) // 2,)
        assert journal.size_bytes(connection) == sum(map(len, bodies))
        kept = recover(connection, connection).keyspace.streams[b"s"].log.range()
    assert kept == (list(entry.ids), entry.fragments)


def test_a_row_in_parts_has_the_effects_of_all_parts_in_order(tmp_path: Path) -> None:
    many = EntriesAppended(b"s", range(1, 1001), [b'{"rider":"Castilla"}'] * 1000)
    first = [StreamCreated(b"s"), many]
    second = [EntriesAppended(b"s", range(1001, 1002), [b'{"rider":"Norem"}'])]
    bodies = [encode_effects(first), encode_effects(second)]
    size_bytes = sum(map(len, bodies))
    row = journal.row_of([journal.part_of(body) for body in bodies], size_bytes)
    assert journal.effects_in(row) == [*first, *second]
    with closing(connect(tmp_path)) as connection:
        journal.append(connection, 1, row)
        assert connection.execute("SELECT body FROM journal").fetchall() == [(sealed(row, seq_bytes(1)),)]
        assert journal.size_bytes(connection) == size_bytes
        kept = recover(connection, connection).keyspace.streams[b"s"].log.range()
    assert kept == (list(range(1, 1002)), [*many.fragments, *second[0].fragments])


def test_a_large_row_in_parts_is_not_compressed_again(tmp_path: Path) -> None:
    chance = random.Random(7)
    fragments = [b'{"a":"%x"}' % chance.getrandbits(800) for _ in range(500)]
    body = encode_effects([StreamCreated(b"s"), EntriesAppended(b"s", range(1, 501), fragments)])
    row = journal.row_of([journal.part_of(body)], len(body))
    assert len(row) >= journal.COMPRESSED_FROM_BYTES
    with closing(connect(tmp_path)) as connection:
        journal.append(connection, 1, row)
        assert connection.execute("SELECT length(body) FROM journal").fetchone() == (
            len(row) + CHECKSUM_BYTES,
        )
        stream = recover(connection, connection).keyspace.streams[b"s"]
        assert stream.log.length == len(fragments)


def test_emptying_the_log_moves_the_rows_to_the_database(tmp_path: Path) -> None:
    with closing(connect(tmp_path)) as connection:
        journal.append(connection, 1, encode_effects([StreamCreated(b"s")]))
        journal.empty_log(connection)
        journal.append(connection, 2, encode_effects([StreamCreated(b"t")]))
        alone = tmp_path / "alone"
        alone.mkdir()
        (alone / FILE_NAME).write_bytes((tmp_path / FILE_NAME).read_bytes())
        assert sorted(recover(connection, connection).keyspace.streams) == [b"s", b"t"]
    with closing(connect(alone)) as copied:
        assert list(recover(copied, copied).keyspace.streams) == [b"s"]


# --- damage ----------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Any]:
    """A directory with a checkpoint and a journal above it, and the picture it must give."""
    with closing(Disk(tmp_path)) as disk:
        program = program_for(disk, 11)
        now_ms = disk.run(program, 150, 1000)
        for key in (b"s", b"t"):
            disk.write(disk.engine.execute(Append(key, [b'{"a":"1"}'] * 500), now_ms).effects)
            disk.write(disk.engine.execute(CreateGroup(key, b"kept", 0), now_ms).effects)
        disk.checkpoint()
        disk.write(disk.engine.execute(Append(b"s", [b'{"a":"2"}'] * 50), now_ms).effects)
        disk.write(disk.engine.execute(Append(b"t", [b'{"a":"2"}']), now_ms).effects)
        expected = picture(disk.engine.keyspace, 10**6)
    return tmp_path, expected


def read_all(directory: Path) -> Any:
    """Open as a server and as `check` would, and look at everything."""
    with closing(connect(directory)) as writing, closing(connect_for_reading(directory)) as reading:
        keyspace = recover(writing, reading).keyspace
        list(check_payloads(keyspace))
        return picture(keyspace, 10**6)


def test_any_single_flipped_bit_is_refused_with_its_place_or_changes_nothing(
    kept: tuple[Path, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory, expected = kept
    original = (directory / FILE_NAME).read_bytes()
    used = [at for at, value in enumerate(original) if value]  # most bytes of a small file are unused
    chance = random.Random(4)
    damaged = tmp_path_factory.mktemp("damaged")
    refused = 0
    for _ in range(300):
        at, bit = chance.choice(used), chance.randrange(8)
        flipped = bytearray(original)
        flipped[at] ^= 1 << bit
        for stale in damaged.iterdir():
            stale.unlink()
        (damaged / FILE_NAME).write_bytes(flipped)
        try:
            found = read_all(damaged)
        except (Damage, UnknownFormat):
            refused += 1
        else:
            assert found == expected, f"byte {at}, bit {bit}"
    assert refused > 30


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)", "journal row"),
        ("DELETE FROM journal WHERE seq = (SELECT min(seq) FROM journal)", "journal row"),
        ("DELETE FROM journal", "journal row"),
        ("DELETE FROM streams WHERE serial = (SELECT min(serial) FROM streams)", "stream"),
        ("DELETE FROM groups WHERE rowid_is IS NULL", "group"),
        ("DELETE FROM blocks WHERE first_id = (SELECT min(first_id) FROM blocks)", "blocks"),
        ("DELETE FROM payloads WHERE first_id = (SELECT min(first_id) FROM payloads)", "block"),
        ("DELETE FROM meta WHERE name = 'checkpoint'", "meta checkpoint"),
        ("DELETE FROM meta WHERE name = 'tail'", "journal row"),
        ("DELETE FROM meta WHERE name = 'format'", "meta"),
    ],
)
def test_a_row_that_is_missing_is_missed(kept: tuple[Path, Any], statement: str, names: str) -> None:
    directory, _ = kept
    with closing(connect(directory)) as connection:
        group = "(SELECT name FROM groups LIMIT 1)"
        connection.execute(statement.replace("rowid_is IS NULL", f"name = {group}"))
    with pytest.raises(Damage, match=names):
        read_all(directory)


def test_a_file_that_is_no_database_is_damage(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database, whatever its name says" * 100)
    with pytest.raises(Damage, match="database"):
        read_all(tmp_path)


def test_an_empty_directory_holds_an_empty_keyspace(tmp_path: Path) -> None:
    assert read_all(tmp_path) == picture(Keyspace(), 10**6)


def test_a_database_with_other_tables_is_damage(kept: tuple[Path, Any]) -> None:
    directory, _ = kept
    with closing(connect(directory)) as connection:
        connection.execute("DROP TABLE groups")
    with pytest.raises(Damage, match="schema"):
        connect(directory)


def test_a_replayed_trim_takes_the_same_references_though_the_last_id_was_lowered(tmp_path: Path) -> None:
    """Pending ids of trimmed entries are then among the ids of newer entries. What a checkpoint does not
    store must not decide which of them a replay removes."""
    disk = Disk(tmp_path)
    program = [
        *("CONFIG SET stream-node-max-entries 1", "XADD s 5-10 a b", "XADD s 5-20 a b", "XADD s 5-30 a b"),
        *("XGROUP CREATE s g 0", "XREADGROUP GROUP g c STREAMS s >", "XTRIM s MAXLEN 0", "XSETID s 5-1"),
        *("XADD s 5-15 a b", "XADD s 5-25 a b"),
    ]
    for line in program:
        disk.write(disk.engine.execute(command(*line.split()), 1).effects)
    disk.checkpoint()
    disk.write(disk.engine.execute(command("XTRIM", "s", "MAXLEN", 0, "DELREF"), 1).effects)
    before = list(disk.engine.keyspace.streams[b"s"].groups[b"g"].pending.ids())
    disk.close()
    disk = Disk(tmp_path)
    assert list(disk.engine.keyspace.streams[b"s"].groups[b"g"].pending.ids()) == before
    disk.close()


@pytest.mark.parametrize(
    "effect",
    [PendingRemoved(b"s", b"kept", [5]), GroupDestroyed(b"s", b"none"), StreamCreated(b"s")],
)
def test_a_row_as_it_was_written_that_does_not_follow_from_the_state_is_damage(
    kept: tuple[Path, Any], effect: Effect
) -> None:
    directory, _ = kept
    with closing(connect(directory)) as connection:
        seq = journal.tail(connection) + 1
        journal.append(connection, seq, encode_effects([effect]))
    with pytest.raises(Damage, match=f"journal row {seq}: {type(effect).__name__} refers to"):
        read_all(directory)


# --- blocks that left memory -------------------------------------------------------------------------


def test_stored_blocks_take_no_memory_and_are_read_trimmed_and_deleted_from_as_before(tmp_path: Path) -> None:
    with closing(Disk(tmp_path)) as disk:
        disk.write(disk.engine.execute(Append(b"s", [b'{"a":"1"}'] * 1000), 1000).effects)
        disk.checkpoint()
        log = disk.engine.keyspace.streams[b"s"].log
        assert sum(block.payload_bytes for block in log.blocks) == 0
        ids, fragments = log.range()
        assert (len(ids), set(fragments)) == (1000, {b'{"a":"1"}'})
        disk.write(disk.engine.execute(DeleteEntries(b"s", tuple(ids[100:160])), 1001).effects)
        disk.write(disk.engine.execute(TrimStream(b"s", Trim(max_length=900)), 1002).effects)
        left = [*ids[40:100], *ids[160:]]
        assert log.range()[0] == left
        disk.checkpoint()
        assert sum(block.payload_bytes for block in log.blocks) == 0
        assert log.range()[0] == left
    with closing(Disk(tmp_path)) as disk:
        assert disk.engine.keyspace.streams[b"s"].log.range()[0] == left


def test_a_block_that_lost_entries_while_it_was_written_keeps_its_payload_until_the_next_time(
    tmp_path: Path,
) -> None:
    with closing(Disk(tmp_path)) as disk:
        ids = disk.engine.execute(Append(b"s", [b'{"a":"1"}'] * 300), 1000)
        disk.write(ids.effects)
        snapshot = checkpoint.take(disk.engine.keyspace, disk.seq, {b"s"})
        log = disk.engine.keyspace.streams[b"s"].log
        disk.write(disk.engine.execute(DeleteEntries(b"s", tuple(log.range()[0][:70])), 1001).effects)
        checkpoint.write_blocks(disk.writing, snapshot.blocks)
        checkpoint.publish(disk.writing, snapshot)
        checkpoint.release(disk.reading, snapshot)
        assert [bool(block.payload_bytes) for block in log.blocks] == [True, False, False]
        disk.checkpoint()
        expected = log.range()
    with closing(Disk(tmp_path)) as disk:
        assert disk.engine.keyspace.streams[b"s"].log.range() == expected


def test_a_group_without_settings_is_stored_as_by_earlier_releases() -> None:
    engine = Engine()
    engine.execute(CreateGroup(b"s", b"g", 0, create_stream=True), 1)
    group = engine.keyspace.streams[b"s"].groups[b"g"]
    row = msgspec.msgpack.decode(encode_group(group))
    assert len(row) == 6
    assert decode_group(msgspec.msgpack.encode(row)).settings is None
    engine.execute(ConfigureGroup(b"s", b"g", 5, b"\xff"), 1)
    group.dead_letter_count = 7
    restored = decode_group(encode_group(group))
    assert (restored.settings, restored.dead_letter_count) == (GroupSettings(5, b"\xff"), 7)
    engine.execute(ConfigureGroup(b"s", b"g", None, None), 1)
    restored = decode_group(encode_group(group))
    assert (restored.settings, restored.dead_letter_count) == (None, 7)


def test_settings_of_a_later_release_that_are_missing_in_the_data_are_not_set() -> None:
    assert msgspec.convert([5], GroupSettings) == GroupSettings(5, None)
