"""HTTP/1.1 below ASGI for the hot routes: the request's bytes to the store, the answer's to the socket.

uvicorn's protocol, within bounds (`app.bounded_http`), with one shortcut. Creating an ASGI scope, a task
and its messages costs several times what an append does; a plain request (`api.fast_path`) needs none of
them. Its body is gathered here, its command goes to the store, and the answer is written when the store
says that it is durable.
Everything else goes to the application as ever, and so does a plain request that turns out not to be:
it is handed on with its body, as if it had just arrived.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from uvicorn.config import Config
from uvicorn.server import ServerState

from tailrace.api.access.cutting import ABORT_EXTENSION
from tailrace.api.access.permissions import allowed, is_administrative
from tailrace.api.access.rates import QUOTA_STATE, Quota, Rates
from tailrace.api.access.security import Security
from tailrace.api.fast_path import FastRoute, plain_command, plain_route
from tailrace.api.http.request_id import request_id_of_header
from tailrace.api.ports import DirectStore
from tailrace.api.principals import Principal, Unauthenticated
from tailrace.api.problems.table import RequestRefused
from tailrace.app.bounded_http import BoundedHttpProtocol
from tailrace.app.hot_observer import HotObserver
from tailrace.app.plain_request import AnswerStarts, PlainRequest
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError


class FastHttpProtocol(BoundedHttpProtocol):
    """One connection. The attributes of the class are set by whoever makes it for a server."""

    store: ClassVar[DirectStore]
    observer: ClassVar[HotObserver]
    security: ClassVar[Security]
    rates: ClassVar[Rates]
    answer_starts: ClassVar[AnswerStarts]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.plain: PlainRequest | None = None
        self._body = bytearray()
        """Of the plain request that arrives."""
        self._is_handing_on = False
        self.quota_taken: Quota | None = None
        """What the request that starts next was counted as already."""

    # --- what the parser says ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Offer the application a way to cut a client off that takes nothing: closing waits for it."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT_EXTENSION: self.cut}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        """Keep a plain request, if nothing is being answered; hand all others on."""
        self.check_head()
        self.plain = None
        if self.is_to_begin_anew:
            return
        if self.takes_plain:
            route = plain_route(self.parser.get_method(), self.url, self.headers)
            if route is not None and self.parser.get_http_version() == "1.1":
                principal = self.principal_of(credentials_of(self.headers))
                if principal is not None:
                    self.plain = PlainRequest(self, route, principal, self.url)
                    self._body.clear()
                    return
        self.start_request()

    @property
    def takes_plain(self) -> bool:
        """Whether a request that comes now may be carried out here: nothing else is being answered, and the
        connection is not about to end."""
        return not (self.is_deaf or self.flow.write_paused or self._is_handing_on) and self.is_free

    def principal_of(self, credentials: Credentials) -> Principal | None:
        """Who makes a plain request, None where the documented route must say why not."""
        try:
            return self.security.authenticate(*credentials)
        except (RequestRefused, Unauthenticated):
            return None

    @property
    def default_headers(self) -> Sequence[tuple[bytes, bytes]]:
        """Headers of every answer; another list where they changed."""
        return self.server_state.default_headers

    def on_body(self, body: bytes) -> None:
        """Gather it."""
        self.count_body(len(body))
        if self.plain is not None:
            self._body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Have the store carry a plain request out."""
        plain = self.plain
        if plain is None:
            if not self.is_to_begin_anew:
                super().on_message_complete()
            return
        self.plain = None
        plain.ready_ns = time.perf_counter_ns()
        plain.body = bytes(self._body)
        plain.arrived = self.headers, self.scope
        plain.request_id = request_id_of_header(self.headers)
        # The head came earlier than what is complete now.
        if not (self._still_stands(plain.principal) and self.carry_out(plain)):
            self._hand_on(plain)

    def _still_stands(self, principal: Principal) -> bool:
        try:
            self.security.authenticator.require_standing(principal)
        except Unauthenticated:
            return False
        return True

    def carry_out(self, plain: PlainRequest) -> bool:
        """Have the store carry a whole request out; False where it turns out not to be plain, and the
        documented route must say why."""
        plain.quota = self.quota_taken or self.rates.take(plain.principal, self.host)
        self.quota_taken = None
        if plain.quota is not None and plain.quota.retry_after_s is not None:
            return False
        route = plain.route
        command = plain_command(route, plain.body)
        if command is None or not _is_allowed(plain.principal, route, command):
            return False
        plain.command = command
        self.cycle = plain  # type: ignore[assignment] # it has what uvicorn asks of one
        try:
            self.store.submit(command, plain.answer)
        except Exception as error:  # noqa: BLE001 - a defect: the client is told, as by the documented route
            plain.fail(error)
        if not plain.response_complete:
            self.observer.submitted(plain)
            self.flow.pause_reading()
        return True

    # --- answers -------------------------------------------------------------------------------

    def finish(self, plain: PlainRequest, content: bytes) -> None:
        """Write the answer, and go on to what arrived behind."""
        plain.response_complete = True
        if plain.disconnected or self.transport.is_closing():
            return
        self.transport.write(content)
        if not plain.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def hand_on(self, plain: PlainRequest) -> None:
        """The store refused: the documented route says why, with the request as it was."""
        plain.response_complete = True
        if plain.disconnected or self.transport.is_closing():
            return
        if plain.arrived is None:
            self.quota_taken = plain.quota
            assert plain.read is not None, "who saw no parser has what was read"
            self._parse(plain.read)
            return
        current: object = self.cycle
        # Of the request behind it there may be no more than a part of the head yet.
        behind = self.headers, self.scope, self.url, self.expect_100_continue
        self.cycle = None  # type: ignore[assignment] # so that the request starts now, before those behind
        self.headers, self.scope = plain.arrived
        self.url = plain.target
        self.expect_100_continue = False
        self._hand_on(plain)
        self.headers, self.scope, self.url, self.expect_100_continue = behind
        if current is not plain:
            self.cycle = current  # type: ignore[assignment] # as it was

    def _parse(self, read: bytes) -> None:
        """Take a request that was not parsed yet as if it arrived now. Nothing stands behind it: it was all
        that had been received, and no more was since."""
        self._is_handing_on = True
        self.data_received(read)
        self._is_handing_on = False

    @property
    def is_body_awaited(self) -> bool:
        """Whether a request has begun and its body is not all there."""
        return self.plain is not None or super().is_body_awaited

    def start_request(self) -> None:
        """Hand the request to the application, with what it was counted as on its way here."""
        super().start_request()
        if self.quota_taken is not None:
            self.scope["state"][QUOTA_STATE] = self.quota_taken
            self.quota_taken = None

    def _hand_on(self, plain: PlainRequest) -> None:
        self.quota_taken = plain.quota
        self.start_request()
        # The parser may be at another request by now; what is plain has these.
        self.scope["method"], self.scope["http_version"] = "POST", "1.1"
        self.cycle.keep_alive = plain.keep_alive
        self.cycle.body += plain.body
        self.cycle.more_body = False
        self.cycle.message_event.set()


class Credentials(NamedTuple):
    """What a head says of who sends it."""

    authorization: bytes | None
    host: bytes | None


def credentials_of(headers: Sequence[tuple[bytes, bytes]]) -> Credentials:
    """From the raw headers of a plain request, each of which stands once."""
    authorization = host = None
    for name, value in headers:
        if name == b"host":
            host = value
        elif name == b"authorization":
            authorization = value
    return Credentials(authorization, host)


def _is_allowed(principal: Principal, route: FastRoute, command: Command) -> bool:
    """Whether the command can be carried out here: the token allows it, and it is no administrative act. The
    documented route says why it refuses a command, and records administrative acts."""
    try:
        allowed(principal, route.scope, command)
    except StreamError:
        return False
    return not is_administrative(route.scope, command)
