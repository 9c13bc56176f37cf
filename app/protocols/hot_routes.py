"""Checks hot requests and passes their commands to the store, for all connections of a server.

This module owns the order of the checks: token, rate, body, permission. The documented route answers a
request that fails one of the first two checks, with the reason. The module knows only `HotConnection` of a
connection, and uses no ASGI.
"""

from __future__ import annotations

import time
from typing import Final

from tailrace.api.access.permissions import allowed, option_needing_admin, shows_all
from tailrace.api.access.rates import Rates
from tailrace.api.access.security import Security
from tailrace.api.http.layers import request_id_of_header
from tailrace.api.operations.headers import HotClient, HotClients, used_headers
from tailrace.api.operations.requests import hot_route
from tailrace.api.ports import HotStore, Watch
from tailrace.api.principals import ANONYMOUS_LOCAL, Unauthenticated
from tailrace.api.problems.table import RequestRefused
from tailrace.app.protocols.heads import AnswerStarts, PlainHeads, RequestHead
from tailrace.app.protocols.hot_observer import HotObserver
from tailrace.app.protocols.hot_request import NOT_RUN, HotConnection, HotRequest, ReadWait
from tailrace.app.protocols.hot_turn import AppendAnswers, HotTurn, JoinedRequests
from tailrace.core.commands import Append, Command, Read, ReadGroup
from tailrace.core.errors import StreamError

_NO_FIELDS: Final = b"{}"
"""The entry of the command that a token is checked with: the check looks at the key only."""


class HotRoutes:
    """The hot way of one server. `security` authenticates clients, `rates` limits their requests."""

    def __init__(self, store: HotStore, security: Security, rates: Rates, observer: HotObserver) -> None:
        self._store = store
        self._authenticate = security.authenticate
        self._watch_token = security.authenticator.watch
        self._take_quota = rates.take if rates.is_set else None
        self.starts = AnswerStarts()
        self.observer = observer
        self._clients = HotClients(security)
        self.heads = PlainHeads(self._clients)
        self._joined = JoinedRequests(
            store.joining,
            None if rates.is_set else self._may_append,
            observer.submitted,
            AppendAnswers(self.starts),
        )
        self.turn = HotTurn(self._joined, observer)

    def recognised(self, connection: HotConnection, head: RequestHead) -> HotRequest | None:
        """Return the hot request that begins with `head`, or None if the application must answer it.

        The application also answers a request without a valid token: its 401 does not wait for the body.
        """
        used = used_headers(head.headers)
        headers = None if used is None else self._clients.read(used)
        if headers is None:
            return None
        route = hot_route(head.line, headers)
        if route is None or not self._is_authentic(headers.client):
            return None
        now_ns = time.perf_counter_ns()
        request_id = request_id_of_header(headers.used)
        return HotRequest(connection, head, route, headers, now_ns, now_ns, request_id=request_id)

    def _is_authentic(self, client: HotClient) -> bool:
        try:
            self._authenticate(client.authorization, client.host)
        except (RequestRefused, Unauthenticated):
            return False
        return True

    def submit(self, request: HotRequest, client_address: str) -> bool:
        """Check a complete request and pass its command to the store. The answer can come at once or later.

        Return whether the connection may submit its next request before this one is answered. It may not if
        the documented route has to answer this one.
        """
        joined = self._joined
        if joined.is_open and joined.takes_unchecked and joined.take(request):
            return True
        request.command = NOT_RUN
        try:
            command = self._checked_command(request, client_address)
            if command is not None:
                request.command = command
                return self._submit_command(request, command)
            request.connection.hand_on(request)
        except (RequestRefused, StreamError) as refusal:
            request.refuse(refusal)
            return True
        except Exception as error:  # noqa: BLE001 - a defect: answered as by the documented route
            request.fail(error)
        return False

    def _submit_command(self, request: HotRequest, command: Command) -> bool:
        # With a tuple, this takes half the time of the test with a union.
        if isinstance(command, (Read, ReadGroup)) and command.block_ms is not None:
            return self._submit_read(request, command)
        if self._joined.is_open and self._joined.take_checked(request, command):
            return True
        answer = self._store.submit(command, request.receive)
        if request.answer or request.is_dismissed:
            return not request.is_dismissed
        if answer is not None:  # else the engine has not executed the command
            self.observer.submitted(request)
        return request.foresee(answer)

    def _submit_read(self, request: HotRequest, command: Read | ReadGroup) -> bool:
        """Submit a read that waits if there are no entries. No request may follow before its answer, unless
        it has it now."""
        # Found now: the wait of a gateway begins later, and the token may have ended by then.
        principal = self._authenticate(request.headers.client.authorization, request.headers.client.host)

        def wait(watch: Watch) -> None:
            request.begin_wait(ReadWait(watch, self._watch_token(principal, request.lose_access)))

        request.may_wait = True
        answer = self._store.submit(command, request.receive_read, wait)
        if answer is not None and not request.is_settled:
            self.observer.submitted(request)
        return bool(request.answer)

    def _may_append(self, request: HotRequest, key: bytes) -> bool:
        """Return whether the client may append to `key`."""
        client = request.headers.client
        try:
            principal = self._authenticate(client.authorization, client.host)
        except (RequestRefused, Unauthenticated):
            return False
        if principal is not ANONYMOUS_LOCAL:
            try:
                allowed(principal, request.route.scope, Append(key, (_NO_FIELDS,)))
            except StreamError:
                return False
        return True

    def _checked_command(self, request: HotRequest, client_address: str) -> Command | None:
        """Return the command of a complete request, or None if the documented route has to serve the request.

        Raises `RequestRefused` for its body or headers, and `StreamError` if the token does not allow it, or
        for wrong words.
        """
        client, route, authenticate = request.headers.client, request.route, self._authenticate
        try:
            principal = authenticate(client.authorization, client.host)
        except (RequestRefused, Unauthenticated):
            return None
        if self._take_quota is not None:
            quota = request.quota = self._take_quota(principal, client_address)
            if quota is not None and quota.retry_after_s is not None:
                return None
        command = _plain_append(request) if route.joins is not None else None
        if command is None:
            request.route, command = route.read(request.body)
        if command is None or option_needing_admin(command) is not None:
            return None  # the documented route records administrative commands in the audit log
        if principal is ANONYMOUS_LOCAL:
            return command
        allowed(principal, request.route.scope, command)
        # The documented route leaves out what the token may not see.
        return command if shows_all(principal, command) else None


def _plain_append(request: HotRequest) -> Command | None:
    """Return the append of one entry without options; None for any other body. Raises `RequestRefused`."""
    key = request.route.joins
    fragment = request.connection.bodies.fragment_of(request.body)
    if key is None or fragment is None:
        return None
    return Append(key, (fragment,), idempotency=request.route.idempotency(request.body))
