"""The HTTP protocol at its limits: bodies that continue after the answer, refusals, deadlines, the queue, and
the change to a WebSocket."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.app.protocols.deadlines import LINGER_S
from tailrace.app.protocols.state import Answering, Receiving
from tailrace.app.protocols.websocket import WebSocketProtocol, websocket_protocol
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tailrace.core.limits import HEAD_BYTES_MAX, KIB
from tests.support.protocol import Transport, connected, echo, until

GET = b"GET /echo HTTP/1.1\r\nhost: localhost\r\n\r\n"
HANDSHAKE = (
    b"GET /v1/ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
CHUNKED_HEAD = b"POST /early HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
HALF_A_BODY = b"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf"


def statuses(transport: Transport) -> list[bytes]:
    return [part[:3] for part in b"".join(transport.written).split(b"HTTP/1.1 ")[1:]]


def has_answers(transport: Transport, count: int) -> bool:
    return len(statuses(transport)) == count


async def answered_early() -> tuple[Any, Transport]:
    """A connection whose request was answered before its body was complete."""
    protocol, transport = connected(EngineStore(Engine()))
    protocol.data_received(CHUNKED_HEAD)
    await until(lambda: protocol.state.answering is Answering.ASGI)
    await until(lambda: protocol.state.answering is Answering.FREE)
    return protocol, transport


def test_the_rest_of_a_body_whose_request_was_answered_takes_no_memory() -> None:
    async def story() -> None:
        protocol, transport = await answered_early()
        for _ in range(4):
            protocol.data_received(b"%x\r\n%b\r\n" % (100 * KIB, b"x" * 100 * KIB))
        assert protocol.registry.held_bytes == 0
        protocol.data_received(b"0\r\n\r\n" + GET)
        await until(lambda: len(statuses(transport)) == 2)
        assert statuses(transport) == [b"200", b"200"]

    asyncio.run(story())


def test_a_request_that_was_answered_gets_no_second_answer_when_its_body_is_malformed() -> None:
    async def story() -> None:
        protocol, transport = await answered_early()
        protocol.data_received(b"nonsense\r\n")
        assert statuses(transport) == [b"200"]
        assert transport.is_ended

    asyncio.run(story())


def test_a_request_that_was_answered_gets_no_second_answer_when_its_body_stops() -> None:
    async def story() -> None:
        protocol, transport = await answered_early()
        protocol.data_received(b"5")
        for _ in range(2):
            protocol.check_deadlines(DEFAULT_LIMITS.header_timeout_s)
        assert statuses(transport) == [b"200"]
        assert transport.is_ended

    asyncio.run(story())


def test_a_body_that_stops_does_not_take_the_answer_of_the_request_before_it() -> None:
    ready = asyncio.Event()

    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        gone = asyncio.ensure_future(receive())
        await ready.wait()
        gone.cancel()
        await echo({**scope, "path": "/early"}, receive, send)

    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()), waiting)
        protocol.data_received(GET)
        await until(lambda: protocol.state.answering is Answering.ASGI)
        protocol.data_received(HALF_A_BODY)
        protocol._flow.read_paused = False
        for _ in range(2):
            protocol.check_deadlines(3600)
        assert not transport.is_ended
        assert protocol.state.receiving is Receiving.DISCARDING
        ready.set()
        await until(lambda: transport.is_ended)
        assert statuses(transport) == [b"200", b"408"]

    asyncio.run(story())


def test_requests_and_cut_connections_are_counted() -> None:
    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.data_received(GET)
        await until(partial(has_answers, transport, 1))
        await until(lambda: protocol.state.answering is Answering.FREE)
        assert protocol.server_state.total_requests == 1
        protocol.data_received(GET[:-2])
        for _ in range(2):
            assert not protocol.registry.cuts
            protocol.check_deadlines(DEFAULT_LIMITS.header_timeout_s)
        assert protocol.registry.cuts == {"header_timeout": 1}
        assert protocol.server_state.total_requests == 1

    asyncio.run(story())


def test_a_connection_that_is_lingering_ends_at_once_when_the_server_stops() -> None:
    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.data_received(CHUNKED_HEAD.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        await until(lambda: transport.is_ended)
        assert not transport.is_closed, f"it lingers for {LINGER_S} s"
        protocol.shutdown()
        assert transport.is_closed

    asyncio.run(story())


def test_nothing_is_read_while_requests_wait_for_their_turn() -> None:
    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.data_received(GET * 5)
        for count in range(1, 5):
            assert not transport.is_reading_now
            await until(partial(has_answers, transport, count))
        await until(lambda: protocol.state.answering is Answering.FREE)
        assert transport.is_reading_now

    asyncio.run(story())


@pytest.mark.parametrize("size", [HEAD_BYTES_MAX + 1, 3 * HEAD_BYTES_MAX])
def test_a_head_that_begins_in_the_middle_of_a_read_has_no_other_bound(size: int) -> None:
    large = GET[:-2] + b"x-large: " + b"x" * size + b"\r\n\r\n"

    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.data_received(GET + large[: HEAD_BYTES_MAX - 100])
        protocol.data_received(large[HEAD_BYTES_MAX - 100 :])
        await until(partial(has_answers, transport, 2))
        assert statuses(transport) == [b"200", b"431"]

    asyncio.run(story())


@pytest.mark.parametrize(("version", "informs"), [(b"1.0", False), (b"1.1", True)])
def test_a_client_of_http_1_0_gets_no_interim_answer(version: bytes, *, informs: bool) -> None:
    head = (
        HALF_A_BODY.partition(b"\r\n\r\n")[0].replace(b"1.1", version) + b"\r\nexpect: 100-continue\r\n\r\n"
    )

    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.data_received(head)
        for _ in range(20):
            await asyncio.sleep(0)
        assert statuses(transport) == ([b"100"] if informs else [])
        protocol.data_received(b"x" * 100)
        await until(lambda: b"200" in statuses(transport))

    asyncio.run(story())


class Switching(Transport):
    """A transport whose connection becomes a WebSocket."""

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: nothing is buffered."""

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol


def test_a_websocket_waits_for_a_client_that_has_not_read_the_answers_before_it() -> None:
    async def story() -> tuple[bytes, bytes]:
        async def app(_scope: Any, receive: Any, send: Any) -> None:
            await receive()
            await send({"type": "websocket.accept"})
            await receive()

        first, _ = connected(EngineStore(Engine()), app)
        protocol_class, transport = type(first), Switching()
        ws = websocket_protocol(protocol_class.registry)
        config = uvicorn.Config(
            app, interface="asgi3", http=protocol_class, ws=ws, lifespan="off", log_config=None
        )
        config.load()
        protocol = protocol_class(config, ServerState(), {})
        protocol.connection_made(transport)
        protocol.pause_writing()
        protocol.data_received(HANDSHAKE)
        for _ in range(10):
            await asyncio.sleep(0)
        unread = b"".join(transport.written)
        successor = transport.protocol
        assert isinstance(successor, WebSocketProtocol)
        assert successor.is_congested
        successor.resume_writing()
        await until(lambda: bool(transport.written))
        successor.connection_lost(None)
        return unread, b"".join(transport.written)

    before, after = asyncio.run(story())
    assert before == b""
    assert after.startswith(b"HTTP/1.1 101 ")
