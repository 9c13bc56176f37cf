"""Origins: which browser pages may send requests, and which `Host` names a server without tokens accepts.

This module owns the checks of `Origin`, `Host`, Fetch Metadata and CORS. Browsers set `Origin` and Fetch
Metadata, and pages cannot change them. Other programs can send any value, so these checks do not replace
tokens. They prevent two attacks:

* A page of another site makes a visitor's browser send requests. Their origin is not allowed, so the server
  refuses them.
* DNS rebinding: the name of a page's own site is changed to resolve to 127.0.0.1, so that the page and the
  server seem to have the same origin. Its requests have that name in `Host`. A server without tokens accepts
  only names for which rebinding is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tailrace.api.http.path_shim import raw_path_of
from tailrace.api.principals import is_open
from tailrace.api.problems.table import HttpCode, problem, problem_response, request_id_of

METHODS: Final = ("GET", "HEAD", "PUT", "POST", "DELETE")

REQUEST_HEADERS: Final = (
    "Accept",
    "Authorization",
    "Cache-Control",
    "Consistency",
    "Content-Encoding",
    "Content-Type",
    "Idempotency-Key",
    "Last-Event-ID",
    "Min-Replicas",
    "Prefer",
    "Producer-Epoch",
    "Producer-Id",
    "Producer-Layout",
    "Tailrace-Trace",
    "Traceparent",
    "Tracestate",
    "Upstash-Encoding",
    "X-Request-Id",
)
"""The request headers that a page may send: all headers that the server uses."""

ANSWER_HEADERS: Final = (
    "Accept",
    "Accept-Encoding",
    "Allow",
    "Idempotent-Replayed",
    "Location",
    "Preference-Applied",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "WWW-Authenticate",
    "X-First-Id",
    "X-Incarnation",
    "X-Last-Id",
    "X-Request-Id",
    "X-Stream-Bytes",
    "X-Stream-Length",
)
"""The response headers that a page may read, in addition to those that every page may read."""

PREFLIGHT_MAX_AGE_S: Final = 600

_FOREIGN_SITES: Final = frozenset({"cross-site", "same-site"})
"""The values of `Sec-Fetch-Site` for a request that a page of another origin caused. `none` is a request from
the address bar."""


@lru_cache(maxsize=256)
def is_unbindable(host: bytes) -> bool:
    """Return whether DNS rebinding is impossible for the name in a `Host` header.

    Such names are `localhost`, an IP address, and a name without a dot, which cannot be registered in public
    DNS.
    """
    try:
        name = urlsplit(f"//{host.decode('latin-1')}").hostname or ""
    except ValueError:
        return False
    if name.endswith(".localhost") or (name.isascii() and name.replace("-", "").isalnum()):
        return True
    try:
        return bool(ip_address(name))
    except ValueError:
        return False


def _authority_of(origin: str) -> str | None:
    """Return host and port of an origin, None for an invalid one such as `null` or `http://[`."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


class OriginPolicy:
    """The origins whose pages may send requests: the server's own origin, and those in `allowed`."""

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = frozenset(allowed)

    def admits(self, headers: Headers) -> bool:
        """Return whether the request's origin is allowed. A request without an origin (not from a browser) is
        allowed."""
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site") not in _FOREIGN_SITES
        return origin in self._allowed or _authority_of(origin) == headers.get("host")

    def names(self, host: bytes) -> bool:
        """Return whether a server without tokens answers requests for `host`."""
        return is_unbindable(host) or host.decode("latin-1") in {
            urlsplit(origin).netloc for origin in self._allowed
        }


class Origins:
    """An ASGI layer that responds with 403 to requests of pages whose origin is not allowed. Open paths are
    exempt.

    WebSockets are checked in their handshake (`api.websocket.endpoint`).
    """

    def __init__(self, app: ASGIApp, policy: OriginPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse requests of origins that are not allowed; pass all others on."""
        if scope["type"] != "http" or self._admits(scope):
            await self._app(scope, receive, send)
            return
        content = problem(HttpCode.ORIGIN_NOT_ALLOWED, FOREIGN, request_id_of(scope))
        await problem_response(content)(scope, receive, send)

    def _admits(self, scope: Scope) -> bool:
        return is_open(raw_path_of(scope)) or self._policy.admits(Headers(scope=scope))


FOREIGN: Final = "the request comes from a page of another origin, and that origin is not allowed"


class Cors(CORSMiddleware):
    """The CORS headers for pages of the allowed origins. A refused preflight gets a problem as its
    response."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        super().__init__(
            app,
            allow_origins=allowed,
            allow_methods=METHODS,
            allow_headers=REQUEST_HEADERS,
            expose_headers=ANSWER_HEADERS,
            max_age=PREFLIGHT_MAX_AGE_S,
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        """Return Starlette's response, with errors converted to problems."""
        response = super().preflight_response(request_headers)
        if response.status_code < 400:  # noqa: PLR2004 - where errors begin
            return response
        content = problem(HttpCode.BAD_REQUEST, bytes(response.body).decode(), None)
        kept = {name: response.headers[name] for name in ("vary",) if name in response.headers}
        return problem_response(content, kept)
