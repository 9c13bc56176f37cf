"""Power loss, simulated below SQLite: the disk drops or tears everything that was not synced.

The recorder sees each write and sync that the storage really asks for, so the proof that these tests
can fail is to have it ask for fewer: with the sync taken out they must find losses.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tailrace.core.errors import StreamError
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.storage import checkpoint, publishing
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.publishing import merging
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import connect, connect_for_reading
from tests.crash.power_cut import after_power_cut, write_files
from tests.crash.recorded_disk import Operation, RecordedDisk, recorded_disk
from tests.crash.scale import POWER_CUTS, SEED, say
from tests.unit.test_replay import Program, picture
from tests.unit.test_storage import Disk

CUTS_PER_RUN: Final = 20
COMMANDS_PER_RUN: Final = 60
LATER_MS: Final = 10**6


class Mark(NamedTuple):
    """After so many operations of the disk, this much was acknowledged."""

    operations: int
    picture: Any


class Run(NamedTuple):
    """A random program that ran on a recorded disk."""

    operations: list[Operation]
    marks: list[Mark]


def run_program(directory: Path, seed: int, synchronous: str = "FULL") -> Run:
    """Carry out commands, a row each, with checkpoints between them; from the first start on."""
    directory.mkdir()
    with recorded_disk(directory) as recorder:
        disk = Disk(directory)
        disk.writing.execute(f"PRAGMA synchronous={synchronous}")
        # Small, so that SQLite copies its log into the file, and restarts the log, many times a run.
        disk.writing.execute("PRAGMA wal_autocheckpoint=20")
        marks = list(_marks(disk, recorder, seed))
        run = Run(list(recorder.operations), marks)
        disk.close()
    return run


def _marks(disk: Disk, recorder: RecordedDisk, seed: int) -> Iterator[Mark]:
    program = Program(seed, disk.engine)
    now_ms = 1000
    yield Mark(0, picture(Keyspace(), LATER_MS))
    steps: Iterator[None] = iter(())
    for _ in range(COMMANDS_PER_RUN):
        now_ms += program.random.choice([0, 1, 100])
        with suppress(StreamError):
            disk.write(disk.engine.execute(program.next(), now_ms).effects)
        yield Mark(len(recorder.operations), picture(disk.engine.keyspace, LATER_MS))
        # Some steps of a checkpoint run before the next command.
        for _ in range(program.random.choice([0, 1, 5])):
            if next(steps, steps) is steps and program.random.random() < 0.1:
                steps = disk.checkpoint_steps()


def found_after_cut(run: Run, directory: Path, at: int, chance: random.Random) -> Any:
    """Return the state of a start after a power cut that follows the first `at` operations."""
    write_files(directory, after_power_cut(run.operations[:at], chance))
    with closing(connect(directory)) as writing, closing(connect_for_reading(directory)) as reading:
        keyspace = recover(writing, reading).keyspace
        check(keyspace)
        found = picture(keyspace, LATER_MS)
        deque(merging(writing), maxlen=0)
        assert picture(recover(writing, reading).keyspace, LATER_MS) == found
        return found


def is_right(run: Run, directory: Path, at: int, chance: random.Random) -> bool:
    """Whether every acknowledged change is found, and in addition at most the one that was under way."""
    acknowledged = max(index for index, mark in enumerate(run.marks) if mark.operations <= at)
    possible = [mark.picture for mark in run.marks[acknowledged : acknowledged + 2]]
    try:
        return found_after_cut(run, directory, at, chance) in possible
    except Damage:
        return False


def wrong_cuts(tmp_path: Path, seed: int, cuts: int, synchronous: str = "FULL") -> list[int]:
    """Cut the power in the midst of one run, again and again; the places where something was wrong."""
    run = run_program(tmp_path / f"run-{seed}", seed, synchronous)
    chance = random.Random(seed)
    places = [chance.randrange(len(run.operations) + 1) for _ in range(cuts)]
    return [at for at in places if not is_right(run, tmp_path / "found", at, chance)]


@pytest.fixture(autouse=True)
def small_steps_and_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FREE_PAGES_KEPT", 2)
    monkeypatch.setattr(checkpoint, "BLOCKS_PER_TRANSACTION", 3)
    monkeypatch.setattr(publishing, "PART_ROWS", 2)
    monkeypatch.setattr(publishing, "FORGOTTEN_ROWS", 3)


def test_a_power_cut_at_any_moment_leaves_what_was_acknowledged_and_nothing_that_never_was(
    tmp_path: Path,
) -> None:
    say(f"CRASH_SEED={SEED}")
    runs = -(-POWER_CUTS // CUTS_PER_RUN)
    places = {seed: wrong_cuts(tmp_path, seed, CUTS_PER_RUN) for seed in range(SEED, SEED + runs)}
    wrong = {seed: found for seed, found in places.items() if found}
    say(f"{runs * CUTS_PER_RUN} power cuts in {runs} runs: {sum(map(len, wrong.values()))} wrong")
    assert not wrong


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_with_the_sync_taken_out_the_same_cuts_find_losses(tmp_path: Path, synchronous: str) -> None:
    assert wrong_cuts(tmp_path, SEED, 3 * CUTS_PER_RUN, synchronous)
