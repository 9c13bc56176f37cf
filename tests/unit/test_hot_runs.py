"""Runs of hot requests: pipelined requests are answered like requests one by one, in one write."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from tailrace.api.ports import Answer
from tailrace.app.protocols.state import Answering
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Command, StreamLength
from tailrace.core.engine import Engine
from tests.support.pipelines import (
    APPEND,
    ENTRY,
    HOT_GET,
    KINDS,
    LATE_HANDED_ON,
    PatientStore,
    answers_in,
    answers_to,
    crowded,
    cut_up,
    post,
    settled,
)
from tests.support.protocol import connected, echo
from tests.support.seeds import seeds


@pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
@pytest.mark.parametrize("seed", seeds(8))
def test_pipelined_requests_with_known_heads_are_answered_like_requests_one_by_one(
    store_class: type[EngineStore], seed: int
) -> None:
    chance = random.Random(seed)
    requests = chance.choices(KINDS, weights=(12, 1, 1, 1, 1, 1, 1, 1, 1, 4), k=60)

    async def both() -> None:
        apart = await answers_to([*KINDS, *requests], store_class(crowded()))
        pieces = [*KINDS, *cut_up(b"".join(requests), chance)]
        assert await answers_to(pieces, store_class(crowded())) == apart
        assert await answers_to([*KINDS, b"".join(requests)], store_class(crowded())) == apart

    asyncio.run(both())


async def with_known_heads(application: Any) -> tuple[Any, Any]:
    """Return a connection that has answered an append and a request that is handed on, so that it knows their
    heads."""
    protocol, transport = connected(PatientStore(crowded()), application)
    for request in (APPEND, LATE_HANDED_ON):
        protocol.data_received(request)
        await settled(protocol, transport)
    return protocol, transport


@pytest.mark.parametrize("cut", [1, 20, len(HOT_GET) - 1])
def test_a_request_in_two_reads_after_one_that_is_handed_on_stays_whole(cut: int) -> None:
    async def story() -> list[bytes]:
        may_answer = asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            async def received() -> Any:
                message = await receive()
                await may_answer.wait()
                return message

            await echo(scope, received, send)

        may_answer.set()
        protocol, transport = await with_known_heads(slow)
        transport.written.clear()
        may_answer.clear()
        protocol.data_received(LATE_HANDED_ON + HOT_GET[:cut])
        for _ in range(9):
            await asyncio.sleep(0)
        assert (protocol.state.answering, transport.is_reading_now) == (Answering.ASGI, True)
        protocol.data_received(HOT_GET[cut:] + APPEND)
        may_answer.set()
        for _ in range(20):
            await asyncio.sleep(0)
        return [answer.rpartition(b"\n")[2][:8] for answer in answers_in(transport)]

    assert asyncio.run(story()) == [b"GET /v1/", b'{"length', b'{"id":"I']


@pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
def test_hot_requests_of_one_read_are_answered_in_one_write(store_class: type[EngineStore]) -> None:
    async def story() -> None:
        protocol, transport = connected(store_class(Engine()))
        protocol.data_received(APPEND)
        await settled(protocol, transport)
        transport.written.clear()
        protocol.data_received(APPEND * 20)
        await settled(protocol, transport)
        assert len(transport.written) == 1
        assert transport.written[0].count(b"HTTP/1.1 201 Created") == 20

    asyncio.run(story())


@pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
def test_each_request_of_a_run_is_counted_with_its_operation_and_status(
    store_class: type[EngineStore],
) -> None:
    async def story() -> dict[tuple[str, int], int]:
        protocol, transport = connected(store_class(Engine()))
        for piece in (APPEND, HOT_GET, APPEND * 3 + HOT_GET * 2 + APPEND):
            protocol.data_received(piece)
            await settled(protocol, transport)
        return {kind: figures.count for kind, figures in protocol.hot.observer._requests.answers.items()}

    assert asyncio.run(story()) == {("xadd", 201): 5, ("xlen", 200): 3}


@pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
def test_a_body_that_arrives_in_pieces_counts_as_held_until_its_answer(
    store_class: type[EngineStore],
) -> None:
    request = post(b"/v1/streams/race/entries:import", b'{"rider":"Castilla"}\n' * 10_000)
    request = request.replace(b"application/json", b"application/x-ndjson")
    half = len(request) // 2

    async def story() -> list[int]:
        protocol, transport = connected(store_class(Engine()))
        held = []
        for piece in (request[:half], request[half:]):
            protocol.data_received(piece)
            held.append(protocol.registry.held_bytes)
        await settled(protocol, transport)
        assert transport.written[0].startswith(b"HTTP/1.1 201 Created")
        return [*held, protocol.registry.held_bytes]

    first, _, last = asyncio.run(story())
    assert first > 0
    assert last == 0


@pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
def test_a_known_request_behind_a_read_that_waits_is_answered_after_it(
    store_class: type[EngineStore],
) -> None:
    waiting = post(b"/v1/read", b'{"streams":[{"key":"none","after":"$"}],"wait_ms":1}')

    async def story() -> list[bytes]:
        protocol, transport = connected(store_class(Engine()))
        for piece in (APPEND, waiting, waiting + APPEND):
            protocol.data_received(piece)
            await settled(protocol, transport)
        return [answer[:3] for answer in answers_in(transport)]

    assert asyncio.run(story()) == [b"201", b"200", b"200", b"201"]


def test_a_command_after_one_that_the_store_refuses_runs_after_it() -> None:
    conditional = post(b"/v1/streams/race/entries", b'{"fields":{"a":"1"},"if_last_id":"0-0"}')

    async def both() -> None:
        apart = await answers_to([APPEND, conditional, APPEND], PatientStore(Engine()))
        together = await answers_to([APPEND, conditional + APPEND], PatientStore(Engine()))
        assert together == apart

    asyncio.run(both())


def test_a_client_that_leaves_during_a_run_stops_nothing() -> None:
    async def story() -> None:
        store = PatientStore(Engine())
        protocol, transport = connected(store)
        protocol.data_received(APPEND)
        await settled(protocol, transport)
        transport.written.clear()
        protocol.data_received(APPEND * 3 + APPEND[:20])
        protocol.connection_lost(None)
        await asyncio.sleep(0)
        assert transport.written == []
        assert await store.execute(StreamLength(b"race")) == 4

    asyncio.run(story())


def test_a_pipelined_failure_of_the_store_is_answered_in_its_turn() -> None:
    """The answer to a defect is known at once, those before it only later."""

    class FailingStore(PatientStore):
        calls = 0

        def submit(self, command: Command, receive: Any, wait: Any = None) -> Answer:
            self.calls += 1
            if self.calls == 4:
                raise RuntimeError("a defect")
            return super().submit(command, receive, wait)

    async def story() -> list[bytes]:
        protocol, transport = connected(FailingStore(Engine()))
        alone = post(b"/v1/streams/race/entries", ENTRY[:-1] + b',"nomkstream":false}')
        protocol.data_received(alone)
        await settled(protocol, transport)
        protocol.data_received(alone * 4)
        await settled(protocol, transport)
        return [answer[:3] for answer in answers_in(transport)]

    assert asyncio.run(story()) == [b"201", b"201", b"201", b"500", b"201"]


def test_data_after_a_run_stays_in_order_while_the_application_answers_its_last_request() -> None:
    """The application lets the connection read again as soon as it asks for the body."""

    async def story() -> list[bytes]:
        has_body, may_answer = asyncio.Event(), asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            message = await receive()
            has_body.set()
            await may_answer.wait()

            async def again() -> Any:
                return message

            await echo(scope, again, send)

        may_answer.set()
        protocol, transport = await with_known_heads(slow)
        for event in (has_body, may_answer):
            event.clear()
        transport.written.clear()
        protocol.data_received(APPEND + LATE_HANDED_ON + APPEND[:50])
        await has_body.wait()
        reads = [transport.is_reading_now]
        protocol.data_received(APPEND[50:] + APPEND)
        reads.append(transport.is_reading_now)
        assert reads == [True, False]
        may_answer.set()
        await settled(protocol, transport)
        return [answer[:3] for answer in answers_in(transport)]

    assert asyncio.run(story()) == [b"201", b"200", b"201", b"201"]
