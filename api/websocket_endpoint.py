"""`/v1/ws` on a real connection: the handshake, the task that serves it, and its end.

It owns tasks and order of sending; what is said is `api.websocket`'s. A push costs no task and no ASGI
cycle: it is written to the connection where the store calls back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from api.ports import NotAccepting, StreamStore
from api.problems import PROBLEM_MEDIA_TYPE, HttpCode, problem
from api.websocket.codecs import Codec
from api.websocket.limits import CloseCode, ProtocolViolation
from api.websocket.plans import Answers
from api.websocket.session import Turn, WebSocketSession
from api.websocket.shared_reads import SharedReads
from api.websocket.subprotocols import CODECS, DEFAULT_CODEC
from core.commands import Command

WEBSOCKET_PATH: Final = "/v1/ws"

SOCKET_EXTENSION: Final = "tailrace.socket"
"""Where the ASGI scope's `extensions` hold the connection's `Socket`."""

_logger = logging.getLogger("tailrace.websocket")


class Socket(Protocol):
    """A connection as the server offers it beside ASGI: `app` has one for uvicorn.

    `on_relief`: called when it is no longer congested, and when it is lost.
    """

    on_relief: Callable[[], None]

    @property
    def is_congested(self) -> bool:
        """Whether so much waits for the client that no more should be sent."""
        ...

    def send_now(self, payload: bytes, *, is_text: bool) -> None:
        """Write one frame, without waiting; nothing, where the connection is closing."""
        ...

    def close_now(self, code: int, reason: str) -> None:
        """Close the connection behind what was written."""
        ...


class WebSocketEndpoint:
    """ASGI: one object serves all connections of one store. `version` is told in the greeting."""

    def __init__(self, store: StreamStore, version: str) -> None:
        self._store = store
        self._version = version
        self._reads = SharedReads(store)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection to its end."""
        await receive()
        refusal = _refusal(scope)
        if refusal is not None:
            await _refuse(scope, send, refusal)
            return
        subprotocol = _chosen(scope["subprotocols"])
        await send({"type": "websocket.accept", "subprotocol": subprotocol})
        codec = DEFAULT_CODEC if subprotocol is None else CODECS[subprotocol]
        socket: Socket = scope["extensions"][SOCKET_EXTENSION]
        await _Connection(self._store, self._reads, socket, codec).serve(receive, self._version)


class _Connection:
    """One connection, its session and its tasks: one receives, and one works while requests wait."""

    def __init__(self, store: StreamStore, reads: SharedReads, socket: Socket, codec: Codec) -> None:
        self._store = store
        self._socket = socket
        self._codec = codec
        self._session = WebSocketSession(codec, store, reads, self, self._release)
        self._tasks: set[asyncio.Task[None]] = set()
        self._work: asyncio.Task[None] | None = None
        self._relief = asyncio.Event()
        self._turn_taken = asyncio.Event()
        socket.on_relief = self._relieved

    async def serve(self, receive: Receive, version: str) -> None:
        """Greet, then carry out requests until the connection ends, and clean up."""
        self.send(self._session.greeting(version))
        try:
            await self._receive_all(receive)
        except ProtocolViolation as violation:
            self._socket.close_now(violation.code, violation.reason)
        finally:
            self._session.close()
        await self._end()

    # --- api.websocket.session.Outlet ----------------------------------------------------------

    @property
    def is_congested(self) -> bool:
        """Whether much waits for the client."""
        return self._socket.is_congested

    def send(self, frame: bytes) -> None:
        """Write one frame, without waiting."""
        self._socket.send_now(frame, is_text=self._codec.is_text)

    def restarting(self) -> None:
        """Close the connection: the client may come back to whoever serves next."""
        self._socket.close_now(CloseCode.SERVICE_RESTART, "the server is shutting down")

    # --- requests ------------------------------------------------------------------------------

    async def _receive_all(self, receive: Receive) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            self._session.receive(message["bytes"] if text is None else text)
            if self._work is None:
                self._work = self._start(self._carry_out())
            while self._session.is_behind:
                self._turn_taken.clear()
                await self._turn_taken.wait()

    async def _carry_out(self) -> None:
        """Turn by turn, until no request waits."""
        try:
            while turn := self._session.next_turn():
                self._turn_taken.set()
                for frame in self._session.replies(turn, await self._answers(turn)):
                    await self._uncongested()
                    self.send(frame)
        finally:
            self._work = None

    async def _answers(self, turn: Turn) -> Answers | NotAccepting:
        commands = turn.commands
        if not commands:
            return ()
        try:
            return await self._store.execute_all(commands)
        except NotAccepting as refusal:
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
        """Let what is under way end, then give back what the client had asked to be given back."""
        if self._work is not None:
            await asyncio.wait({self._work})
        held = self._session.held
        questions = held.questions()
        if not questions:
            return
        try:
            releases = held.releases(await self._store.execute_all(questions))
            await self._store.execute_all(releases)
        except NotAccepting as refusal:
            # They stay pending, and are claimed by their idle time.
            _logger.info("websocket_release_refused", extra={"fields": {"reason": refusal.reason}})

    def _release(self, commands: Sequence[Command]) -> None:
        self._start(self._carry_out_unasked(commands))

    async def _carry_out_unasked(self, commands: Sequence[Command]) -> None:
        try:
            await self._store.execute_all(commands)
        except NotAccepting as refusal:
            _logger.info("websocket_release_refused", extra={"fields": {"reason": refusal.reason}})

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.error("websocket_failed", exc_info=error)
            self._socket.close_now(CloseCode.INTERNAL_ERROR, "the server failed")


# --- the handshake -----------------------------------------------------------------------------------


def _chosen(offered: Sequence[str]) -> str | None:
    """The first subprotocol offered that is spoken here."""
    return next((name for name in offered if name in CODECS), None)


def _refusal(scope: Scope) -> Mapping[str, Any] | None:
    """Why this connection is not taken, as a problem."""
    if not _is_same_origin(Headers(scope=scope)):
        return problem(HttpCode.BAD_REQUEST, "the page that asks is of another origin than this server", None)
    if scope["subprotocols"] and _chosen(scope["subprotocols"]) is None:
        told = f"none of the subprotocols is spoken here; there are {', '.join(CODECS)}"
        return problem(HttpCode.BAD_REQUEST, told, None)
    if SOCKET_EXTENSION not in scope.get("extensions", {}):
        return problem(HttpCode.INTERNAL, "the server was started without its WebSocket protocol", None)
    return None


def _is_same_origin(headers: Headers) -> bool:
    """Browsers let any page open a WebSocket to anywhere, and tell its origin; nobody else sends one."""
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


async def _refuse(scope: Scope, send: Send, refusal: Mapping[str, Any]) -> None:
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close"})
        return
    headers = [(b"content-type", PROBLEM_MEDIA_TYPE.encode())]
    start = {"type": "websocket.http.response.start", "status": refusal["status"], "headers": headers}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": msgspec.json.encode(refusal)})
