"""One tail on one connection, without a socket: pauses, slow and stalled clients, ends, defects.

The store is the real one; the connection is played.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message

from tailrace.api.access.guard import Guard
from tailrace.api.access.security import UNSECURED
from tailrace.api.access.token_end import ABORT_EXTENSION
from tailrace.api.follow.followers import Start
from tailrace.api.follow.response import TailResponse
from tailrace.api.follow.sse import OUTPUT_EXTENSION
from tailrace.api.follow.tails import (
    EventForm,
    GroupTail,
    PlainTail,
    Tail,
    TailConsumer,
)
from tailrace.api.http.disconnect import while_connected
from tailrace.api.ports import Answer
from tailrace.api.principals import ANONYMOUS_LOCAL
from tailrace.api.server_limits import OpenLimit
from tailrace.api.websocket_limits import PUSH_ENTRIES_MAX
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Acknowledge, Append, Command, CreateGroup, PendingSummary, ServerInfo
from tailrace.core.engine import Engine
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import PendingSummaryReply, ServerStats
from tests.support.sse_client import Event, parse_events

FRAGMENT = b'{"a":"1"}'
ONE = EventForm(Shape.NATURAL, labelled=False)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(5_000):
        if holds():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("the condition did not become true in time")


class Connection:
    """A client that reads unless `can_push` is unset, and disconnects when the test asks for it. It is the
    output of its response."""

    def __init__(self) -> None:
        self.can_push = True
        self.on_relief: Callable[[], None] = lambda: None
        self.left = asyncio.Event()
        self.messages: list[Message] = []
        self.chunks: list[bytes] = []
        self.is_dropped = False

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.messages.append(message)

    def drop(self) -> None:
        self.is_dropped = True
        self.left.set()

    def read_on(self) -> None:
        self.can_push = True
        self.on_relief()

    @property
    def blocks(self) -> list[Event]:
        text = b"".join(self.chunks).decode()
        return parse_events(text) if text else []

    @property
    def events(self) -> list[Event]:
        return [block for block in self.blocks if block.name and not block.tells_only_a_position]

    def is_complete(self) -> bool:
        return self.messages[-1].get("more_body") is False

    async def has(self, count: int) -> None:
        await until(lambda: len(self.events) >= count)


class Output:
    """The output of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def can_push(self) -> bool:
        return self._connection.can_push

    @property
    def on_relief(self) -> Callable[[], None]:
        return self._connection.on_relief

    @on_relief.setter
    def on_relief(self, relief: Callable[[], None]) -> None:
        self._connection.on_relief = relief

    def send(self, event: bytes) -> None:
        self._connection.chunks.append(event)


Story = Callable[[EngineStore, Connection], Coroutine[Any, Any, None]]


def played(story: Story) -> None:
    async def run() -> None:
        async with asyncio.timeout(10):
            await story(EngineStore(Engine()), Connection())

    asyncio.run(run())


def served(
    store: Any, connection: Connection, tail: Tail | None = None, heartbeat_ms: int = 15_000
) -> asyncio.Task[None]:
    tail = tail or PlainTail(store, [Start(b"s", 0, None)], ONE, request_id="r", heartbeat_ms=heartbeat_ms)
    response = TailResponse(tail, Guard(UNSECURED, ANONYMOUS_LOCAL), OpenLimit("tails", 1))
    extensions = {
        ABORT_EXTENSION: connection.drop,
        OUTPUT_EXTENSION: lambda _scope, _stall_s: Output(connection),
    }
    scope: dict[str, Any] = {"type": "http", "extensions": extensions}
    return asyncio.create_task(response(scope, connection.receive, connection.send))


def consuming(store: EngineStore, prefetch: int = 100, heartbeat_ms: int = 15_000) -> GroupTail:
    reader = TailConsumer(b"g", b"alice", prefetch=prefetch)
    return GroupTail(store, reader, [b"s"], {}, ONE, heartbeat_ms=heartbeat_ms)


async def append(store: EngineStore, fragment: bytes = FRAGMENT, count: int = 1) -> None:
    await store.execute(Append(b"s", [fragment] * count))


async def blocked(store: EngineStore) -> int:
    stats = await store.execute(ServerInfo())
    assert isinstance(stats, ServerStats)
    return stats.blocked_clients


async def one_waits(store: EngineStore) -> None:
    for _ in range(5_000):
        if await blocked(store) == 1:
            return
        await asyncio.sleep(0.001)
    raise AssertionError("nobody waits")


async def pending(store: EngineStore) -> int:
    reply = await store.execute(PendingSummary(b"s", b"g"))
    assert isinstance(reply, PendingSummaryReply)
    return reply.count


def test_a_silent_tail_sends_a_comment_for_each_heartbeat() -> None:
    async def story(store: EngineStore, connection: Connection) -> None:
        task = served(store, connection, heartbeat_ms=20)
        await until(lambda: len(connection.blocks) >= 4)
        assert all(block.comments for block in connection.blocks[1:])
        connection.left.set()
        await task

    played(story)


def test_a_full_window_sends_comments_too_and_opens_soon_after_the_ack() -> None:
    async def story(store: EngineStore, connection: Connection) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        await append(store, count=2)
        task = served(store, connection, consuming(store, prefetch=1, heartbeat_ms=30))
        await until(lambda: any(block.comments for block in connection.blocks))
        await connection.has(1)
        (first,) = connection.events
        assert await pending(store) == 1
        ms, seq = map(int, first.ids[0].split("-"))
        await store.execute(Acknowledge(b"s", b"g", (ms << 64 | seq,)))
        await connection.has(2)
        connection.left.set()
        await task

    played(story)


def test_a_slow_client_is_read_for_only_when_it_has_taken_the_last_event() -> None:
    async def story(store: EngineStore, connection: Connection) -> None:
        await store.execute(CreateGroup(b"s", b"g", 0, create_stream=True))
        task = served(store, connection, consuming(store))
        await append(store)
        await connection.has(1)
        connection.can_push = False
        for _ in range(50):
            await append(store)
            await asyncio.sleep(0)
        assert await pending(store) <= 2
        connection.read_on()
        await until(lambda: sum(len(event.ids) for event in connection.events) >= 51)
        assert sum(len(event.ids) for event in connection.events) == 51
        connection.left.set()
        await task

    played(story)


def test_through_a_long_backlog_others_have_their_turn_after_each_event() -> None:
    async def story(store: EngineStore, connection: Connection) -> None:
        await append(store, count=20 * PUSH_ENTRIES_MAX)
        task = served(store, connection)
        turns = 0
        while not connection.chunks[20:]:
            await asyncio.sleep(0)
            turns += 1
        assert turns >= 20
        connection.left.set()
        await task

    played(story)


def test_a_client_that_leaves_waits_no_more() -> None:
    async def story(store: EngineStore, connection: Connection) -> None:
        task = served(store, connection)
        await one_waits(store)
        connection.left.set()
        await task
        assert await blocked(store) == 0
        assert not connection.is_dropped

    played(story)


def test_a_store_that_closes_ends_the_tail_with_the_reason() -> None:
    async def story(store: EngineStore, connection: Connection) -> None:
        task = served(store, connection)
        await one_waits(store)
        store.drain()
        await task
        (end,) = connection.events
        assert (end.name, end.data["code"], end.data["request_id"]) == ("end", "NOT_ACCEPTING", "r")
        assert (end.data["retryable"], end.id) == (True, None)
        assert connection.is_complete()

    played(story)


class BrokenStore:
    """A store with a defect."""

    def submit(self, command: Command, *_: object) -> Answer:
        raise ZeroDivisionError(str(command))


def test_a_defect_is_told_to_the_client_and_raised_to_be_logged() -> None:
    async def story(_: EngineStore, connection: Connection) -> None:
        with pytest.raises(ZeroDivisionError):
            await served(BrokenStore(), connection)
        (error,) = connection.events
        assert (error.name, error.data["code"]) == ("problem", "INTERNAL")

    played(story)


# --- the race with the connection --------------------------------------------------------------------


def test_work_that_is_done_gives_its_result_or_its_error() -> None:
    async def story(_: EngineStore, connection: Connection) -> None:
        async def fails() -> None:
            raise ZeroDivisionError

        assert await while_connected({}, connection.receive, asyncio.sleep(0, "done")) == "done"
        with pytest.raises(ZeroDivisionError):
            await while_connected({}, connection.receive, fails())

    played(story)


def test_a_body_that_still_arrives_is_no_disconnect_and_a_disconnect_cancels_the_work() -> None:
    async def story(_: EngineStore, connection: Connection) -> None:
        messages = [{"type": "http.request", "body": b"x", "more_body": False}]

        async def receive() -> Message:
            return messages.pop() if messages else await connection.receive()

        connection.left.set()
        work: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def wait() -> None:
            await work

        with pytest.raises(ClientDisconnect):
            await while_connected({}, receive, wait())
        assert work.cancelled()

    played(story)


def test_cancelling_the_race_cancels_the_work_and_waits_for_its_end() -> None:
    async def story(_: EngineStore, connection: Connection) -> None:
        ended: list[str] = []

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)
                ended.append("work")

        race = asyncio.create_task(while_connected({}, connection.receive, work()))
        await asyncio.sleep(0.01)
        race.cancel()
        with pytest.raises(asyncio.CancelledError):
            await race
        assert ended == ["work"]

    played(story)
