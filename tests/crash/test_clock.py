"""The clock is set back and forth: ids still rise, also over restarts."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from tailrace.app.lifespan import keeping
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import StreamId
from tests.crash.scale import SEED, say

KEY = b"s"
RESTARTS = 10
APPENDS_PER_RUN = 100
STEPS_MS = (-86_400_000, -3_600_000, -1000, -1, 0, 0, 1, 1000, 3_600_000, 86_400_000)


def test_ids_rise_through_a_clock_that_is_set_back_and_forth_and_through_restarts(tmp_path: Path) -> None:
    say(f"CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    now_ms = 1_700_000_000_000
    ids: list[StreamId] = []
    steps_back = 0

    def clock() -> int:
        nonlocal now_ms, steps_back
        step_ms = chance.choice(STEPS_MS)
        steps_back += step_ms < 0
        now_ms += step_ms
        return now_ms

    async def run() -> None:
        storage = Storage(tmp_path)
        store = EngineStore(Engine(storage.keyspace), clock)
        async with keeping(store, storage, waits=True):
            for _ in range(APPENDS_PER_RUN):
                reply = await store.execute(c.Append(KEY, [b'{"a":"1"}'] * chance.choice([1, 3])))
                assert isinstance(reply, AppendReply)
                ids.extend(reply.ids)
                if chance.random() < 0.1:
                    await store.execute(c.TrimStream(KEY, c.Trim(max_length=0)))

    for _ in range(RESTARTS):
        asyncio.run(run())
    assert steps_back > APPENDS_PER_RUN
    assert ids == sorted(set(ids))


def test_what_was_delivered_before_a_step_back_is_shown_and_claimed_after_a_restart(tmp_path: Path) -> None:
    now_ms = 1_700_000_000_000
    found: list[Any] = []

    async def run(*commands: c.Command) -> None:
        storage = Storage(tmp_path)
        store = EngineStore(Engine(storage.keyspace), lambda: now_ms)
        async with keeping(store, storage, waits=True):
            found.extend([await store.execute(command) for command in commands])

    new = (c.ReadFrom(KEY, c.Special.NEW),)
    asyncio.run(
        run(
            c.Append(KEY, [b'{"a":"1"}'] * 3),
            c.CreateGroup(KEY, b"g", 0),
            c.ReadGroup(b"g", b"alice", new),
        )
    )
    now_ms -= 86_400_000
    found.clear()
    asyncio.run(run(c.PendingRange(KEY, b"g"), c.ReadGroup(b"g", b"bob", new, claim_min_idle_ms=0)))
    pending, claimed = found
    assert [(each.consumer, each.idle_ms) for each in pending] == [(b"alice", 0)] * 3
    assert list(claimed.streams[0].entries.idle_ms) == [0] * 3
