"""The HTTP protocol step by step, on a transport in memory: the answers and their order do not depend on how
the bytes of requests are divided."""

from __future__ import annotations

import asyncio
import gc
import random
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from tailrace.app.protocols.http import HttpProtocol
from tailrace.app.protocols.state import Answering, Receiving
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tests.support.pipelines import (
    APPEND,
    GET,
    KINDS,
    PatientStore,
    answers_in,
    answers_to,
    cut_up,
    post,
    settled,
)
from tests.support.protocol import connected, until
from tests.support.seeds import seeds


@pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
@pytest.mark.parametrize("seed", seeds(8))
def test_pipelined_requests_are_answered_alike_however_they_are_divided(
    store_class: type[EngineStore], seed: int
) -> None:
    chance = random.Random(seed)
    requests = chance.choices(KINDS, k=25)

    async def both() -> None:
        apart = await answers_to(requests, store_class(Engine()))
        assert len(apart) == len(requests)
        assert await answers_to(cut_up(b"".join(requests), chance), store_class(Engine())) == apart
        assert await answers_to([b"".join(requests)], store_class(Engine())) == apart

    asyncio.run(both())


def test_each_kind_of_request_has_its_own_answer() -> None:
    answers = asyncio.run(answers_to([*KINDS, GET], EngineStore(Engine())))
    assert [answer[:3] for answer in answers] == [
        b"201",
        b"422",
        b"404",
        b"200",
        b"404",
        b"201",
        b"200",
        b"201",
        b"201",
        b"200",
        b"200",
    ]
    assert answers[6].endswith(b'{"length":2}')
    assert answers[9].endswith(b'{"length":4}')


def test_a_refusal_comes_behind_the_answers_before_it_and_ends_the_connection() -> None:
    async def story() -> list[bytes]:
        protocol, transport = connected(PatientStore(Engine()))
        protocol.data_received(APPEND + GET + b"nonsense\r\n\r\n" + APPEND)
        await until(lambda: transport.is_ended)
        protocol.data_received(APPEND)
        assert (protocol.state.receiving, protocol.state.answering) == (
            Receiving.DISCARDING,
            Answering.LEAVING,
        )
        return answers_in(transport)

    assert [answer[:3] for answer in asyncio.run(story())] == [b"201", b"200", b"400"]


def test_an_answer_that_comes_before_the_body_leaves_the_connection_in_order() -> None:
    early = post(b"/early", b"x" * 500)

    async def story() -> list[bytes]:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.data_received(early[:200])
        await settled(protocol, transport)
        assert (protocol.state.receiving, protocol.state.answering) == (Receiving.BODY, Answering.FREE)
        protocol.data_received(early[200:] + APPEND)
        await settled(protocol, transport)
        return answers_in(transport)

    assert [answer[:3] for answer in asyncio.run(story())] == [b"200", b"201"]


def test_an_answer_before_the_body_that_ends_the_connection_can_be_read() -> None:
    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.data_received(post(b"/early", b"x" * 500, b"connection: close")[:200])
        await until(lambda: transport.is_ended)
        assert (protocol.state.receiving, protocol.state.answering) == (
            Receiving.DISCARDING,
            Answering.LEAVING,
        )
        assert b"connection: close" in b"".join(transport.written)

    asyncio.run(story())


@pytest.mark.parametrize("raw", [APPEND, GET], ids=["hot", "documented"])
def test_a_server_that_stops_answers_what_is_under_way_and_says_that_it_was_the_last(raw: bytes) -> None:
    async def story() -> None:
        protocol, transport = connected(PatientStore(Engine()))
        protocol.data_received(raw)
        protocol.shutdown()
        await until(lambda: transport.is_ended)
        assert b"connection: close" in b"".join(transport.written)
        assert protocol.state.answering is Answering.LEAVING

    asyncio.run(story())


def test_an_idle_connection_ends_when_the_server_stops() -> None:
    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()))
        protocol.shutdown()
        assert transport.is_ended
        assert not transport.written

    asyncio.run(story())


@pytest.mark.parametrize("raw", [APPEND, GET, APPEND + GET + GET], ids=["hot", "documented", "pipelined"])
def test_a_client_that_is_gone_gets_no_answer(raw: bytes) -> None:
    async def story() -> None:
        protocol, transport = connected(PatientStore(Engine()))
        protocol.data_received(raw)
        protocol.connection_lost(None)
        assert (protocol.state.receiving, protocol.state.answering) == (Receiving.CLOSED, Answering.CLOSED)
        for _ in range(20):
            await asyncio.sleep(0)
        assert not transport.written
        assert len(protocol.registry) == 0

    asyncio.run(story())


def test_an_application_may_fail_when_its_client_has_gone(caplog: pytest.LogCaptureFixture) -> None:
    gone = asyncio.Event()

    async def failing(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await gone.wait()
        raise RuntimeError("too late")

    async def story() -> None:
        protocol, transport = connected(EngineStore(Engine()), failing)
        protocol.data_received(GET)
        await until(lambda: bool(transport.written))
        (task,) = asyncio.all_tasks() - {asyncio.current_task()}
        protocol.connection_lost(None)
        gone.set()
        await task

    asyncio.run(story())
    assert [record.message for record in caplog.records] == ["Exception in ASGI application\n"]


async def ended_after(requests: Sequence[bytes]) -> weakref.ref[HttpProtocol]:
    protocol, _ = connected(EngineStore(Engine()))
    for raw in requests:
        protocol.data_received(raw)
        await until(lambda: protocol.state.answering is Answering.FREE)
    protocol.connection_lost(None)
    return weakref.ref(protocol)


@pytest.mark.parametrize(
    "requests",
    [(), (APPEND, APPEND), (GET,), (APPEND[:-3],), (GET[:9],)],
    ids=["nothing", "hot", "documented", "half a body", "half a head"],
)
def test_a_connection_that_is_gone_is_freed_without_the_garbage_collector(requests: Sequence[bytes]) -> None:
    gc.disable()
    try:
        assert asyncio.run(ended_after(requests))() is None
    finally:
        gc.enable()
