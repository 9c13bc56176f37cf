"""Requests of all kinds, divided in many ways and sent to a protocol on a transport in memory."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from tailrace.api.application import create_api
from tailrace.api.ports import Answer, BeginWait, JoinedReceiver
from tailrace.api.wire.turns import ROWS_PER_PIECE
from tailrace.app.protocols.state import Answering, Receiving
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Command, CreateConsumer, CreateGroup
from tailrace.core.engine import Engine
from tests.support.engine_store import START_MS
from tests.support.protocol import Transport, connected, until

ENTRY = b'{"fields":{"rider":"Castilla"}}'


def post(path: bytes, body: bytes, *lines: bytes) -> bytes:
    head = (
        b"POST " + path + b" HTTP/1.1",
        b"host: localhost",
        b"content-type: application/json",
        b"content-length: %d" % len(body),
        *lines,
    )
    return b"\r\n".join(head) + b"\r\n\r\n" + body


APPEND = post(b"/v1/streams/race/entries", ENTRY)
REFUSED = post(b"/v1/streams/race/entries", b'{"fields":{"rider":1}}')
LATE_REFUSED = post(b"/v1/streams/none/entries", ENTRY[:-1] + b',"nomkstream":true}')
"""Refused by the store, not for its body."""
HANDED_ON = b"GET /v1/streams/race/entries HTTP/1.1\r\nhost: localhost\r\n\r\n"
"""A hot request that the documented route serves: its page may be long."""
LATE_HANDED_ON = b"GET /v1/streams/crowd/groups/g/pending:summary HTTP/1.1\r\nhost: localhost\r\n\r\n"
"""The same, but only its reply shows it: the group of `crowded` has too many consumers."""
DOCUMENTED = post(b"/v1/streams/race/entries", ENTRY, b"prefer: nothing")
HOT_GET = b"GET /v1/streams/race/length HTTP/1.1\r\nhost: localhost\r\n\r\n"
GET = HOT_GET.replace(b"\r\n\r\n", b"\r\nprefer: nothing\r\n\r\n")
CHUNKED = (
    b"POST /v1/streams/race/entries HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n%x\r\n%b\r\n0\r\nx-trailer: 1\r\n\r\n"
) % (5, ENTRY[:5], len(ENTRY[5:]), ENTRY[5:])
UPGRADE = post(b"/v1/streams/race/entries", ENTRY, b"connection: upgrade", b"upgrade: h2c")
KINDS = (
    *(APPEND, REFUSED, LATE_REFUSED, HANDED_ON, LATE_HANDED_ON),
    *(DOCUMENTED, GET, CHUNKED, UPGRADE, HOT_GET),
)


def crowded() -> Engine:
    """An engine with a group that has more consumers than a hot answer lists."""
    engine = Engine()
    engine.execute(CreateGroup(b"crowd", b"g", 0, create_stream=True), START_MS)
    for number in range(ROWS_PER_PIECE + 1):
        engine.execute(CreateConsumer(b"crowd", b"g", b"%d" % number), START_MS)
    return engine


class PatientStore(EngineStore):
    """The store, which answers hot requests in a later turn of the loop, as one that waits for a disk."""

    def __init__(self, engine: Engine, **options: Any) -> None:
        super().__init__(engine, **options)
        begin = self.joining.begin
        self.joining.begin = lambda receiver: begin(_LateReceiver(receiver))  # type: ignore[method-assign]

    def submit(self, command: Command, receive: Any, wait: BeginWait | None = None) -> Answer:
        return super().submit(command, _later(receive), wait)


class _LateReceiver:
    """Passes the answers on in a later turn of the loop."""

    def __init__(self, receiver: JoinedReceiver) -> None:
        self._receiver = receiver

    def receive(self, requests: Sequence[Any], answer: Answer | Exception) -> None:
        self._receiver.wait_began(requests)
        asyncio.get_running_loop().call_soon(self._receiver.receive, requests, answer)

    def wait_began(self, requests: Sequence[Any]) -> None:
        raise AssertionError(f"the log of this store is never behind: {requests}")


def _later(receive: Any) -> Callable[[Answer], None]:
    def later(answer: Answer) -> None:
        asyncio.get_running_loop().call_soon(receive, answer)

    return later


async def answers_to(pieces: Sequence[bytes], store: EngineStore) -> list[bytes]:
    """What is written in reply to `pieces`, each delivered when the protocol reads, as a transport does."""
    protocol, transport = connected(store, create_api(store, version="1"))
    for piece in pieces:
        await until(lambda: transport.is_reading_now)
        protocol.data_received(piece)
    await settled(protocol, transport)
    assert (protocol.state.receiving, protocol.state.answering) == (Receiving.IDLE, Answering.FREE)
    return answers_in(transport)


async def settled(protocol: Any, transport: Transport) -> None:
    def is_settled() -> bool:
        return protocol.state.answering not in {Answering.HOT, Answering.ASGI} and not (
            protocol._run.kept or protocol._run.unsent or protocol._run.held
        )

    await until(is_settled)
    assert transport.is_reading_now


def answers_in(transport: Transport) -> list[bytes]:
    """The answers, without what differs from one to the next; lines of a head in alphabetical order."""
    whole = re.sub(rb"[0-9a-f]{32}", b"REQUEST", b"".join(transport.written))
    parts = re.sub(rb"\d{13}-\d+", b"ID", whole).split(b"HTTP/1.1 ")[1:]
    heads = [part.partition(b"\r\n\r\n") for part in parts]
    return [b"\n".join([*sorted(head.split(b"\r\n")), body]) for head, _, body in heads]


def cut_up(raw: bytes, chance: random.Random) -> list[bytes]:
    """`raw` in pieces of random sizes, mostly small."""
    pieces = []
    while raw:
        size = chance.choice((1, 2, 7, 50, 200, 1000))
        pieces.append(raw[:size])
        raw = raw[size:]
    return pieces
