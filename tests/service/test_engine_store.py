"""The single writer and its periodic work, tested in process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tailrace.api.ports import Answer, StoreUnavailable, StreamStore
from tailrace.app.lifespan import ticking
from tailrace.app.store.service import EngineStore
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Append, Idempotency, InfoStream, Read, ReadFrom, StreamLength
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import TURN_COMMANDS_MAX
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import AppendReply, StreamInfo
from tailrace.core.stream_id import make_id

NOW_MS = 1_692_632_086_370
FRAGMENT = fragment_from_flat([b"rider", b"Castilla"])
LONG_AFTER_MS = 1_000_000


class SetClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now_ms = NOW_MS

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def store(clock: SetClock) -> EngineStore:
    return EngineStore(Engine(), clock)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_the_engine_is_given_the_clock_s_time(store: EngineStore, clock: SetClock) -> None:
    assert run(store.execute(Append(b"s", [FRAGMENT]))) == AppendReply((make_id(NOW_MS, 0),))
    clock.now_ms += 5
    assert run(store.execute(Append(b"s", [FRAGMENT]))) == AppendReply((make_id(NOW_MS + 5, 0),))


def test_a_pipeline_whose_storage_failed_is_told_so_though_the_server_shuts_down(store: EngineStore) -> None:
    async def failing_between_two_turns() -> None:
        async def take(_answer: Answer) -> None:
            """The answers do not matter."""

        commands = [Append(b"s", [FRAGMENT])] * (TURN_COMMANDS_MAX + 1)
        pipeline = asyncio.create_task(store.execute_each(commands, ReplyRoom(), take))
        await asyncio.sleep(0)
        assert store.keyspace.streams[b"s"].length == TURN_COMMANDS_MAX
        store.fail("the disk is full")
        store.drain()
        await pipeline

    with pytest.raises(StoreUnavailable, match="storage failed: the disk is full") as refused:
        run(failing_between_two_turns())
    assert refused.value.is_outcome_unknown


def test_a_transaction_goes_on_after_a_refused_command(store: EngineStore) -> None:
    refused = Append(b"s", [FRAGMENT], ids=[0])
    replies = run(store.execute_all([Append(b"s", [FRAGMENT]), refused, StreamLength(b"s")]))
    assert isinstance(replies[1], StreamError)
    assert replies[2] == 1


def test_a_refused_command_raises_its_error(store: EngineStore) -> None:
    with pytest.raises(StreamError) as refusal:
        run(store.execute(InfoStream(b"missing")))
    assert refusal.value.code is ErrorCode.NO_SUCH_STREAM


def test_a_draining_store_takes_no_command_and_says_why(store: EngineStore) -> None:
    port: StreamStore = store
    before = port.not_ready
    store.drain()
    after = port.not_ready
    assert before is None
    assert after is not None
    assert (after.reason, after.retry_after_s) == ("the server is shutting down", 1)
    for command in (port.execute(StreamLength(b"s")), port.execute_all([StreamLength(b"s")])):
        with pytest.raises(StoreUnavailable) as refusal:
            run(command)
        assert refusal.value.retry_after_s == 1


def test_a_tick_forgets_idempotency_keys_that_are_too_old(store: EngineStore, clock: SetClock) -> None:
    once = Append(b"s", [FRAGMENT], idempotency=Idempotency(b"producer", b"key"))
    run(store.execute(once))
    clock.now_ms += LONG_AFTER_MS
    store.tick()
    info = run(store.execute(InfoStream(b"s")))
    assert isinstance(info, StreamInfo)
    assert info.idmp_key_count == 0


def test_ticking_calls_again_and_again_until_its_end_and_survives_a_failure() -> None:
    reported: list[str] = []
    calls = run(_tick_until_third_call(reported))
    assert calls == 3
    assert reported == ["the first call fails"]


async def _tick_until_third_call(reported: list[str]) -> int:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reported.append(str(context["exception"])))
    third_call = asyncio.Event()
    calls = 0

    def work() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("the first call fails")
        if calls == 3:
            third_call.set()

    async with ticking(work, period_s=0.001):
        await asyncio.wait_for(third_call.wait(), 5)
    await asyncio.sleep(0.01)
    return calls


def test_a_read_that_would_wait_where_as_many_wait_as_may_is_refused_and_one_that_finds_is_served() -> None:
    store = EngineStore(Engine(), readers_max=0)
    read = Read((ReadFrom(b"s", 0),), block_ms=1000)
    with pytest.raises(StreamError, match="0 reads are already waiting"):
        run(store.execute(read))
    run(store.execute(Append(b"s", [FRAGMENT])))
    assert run(store.execute(read)).streams[0].entries.fragments == [FRAGMENT]
