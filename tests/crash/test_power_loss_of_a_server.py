"""Power loss under the whole server without its HTTP part: all data that it revealed must survive.

Clients append, read as a group and acknowledge at once; a reader waits for what is pushed to it.
Commits are grouped while checkpoints run. Every answer is noted with the number of operations that the disk
had done when the answer was sent: a power cut after those operations must not lose it.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tailrace.app.lifespan import keeping
from tailrace.app.store import checkpoints, commit
from tailrace.app.store import storage as storage_module
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.keyspace import Keyspace
from tailrace.core.replies import AppendReply
from tailrace.core.storage import publishing
from tailrace.core.storage.damage import Damage
from tailrace.core.storage.data_files import FILE_NAME
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import connect, connect_for_reading, get_meta
from tailrace.core.stream_id import StreamId
from tests.crash.power_cut import after_power_cut, write_files
from tests.crash.recorded_disk import Operation, RecordedDisk, recorded_disk
from tests.crash.scale import POWER_CUTS, SEED, say

KEY: Final = b"s"
GROUP: Final = b"g"
CLIENTS: Final = 4
STEPS: Final = 12
CUTS_PER_RUN: Final = 50


class Shown(NamedTuple):
    """An answer, and the number of operations before it: it shows entries, or acknowledged ones."""

    operations: int
    kind: str
    ids: tuple[StreamId, ...]


class Scene:
    """A store on a recorded disk, and what left it."""

    def __init__(self, recorder: RecordedDisk, store: EngineStore, seed: int) -> None:
        self.store = store
        self.shown: list[Shown] = []
        self._recorder = recorder
        self._random = random.Random(seed)

    def note(self, kind: str, ids: Any) -> None:
        self.shown.append(Shown(len(self._recorder.operations), kind, tuple(ids)))

    async def play(self) -> None:
        await self.store.execute(c.CreateGroup(KEY, GROUP, 0, create_stream=True))
        reader = asyncio.create_task(self._tail())
        await asyncio.gather(*(self._client(b"%d" % number) for number in range(CLIENTS)))
        reader.cancel()

    async def _client(self, name: bytes) -> None:
        for _ in range(STEPS):
            fragment = b'{"n":"%d"}' % self._random.randrange(10**9)
            made = await self.store.execute(c.Append(KEY, [fragment] * self._random.choice([1, 5, 40])))
            assert isinstance(made, AppendReply)
            self.note("entries", made.ids)
            if self._random.random() < 0.5:
                await self._consume(name)
            # Where answers do not wait for the disk, it still does something between them.
            await asyncio.sleep(0.0005)

    async def _consume(self, name: bytes) -> None:
        sources = (c.ReadFrom(KEY, c.Special.NEW),)
        reply: Any = await self.store.execute(c.ReadGroup(GROUP, name, sources, c.ReadLimits(count=10)))
        ids = [value for stream in reply.streams for value in stream.entries.ids]
        self.note("entries", ids)
        self.note("delivered", ids)
        if ids:
            await self.store.execute(c.Acknowledge(KEY, GROUP, tuple(ids)))
            self.note("acknowledged", ids)

    async def _tail(self) -> None:
        last: StreamId = 0
        while True:
            command = c.Read((c.ReadFrom(KEY, last),), block_ms=1000)
            reply: Any = await self.store.execute(command)
            ids = [value for stream in reply.streams for value in stream.entries.ids]
            self.note("entries", ids)
            last = max(ids, default=last)


class Run(NamedTuple):
    operations: list[Operation]
    shown: list[Shown]
    is_checkpointed: bool


def run_server(directory: Path, seed: int, synchronous: str, *, waits: bool) -> Run:
    with recorded_disk(directory) as recorder:
        storage = Storage(directory)
        storage._writing.execute(f"PRAGMA synchronous={synchronous}")
        storage._writing.execute("PRAGMA wal_autocheckpoint=20")
        store = EngineStore(Engine(storage.keyspace))
        scene = Scene(recorder, store, seed)

        async def serve() -> Run:
            async with keeping(store, storage, waits=waits):
                await scene.play()
                await storage._checkpoints.none_runs.wait()
                is_checkpointed = get_meta(storage._reading, "checkpoint") is not None
                return Run(list(recorder.operations), scene.shown, is_checkpointed)

        return asyncio.run(serve())


def losses(left: list[Shown], keyspace: Keyspace) -> list[Shown]:
    """The revealed data that the restarted server does not have."""
    if KEY not in keyspace.streams:
        return left
    stream = keyspace.streams[KEY]
    entries = set(stream.log.range()[0])
    group = stream.groups[GROUP]
    pending = set(group.pending.ids())
    is_wrong: dict[str, Callable[[tuple[StreamId, ...]], bool]] = {
        "entries": lambda ids: not entries.issuperset(ids),
        "delivered": lambda ids: group.last_delivered_id < ids[-1],
        "acknowledged": lambda ids: not pending.isdisjoint(ids),
    }
    return [each for each in left if is_wrong[each.kind](each.ids)]


def is_right(run: Run, directory: Path, at: int, chance: random.Random) -> bool:
    """Whether all that had left by the first `at` operations is found after a cut behind them."""
    left = [each for each in run.shown if each.operations <= at and each.ids]
    write_files(directory, after_power_cut(run.operations[:at], chance))
    try:
        with closing(connect(directory)) as writing, closing(connect_for_reading(directory)) as reading:
            return not losses(left, recover(writing, reading).keyspace)
    except Damage:
        return False


def wrong_cuts(tmp_path: Path, seed: int, cuts: int, *, synchronous: str = "FULL", waits: bool = True) -> int:
    """How many of so many power cuts lost something that had left, or left no readable file."""
    run = run_server(tmp_path / f"run-{seed}", seed, synchronous, waits=waits)
    assert any(each.kind == "acknowledged" for each in run.shown)
    assert run.is_checkpointed or not waits, "no checkpoint ran beside the commits"
    chance = random.Random(seed)
    places = [chance.randrange(len(run.operations) + 1) for _ in range(cuts)]
    return sum(not is_right(run, tmp_path / "found", at, chance) for at in places)


@pytest.fixture(autouse=True)
def frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "JOURNAL_BYTES_MAX", 3000)
    monkeypatch.setattr(commit, "INTERVAL_S", 0.001)
    # Even the checkpoint of one stream and its group is then written in parts.
    monkeypatch.setattr(publishing, "PART_ROWS", 1)
    monkeypatch.setattr(publishing, "FORGOTTEN_ROWS", 3)


@pytest.mark.parametrize("parts_encoded_here_max", [20_000, 0])
def test_nothing_that_left_the_server_is_lost_in_a_power_cut(
    tmp_path: Path, parts_encoded_here_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With 0, a copy of the process encodes each checkpoint.
    monkeypatch.setattr(checkpoints, "PARTS_ENCODED_HERE_MAX", parts_encoded_here_max)
    say(f"CRASH_SEED={SEED}")
    runs = -(-POWER_CUTS // CUTS_PER_RUN)
    wrong = sum(wrong_cuts(tmp_path, seed, CUTS_PER_RUN) for seed in range(SEED, SEED + runs))
    say(f"{runs * CUTS_PER_RUN} power cuts in {runs} runs of a server: {wrong} wrong")
    assert not wrong


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL"])
def test_with_the_sync_taken_out_of_a_server_the_same_cuts_find_losses(
    tmp_path: Path, synchronous: str
) -> None:
    assert wrong_cuts(tmp_path, SEED, CUTS_PER_RUN, synchronous=synchronous)


def test_where_answers_do_not_wait_for_the_disk_the_same_cuts_find_losses(tmp_path: Path) -> None:
    assert wrong_cuts(tmp_path, SEED, CUTS_PER_RUN, waits=False)


@pytest.mark.parametrize("kept_bytes", [100, 512, 3584, 4096])
def test_a_power_cut_while_the_database_is_created_leaves_a_directory_that_opens(
    tmp_path: Path, kept_bytes: int
) -> None:
    operations = run_server(tmp_path / "run", SEED, "FULL", waits=True).operations
    at = next(number for number, each in enumerate(operations) if each.file == FILE_NAME)
    files = after_power_cut(operations[:at], random.Random(SEED))
    assert set(files) == {f"{FILE_NAME}-journal"}
    write_files(tmp_path / "found", {**files, FILE_NAME: operations[at].data[:kept_bytes]})
    with closing(connect(tmp_path / "found")) as writing:
        assert not recover(writing, writing).keyspace.streams
