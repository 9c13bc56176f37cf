"""What one server needs to carry out hot requests, for all of its connections.

It owns the order of the checks: rate, body, permission, then the store. A request that fails one of them is
the documented route's, which says why. It knows no connection beyond `HotConnection`, and no ASGI.
"""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tailrace.api.access.permissions import allowed, is_administrative
from tailrace.api.access.rates import Rates
from tailrace.api.access.security import Security
from tailrace.api.hot.requests import hot_command, hot_route
from tailrace.api.ports import HotStore
from tailrace.api.principals import Principal, TokenScope, Unauthenticated
from tailrace.api.problems.table import RequestRefused
from tailrace.app.protocols.cached_heads import CachedHeads
from tailrace.app.protocols.hot_observer import HotObserver
from tailrace.app.protocols.hot_request import Credentials, HotConnection, HotRequest, credentials_of
from tailrace.app.protocols.request_head import Headers, RequestHead
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError

_HTTP_VERSION: Final = "1.1"


class HotRoutes:
    """`security` says who may do what, and `rates` how often."""

    def __init__(self, store: HotStore, security: Security, rates: Rates, observer: HotObserver) -> None:
        self._store = store
        self._security = security
        self._rates = rates
        self.starts = AnswerStarts()
        self.observer = observer
        self.cached_heads = CachedHeads()

    def recognised(self, connection: HotConnection, head: RequestHead) -> HotRequest | None:
        """The hot request that `head` begins; None leaves the request to the application.

        A request without a good token is the application's, too: its 401 does not wait for the body.
        """
        route = hot_route(head.method, head.target, head.headers) if head.version == _HTTP_VERSION else None
        if route is None:
            return None
        credentials = credentials_of(head.headers)
        if self._principal_of(credentials) is None:
            return None
        return HotRequest(connection, head, route, credentials)

    def prepare(self, request: HotRequest, client_address: str) -> bool:
        """Authenticate and count a complete request, decode and allow its command. False: the documented
        route must say what is wrong, and nothing was changed."""
        principal = self._principal_of(request.credentials)
        if principal is None:
            return False
        quota = request.quota = self._rates.take(principal, client_address)
        if quota is not None and quota.retry_after_s is not None:
            return False
        command = hot_command(request.route, request.body)
        if command is None or not _is_allowed(principal, request.route.scope, command):
            return False
        request.command = command
        return True

    def _principal_of(self, credentials: Credentials) -> Principal | None:
        try:
            return self._security.authenticate(*credentials)
        except (RequestRefused, Unauthenticated):
            return None

    def submit(self, request: HotRequest) -> bool:
        """Have the store carry out a prepared request. Its connection is answered now or later.

        Return whether the connection may submit its next request before this one is answered: not if the
        documented route has to answer it.
        """
        try:
            answer = self._store.submit(request.command, request.receive)
            if request.is_settled:
                return True
            self.observer.submitted(request)
            return request.foresee(answer)
        except Exception as error:  # noqa: BLE001 - a defect: answered as by the documented route
            request.fail(error)
            return False


def _is_allowed(principal: Principal, scope: TokenScope, command: Command) -> bool:
    """Whether the token allows the command, and it is no administrative act. The documented route says why it
    refuses a command, and records administrative acts."""
    try:
        allowed(principal, scope, command)
    except StreamError:
        return False
    return not is_administrative(scope, command)


class AnswerStarts:
    """Status line and headers of every answer as bytes, made again when uvicorn makes the headers again."""

    def __init__(self) -> None:
        self._headers: Headers | None = None
        self._starts: dict[int, bytes] = {}

    def of(self, status: int, headers: Headers) -> bytes:
        """What comes before the headers of the answer's own."""
        if headers is not self._headers:
            self._headers = headers
            self._starts.clear()
        start = self._starts.get(status)
        if start is None:
            lines = b"".join(b"%b: %b\r\n" % header for header in headers)
            start = self._starts[status] = STATUS_LINE[status] + lines
        return start
