"""Hot reads that wait for entries: without a task, and with the answers of the documented route."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import pytest

from tailrace.api.application import create_api
from tailrace.api.ports import Answer, BeginWait
from tailrace.api.principals import Unauthenticated
from tailrace.app.protocols.http import HttpProtocol
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Command, StreamLength
from tailrace.core.engine import Engine
from tailrace.core.parser import parse_request
from tests.support.pipelines import APPEND, HOT_GET, PatientStore, answers_in, post, settled
from tests.support.protocol import Transport, connected, until

NOT_HOT = b"prefer: nothing"
READ = b'{"streams":[{"key":"race","after":"$"}],"wait_ms":60000}'
STRICT = READ[:-1] + b',"strict":true}'
GROUP_READ = b'{"group":"g","consumer":"c","streams":[{"key":"race","id":">"}],"wait_ms":60000}'
SHORT = READ.replace(b"60000", b"1")
WAITING = post(b"/v1/read", READ)


class LateStore(EngineStore):
    """The store, which runs hot reads in a later turn of the loop, as one that asks an engine."""

    def submit(self, command: Command, receive: Any, wait: BeginWait | None = None) -> Answer:
        if wait is None:
            return super().submit(command, receive)
        asyncio.get_running_loop().call_soon(super().submit, command, receive, wait)
        return None


STORES = pytest.mark.parametrize("store_class", [EngineStore, PatientStore], ids=["at once", "later"])
ALL_STORES = pytest.mark.parametrize("store_class", [EngineStore, PatientStore, LateStore])


def commands(*lines: str) -> list[Command]:
    parsed = [parse_request([word.encode() for word in line.split()]).command for line in lines]
    return [command for command in parsed if command is not None]


def connection(store: EngineStore) -> tuple[HttpProtocol, Transport]:
    return connected(store, create_api(store, version="1"))


async def waiting(store: EngineStore, raw: bytes = WAITING) -> tuple[HttpProtocol, Transport]:
    """A connection whose last request of `raw` waits for entries."""
    before = store.waiting_count
    protocol, transport = connection(store)
    protocol.data_received(raw)
    await until(lambda: store.waiting_count > before)
    return protocol, transport


def test_a_read_that_waits_has_no_task() -> None:
    async def story() -> list[bytes]:
        store = EngineStore(Engine())
        protocol, transport = await waiting(store)
        assert len(asyncio.all_tasks()) == 1
        await store.execute_all(commands("XADD race 1-0 rider Castilla"))
        await settled(protocol, transport)
        return answers_in(transport)

    (answer,) = asyncio.run(story())
    assert answer.endswith(
        b'{"streams":[{"key":"race","entries":[{"id":"1-0","fields":{"rider":"Castilla"}}],"next":"1-0"}]}'
    )


async def _append(store: EngineStore) -> None:
    await store.execute_all(commands("XADD race 5-0 rider Castilla"))


async def _trim(store: EngineStore) -> None:
    await store.execute_all(commands("XADD race 5-0 a 1", "XADD race 6-0 a 1", "XTRIM race MAXLEN 1"))


async def _delete(store: EngineStore) -> None:
    await store.execute_all(commands("DEL race"))


async def _drain(store: EngineStore) -> None:
    store.drain()


async def _fail(store: EngineStore) -> None:
    store.fail("the disk is full")


async def _nothing(_: EngineStore) -> None:
    pass


@ALL_STORES
@pytest.mark.parametrize(
    ("path", "body", "event", "status"),
    [
        (b"/v1/read", READ, _append, b"200"),
        (b"/v1/read", SHORT, _nothing, b"200"),
        (b"/v1/read", STRICT, _trim, b"410"),
        (b"/v1/read", READ, _drain, b"503"),
        (b"/v1/read", READ, _fail, b"503"),
        (b"/v1/read-group", GROUP_READ, _append, b"200"),
        (b"/v1/read-group", GROUP_READ, _delete, b"404"),
        (b"/v1/read-group", GROUP_READ, _drain, b"503"),
    ],
)
def test_a_wait_ends_with_the_answer_of_the_documented_route(
    path: bytes,
    body: bytes,
    event: Callable[[EngineStore], Awaitable[None]],
    status: bytes,
    store_class: type[EngineStore],
) -> None:
    async def answer_to(*lines: bytes) -> bytes:
        store = store_class(Engine())
        await store.execute_all(commands("XGROUP CREATE race g $ MKSTREAM"))
        protocol, transport = await waiting(store, post(path, body, *lines))
        await event(store)
        await settled(protocol, transport)
        (answer,) = answers_in(transport)
        return answer

    hot, documented = asyncio.run(answer_to()), asyncio.run(answer_to(NOT_HOT))
    assert hot == documented
    assert hot.startswith(status)


def test_a_read_that_finds_no_room_to_wait_is_refused_as_by_the_documented_route() -> None:
    async def answer_to(*lines: bytes) -> bytes:
        store = EngineStore(Engine(), readers_max=1)
        await waiting(store)
        protocol, transport = connection(store)
        protocol.data_received(post(b"/v1/read", READ, *lines))
        await settled(protocol, transport)
        (answer,) = answers_in(transport)
        return answer

    hot, documented = asyncio.run(answer_to()), asyncio.run(answer_to(NOT_HOT))
    assert hot == documented
    assert b"TOO_MANY_READERS" in hot


async def known(store: EngineStore) -> tuple[HttpProtocol, Transport]:
    """A connection that knows the heads of an append and of a read."""
    protocol, transport = connection(store)
    for piece in (APPEND, post(b"/v1/read", SHORT)):
        protocol.data_received(piece)
        await settled(protocol, transport)
    transport.written.clear()
    return protocol, transport


@ALL_STORES
def test_the_answers_before_a_read_that_waits_are_written_without_it(store_class: type[EngineStore]) -> None:
    async def story() -> list[bytes]:
        store = store_class(Engine())
        protocol, transport = await known(store)
        protocol.data_received(APPEND * 3 + WAITING + APPEND)
        await until(lambda: len(answers_in(transport)) == 3 and store.waiting_count == 1)
        assert not transport.is_reading_now or protocol._run.held
        await store.execute_all(commands("XADD race * a 1"))
        await until(lambda: len(answers_in(transport)) == 5)
        await settled(protocol, transport)
        return [answer[:3] for answer in answers_in(transport)]

    assert asyncio.run(story()) == [b"201", b"201", b"201", b"200", b"201"]


@ALL_STORES
def test_a_read_that_waits_ends_with_its_client_s_side_after_the_answers_before_it(
    store_class: type[EngineStore],
) -> None:
    async def story() -> None:
        store = store_class(Engine())
        protocol, transport = await known(store)
        protocol.data_received(APPEND * 2 + WAITING)
        await until(lambda: store.waiting_count == 1)
        if not protocol.eof_received():
            transport.close()
        await until(lambda: transport.is_ended)
        protocol.connection_lost(None)
        assert store.waiting_count == 0
        assert [answer[:3] for answer in answers_in(transport)] == [b"201", b"201"]
        gone = {kind: each.count for kind, each in protocol.hot.observer._requests.answers.items()}
        assert gone["xread", 499] == 1

    asyncio.run(story())


@ALL_STORES
def test_a_client_that_leaves_while_its_read_waits_takes_nothing(store_class: type[EngineStore]) -> None:
    async def story() -> None:
        store = store_class(Engine())
        await store.execute_all(commands("XGROUP CREATE race g $ MKSTREAM"))
        protocol, transport = await waiting(store, post(b"/v1/read-group", GROUP_READ))
        protocol.connection_lost(None)
        assert store.waiting_count == 0
        await store.execute_all(commands("XADD race 1-0 a 1"))
        summary, length = await store.execute_all(commands("XPENDING race g", "XLEN race"))
        assert (getattr(summary, "count", None), length) == (0, 1)
        assert transport.written == []

    asyncio.run(story())


def test_a_client_that_leaves_between_the_wake_up_and_its_answer_is_not_written_to() -> None:
    async def story() -> None:
        store = EngineStore(Engine())
        protocol, transport = await waiting(store)
        await store.execute_all(commands("XADD race 1-0 a 1"))
        protocol.connection_lost(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert transport.written == []

    asyncio.run(story())


def test_a_chain_of_reads_that_each_end_the_next_wait_takes_no_depth() -> None:
    """Each connection waits for one stream, and then appends to the next one: one append ends all waits."""
    links = sys.getrecursionlimit() // 4

    async def story() -> None:
        store = EngineStore(Engine())
        connections = []
        for number in range(links):
            streams = b'{"streams":[{"key":"s%d","after":"$"}],"wait_ms":60000}' % number
            entry = b'{"fields":{"a":"1"}}'
            protocol, transport = connected(store)
            protocol.data_received(post(b"/v1/read", streams))
            protocol.data_received(post(b"/v1/streams/s%d/entries" % (number + 1), entry))
            connections.append((protocol, transport))
        await until(lambda: store.waiting_count == links)
        await store.execute_all(commands("XADD s0 * a 1"))
        for protocol, transport in connections:
            await settled(protocol, transport)
            assert [answer[:3] for answer in answers_in(transport)] == [b"200", b"201"]
        assert await store.execute(StreamLength(b"s%d" % links)) == 1

    asyncio.run(story())


def test_a_request_after_a_read_whose_client_ends_its_side_is_not_answered_in_place_of_the_read() -> None:
    async def story() -> list[bytes]:
        store = PatientStore(Engine())
        protocol, transport = await waiting(store)
        await store.execute_all(commands("XADD race 1-0 rider Castilla"))
        for request in (APPEND, HOT_GET):
            await settled(protocol, transport)
            protocol.data_received(request)
        await settled(protocol, transport)
        transport.written.clear()
        protocol.data_received(APPEND + WAITING + HOT_GET)
        assert protocol.eof_received(), "the answer to the append is due"
        await until(lambda: transport.is_ended)
        return [answer[:3] for answer in answers_in(transport)]

    assert asyncio.run(story()) == [b"201"]


def test_a_read_whose_client_leaves_while_the_store_looks_does_not_wait() -> None:
    async def story() -> None:
        store = LateStore(Engine())
        protocol, transport = connection(store)
        protocol.data_received(WAITING)
        protocol.connection_lost(None)
        await asyncio.sleep(0)
        assert (store.waiting_count, transport.written) == (0, [])
        assert protocol.hot.observer._requests.answers["xread", 499].count == 1

    asyncio.run(story())


def test_a_read_whose_token_ends_while_the_store_looks_is_told_when_the_wait_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reason = Unauthenticated("the token was revoked")

    def refuse(*_: object) -> NoReturn:
        raise reason

    def watch(_: object, on_end: Callable[[Unauthenticated], None]) -> Callable[[], None]:
        return asyncio.get_running_loop().call_soon(on_end, reason).cancel

    async def story() -> list[bytes]:
        store = LateStore(Engine())
        protocol, transport = connection(store)
        protocol.data_received(WAITING)
        monkeypatch.setattr(protocol.hot, "_authenticate", refuse)
        monkeypatch.setattr(protocol.hot, "_watch_token", watch)
        await settled(protocol, transport)
        assert store.waiting_count == 0
        return answers_in(transport)

    (answer,) = asyncio.run(story())
    assert answer.startswith(b"401")
    assert b"the token was revoked" in answer


def test_a_read_whose_client_ends_its_side_while_the_store_looks_does_not_wait() -> None:
    async def story() -> None:
        store = LateStore(Engine())
        protocol, transport = connection(store)
        protocol.data_received(WAITING)
        assert protocol.eof_received()
        await until(lambda: transport.is_ended)
        protocol.connection_lost(None)
        assert (store.waiting_count, transport.written) == (0, [])

    asyncio.run(story())
