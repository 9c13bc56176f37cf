"""Serves `/v1/ws` on a connection: the handshake, the tasks, and the end of the connection.

It owns the tasks and the order of sending. The other modules of the package decide what to send. A push
needs no task and no ASGI call: the store's callback writes it to the connection.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from starlette.types import Receive, Scope, Send

from tailrace.api.access.guard import Guard
from tailrace.api.access.rates import Quota, Rates, client_address_of, require_quota
from tailrace.api.access.security import Security
from tailrace.api.follow.followers import SharedReads
from tailrace.api.ports import StoreUnavailable, TurnStore
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import RequestRefused
from tailrace.api.server_limits import OpenLimit, OpenLimits
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.exchanges import Turn
from tailrace.api.websocket.frames import read_frame
from tailrace.api.websocket.handshake import CODECS, DEFAULT_CODEC, refuse, shake_hands
from tailrace.api.websocket.outlets import Socket
from tailrace.api.websocket.plans import Answers
from tailrace.api.websocket.pushes import greeting
from tailrace.api.websocket.route import SOCKET_EXTENSION
from tailrace.api.websocket.session import WebSocketSession
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.api.websocket_limits import CloseCode, ProtocolViolation
from tailrace.api.wire.turns import AT_ONCE_BYTES_MAX
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.replies import Reply

_logger = logging.getLogger("tailrace.websocket")


class WebSocketEndpoint:
    """ASGI application that serves all WebSockets of one store. The greeting contains `version`."""

    def __init__(
        self, store: TurnStore, version: str, open_limits: OpenLimits, rates: Rates, security: Security
    ) -> None:
        self._store = store
        self._security = security
        self._version = version
        self._rates = rates
        self._open_limits = open_limits
        self._reads = SharedReads(store)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until it ends."""
        await receive()
        try:
            self._open_limits.websockets.require_room()
            principal, subprotocol = shake_hands(scope, self._security)
            take = partial(self._rates.take, principal, client_address_of(scope))
            require_quota(take())
        except (RequestRefused, Unauthenticated) as error:
            await refuse(scope, send, error)
            return
        await send({"type": "websocket.accept", "subprotocol": subprotocol})
        codec = DEFAULT_CODEC if subprotocol is None else CODECS[subprotocol]
        socket: Socket = scope["extensions"][SOCKET_EXTENSION]
        guard = Guard(self._security, principal)
        with self._open_limits.websockets:
            subscriptions = self._open_limits.subscriptions
            connection = _Connection(self._store, self._reads, socket, codec, guard, take, subscriptions)
            await connection.serve(receive, self._version)


class _Connection:
    """One connection with its session and tasks. One task receives; another runs while requests wait."""

    def __init__(
        self,
        store: TurnStore,
        reads: SharedReads,
        socket: Socket,
        codec: Codec,
        guard: Guard,
        take: Callable[[], Quota | None],
        open_limit: OpenLimit,
    ) -> None:
        self._store = store
        self._socket = socket
        self._codec = codec
        self._guard = guard
        self._session = WebSocketSession(codec, store, reads, self, self._release, guard, take, open_limit)
        self._tasks: set[asyncio.Task[None]] = set()
        self._work: asyncio.Task[None] | None = None
        self._relief = asyncio.Event()
        self._turn_taken = asyncio.Event()
        socket.on_relief = self._relieved

    async def serve(self, receive: Receive, version: str) -> None:
        """Send the greeting, run requests until the connection ends, and clean up."""
        self.send(greeting(self._session.codec, version))
        forget = self._guard.watch(self._token_ended)
        try:
            await self._receive_all(receive)
            self._session.client_left()
            await self._worked_off()
        except ProtocolViolation as violation:
            self._socket.close_now(violation.code, violation.reason)
        finally:
            forget()
            self._session.close()
        await self._end()

    # --- api.websocket.session.Outlet ----------------------------------------------------------

    @property
    def can_push(self) -> bool:
        """True if a push may be sent now."""
        return self._socket.can_push

    @property
    def is_closing(self) -> bool:
        """True if frames are no longer sent."""
        return self._socket.is_closing

    def send(self, frame: bytes) -> None:
        """Write one frame without waiting."""
        self._socket.send_now(frame, is_text=self._codec.is_text)

    def restarting(self) -> None:
        """Close the connection with 1012, because the server shuts down. The client may connect again."""
        self._socket.close_now(CloseCode.SERVICE_RESTART, "the server is shutting down")

    def _token_ended(self, error: Unauthenticated) -> None:
        """End each subscription with `error` and close the connection. Later requests are not run."""
        self._session.end_access(error)
        self._turn_taken.set()
        code = CloseCode.ACCESS_CHANGED if error.is_changed else CloseCode.ACCESS_ENDED
        self._socket.close_now(code, error.reason)

    # --- requests ------------------------------------------------------------------------------

    async def _receive_all(self, receive: Receive) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            data = message["bytes"] if text is None else text
            if len(data) > AT_ONCE_BYTES_MAX:
                data = await asyncio.to_thread(read_frame, self._codec, data)
            self._session.receive(data)
            if self._work is None:
                self._work = self._start(self._carry_out())
            while self._session.is_behind:
                self._turn_taken.clear()
                await self._turn_taken.wait()

    async def _worked_off(self) -> None:
        while self._work is not None:
            await asyncio.wait({self._work})

    async def _carry_out(self) -> None:
        """Run requests in turns until none is waiting."""
        try:
            while turn := self._session.next_turn():
                self._turn_taken.set()
                for frame in self._session.replies(turn, await self._answers(turn)):
                    await self._uncongested()
                    # The replies of a turn are written together: a write takes longer than most replies.
                    self._socket.hold(frame, is_text=self._codec.is_text)
                self._socket.flush()
                if self._session.has_waiting:
                    # A turn without commands does not wait for the store, so let other connections run.
                    await asyncio.sleep(0)
        finally:
            self._work = None

    async def _answers(self, turn: Turn) -> Answers | StoreUnavailable:
        commands = turn.commands_by_request
        if not any(commands):
            return ()
        try:
            return await self._store.execute_turn(commands, turn.rooms)
        except StoreUnavailable as refusal:
            return refusal

    async def _uncongested(self) -> None:
        while self._socket.is_congested:
            self._relief.clear()
            await self._relief.wait()

    def _relieved(self) -> None:
        self._relief.set()
        self._session.drained()

    # --- the end -------------------------------------------------------------------------------

    async def _end(self) -> None:
        """Wait for running requests, then return (nack) the entries of consumers with `on_close: "nack"`."""
        await self._worked_off()
        await self._returned(self._session.unsettled)

    def _release(self, unsent: Unsettled) -> None:
        self._start(self._returned(unsent))

    async def _returned(self, held: Unsettled) -> None:
        """Return (nack) the entries that are still pending for their consumers."""
        questions = held.questions()
        if not questions:
            return
        try:
            releases = held.releases(await self._in_turns(questions))
            await self._in_turns(releases)
        except StoreUnavailable as refusal:
            # The entries stay pending. Consumers can claim them after their idle time.
            _logger.info("websocket_release_refused", extra={"fields": {"reason": refusal.reason}})

    async def _in_turns(self, commands: Sequence[Command]) -> list[Reply | StreamError]:
        """Return the replies of `commands`; other requests are served between them."""
        replies: list[Reply | StreamError] = []
        room = ReplyRoom()
        while rest := commands[len(replies) :]:
            requests = [(command,) for command in rest]
            replies += await self._store.execute_turn(requests, [room] * len(requests))
            await asyncio.sleep(0)
        return replies

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.error("websocket_failed", exc_info=error)
            self._session.close()
            self._turn_taken.set()
            self._socket.close_now(CloseCode.INTERNAL_ERROR, "the server failed")
