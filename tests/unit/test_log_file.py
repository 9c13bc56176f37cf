"""SQLite's write-ahead log: a torn end is recognised, and damage before the end is reported."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tailrace.core import commands as c
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.data_files import FILE_NAME
from tailrace.core.storage.inspection import inspected
from tailrace.core.storage.log_file import read_log
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import connect
from tests.unit.test_storage import Disk

COMMITS = 5
HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24
PAGE_BYTES = 4096
FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES

Spoil = Callable[[bytearray], None]


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    """The files of a killed process: some commits in the log, with one append each."""
    with closing(Disk(tmp_path)) as disk:
        for number in range(COMMITS):
            disk.write(disk.engine.execute(c.Append(b"s", [b'{"n":"1"}']), 1000 + number).effects)
        files = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    directory = tmp_path / "crashed"
    directory.mkdir()
    for name in (FILE_NAME, f"{FILE_NAME}-wal"):
        (directory / name).write_bytes(files[name])
    return directory


def spoil(directory: Path, how: Spoil) -> None:
    log = directory / f"{FILE_NAME}-wal"
    content = bytearray(log.read_bytes())
    how(content)
    log.write_bytes(content)


def flip(at: int) -> Spoil:
    def how(content: bytearray) -> None:
        content[at] ^= 1

    return how


def length_found(directory: Path) -> int:
    with closing(connect(directory)) as connection:
        streams = recover(connection, connection).keyspace.streams
        return streams[b"s"].length if streams else 0


def last_commit_begins(directory: Path) -> int:
    """Return the offset of the frames of the last commit in the log."""
    ends = read_log(directory / FILE_NAME).ends_commit
    frame = len(ends) - 1 - ends[-2::-1].index(True)
    return HEADER_BYTES + frame * FRAME_BYTES


def test_a_whole_log_is_taken_whole_and_emptied(crashed: Path) -> None:
    assert length_found(crashed) == COMMITS
    with closing(connect(crashed)):
        assert (crashed / f"{FILE_NAME}-wal").stat().st_size == 0


def test_a_log_whose_last_commit_is_torn_gives_the_state_before_it(crashed: Path) -> None:
    spoil(crashed, flip(last_commit_begins(crashed) + 1000))
    assert length_found(crashed) == COMMITS - 1


def test_a_log_that_ends_within_a_frame_gives_the_state_before_it(crashed: Path) -> None:
    def cut(content: bytearray) -> None:
        del content[-100:]

    spoil(crashed, cut)
    assert length_found(crashed) == COMMITS - 1


@pytest.mark.parametrize("inside", [0, 4, 16, 1000])
def test_damage_before_the_last_commit_is_named(crashed: Path, inside: int) -> None:
    spoil(crashed, flip(last_commit_begins(crashed) - FRAME_BYTES + inside))
    with pytest.raises(Damage, match="the write-ahead log: the commit after frame"):
        length_found(crashed)


def test_looking_at_a_directory_names_damage_of_the_log_too(crashed: Path) -> None:
    spoil(crashed, flip(HEADER_BYTES + 1000))
    with pytest.raises(Damage, match="the write-ahead log: the commit after frame"), inspected(crashed):
        pass


@pytest.mark.parametrize("at", [3, 9, 17, 30])
def test_a_damaged_header_is_named(crashed: Path, at: int) -> None:
    spoil(crashed, flip(at))
    with pytest.raises(Damage, match="the write-ahead log: the checksum of its header"):
        length_found(crashed)


@pytest.mark.parametrize("content", [b"", bytes(100)])
def test_a_log_that_was_only_just_begun_holds_nothing(crashed: Path, content: bytes) -> None:
    (crashed / f"{FILE_NAME}-wal").write_bytes(content)
    assert read_log(crashed / FILE_NAME).page_counts == []


def test_a_log_beside_a_file_that_lost_everything_is_damage(crashed: Path) -> None:
    (crashed / FILE_NAME).write_bytes(b"")
    with pytest.raises(Damage, match=r"empty, but tailrace\.db-wal next to it"):
        length_found(crashed)
