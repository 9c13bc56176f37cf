"""An entry that is on its way to a client which leaves goes back to its group, on each engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from tailrace.api.ports import Answer
from tailrace.app.remote.opening import opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import (
    Append,
    Command,
    CreateGroup,
    PendingRange,
    Range,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    Special,
)
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import PendingEntry, RangeReply, ReadReply
from tests.fuzz.http_bytes import request_bytes
from tests.fuzz.http_client import HEALTH, HttpClient
from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.server_process import running_server
from tests.support.waiting_readers import until

G = b"g"
_numbers = count()


@pytest.fixture(scope="module", params=["redis-8.10.2", "redis-7.0.15"])
def redis(request: pytest.FixtureRequest) -> Iterator[RedisOnPort]:
    executable = executable_of(request.param)
    if executable is None and not required():
        pytest.skip(f"{request.param} is not installed")
    assert executable is not None
    with RedisOnPort(executable) as server:
        yield server


@asynccontextmanager
async def remote_store(redis: RedisOnPort) -> AsyncIterator[RemoteStore]:
    async with opened(Settings(store=redis.url)) as (link, engine):
        store = RemoteStore()
        store.use(link, engine)
        yield store


def reads(redis: RedisOnPort) -> bool:
    """Whether the engine has received a read of a group, which it holds back."""
    clients = redis.run("CLIENT", "LIST")
    assert isinstance(clients, bytes)
    held = [line for line in clients.splitlines() if b"b" in line.partition(b" flags=")[2].partition(b" ")[0]]
    return any(b"cmd=xreadgroup" in line or b"cmd=fcall" in line for line in held)


async def reached(holds: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, holds)


async def leave_a_watch(redis: RedisOnPort, store: RemoteStore, command: ReadGroup) -> None:
    answers: list[Answer] = []
    watch = store.watch(command, answers.append)
    await reached(lambda: reads(redis))
    assert watch.cancel()
    redis.run("CLIENT", "UNPAUSE")
    assert answers == []


async def leave_a_request(redis: RedisOnPort, store: RemoteStore, command: ReadGroup) -> None:
    reading = asyncio.ensure_future(store.execute(command))
    await reached(lambda: reads(redis))
    reading.cancel()
    redis.run("CLIENT", "UNPAUSE")
    with pytest.raises(asyncio.CancelledError):
        await reading


@pytest.mark.parametrize(
    ("leave", "block_ms"), [(leave_a_watch, 60_000), (leave_a_request, 60_000), (leave_a_request, None)]
)
def test_an_entry_on_its_way_to_a_client_that_leaves_goes_back_uncounted(
    redis: RedisOnPort,
    leave: Callable[[RedisOnPort, RemoteStore, ReadGroup], Awaitable[None]],
    block_ms: int | None,
) -> None:
    key = b"returned:%d" % next(_numbers)

    async def scenario() -> None:
        async with remote_store(redis) as store:
            await store.execute(CreateGroup(key, G, 0, create_stream=True))
            await store.execute(Append(key, (fragment_from_flat([b"a", b"b"]),), (1 << 64,)))
            redis.run("CLIENT", "PAUSE", 60_000, "WRITE")
            source = ReadFrom(key, Special.NEW)
            await leave(redis, store, ReadGroup(G, b"alice", (source,), ReadLimits(count=1), block_ms))
            entry = await returned(store, key)
            assert (entry.consumer, entry.deliveries) == (None, 0)
            claiming = ReadGroup(G, b"bob", (source,), claim_min_idle_ms=3_600_000)
            reply = await store.execute(claiming)
            assert isinstance(reply, ReadReply)
            assert list(reply.streams[0].entries.ids) == [1 << 64]

    asyncio.run(scenario())


def test_an_entry_that_a_waiting_request_has_found_goes_back_if_its_client_leaves_meanwhile(
    redis: RedisOnPort, tmp_path: Path
) -> None:
    key = b"returned:%d" % next(_numbers)

    async def scenario(port: int) -> None:
        async with remote_store(redis) as store:
            await store.execute(CreateGroup(key, G, 0, create_stream=True))
            await store.execute(Append(key, (fragment_from_flat([b"a", b"b"]),), (1 << 64,)))
            redis.run("CLIENT", "PAUSE", 60_000, "WRITE")
            client = await HttpClient.open(port)
            body = {"group": "g", "consumer": "alice", "streams": [{"key": key.decode()}], "wait_ms": 60_000}
            raw = request_bytes("", "POST", "/v1/read-group", body).replace(
                b"authorization: Bearer \r\n", b""
            )
            other = await HttpClient.open(port)
            client.write(raw)
            await other.ask(HEALTH)  # the gateway has read the request, and passed its command on
            client.reset()
            await other.ask(HEALTH)  # it has seen the reset
            redis.run("CLIENT", "UNPAUSE")
            entry = await returned(store, key)
            assert (entry.consumer, entry.deliveries) == (None, 0)

    with running_server(tmp_path, "--store", redis.url) as gateway:
        asyncio.run(scenario(gateway.port))


async def in_a_pipeline(store: RemoteStore, commands: list[Command], room: ReplyRoom) -> list[Answer]:
    answers: list[Answer] = []

    async def take(answer: Answer) -> None:
        answers.append(answer)

    await store.execute_each(commands, room, take)
    return answers


async def in_a_turn(store: RemoteStore, commands: list[Command], room: ReplyRoom) -> list[Answer]:
    return list(await store.execute_turn([commands], [room]))


@pytest.mark.parametrize("run", [in_a_pipeline, in_a_turn])
@pytest.mark.parametrize("noack", [False, True])
def test_entries_without_room_in_the_reply_go_back_and_noack_entries_are_answered(
    redis: RedisOnPort,
    run: Callable[[RemoteStore, list[Command], ReplyRoom], Awaitable[list[Answer]]],
    noack: bool,  # noqa: FBT001 - a parameter
) -> None:
    key = b"returned:%d" % next(_numbers)

    async def scenario() -> None:
        async with remote_store(redis) as store:
            await store.execute(CreateGroup(key, G, 0, create_stream=True))
            await store.execute(Append(key, (fragment_from_flat([b"a", b"b" * 999]),), (1 << 64,)))
            reading = ReadGroup(G, b"alice", (ReadFrom(key, Special.NEW),), noack=noack)
            # One entry always fits, so the first reply takes all the room.
            first, read = await run(store, [Range(key), reading], ReplyRoom(100))
            assert isinstance(first, RangeReply)
            if noack:
                assert isinstance(read, ReadReply)
                assert list(read.streams[0].entries.ids) == [1 << 64]
                return
            assert isinstance(read, StreamError)
            assert read.code is ErrorCode.REPLY_TOO_LARGE
            rows = await store.execute(PendingRange(key, G))
            assert isinstance(rows, list)
            assert [(row.consumer, row.deliveries) for row in rows] == [(None, 0)]

    asyncio.run(scenario())


async def returned(store: RemoteStore, key: bytes) -> PendingEntry:
    """Return the only pending entry of the group as soon as it has no owner."""
    async with asyncio.timeout(10):
        while True:
            rows = await store.execute(PendingRange(key, G))
            assert isinstance(rows, list)
            if rows and rows[0].consumer is None:
                entry: PendingEntry = rows[0]
                return entry
            await asyncio.sleep(0)
