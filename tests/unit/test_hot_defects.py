"""A defect on a hot route gets the answer of the documented route: a 500 that leaves the outcome open."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tests.support.protocol import connected

BODY = b'{"fields":{"rider":"Castilla"}}'
APPEND = (
    b"POST /v1/streams/race:france/entries HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


async def _no_application(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError("these requests are not the application's")


@pytest.mark.parametrize("known", [0, 1], ids=["parsed", "a cached head"])
def test_a_command_that_breaks_the_engine_is_a_500(known: int, caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(_break(known))
    assert [record.message for record in caplog.records] == ["request_failed"]


async def _break(known: int) -> None:
    store = EngineStore(Engine())
    protocol, transport = connected(store, _no_application)
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
