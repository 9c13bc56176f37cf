"""A WebSocket that ends while requests wait: its tasks end, and it no longer counts as open.

The real endpoint runs over the real engine. The tests hold the engine back where they need it, and wait for
events.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import pytest

from tailrace.api.access.rates import NoRates
from tailrace.api.access.security import OpenAccess, Security
from tailrace.api.principals import Principal, Unauthenticated
from tailrace.api.server_limits import DEFAULT_LIMITS, OpenLimits
from tailrace.api.websocket.endpoint import WebSocketEndpoint
from tailrace.api.websocket_limits import BACKLOG_MAX, TURN_REQUESTS_MAX, CloseCode
from tailrace.api.wire.turns import AT_ONCE_BYTES_MAX
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.replies import Reply
from tests.support.engine_store import EngineStore
from tests.support.websocket_client import Client
from tests.support.websocket_peer import Peer

DEADLINE_S: Final = 20
"""A test that takes longer hangs."""

BEHIND: Final = BACKLOG_MAX + TURN_REQUESTS_MAX
"""So many requests that the connection is behind after its first turn, too."""

COMMAND: Final = {"id": 1, "op": "command", "command": ["XLEN", "s"]}
SUBSCRIBE: Final = {"id": 1, "op": "subscribe", "streams": [{"key": "s", "after": "$"}], "credit": 1}


class HeldStore(EngineStore):
    """A store whose turns end when the test allows it. `fails_with`: every turn raises it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.fails_with: Exception | None = None

    async def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        self.begun.set()
        await self.may_go_on.wait()
        if self.fails_with is not None:
            raise self.fails_with
        return await super().execute_turn(requests, rooms)


class OneToken(OpenAccess):
    """Access for one token, which the test ends. `watches`: the connections that must hear of it."""

    def __init__(self) -> None:
        self.watches: list[Callable[[Unauthenticated], None]] = []

    def watch(self, _principal: Principal, on_end: Callable[[Unauthenticated], None]) -> Callable[[], None]:
        self.watches.append(on_end)
        return partial(self.watches.remove, on_end)

    def end(self) -> None:
        for on_end in list(self.watches):
            on_end(Unauthenticated("the token has expired"))


class Served:
    """One connection over an endpoint of its own."""

    def __init__(self) -> None:
        self.store = HeldStore()
        self.token = OneToken()
        self.peer = Peer()
        self.open = OpenLimits(DEFAULT_LIMITS)
        security = Security(self.token, checks_host=False)
        self._endpoint = WebSocketEndpoint(self.store, "1", self.open, NoRates(), security)

    async def run(self, script: Callable[[Served], Awaitable[None]]) -> None:
        """Serve the connection to its end while `script` runs, then check that nothing is left of it."""
        async with asyncio.timeout(DEADLINE_S):
            serving = asyncio.create_task(self.peer.served_by(self._endpoint))
            await script(self)
            await serving
        assert self.token.watches == []
        assert (self.open.websockets.open_count, self.open.subscriptions.open_count) == (0, 0)


def serve(script: Callable[[Served], Awaitable[None]]) -> Served:
    """Run `script` against a connection."""

    async def run() -> Served:
        served = Served()
        await served.run(script)
        return served

    return asyncio.run(run())


async def until_the_connection_waits_for_its_backlog(served: Served) -> None:
    """Let the connection begin its first turn and then wait until fewer requests wait."""
    await served.store.begun.wait()
    for _ in range(3):
        await asyncio.sleep(0)


def test_a_connection_that_is_behind_ends_with_its_token() -> None:
    async def script(served: Served) -> None:
        served.peer.say([COMMAND] * BEHIND)
        await until_the_connection_waits_for_its_backlog(served)
        served.token.end()
        served.store.may_go_on.set()

    assert serve(script).peer.codes == [CloseCode.ACCESS_ENDED]


def test_a_large_frame_that_is_read_after_the_token_ended_does_not_keep_the_connection() -> None:
    async def script(served: Served) -> None:
        # The token ends on the next turn of the loop, before the loop can hear of the thread's end.
        served.peer.on_receive = partial(asyncio.get_running_loop().call_soon, served.token.end)
        served.store.may_go_on.set()
        text = json.dumps([COMMAND] * BEHIND)
        served.peer.say_frame(text + " " * (AT_ONCE_BYTES_MAX + 1 - len(text)))

    assert serve(script).peer.codes == [CloseCode.ACCESS_ENDED]


def test_a_connection_that_is_behind_ends_if_the_server_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def script(served: Served) -> None:
        served.store.fails_with = RuntimeError("on purpose")
        served.peer.say([COMMAND] * BEHIND)
        await until_the_connection_waits_for_its_backlog(served)
        served.store.may_go_on.set()

    with caplog.at_level(logging.CRITICAL, "tailrace.websocket"):
        assert serve(script).peer.codes == [CloseCode.INTERNAL_ERROR]


def test_a_connection_that_is_behind_ends_if_the_client_leaves() -> None:
    async def script(served: Served) -> None:
        served.peer.say([COMMAND] * BEHIND)
        served.peer.leave()
        await until_the_connection_waits_for_its_backlog(served)
        served.store.may_go_on.set()

    assert serve(script).peer.codes == []


def test_a_connection_that_is_behind_ends_if_the_server_closes_it_for_not_reading() -> None:
    async def script(served: Served) -> None:
        served.peer.say([COMMAND] * BEHIND)
        await until_the_connection_waits_for_its_backlog(served)
        served.peer.close_now(CloseCode.NOT_READING, "")
        served.store.may_go_on.set()

    assert serve(script).peer.codes == [CloseCode.NOT_READING]


@pytest.mark.parametrize("end", ["token", "violation", "leave"])
def test_a_subscription_that_opens_after_the_end_keeps_no_place(end: str) -> None:
    async def script(served: Served) -> None:
        served.peer.say(SUBSCRIBE)
        await served.store.begun.wait()
        if end == "token":
            served.token.end()
        elif end == "violation":
            served.peer.say_frame("{nope")
        else:
            served.peer.leave()
        # The connection hears of its end while the store still holds the request.
        for _ in range(3):
            await asyncio.sleep(0)
        served.store.may_go_on.set()

    serve(script)


def test_a_session_takes_no_requests_after_its_end() -> None:
    client = Client()
    client.session.close()
    client.session.receive(client.encoded([{"id": 1, "op": "ping"}] * BACKLOG_MAX))
    assert not client.session.is_behind
    assert client.work() == []
