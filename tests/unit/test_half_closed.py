"""A client that ends its side of the connection gets the answers to all of its complete requests.

Requests that wait are the exception: the client may be gone, and the server cannot tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tailrace.api.application import create_api
from tailrace.app.protocols.http import HttpProtocol
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tests.support.pipelines import (
    APPEND,
    GET,
    HANDED_ON,
    HOT_GET,
    KINDS,
    LATE_HANDED_ON,
    LATE_REFUSED,
    REFUSED,
    PatientStore,
    answers_in,
    answers_to,
    crowded,
    settled,
)
from tests.support.protocol import Transport, connected, until

HALF_A_BODY = APPEND[:-3].replace(b"\r\n\r\n", b"\r\nprefer: nothing\r\n\r\n")
NOT_HTTP = b"nonsense\r\n\r\n"
STORES = pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])


def sent(raw: bytes, store: EngineStore) -> tuple[HttpProtocol, Transport]:
    """A connection on which `raw` has arrived in one read."""
    protocol, transport = connected(store, create_api(store, version="1"))
    protocol.data_received(raw)
    return protocol, transport


def end_input(protocol: HttpProtocol, transport: Transport) -> None:
    """The client ends its side: as a transport of asyncio does it."""
    if not protocol.eof_received():
        transport.close()


async def answers_after_the_end(raw: bytes, store: EngineStore) -> list[bytes]:
    """Return the response to `raw` if the client ends its side at once."""
    protocol, transport = sent(raw, store)
    end_input(protocol, transport)
    await until(lambda: transport.is_ended)
    protocol.connection_lost(None)
    return [answer.replace(b"\nconnection: close", b"") for answer in answers_in(transport)]


@STORES
@pytest.mark.parametrize("requests", [*[[kind] for kind in KINDS], [GET, *KINDS], [GET] * 5])
def test_all_requests_are_answered_as_if_the_client_had_not_ended_its_side(
    requests: Sequence[bytes], store_class: type[EngineStore]
) -> None:
    async def both() -> None:
        expected = await answers_to([b"".join(requests)], store_class(Engine()))
        assert await answers_after_the_end(b"".join(requests), store_class(Engine())) == expected

    asyncio.run(both())


@STORES
@pytest.mark.parametrize(
    "requests",
    [
        [APPEND, LATE_REFUSED, HOT_GET, APPEND],
        [LATE_REFUSED, APPEND],
        [APPEND, REFUSED],
        [APPEND, REFUSED, HOT_GET],
        [REFUSED, APPEND, LATE_REFUSED, LATE_REFUSED, GET, APPEND],
        [APPEND, LATE_HANDED_ON, HOT_GET, APPEND],
        [HANDED_ON, APPEND, LATE_HANDED_ON, LATE_HANDED_ON, GET, APPEND],
    ],
)
def test_requests_with_known_heads_after_a_refused_or_passed_on_one_are_answered_as_well(
    requests: Sequence[bytes], store_class: type[EngineStore]
) -> None:
    async def after_the_end() -> list[bytes]:
        store = store_class(crowded())
        protocol, transport = sent(b"", store)
        for known in KINDS:
            protocol.data_received(known)
            await settled(protocol, transport)
        transport.written.clear()
        protocol.data_received(b"".join(requests))
        end_input(protocol, transport)
        await until(lambda: transport.is_ended)
        protocol.connection_lost(None)
        return [answer.replace(b"\nconnection: close", b"") for answer in answers_in(transport)]

    async def both() -> None:
        expected = await answers_to([*KINDS, *requests], store_class(crowded()))
        assert await after_the_end() == expected[len(KINDS) :]

    asyncio.run(both())


@pytest.mark.parametrize("rest", [HALF_A_BODY, APPEND[:-3], GET[:9]], ids=["ASGI", "body", "head"])
def test_the_requests_before_an_incomplete_one_are_answered(rest: bytes) -> None:
    async def both() -> None:
        expected = await answers_to([GET, GET], EngineStore(Engine()))
        assert await answers_after_the_end(GET + GET + rest, EngineStore(Engine())) == expected

    asyncio.run(both())


@pytest.mark.parametrize(
    "rest", [b"", HALF_A_BODY, APPEND[:-3], GET[:9]], ids=["none", "ASGI", "hot", "head"]
)
def test_a_connection_without_a_complete_request_ends_with_the_client(rest: bytes) -> None:
    async def story() -> None:
        protocol, _ = sent(rest, EngineStore(Engine()))
        assert not protocol.eof_received()

    asyncio.run(story())


def test_a_refusal_is_written_after_the_answers_that_are_due() -> None:
    answers = asyncio.run(answers_after_the_end(GET + NOT_HTTP, EngineStore(Engine())))
    assert [answer[:3] for answer in answers] == [b"200", b"400"]


def test_the_client_may_seem_to_end_its_side_again_when_the_server_reads_on() -> None:
    async def story() -> None:
        protocol, transport = sent(GET, EngineStore(Engine()))
        assert protocol.eof_received()
        assert protocol.eof_received()
        await until(lambda: transport.is_ended)
        assert not protocol.eof_received()
        assert len(answers_in(transport)) == 1

    asyncio.run(story())


def test_tls_ends_both_sides_together() -> None:
    async def story() -> None:
        protocol, transport = sent(GET, EngineStore(Engine()))
        transport.can_write_eof = lambda: False  # type: ignore[method-assign] # as a transport of TLS
        assert not protocol.eof_received()

    asyncio.run(story())


@pytest.mark.parametrize("path", [b"entries?after=0-0&wait_ms=60000", b"entries:tail"], ids=["read", "tail"])
def test_what_waits_for_entries_ends_without_a_complete_answer(
    path: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        store = EngineStore(Engine())
        protocol, transport = sent(b"GET /v1/streams/none/%b HTTP/1.1\r\nhost: h\r\n\r\n" % path, store)
        await until(lambda: len(store._readers) == 1)
        end_input(protocol, transport)
        await until(lambda: transport.is_ended)
        protocol.connection_lost(None)
        await until(lambda: len(asyncio.all_tasks()) == 1)
        assert len(store._readers) == 0
        assert b"\r\n0\r\n" not in b"".join(transport.written)

    asyncio.run(story())
    assert not caplog.records
