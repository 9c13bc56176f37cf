"""Commands that meet each other's steps: whatever runs between two steps of an import, a pipeline, a
deletion, a checkpoint or a sweep, the result is that of the same commands one after another, in memory and on
disk.

All steps are made as small as possible, and each disturbance is tried after several numbers of turns of the
event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx
import msgspec
import pytest

from tailrace.api.application import create_api
from tailrace.api.ports import Answer
from tailrace.api.wire import ndjson
from tailrace.app.lifespan import keeping
from tailrace.app.store import batches as batches_module
from tailrace.app.store import checkpoints as checkpoints_module
from tailrace.app.store import storage as storage_module
from tailrace.app.store import upkeep as sweep_module
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.core import commands as c
from tailrace.core import engine as engine_module
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.handlers import retention as retention_module
from tailrace.core.invariants import check
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.sealing import SealingQueue
from tailrace.core.outcome import Outcome
from tailrace.core.replies import AppendReply
from tailrace.core.retention import RetentionRules
from tailrace.core.storage import checkpoint, prepared, publishing
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import connect
from tests.unit.test_replay import picture

START_MS: Final = 1_692_632_086_370
END_MS: Final = 2 * START_MS
TURNS: Final = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)
"""After how many turns of the event loop the disturbance is tried."""

SWEEP_TURNS_MAX: Final = 400
"""More turns of the event loop than the steps of a sweep."""

ENTRY: Final = b'{"n":"%0120d"}' % 1
ENTRIES: Final = [b'{"n":"%0120d"}' % number for number in range(60)]
READ: Final = c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"s", c.Special.NEW),), c.ReadLimits(count=20))

Ran: TypeAlias = list[tuple[Sequence[c.Command], int]]
"""The commands that the engine ran, those of one instant together, with the time."""

Disturbance: TypeAlias = Callable[[Keyspace], Sequence[c.Command]]


def every_other_id(keyspace: Keyspace) -> tuple[int, ...]:
    stream = keyspace.streams.get(b"s")
    return () if stream is None else tuple(stream.log.range()[0][::2])


DISTURBANCES: Final[dict[str, Disturbance]] = {
    "DEL": lambda _: [c.DeleteKeys((b"s",))],
    "DEL and XADD": lambda _: [c.DeleteKeys((b"s",)), c.Append(b"s", ENTRIES)],
    "RENAME": lambda _: [c.RenameKey(b"s", b"u")],
    "RENAME over it": lambda _: [c.RenameKey(b"t", b"s")],
    "COPY": lambda _: [c.CopyKey(b"s", b"u")],
    "COPY over it": lambda _: [c.CopyKey(b"t", b"s", replace=True)],
    "COPY and DEL": lambda _: [c.CopyKey(b"s", b"u"), c.DeleteKeys((b"s",))],
    "FLUSHALL": lambda _: [c.Flush()],
    "XTRIM to nothing": lambda _: [c.TrimStream(b"s", c.Trim(max_length=0))],
    "XTRIM": lambda _: [c.TrimStream(b"s", c.Trim(max_length=33))],
    "XDEL": lambda keyspace: [c.DeleteEntries(b"s", every_other_id(keyspace) or (1,))],
    "XGROUP DESTROY": lambda _: [c.DestroyGroup(b"s", b"g")],
    "XGROUP DELCONSUMER": lambda _: [c.DeleteConsumer(b"s", b"g", b"alice")],
    "XSETID": lambda _: [c.SetStreamPosition(b"s", 1 << 110)],
    "CONFIG SET": lambda _: [c.SetConfig((("stream-node-max-entries", 3),))],
    "XCFGSET": lambda _: [c.ConfigureStream(b"s", 50, 1)],
}


@pytest.fixture(autouse=True)
def smallest_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches_module, "TURN_COMMANDS_MAX", 1)
    monkeypatch.setattr(checkpoint, "BLOCKS_PER_TRANSACTION", 1)
    monkeypatch.setattr(checkpoints_module, "KEYS_PER_TURN", 1)
    monkeypatch.setattr(engine_module, "STEP_BYTES", 0)
    monkeypatch.setattr(publishing, "FORGOTTEN_ROWS", 1)
    monkeypatch.setattr(publishing, "PART_ROWS", 1)
    monkeypatch.setattr(prepared, "PART_ROWS", 1)
    monkeypatch.setattr(retention_module, "RETIRED_ENTRIES_PER_STEP", retention_module._HELD_ENTRY_COST)
    monkeypatch.setattr(storage_module, "JOURNAL_BYTES_MAX", 1)
    monkeypatch.setattr(sweep_module, "REST_FACTOR", 0)
    monkeypatch.setattr(sweep_module, "REST_S_MIN", 0)
    step = SealingQueue.step
    monkeypatch.setattr(SealingQueue, "step", lambda queue: step(queue, 1))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Ran:
    """The commands that the engine runs from now on, in their order."""
    noted: Ran = []
    execute, execute_some = Engine.execute, Engine.execute_some

    def noted_one(engine: Engine, command: c.Command, now_ms: int) -> Outcome:
        noted.append(((command,), now_ms))
        return execute(engine, command, now_ms)

    def noted_some(
        engine: Engine, requests: Sequence[Sequence[c.Command]], rooms: Sequence[ReplyRoom], now_ms: int
    ) -> tuple[list[Any], Outcome]:
        replies, outcome = execute_some(engine, requests, rooms, now_ms)
        commands = [command for request in requests for command in request]
        noted.append((commands[: len(replies)], now_ms))
        return replies, outcome

    monkeypatch.setattr(Engine, "execute", noted_one)
    monkeypatch.setattr(Engine, "execute_some", noted_some)
    return noted


def clock() -> Callable[[], int]:
    """Return a clock that goes forward by a millisecond with each look."""
    return count(START_MS).__next__


async def prepare(store: EngineStore) -> None:
    rules = RetentionRules(max_length=90)
    for command in (
        c.SetConfig((("stream-node-max-entries", 5),)),
        c.CreateStream(b"s", retention=rules),
        c.Append(b"s", ENTRIES, idempotency=c.Idempotency(b"p", b"1", b"f")),
        c.CreateGroup(b"s", b"g", 0),
        READ,
        c.Append(b"t", ENTRIES[:20]),
        c.Append(b"old", ENTRIES),
    ):
        await store.execute(command)


async def append_one_by_one(store: EngineStore, key: bytes) -> list[int]:
    """Append entries one after another, and return their ids."""
    ids: list[int] = []
    for _ in range(12):
        reply = await store.execute(c.Append(key, [ENTRY]))
        assert isinstance(reply, AppendReply)
        ids += reply.ids
        await asyncio.sleep(0)
    return ids


async def run_pipeline(store: EngineStore) -> None:
    async def take(answer: Answer) -> None:
        assert isinstance(answer, AppendReply)

    await store.execute_each([c.Append(b"s", [ENTRY])] * 8, ReplyRoom(), take)


async def everything_at_once(store: EngineStore, disturbance: Disturbance, turns: int) -> None:
    """Do all work that takes several steps, and after this many turns of the loop the disturbance."""
    store.tick()
    work = [
        asyncio.ensure_future(each)
        for each in (
            store.execute(c.DeleteKeys((b"old",))),
            append_one_by_one(store, b"old"),
            append_one_by_one(store, b"s"),
            run_pipeline(store),
            store.execute(c.Append(b"s", ENTRIES)),
        )
    ]
    for _ in range(turns):
        await asyncio.sleep(0)
    for command in disturbance(store.keyspace):
        with suppress(StreamError):
            await store.execute(command)
    store.tick()
    with suppress(StreamError):
        await store.execute(READ)
    await asyncio.gather(*work)
    for _ in range(SWEEP_TURNS_MAX):
        await asyncio.sleep(0)
    assert not store._upkeep._retention._is_running


def played(directory: Path, ran: Ran, disturbance: Disturbance, turns: int, *, waits: bool) -> Any:
    """Return what a client sees of a store that has done everything at once, and note what it ran in
    `ran`."""

    async def run() -> Any:
        storage, now_ms = Storage(directory), clock()
        store = EngineStore(Engine(storage.keyspace), now_ms, now_ms)
        async with keeping(store, storage, waits=waits):
            ran.clear()
            await prepare(store)
            await everything_at_once(store, disturbance, turns)
            check(store.keyspace)
            return seen(store.keyspace)

    return asyncio.run(run())


def one_after_another(ran: Ran, last_serial: int = 0) -> Keyspace:
    """Return the keyspace of an engine that ran the same commands without anything in between."""
    keyspace = Keyspace()
    keyspace.last_serial = last_serial
    engine = Engine(keyspace)
    for commands, now_ms in ran:
        for command in commands:
            with suppress(StreamError):
                engine.execute(command, now_ms)
    return keyspace


def seen(keyspace: Keyspace) -> Any:
    """Return everything that a client could ever see of a keyspace, whatever its incarnations are called."""
    keyspace.identity = "0"
    return picture(keyspace, END_MS)


@pytest.mark.parametrize("waits", [True, False], ids=["always", "interval"])
@pytest.mark.parametrize("name", DISTURBANCES)
def test_what_runs_between_two_steps_changes_the_same_as_after_the_last_one(
    tmp_path: Path, ran: Ran, name: str, *, waits: bool
) -> None:
    for turns in TURNS:
        directory = tmp_path / str(turns)
        lived = played(directory, ran, DISTURBANCES[name], turns, waits=waits)
        assert lived == seen(one_after_another(list(ran))), f"after {turns} turns, in memory"
        with closing(connect(directory)) as connection:
            stored = seen(recover(connection, connection).keyspace)
        assert lived == stored, f"after {turns} turns, on disk"


# --- over HTTP ---------------------------------------------------------------------------------------------

XADD: Final = ["XADD", "s", "*", "n", "1"]
WORDS: Final[dict[str, list[list[str]]]] = {
    "DEL": [["DEL", "s"]],
    "DEL and XADD": [["DEL", "s"], XADD],
    "RENAME": [["RENAME", "s", "u"]],
    "RENAME over it": [["RENAME", "t", "s"]],
    "COPY over it": [["COPY", "t", "s", "REPLACE"]],
    "FLUSHALL": [["FLUSHALL"]],
    "XTRIM to nothing": [["XTRIM", "s", "MAXLEN", "0"]],
    "XGROUP DESTROY": [["XGROUP", "DESTROY", "s", "g"]],
    "CONFIG SET": [["CONFIG", "SET", "stream-node-max-entries", "3"]],
}
LINES: Final = b'{"n":"1"}\n' * 50


async def posted(
    client: httpx.AsyncClient, path: str, body: Any, content_type: str = "application/json"
) -> Any:
    """Return the decoded response to a POST that the server must accept."""
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    answer = await client.post(path, content=content, headers={"content-type": content_type})
    assert answer.is_success, answer.text
    return answer.json()


async def meet_over_http(
    store: EngineStore, client: httpx.AsyncClient, words: list[list[str]], turns: int
) -> None:
    """Import in slices, run a pipeline in turns and append, and meanwhile run commands that delete."""
    import_path = "/v1/streams/s/entries:import"
    importing = asyncio.ensure_future(posted(client, import_path, LINES, "application/x-ndjson"))
    piping = asyncio.ensure_future(posted(client, "/v1/command/pipeline", [XADD] * 8))
    appending = asyncio.ensure_future(append_one_by_one(store, b"s"))
    for _ in range(turns):
        await asyncio.sleep(0)
    outcomes = await posted(client, "/v1/command/pipeline", words)
    assert len(outcomes) == len(words)
    assert (await importing)["count"] == 50
    assert all("result" in outcome for outcome in await piping)
    assert len(await appending) == 12


@pytest.mark.parametrize("name", WORDS)
def test_a_request_in_several_steps_over_http_meets_others_as_if_it_had_one(
    monkeypatch: pytest.MonkeyPatch, ran: Ran, name: str
) -> None:
    monkeypatch.setattr(ndjson, "LARGE_BYTES", 1)
    monkeypatch.setattr(ndjson, "SLICE_BYTES", 1)

    async def run() -> None:
        now_ms = clock()
        store = EngineStore(Engine(), now_ms, now_ms)
        transport = httpx.ASGITransport(create_api(store, version="0"))
        async with httpx.AsyncClient(transport=transport, base_url="http://in-process") as client:
            for turns in range(0, 120, 5):
                await store.execute(c.Flush())
                last_serial = store.keyspace.last_serial
                ran.clear()
                await prepare(store)
                await meet_over_http(store, client, WORDS[name], turns)
                check(store.keyspace)
                commands = list(ran)
                lived = seen(store.keyspace)
                assert lived == seen(one_after_another(commands, last_serial)), f"after {turns} turns"

    asyncio.run(run())
