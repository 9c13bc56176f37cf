"""The adapter between the HTTP protocol and uvicorn's ASGI cycle.

This module owns every use of uvicorn by the HTTP protocol: the cycle that runs the application for one
request, the flow control that the cycle shares with the connection, and the server's sets of connections and
tasks. It never parses, and never decides when a request runs. `tests/unit/test_uvicorn.py` lists each part
of uvicorn that the server uses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sized
from typing import Any, Final, Protocol, cast
from urllib.parse import unquote

import httptools
from uvicorn._types import ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from tailrace.api.access.rates import QUOTA_STATE, Quota
from tailrace.api.access.token_end import ABORT_EXTENSION
from tailrace.api.follow.sse import OUTPUT_EXTENSION
from tailrace.api.http.disconnect import CLIENT_SIDE_EXTENSION, ClientSide
from tailrace.app.protocols.heads import RequestHead
from tailrace.app.protocols.output import EventOutput

_logger: Final = logging.getLogger("uvicorn.error")
_ASGI_HTTP_VERSION: Final = "2.3"


class AsgiConnection(Protocol):
    """The calls that the adapter makes to the connection."""

    def answered(self) -> None:
        """The application has written a whole answer."""
        ...

    def last_answered(self) -> None:
        """End the connection after this answer."""
        ...

    def cut(self) -> None:
        """End the connection now, and drop unsent data."""
        ...


class AsgiAdapter:
    """The data that all requests of one connection share. `flow` pauses and resumes reading. `client_ended`
    is set when the client has ended its side; waiting requests then give up."""

    def __init__(self, config: Config, server_state: ServerState, app_state: dict[str, Any]) -> None:
        if not config.loaded:
            config.load()
        self._config = config
        self._app_state = app_state
        self.server_state = server_state
        self.client_ended = asyncio.Event()
        self.flow: _PipelineFlow
        self._client_side: ClientSide
        self._connection: AsgiConnection
        self._transport: _AnswerTransport
        self._scope: dict[str, Any] = {}

    def connect(self, connection: AsgiConnection, transport: asyncio.Transport, queue: Sized) -> str:
        """Use the transport of a new connection. Return the client's address, or "" if it is unknown.

        `queue`: the requests that wait for their turn.
        """
        self.flow = _PipelineFlow(transport, queue)
        self._connection = connection
        self._client_side = ClientSide(self.client_ended.wait, connection.last_answered)
        self._transport = _AnswerTransport(connection, transport)
        self.server_state.connections.add(cast("Any", connection))
        client = get_remote_addr(transport)
        self._scope = {
            "type": "http",
            "asgi": {"version": self._config.asgi_version, "spec_version": _ASGI_HTTP_VERSION},
            "server": get_local_addr(transport),
            "client": client,
            "scheme": "https" if is_ssl(transport) else "http",
            "root_path": "",
        }
        return client[0] if client else ""

    def disconnect(self) -> None:
        """Release the connection, which has ended or now belongs to another protocol."""
        self.server_state.connections.discard(cast("Any", self._connection))
        self.flow.resume_writing()
        # The connection has a reference to this adapter: without a cycle both are freed at once.
        del self._client_side, self._connection, self._transport

    def request(self, head: RequestHead, quota: Quota | None = None) -> AsgiRequest:
        """Return a request for the application. `quota`: set if the request was already counted.

        Raises `httptools.HttpParserError` or `UnicodeError` if the target is not a URL.
        """
        cycle_class = RequestResponseCycle if head.version == "1.1" else OlderCycle
        cycle = cycle_class(
            scope=cast("Any", self._scope_of(head, quota)),
            transport=cast("Any", self._transport),
            flow=self.flow,
            logger=_logger,
            access_logger=_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=_expects_continue(head),
            keep_alive=head.keep_alive,
            on_response=self._connection.answered,
        )
        return AsgiRequest(cycle, self)

    def complete_request(self, head: RequestHead, body: bytes, quota: Quota | None) -> AsgiRequest:
        """Return a request for the application, like `request`, with its whole body."""
        request = self.request(head, quota)
        request.feed(body)
        request.complete()
        return request

    def _scope_of(self, head: RequestHead, quota: Quota | None) -> dict[str, Any]:
        url = httptools.parse_url(head.target)
        state = self._app_state.copy()
        if quota is not None:
            state[QUOTA_STATE] = quota
        return {
            **self._scope,
            "http_version": head.version,
            "method": head.method.decode("ascii"),
            "path": unquote(url.path.decode("ascii")),
            "raw_path": url.path,
            "query_string": url.query or b"",
            "headers": list(head.headers),
            "state": state,
            # `close` waits until the client has read everything; `cut` does not.
            "extensions": {
                ABORT_EXTENSION: self._connection.cut,
                CLIENT_SIDE_EXTENSION: self._client_side,
                OUTPUT_EXTENSION: self.open_output,
            },
        }

    def open_output(self, scope: Mapping[str, Any], stall_s: float) -> EventOutput:
        """Return the output of the response to the request with this scope: see `OpenOutput`."""
        output = self.flow.output = EventOutput(
            self._transport.own,
            asyncio.get_running_loop(),
            lambda _: self._connection.cut(),
            stall_s,
            is_chunked=scope["http_version"] == "1.1",
        )
        if self.flow.write_paused:
            output.pause()
        return output

    def start(self, cycle: RequestResponseCycle) -> None:
        """Run the application for a request, in a task."""
        tasks = self.server_state.tasks
        task = asyncio.get_running_loop().create_task(cycle.run_asgi(self._config.loaded_app))
        task.add_done_callback(tasks.discard)
        tasks.add(task)

    def websocket(self) -> asyncio.Protocol:
        """Return the protocol that takes over the connection."""
        made: asyncio.Protocol = cast("Any", self._config.ws_protocol_class)(
            config=self._config, server_state=self.server_state, app_state=self._app_state
        )
        return made


class AsgiRequest:
    """One request that the application answers: uvicorn's cycle, and the operations on it."""

    __slots__ = ("_adapter", "_cycle")

    def __init__(self, cycle: RequestResponseCycle, adapter: AsgiAdapter) -> None:
        self._cycle = cycle
        self._adapter = adapter

    @property
    def is_answered(self) -> bool:
        """Whether the answer is complete."""
        return self._cycle.response_complete

    @property
    def is_answer_begun(self) -> bool:
        """Whether the application has written a part of the answer."""
        return self._cycle.response_started

    def start(self) -> None:
        """Run the application."""
        self._adapter.start(self._cycle)

    def feed(self, piece: bytes) -> None:
        """Pass a piece of the body to the application, unless it has already answered."""
        cycle = self._cycle
        if cycle.response_complete:
            return
        cycle.body += piece
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self._adapter.flow.pause_reading()
        cycle.message_event.set()

    def complete(self) -> None:
        """Mark the body as complete."""
        if not self._cycle.response_complete:
            self._cycle.more_body = False
            self._cycle.message_event.set()

    def end_connection_after(self) -> None:
        """Make the answer the last one of the connection."""
        self._cycle.keep_alive = False

    def disconnect(self) -> None:
        """Notify the application that the client has disconnected, or that the body will stay incomplete."""
        self._cycle.disconnected = True
        self._cycle.waiting_for_100_continue = False
        self._cycle.message_event.set()


class _PipelineFlow(FlowControl):
    """Keeps reading paused while requests wait in `queue`.

    uvicorn resumes reading after each answer, and one read can contain thousands of requests. So the queue
    would grow without limit if a client sends faster than the server answers.
    """

    def __init__(self, transport: asyncio.Transport, queue: Sized) -> None:
        super().__init__(transport)
        self._queue = queue
        self.output: EventOutput | None = None
        """Where a response is pushed."""

    def pause_writing(self) -> None:
        """Pause writing, and watch whether a client that is pushed to reads."""
        super().pause_writing()
        if self.output is not None:
            self.output.pause()

    def resume_writing(self) -> None:
        """Resume writing: the client has caught up."""
        super().resume_writing()
        if self.output is not None:
            self.output.resume()

    def resume_reading(self) -> None:
        """Resume reading unless requests wait. If one waits, the body of the current request is complete."""
        if not self._queue:
            super().resume_reading()


class _AnswerTransport:
    """The transport for uvicorn's cycle: it leaves the end of the connection to the connection."""

    __slots__ = ("close", "is_closing", "own", "write")

    def __init__(self, connection: AsgiConnection, transport: asyncio.Transport) -> None:
        self.own = transport
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = connection.last_answered


def _expects_continue(head: RequestHead) -> bool:
    """Whether the client waits for a `100 Continue`, which HTTP/1.0 does not have."""
    return head.version != "1.0" and any(
        name == b"expect" and value.lower() == b"100-continue" for name, value in head.headers
    )


class OlderCycle(RequestResponseCycle):
    """A cycle for a client of HTTP/1.0, which knows no chunks: the end of the connection ends a body of
    unknown length."""

    _is_of_known_length = True

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message of the application. uvicorn would send a body of unknown length in chunks."""
        if message["type"] == "http.response.start":
            self._is_of_known_length = any(name == b"content-length" for name, _ in message["headers"])
            self.chunked_encoding = None if self._is_of_known_length else False
        elif message["type"] == "http.response.body" and not self._is_of_known_length:
            self.expected_content_length = len(message.get("body", b""))
        await super().send(message)
