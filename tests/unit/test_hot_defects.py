"""A defect on a hot route gets the answer of the documented route: a 500 that leaves the outcome open."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tests.support.pipelines import settled
from tests.support.protocol import connected

BODY = b'{"fields":{"rider":"Castilla"}}'
APPEND = (
    b"POST /v1/streams/race:france/entries HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


async def _no_application(_scope: Any, _receive: Any, _send: Any) -> None:
    raise AssertionError("these requests are not the application's")


def _broken(*_: Any) -> Any:
    raise RuntimeError("a defect")


@pytest.mark.parametrize("parts", [1, 2], ids=["a plain head", "parsed"])
def test_a_command_that_breaks_the_engine_is_a_500(
    parts: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> bytes:
        store = EngineStore(Engine())
        protocol, transport = connected(store, _no_application)
        for name in ("execute", "execute_joined"):
            monkeypatch.setattr(store._recorder.engine, name, _broken)
        for part in (APPEND[:9], APPEND[9:]) if parts == 2 else (APPEND,):
            protocol.data_received(part)
        await settled(protocol, transport)
        [answer] = transport.written
        return answer

    head, _, body = asyncio.run(story()).partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert head.startswith(b"HTTP/1.1 500 ")
    assert (problem["code"], problem["side_effects"]) == ("INTERNAL", "unknown")
    assert [record.message for record in caplog.records] == ["request_failed"]
