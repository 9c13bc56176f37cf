"""Single flipped bits in the files of a killed server: the database and its write-ahead log.

A flip is reported or changes nothing. One exception: a flip in the last commit of the log looks like a write
that a power cut tore. The state before that commit is then restored.
"""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tailrace.core import commands as c
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.data_files import FILE_NAME
from tailrace.core.storage.recovery import check_payloads, recover
from tailrace.core.storage.schema import UnknownFormat, connect, connect_for_reading
from tests.crash.power_cut import write_files
from tests.crash.scale import BIT_FLIPS, SEED, say
from tests.unit.test_replay import picture
from tests.unit.test_storage import Disk, program_for

LATER_MS = 10**6
WAL_NAME = f"{FILE_NAME}-wal"


class Kept(NamedTuple):
    """The files, and the states that were committed, the newest last."""

    files: dict[str, bytes]
    pictures: list[Any]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    directory = tmp_path_factory.mktemp("kept")
    with closing(Disk(directory)) as disk:
        now_ms = disk.run(program_for(disk, 3), 100, 1000)
        for key in (b"s", b"t"):
            disk.write(disk.engine.execute(c.Append(key, [b'{"a":"1"}'] * 1500), now_ms).effects)
        disk.checkpoint()
        disk.writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pictures = [picture(disk.engine.keyspace, LATER_MS)]
        for _ in range(30):
            disk.write(disk.engine.execute(c.Append(b"s", [b'{"a":"2"}'] * 20), now_ms).effects)
            pictures.append(picture(disk.engine.keyspace, LATER_MS))
        files = {name: (directory / name).read_bytes() for name in (FILE_NAME, WAL_NAME)}
    return Kept(files, pictures)


def found_after_flip(kept: Kept, name: str, directory: Path, chance: random.Random) -> Any:
    """Start, and return everything that is stored; None if the start is refused."""
    content = bytearray(kept.files[name])
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    write_files(directory, {**kept.files, name: bytes(content)})
    try:
        with closing(connect(directory)) as writing, closing(connect_for_reading(directory)) as reading:
            keyspace = recover(writing, reading).keyspace
            list(check_payloads(keyspace))
            return picture(keyspace, LATER_MS)
    except (Damage, UnknownFormat):
        return None


def flips(kept: Kept, name: str, directory: Path) -> list[Any]:
    say(f"CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    return [found_after_flip(kept, name, directory, chance) for _ in range(BIT_FLIPS)]


def test_a_flipped_bit_of_the_file_is_refused_or_changes_nothing(kept: Kept, tmp_path: Path) -> None:
    found = flips(kept, FILE_NAME, tmp_path)
    refused = found.count(None)
    say(f"{len(found)} flips in the file: {refused} refused, {len(found) - refused} without any effect")
    assert refused
    assert all(each in (None, kept.pictures[-1]) for each in found)


def test_a_flipped_bit_of_the_log_is_refused_or_takes_the_last_commit_alone(
    kept: Kept, tmp_path: Path
) -> None:
    found = flips(kept, WAL_NAME, tmp_path)
    refused = found.count(None)
    say(f"{len(found)} flips in the log: {refused} refused, {len(found) - refused} took the last commit")
    assert refused
    # Eight bytes of the log are such that the commit before the last one goes with it.
    assert all(each in (None, *kept.pictures[-3:]) for each in found)


def test_a_row_whose_number_is_no_number_is_damage(kept: Kept, tmp_path: Path) -> None:
    write_files(tmp_path, kept.files)
    with closing(connect(tmp_path)) as connection:
        connection.execute("UPDATE blocks SET serial = 'one' WHERE serial = (SELECT min(serial) FROM blocks)")
        with pytest.raises(Damage, match="a wrong type"):
            recover(connection, connection)
