"""A defect met on the hot routes is told as the documented route tells it: a 500 that promises nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from tailrace.api.access.security import UNSECURED
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.app.metrics.sources import Sources
from tailrace.app.protocols.classes import http_protocol
from tailrace.app.protocols.connections import Connections
from tailrace.app.protocols.http import HttpProtocol
from tailrace.app.rates import TokenBuckets
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine

BODY = b'{"fields":{"rider":"Castilla"}}'
APPEND = (
    b"POST /v1/streams/race:france/entries HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written: list[bytes] = []

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return False

    def resume_reading(self) -> None:
        """Nothing was paused."""


async def _no_application(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError("these requests are not the application's")


def connected(store: EngineStore) -> tuple[HttpProtocol, Transport]:
    sources = Sources(store, None, Connections(DEFAULT_LIMITS))
    protocol_class = http_protocol(sources, None, UNSECURED, TokenBuckets(DEFAULT_LIMITS))
    config = uvicorn.Config(
        _no_application, interface="asgi3", http=protocol_class, lifespan="off", log_config=None
    )
    config.load()
    protocol, transport = protocol_class(config, ServerState(), {}), Transport()
    protocol.connection_made(transport)
    return protocol, transport


@pytest.mark.parametrize("known", [0, 1], ids=["parsed", "a known head"])
def test_a_command_that_breaks_the_engine_is_a_500(known: int, caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(_break(known))
    assert [record.message for record in caplog.records] == ["request_failed"]


async def _break(known: int) -> None:
    store = EngineStore(Engine())
    protocol, transport = connected(store)
    for _ in range(known):
        protocol.data_received(APPEND)
        assert transport.written.pop().startswith(b"HTTP/1.1 201 ")
    del store.keyspace.streams
    protocol.data_received(APPEND)
    head, _, body = transport.written.pop().partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert head.startswith(b"HTTP/1.1 500 ")
    assert (problem["code"], problem["side_effects"]) == ("INTERNAL", "unknown")
    assert not transport.written
