"""The specification of a start: a table of named states of a data directory, and the result of each.

A state is either served, with exactly the entries that it should hold, or refused with a sentence that
names the file, by the server and by `check`, `backup` and `restore` alike. A refusal changes nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from tailrace.app.store.data_refusals import STORAGE_ERRORS, refusal
from tailrace.app.store.storage import Storage
from tailrace.core import commands as c
from tailrace.core.storage import data_files
from tailrace.core.storage.data_files import BOOT_NAME, FILE_NAME, note_boot
from tailrace.core.storage.inspection import inspected
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import DirectoryLock, InUse
from tests.support.server_process import tailrace
from tests.unit.test_storage import Disk

WAL: Final = f"{FILE_NAME}-wal"
SHM: Final = f"{FILE_NAME}-shm"
STORED: Final = 300
LOGGED: Final = 5
NOBODY: Final = 65_534

State = Callable[[Path], None]


def make(directory: Path, key: bytes = b"s") -> None:
    """A crashed server's directory: a checkpoint in the database, and appends in the log."""
    with TemporaryDirectory() as scratch, closing(Disk(Path(scratch))) as disk:
        disk.write(disk.engine.execute(c.Append(key, [b'{"n":"1"}'] * STORED), 1000).effects)
        disk.checkpoint()
        disk.writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(LOGGED):
            disk.write(disk.engine.execute(c.Append(key, [b'{"n":"2"}']), 2000 + number).effects)
        directory.mkdir()
        for name in (FILE_NAME, WAL, SHM):
            shutil.copyfile(Path(scratch) / name, directory / name)
    note_boot(directory)


@pytest.fixture
def crashed(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    make(directory)
    return directory


def entries_of(directory: Path) -> int:
    """How many entries a start finds."""
    storage = Storage(directory)
    found = sum(stream.length for stream in storage.keyspace.streams.values())
    storage._reading.close()
    storage._writing.close()
    storage._lock.release()
    return found


def told(directory: Path, use: Callable[[Path], object]) -> str:
    try:
        use(directory)
    except STORAGE_ERRORS as error:
        return refusal(directory, error)
    raise AssertionError("it was not refused")


def look(directory: Path) -> None:
    with inspected(directory) as inspection:
        recover(inspection.connection, inspection.connection)


def contents(directory: Path) -> dict[str, object]:
    """The content of every file except the index, which SQLite rebuilds at every start."""
    return {
        path.name: path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        for path in directory.iterdir()
        if path.name != SHM or not (directory / FILE_NAME).is_file()
    }


# --- the states --------------------------------------------------------------------------------------


def without(*names: str) -> State:
    def spoil(directory: Path) -> None:
        for name in names:
            (directory / name).unlink()

    return spoil


def with_content(name: str, content: bytes, *missing: str) -> State:
    def spoil(directory: Path) -> None:
        (directory / name).write_bytes(content)
        without(*missing)(directory)

    return spoil


def cut_off(name: str, share: float, *missing: str) -> State:
    def spoil(directory: Path) -> None:
        os.truncate(directory / name, int((directory / name).stat().st_size * share))
        without(*missing)(directory)

    return spoil


def flipped(name: str, share: float, *missing: str) -> State:
    def spoil(directory: Path) -> None:
        content = bytearray((directory / name).read_bytes())
        content[int(len(content) * share)] ^= 1
        (directory / name).write_bytes(content)
        without(*missing)(directory)

    return spoil


def with_unknown_version(directory: Path) -> None:
    content = bytearray((directory / FILE_NAME).read_bytes())
    content[18] = 7
    with_content(FILE_NAME, bytes(content), WAL, SHM)(directory)


def with_log_of_another(directory: Path) -> None:
    other = directory.with_name("other")
    make(other, b"another stream")
    (other / WAL).replace(directory / WAL)
    without(SHM)(directory)


def with_log_of_another_beside_the_index(directory: Path) -> None:
    other = directory.with_name("other")
    make(other, b"another stream")
    (other / WAL).replace(directory / WAL)


def as_link(name: str) -> State:
    def spoil(directory: Path) -> None:
        elsewhere = directory.with_name(f"elsewhere-{name}")
        (directory / name).replace(elsewhere)
        (directory / name).symlink_to(elsewhere)

    return spoil


def as_dangling_link(directory: Path) -> None:
    as_link(FILE_NAME)(directory)
    (directory / FILE_NAME).readlink().unlink()


def as_directory(name: str) -> State:
    def spoil(directory: Path) -> None:
        (directory / name).unlink()
        (directory / name).mkdir()

    return spoil


def as_pipe(directory: Path) -> None:
    (directory / FILE_NAME).unlink()
    os.mkfifo(directory / FILE_NAME)


REFUSED: Final[dict[str, tuple[State, str]]] = {
    "no database beside a log": (
        without(FILE_NAME),
        f"{FILE_NAME}: missing, but {WAL} and {SHM} next to it show that",
    ),
    "no database, a log alone": (without(FILE_NAME, SHM, BOOT_NAME), f"{FILE_NAME}: missing, but {WAL}"),
    "no database beside an empty log": (
        with_content(WAL, b"", FILE_NAME, SHM),
        f"{FILE_NAME}: missing, but {WAL} next to it shows",
    ),
    "an index alone": (without(FILE_NAME, WAL), f"{FILE_NAME}: missing, but {SHM} next to it shows"),
    "an empty database beside a log": (
        with_content(FILE_NAME, b""),
        f"{FILE_NAME}: empty, but {WAL} and {SHM}",
    ),
    "a database cut off, without a log": (cut_off(FILE_NAME, 0.5, WAL, SHM), f"{FILE_NAME}: it was cut off"),
    "a database cut off inside its header": (
        with_content(FILE_NAME, b"SQLite format 3\0", WAL, SHM),
        "file is not a database",
    ),
    "a database of other bytes": (
        with_content(FILE_NAME, b"text" * 5000, WAL, SHM),
        "file is not a database",
    ),
    "a database whose first byte is another": (flipped(FILE_NAME, 0.0, WAL, SHM), "file is not a database"),
    "a header of an unknown version": (
        with_unknown_version,
        f"{FILE_NAME}: its header names an unknown version",
    ),
    "no log, where the index names frames": (
        without(WAL),
        "the write-ahead log: missing or empty, but its index",
    ),
    "an emptied log, where the index names frames": (
        with_content(WAL, b""),
        "the write-ahead log: missing or empty, but its index",
    ),
    "a log cut off, where the index names more": (cut_off(WAL, 0.5), "frames in its index are intact"),
    "a log damaged in its last commit, where the index names more": (
        flipped(WAL, 0.95),
        "frames in its index are intact",
    ),
    "a log damaged in its middle": (
        flipped(WAL, 0.3, SHM),
        "the write-ahead log: the commit after frame",
    ),
    "a log with a damaged header": (
        flipped(WAL, 0.0, SHM),
        "the write-ahead log: the checksum of its header",
    ),
    "a log of another directory": (with_log_of_another, "is damaged"),
    "a log of another directory beside the index": (
        with_log_of_another_beside_the_index,
        "the write-ahead log: it is not the log that its index describes",
    ),
    "a link in place of the database": (as_link(FILE_NAME), f"{FILE_NAME} is a symbolic link"),
    "a link in place of the log": (as_link(WAL), f"{WAL} is a symbolic link"),
    "a link in place of the index": (as_link(SHM), f"{SHM} is a symbolic link"),
    "a link that leads nowhere": (as_dangling_link, f"{FILE_NAME} is a symbolic link"),
    "a directory in place of the database": (as_directory(FILE_NAME), f"{FILE_NAME} is not a regular file"),
    "a directory in place of the log": (as_directory(WAL), f"{WAL} is not a regular file"),
    "a directory in place of the boot's id": (as_directory(BOOT_NAME), f"{BOOT_NAME} is not a regular file"),
    "a pipe in place of the database": (as_pipe, f"{FILE_NAME} is not a regular file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_this_state_is_refused_by_the_server_and_by_a_look_and_left_as_it_is(
    crashed: Path, name: str
) -> None:
    spoil, sentence = REFUSED[name]
    spoil(crashed)
    before = contents(crashed)
    for use in (look, entries_of, entries_of, look):
        assert sentence in told(crashed, use)
        assert contents(crashed) == before


SERVED: Final[dict[str, tuple[State, int]]] = {
    "as a crash leaves it": (without(), STORED + LOGGED),
    "without the index": (without(SHM), STORED + LOGGED),
    "with an index of other bytes": (with_content(SHM, b"\x07" * 32_768), STORED + LOGGED),
    "with an index whose copies differ": (flipped(SHM, 20 / 32_768), STORED + LOGGED),
    "without the boot's id": (without(BOOT_NAME), STORED + LOGGED),
    # Nothing tells these from a log that a power cut tore, or from a directory without a log.
    "a log cut off, without the index": (cut_off(WAL, 0.5, SHM), STORED + LOGGED // 2),
    "a log cut off, and the system was restarted": (cut_off(WAL, 0.5, BOOT_NAME), STORED + LOGGED // 2),
    "no log and no index": (without(WAL, SHM), STORED),
    "an empty database alone": (with_content(FILE_NAME, b"", WAL, SHM), 0),
    "nothing": (without(FILE_NAME, WAL, SHM, BOOT_NAME), 0),
}


@pytest.mark.parametrize("name", SERVED)
def test_this_state_is_served_with_what_it_holds(crashed: Path, name: str) -> None:
    spoil, expected = SERVED[name]
    spoil(crashed)
    assert entries_of(crashed) == expected
    assert entries_of(crashed) == expected


@pytest.mark.parametrize("name", ["no database beside a log", "a directory in place of the database"])
@pytest.mark.parametrize(
    "command",
    [
        ("serve", "--port", "0", "--data-dir", "{data}"),
        ("check", "{data}"),
        ("backup", "{data}", "{out}"),
        ("restore", "{data}", "{out}"),
    ],
)
def test_every_command_says_so_in_one_line(crashed: Path, name: str, command: tuple[str, ...]) -> None:
    spoil, sentence = REFUSED[name]
    spoil(crashed)
    before = contents(crashed)
    result = tailrace(*(each.format(data=crashed, out=crashed.with_name("out")) for each in command))
    assert result.returncode == 1
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert contents(crashed) == before
    assert not crashed.with_name("out").exists()


@pytest.mark.parametrize(
    "name", ["no database beside a log", "no database, a log alone", "an empty database beside a log"]
)
def test_a_lost_database_beside_a_log_leads_to_the_salvage(crashed: Path, name: str) -> None:
    spoil, _ = REFUSED[name]
    spoil(crashed)
    assert f"`tailrace check --salvage OUT {crashed}`; nothing was changed" in told(crashed, entries_of)


# --- permissions -------------------------------------------------------------------------------------


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run as a user to whom permissions apply."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.parametrize(
    ("mode", "file_mode"),
    [(0o555, 0o444), (0o755, 0o000), (0o000, 0o644)],
    ids=["read-only", "file", "closed"],
)
def test_a_directory_that_may_not_be_used_is_refused_and_is_no_damage(mode: int, file_mode: int) -> None:
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        directory = Path(place) / "data"
        make(directory)
        before = contents(directory)
        for path in directory.iterdir():
            path.chmod(file_mode)
        directory.chmod(mode)
        with unprivileged():
            sentence = told(directory, entries_of)
        directory.chmod(0o755)
        for path in directory.iterdir():
            path.chmod(0o644)
        assert "permission" in sentence
        assert "is damaged" not in sentence
        assert contents(directory) == before


# --- the lock ----------------------------------------------------------------------------------------


def test_no_second_server_comes_in_where_files_of_the_directory_are_removed(crashed: Path) -> None:
    lock = DirectoryLock(crashed)
    for path in crashed.iterdir():
        path.unlink()
    with pytest.raises(InUse):
        DirectoryLock(crashed)
    lock.release()
    DirectoryLock(crashed).release()


def test_a_database_that_was_removed_under_a_server_is_named(crashed: Path) -> None:
    lock = DirectoryLock(crashed)
    without(FILE_NAME)(crashed)
    assert "a server still uses it" in told(crashed, look)
    lock.release()


def test_where_the_system_has_no_boot_id_the_index_is_no_evidence(
    crashed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "_BOOT_ID", crashed / "missing")
    cut_off(WAL, 0.5)(crashed)
    assert entries_of(crashed) == STORED + LOGGED // 2
