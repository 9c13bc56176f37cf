"""Authentication: every request gets its principal before any other code uses the request.

This module owns the ASGI layer that calls the `Authenticator`. `api.access.guard` checks the rights of a
request, `api.access.permissions` owns which rights a command needs, and `app` owns tokens. Hot requests use
the same `Authenticator` and the same `allowed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from tailrace.api.access.origins import OriginPolicy, is_unbindable
from tailrace.api.access.tickets import TicketBook
from tailrace.api.http.layers import raw_path_of
from tailrace.api.http.problem_handlers import refusal_response
from tailrace.api.principals import (
    ANONYMOUS_LOCAL,
    NOBODY,
    Act,
    Audit,
    Authenticator,
    Principal,
    Unauthenticated,
    is_open,
)
from tailrace.api.problems.table import HttpCode, RequestRefused, problem_of, problem_response, request_id_of

_UNKNOWN_HOST: Final = (
    "without tokens, the server accepts only `localhost`, IP addresses and names without a dot as `Host`, so "
    "that no web page can reach it through DNS rebinding"
)

_TOKEN_PARAMETERS: Final = frozenset({"token", "_token", "access_token", "auth_token", "ticket"})

_NEVER_IN_A_URL: Final = (
    "tokens are not accepted in URLs, because logs and browser history would keep them: send "
    "`Authorization: Bearer <token>`, or for a WebSocket a ticket as subprotocol; revoke a token that was "
    "sent in a URL"
)


class OpenAccess:
    """The `Authenticator` of a server without tokens: every client may do everything."""

    def authenticate(self, _authorization: bytes | None) -> Principal:
        """Return the same principal for every client."""
        return ANONYMOUS_LOCAL

    def require_standing(self, _principal: Principal) -> None:
        """Do nothing: no right is ever revoked."""

    def watch(self, _principal: Principal, _on_end: Callable[[Unauthenticated], None]) -> Callable[[], None]:
        """Return a function that does nothing: the rights never end."""
        return _nothing


def _nothing() -> None:
    """End a watch that never began: do nothing."""


def unaudited(_act: Act) -> None:
    """Record nothing: an `Audit` for an application without an audit log."""


@dataclass(frozen=True)
class Security:
    """The security settings of an application. `allowed_origins`: further origins whose pages may send
    requests. `allowed_headers`: further headers that these pages may send.

    `checks_host`: whether a server without tokens accepts a request only if DNS rebinding is impossible for
    its `Host`.
    """

    authenticator: Authenticator
    audit: Audit = unaudited
    allowed_origins: tuple[str, ...] = ()
    allowed_headers: tuple[str, ...] = ()
    checks_host: bool = True
    tickets: TicketBook = field(default_factory=TicketBook)

    @cached_property
    def origins(self) -> OriginPolicy:
        """The policy for the origins of requests."""
        return OriginPolicy(self.allowed_origins)

    def authenticate(self, authorization: bytes | None, host: bytes | None) -> Principal:
        """Return the principal for these headers. Raises `Unauthenticated`, and `RequestRefused` if DNS
        rebinding is possible for `host`. Called for every request, hot ones included, so it must be fast."""
        principal = self.authenticator.authenticate(authorization)
        if principal is ANONYMOUS_LOCAL and self.checks_host and host and not is_unbindable(host):
            self._require_known(host)
        return principal

    def _require_known(self, host: bytes) -> None:
        if not self.origins.names(host):
            raise RequestRefused(HttpCode.HOST_NOT_ALLOWED, _UNKNOWN_HOST)


UNSECURED: Final = Security(OpenAccess(), checks_host=False)
"""The security of an application that only this process can reach: no tokens, no checks."""


def principal_of(scope: Scope) -> Principal:
    """Return the principal that `Authentication` found for this request."""
    found: Principal = scope["state"]["principal"]
    return found


class Authentication:
    """An ASGI layer that stores the principal in the scope's state, or responds with 401.

    It passes WebSockets on unchanged: their handshake may have a ticket instead of a token
    (`api.websocket.endpoint`).
    """

    def __init__(self, app: ASGIApp, security: Security) -> None:
        self._app = app
        self._security = security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Authenticate the request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            scope.setdefault("state", {})["principal"] = self._principal(scope)
        except Unauthenticated as error:
            await refusal_response(scope, error)(scope, receive, send)
        except RequestRefused as error:
            await problem_response(problem_of(error, request_id_of(scope)))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _principal(self, scope: Scope) -> Principal:
        if has_token_in_url(scope):
            raise token_in_url_refusal()
        if is_open(raw_path_of(scope)):
            return NOBODY
        return self._security.authenticate(authorization_of(scope), host_header_of(scope))


def authorization_of(scope: Scope) -> bytes | None:
    """Return the `Authorization` header, None if there is none. Raises `Unauthenticated` if there are
    several."""
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(values) > 1:
        raise Unauthenticated("the request has more than one Authorization header")
    return values[0] if values else None


def token_in_url_refusal() -> RequestRefused:
    """Return the refusal of a request with a token in its URL."""
    return RequestRefused(HttpCode.TOKEN_IN_URL, _NEVER_IN_A_URL)


def host_header_of(scope: Scope) -> bytes | None:
    """Return the `Host` header; None is possible for HTTP/1.0 only."""
    return next((value for name, value in scope["headers"] if name == b"host"), None)


def has_token_in_url(scope: Scope) -> bool:
    """Return whether the query has a parameter that looks like a token."""
    query: bytes = scope["query_string"]
    if not query:
        return False
    names: Mapping[str, str] = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
    return not _TOKEN_PARAMETERS.isdisjoint(name.lower() for name in names)
