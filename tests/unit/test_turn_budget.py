"""No bytes of one connection keep the event loop: the protocol stops when its budget is spent, and continues
in the next turn.

The clock of these tests moves with the work: each look at it takes as long as a fifth of the budget. So the
number of requests in a turn is known, whatever the machine does.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from tailrace.api.application import create_api
from tailrace.api.ports import Answer, BeginWait, Watch
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.api.websocket.route import SOCKET_EXTENSION
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.turn_budget import PIECE_BYTES, TURN_NS
from tailrace.app.protocols.websocket import WebSocketProtocol, websocket_protocol
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Command
from tailrace.core.engine import Engine
from tests.support.engine_store import START_MS
from tests.support.pipelines import (
    APPEND,
    CHUNKED,
    DOCUMENTED,
    ENTRY,
    GET,
    HOT_GET,
    KINDS,
    PatientStore,
    answers_in,
    post,
    settled,
)
from tests.support.protocol import Transport, connected, still, until

LOOKS_PER_TURN = 5
WAITING_READ = post(b"/v1/read", b'{"streams":[{"key":"none","after":"$"}],"wait_ms":60000}')
CLAIM = post(b"/v1/streams/race/groups/g:autoclaim", b'{"consumer":"z","min_idle_ms":999999999}')


def new_store() -> EngineStore:
    return EngineStore(Engine(), clock=lambda: START_MS)


def working_clock() -> Callable[[], int]:
    """A clock that each look moves by a fifth of the budget."""
    looks = count()
    return lambda: next(looks) * TURN_NS // LOOKS_PER_TURN


async def answers_by_turn(raw: bytes, clock: Callable[[], int], store: EngineStore) -> tuple[list[int], Any]:
    """Deliver one read. Return how many answers each turn of the loop wrote, and the answers."""
    protocol, transport = connected(store, create_api(store, version="1"), clock)
    sizes: list[int] = []
    protocol.data_received(raw)
    while True:
        written = b"".join(transport.written)
        sizes.append(written.count(b"HTTP/1.1 ") - sum(sizes))
        if protocol.state.answering == "free" and not (protocol._run.kept or protocol._run.held):
            break
        await asyncio.sleep(0)
    return sizes, answers_in(transport)


@pytest.mark.parametrize(
    "raw",
    [
        APPEND * 100,
        HOT_GET * 100,
        CLAIM * 100,
        (APPEND + HOT_GET + CLAIM) * 33,
        HOT_GET.replace(b"host:", b"Host:\t") * 100,
        (APPEND + DOCUMENTED) * 20,
        (CHUNKED + HOT_GET) * 20,
        GET * 40,
    ],
    ids=["appends", "reads", "claims", "mixed", "not plain", "documented", "chunked", "documented reads"],
)
def test_a_turn_of_a_connection_answers_a_few_requests_and_the_next_turns_the_others(raw: bytes) -> None:
    sizes, answers = asyncio.run(answers_by_turn(raw, working_clock(), new_store()))
    _, at_once = asyncio.run(answers_by_turn(raw, still, new_store()))
    assert answers == at_once
    assert max(sizes) <= LOOKS_PER_TURN


@pytest.mark.parametrize("make", [EngineStore, PatientStore], ids=["at once", "later"])
@pytest.mark.parametrize("seed", range(6))
def test_requests_are_answered_alike_in_one_turn_and_in_many(seed: int, make: type[EngineStore]) -> None:
    chance = random.Random(seed)
    raw = b"".join(chance.choices(KINDS, k=60))
    _, in_many = asyncio.run(answers_by_turn(raw, working_clock(), make(Engine(), clock=lambda: START_MS)))
    _, in_one = asyncio.run(answers_by_turn(raw, still, make(Engine(), clock=lambda: START_MS)))
    assert in_many == in_one


def _half_closed(
    raw: bytes, clock: Callable[[], int], make: type[EngineStore] = EngineStore
) -> Sequence[bytes]:
    async def story() -> list[bytes]:
        protocol, transport = connected(make(Engine(), clock=lambda: START_MS), clock=clock)
        protocol.data_received(raw)
        if not protocol.eof_received():
            transport.close()
        await until(lambda: transport.is_ended)
        return answers_in(transport)

    return asyncio.run(story())


@pytest.mark.parametrize("rest", [b"", APPEND[:50]], ids=["whole", "and a part"])
def test_a_client_that_ends_its_side_gets_all_answers_in_as_many_turns_as_they_need(rest: bytes) -> None:
    raw = (APPEND + HOT_GET) * 20 + rest
    assert _half_closed(raw, working_clock()) == _half_closed(raw, still)


class DistantStore(PatientStore):
    """The store, whose waits begin in a later turn of the loop, as those of a gateway."""

    def submit(self, command: Command, receive: Any, wait: BeginWait | None = None) -> Answer:
        def later(watch: Watch) -> None:
            assert wait is not None
            asyncio.get_running_loop().call_soon(wait, watch)

        return super().submit(command, receive, later if wait else None)


@pytest.mark.parametrize("make", [EngineStore, DistantStore], ids=["at once", "later"])
@pytest.mark.parametrize("before", range(8))
@pytest.mark.parametrize("after", [b"", HOT_GET * 20], ids=["last", "and more"])
def test_a_read_that_would_wait_ends_the_connection_of_a_client_that_has_ended_its_side(
    before: int, after: bytes, make: type[EngineStore]
) -> None:
    raw = HOT_GET * before + WAITING_READ + after
    assert len(_half_closed(raw, working_clock(), make)) == before
    assert len(_half_closed(raw, still, make)) == before


def test_a_body_of_many_chunks_takes_several_turns() -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in ENTRY * 1000)
    head = post(b"/v1/streams/race/entries", b"", b"transfer-encoding: chunked")
    raw = head.replace(b"content-length: 0\r\n", b"") + chunks + b"0\r\n\r\n"
    assert len(raw) > 10 * PIECE_BYTES

    async def story() -> list[int]:
        store = new_store()
        protocol, transport = connected(store, create_api(store, version="1"), working_clock())
        fed: list[int] = [0]
        feed = protocol._reader.feed

        def counted(data: bytes) -> None:
            fed[-1] += len(data)
            feed(data)

        protocol._reader.feed = counted  # type: ignore[method-assign]
        protocol.data_received(raw)
        while not transport.written:
            fed.append(0)
            await asyncio.sleep(0)
        await settled(protocol, transport)
        return fed

    fed = asyncio.run(story())
    assert sum(fed) == len(raw)
    assert max(fed) <= LOOKS_PER_TURN * PIECE_BYTES


def test_data_that_arrives_while_data_is_held_stays_behind_it() -> None:
    async def story() -> list[bytes]:
        store = new_store()
        protocol, transport = connected(store, clock=working_clock())
        protocol.data_received(APPEND * 20)
        protocol.data_received(HOT_GET)
        await settled(protocol, transport)
        return answers_in(transport)

    assert asyncio.run(story())[-1].endswith(b'{"length":20}')


def test_a_connection_that_is_lost_between_two_turns_does_nothing_more() -> None:
    async def story() -> tuple[int, Transport]:
        store = new_store()
        protocol, transport = connected(store, clock=working_clock())
        protocol.data_received(APPEND * 50)
        protocol.connection_lost(ConnectionResetError())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return store.figures.counters.appends, transport

    appends, _ = asyncio.run(story())
    assert appends < 50


class Upgraded(Transport):
    """A transport whose connection speaks the WebSocket protocol."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: nothing is buffered."""


async def opened(
    app: Any, clock: Callable[[], int], early: bytes = b""
) -> tuple[WebSocketProtocol, Upgraded]:
    """A WebSocket whose handshake is complete. `early`: frames of a client that has not waited for it."""
    protocol_class = websocket_protocol(Connections(DEFAULT_LIMITS))
    protocol_class.clock = staticmethod(clock)
    config = uvicorn.Config(app, interface="asgi3", ws=protocol_class, lifespan="off", log_config=None)
    config.load()
    protocol, transport = protocol_class(config, ServerState(), {}), Upgraded()
    protocol.connection_made(transport)
    protocol.data_received(
        b"GET /v1/ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    if early:
        protocol.data_received(early)
    await until(lambda: protocol.handshake_complete)
    return protocol, transport


def masked(opcode: int, payload: bytes) -> bytes:
    """A frame with the mask 0."""
    return bytes((0x80 | opcode, 0x80 | len(payload), 0, 0, 0, 0)) + payload


@pytest.mark.parametrize("frame", [masked(0xA, b""), masked(0x1, b"")], ids=["pongs", "empty messages"])
def test_a_flood_of_frames_is_read_in_several_turns_and_what_follows_it_arrives(frame: bytes) -> None:
    async def story() -> tuple[list[int], str]:
        texts: asyncio.Queue[str] = asyncio.Queue()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            assert scope["type"] == "websocket"
            await receive()
            await send({"type": "websocket.accept"})
            while (message := await receive())["type"] == "websocket.receive":
                if message["text"]:
                    texts.put_nowait(message["text"])

        protocol, _ = await opened(app, working_clock())
        fed = [0]
        parse = protocol.parse

        def counted(data: bytes) -> None:
            fed[-1] += len(data)
            parse(data)

        protocol.parse = counted  # type: ignore[method-assign]
        protocol.data_received(frame * 40_000 + masked(0x1, b"the last one"))
        while texts.empty():
            fed.append(0)
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        return fed, texts.get_nowait()

    fed, text = asyncio.run(story())
    assert text == "the last one"
    assert sum(fed) == 240_018
    assert max(fed) <= LOOKS_PER_TURN * PIECE_BYTES


NUMBERED = [f"{number:0100}" for number in range(2000)]


async def received(*, turns_before: int = 0, is_early: bool) -> tuple[list[str], bool]:
    """The texts that an endpoint receives of a flood, and whether the protocol ever read on while data was
    unread. `turns_before`: turns of the loop before the endpoint accepts the handshake."""
    texts: list[str] = []
    has_read_on = False

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal has_read_on
        opening = scope["extensions"][SOCKET_EXTENSION]
        await receive()
        for _ in range(turns_before):
            await asyncio.sleep(0)
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            texts.append(message["text"])
            has_read_on |= bool(opening._unread) and opening.transport.is_reading_now

    flood = b"".join(masked(0x1, text.encode()) for text in NUMBERED)
    protocol, _ = await opened(app, working_clock(), flood if is_early else b"")
    if not is_early:
        protocol.data_received(flood)
    for _ in range(4 * len(NUMBERED)):
        await asyncio.sleep(0)
    protocol.connection_lost(None)
    return texts, has_read_on


@pytest.mark.parametrize("turns_before", range(3))
def test_frames_that_come_before_the_response_to_a_handshake_keep_their_order(turns_before: int) -> None:
    texts, _ = asyncio.run(received(turns_before=turns_before, is_early=True))
    assert texts == NUMBERED


def test_a_websocket_reads_nothing_more_while_data_is_unread() -> None:
    texts, has_read_on = asyncio.run(received(is_early=False))
    assert texts == NUMBERED
    assert not has_read_on


def test_an_endpoint_sees_a_close_frame_before_the_messages_that_came_before_it() -> None:
    async def story() -> list[bool]:
        async def app(_scope: Any, receive: Any, send: Any) -> None:
            await receive()
            await send({"type": "websocket.accept"})
            await asyncio.get_running_loop().create_future()

        protocol, _ = await opened(app, still)
        found = [protocol.is_closing]
        protocol.data_received(masked(0x1, b"a message") + masked(0x8, b"\x03\xe8"))
        found.append(protocol.is_closing)
        protocol.connection_lost(None)
        return found

    assert asyncio.run(story()) == [False, True]
