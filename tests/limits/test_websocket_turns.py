"""No WebSocket message of an allowed size keeps the event loop busy for long.

The work between two turns of the loop is counted as in `test_turns`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Final

import pytest

from tailrace.api.access.rates import NoRates
from tailrace.api.access.security import UNSECURED
from tailrace.api.server_limits import DEFAULT_LIMITS, OpenLimits
from tailrace.api.websocket.endpoint import WebSocketEndpoint
from tailrace.api.websocket_limits import REQUESTS_PER_FRAME_MAX
from tailrace.app.store.service import EngineStore
from tailrace.core.engine import Engine
from tests.limits.test_turns import WORK_PER_TURN_MAX, CountingLoop
from tests.support.websocket_peer import Peer

GROUP: Final = {"key": "s", "group": "g"}
STREAMS_WITHOUT_POSITION: Final = [{"key": f"s{number}"} for number in range(30)]
IDS: Final = [f"1-{number}" for number in range(80)]
MANY: Final = REQUESTS_PER_FRAME_MAX // 4
"""Requests with many mistakes: a quarter is enough to see that the work does not run in one turn."""


async def answers(requests: list[Any]) -> list[Any]:
    """The replies to one message with `requests`."""
    endpoint = WebSocketEndpoint(EngineStore(Engine()), "1", OpenLimits(DEFAULT_LIMITS), NoRates(), UNSECURED)
    peer = Peer()
    serving = asyncio.create_task(peer.served_by(endpoint))
    await peer.sent.get()
    peer.say(requests)
    replies: list[Any] = json.loads(await peer.sent.get())
    peer.leave()
    await serving
    return replies


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        ({"op": "subscribe", "streams": STREAMS_WITHOUT_POSITION}, MANY),
        ({"op": "ack", **GROUP, "ids": [1] * 30}, MANY),
        ({"op": "nack", **GROUP, "ids": IDS, "mode": "loud"}, MANY),
        ({"op": "append", "key": "s", "fields": {"a": 1, "b": 2}}, MANY),
        ({"op": "command", "command": ["XADD", None]}, MANY),
        ({"op": "publish" * 30}, REQUESTS_PER_FRAME_MAX),
        ({"op": "ack", **GROUP, "ids": IDS}, REQUESTS_PER_FRAME_MAX),
        ({"op": "ping"}, REQUESTS_PER_FRAME_MAX),
    ],
    ids=["subscribe", "ack", "nack", "append", "command", "unknown", "valid acks", "ping"],
)
def test_a_message_lets_others_have_their_turn(request_: dict[str, Any], count: int) -> None:
    loop = CountingLoop()
    sys.setprofile(loop.count)
    try:
        replies = loop.run_until_complete(answers([{"id": number, **request_} for number in range(count)]))
    finally:
        sys.setprofile(None)
        loop.close()
    assert [reply["id"] for reply in replies] == list(range(count))
    assert loop.most <= WORK_PER_TURN_MAX
