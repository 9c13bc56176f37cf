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

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from tailrace.api.http.layers import raw_path_of
from tailrace.api.principals import is_open
from tailrace.api.problems.table import HttpCode, problem, problem_response, request_id_of
from tailrace.api.schemas.texts import SHOWN_LENGTH_MAX, shown

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
    "Upstash-Sync-Token",
    "Upstash-Telemetry-Platform",
    "Upstash-Telemetry-Retry",
    "Upstash-Telemetry-Runtime",
    "Upstash-Telemetry-Sdk",
    "X-Request-Id",
)
"""The request headers that a page may send: all headers that the server uses, and those that
`@upstash/redis` sends."""

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


AUTHORITY: Final = rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[A-Za-z0-9:.%_~-]+\])(?::[0-9]*)?"
"""RFC 3986: a registered name or an IPv4 address, or an address in brackets; then perhaps a port."""

_HOST: Final = re.compile(AUTHORITY)

HOSTS_KEPT: Final = 16
"""How many results of each function below are kept. A server has few names; a client can send long ones."""


@lru_cache(maxsize=HOSTS_KEPT)
def is_host(value: bytes) -> bool:
    """Return whether the value of a `Host` header is a host."""
    return _HOST.fullmatch(value) is not None


@lru_cache(maxsize=HOSTS_KEPT)
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
        self._cors = Cors(_no_application, allowed)

    def admits(self, origin: str | None, site: str | None, host: str | None) -> bool:
        """Return whether a request with these values of `Origin`, `Sec-Fetch-Site` and `Host` is allowed.
        One without an origin (not from a browser) is allowed."""
        if origin is None:
            return site not in _FOREIGN_SITES
        return origin in self._allowed or _authority_of(origin) == host

    def admits_headers(self, headers: Headers) -> bool:
        """As `admits`, for the headers of a request."""
        return self.admits(headers.get("origin"), headers.get("sec-fetch-site"), headers.get("host"))

    def answer_headers(self, origin: str | None) -> Mapping[str, str]:
        """Return the CORS headers of an answer to an admitted request; `origin`: None if it is not a
        page's."""
        return self._cors.answer_headers(origin) if self._allowed else {}

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
        return is_open(raw_path_of(scope)) or self._policy.admits_headers(Headers(scope=scope))


FOREIGN: Final = "the request comes from a page of another origin, and that origin is not allowed"


class Cors(CORSMiddleware):
    """The CORS headers for pages of the allowed origins. `allowed_headers`: request headers that these pages
    may send, in addition to `REQUEST_HEADERS`. A refused preflight gets a problem as its response."""

    def __init__(self, app: ASGIApp, allowed: Sequence[str], allowed_headers: Sequence[str] = ()) -> None:
        super().__init__(
            app,
            allow_origins=allowed,
            allow_methods=METHODS,
            allow_headers=(*REQUEST_HEADERS, *allowed_headers),
            expose_headers=ANSWER_HEADERS,
            max_age=PREFLIGHT_MAX_AGE_S,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or add the headers to the response."""
        mistakes = self._mistakes(Headers(scope=scope)) if scope.get("method") == "OPTIONS" else []
        if not mistakes:
            await super().__call__(scope, receive, send)
            return
        content = problem(HttpCode.BAD_REQUEST, "; ".join(mistakes), request_id_of(scope))
        refusal = problem_response(content, {"Vary": self.preflight_headers["Vary"]})
        await refusal(scope, receive, send)

    def _mistakes(self, headers: Headers) -> list[str]:
        """Return why a preflight of an allowed origin is refused; nothing otherwise."""
        method, asked = headers.get("access-control-request-method"), headers.get(_ASKED_HEADERS, "")
        if "origin" not in headers or method is None:
            return []
        mistakes = []
        if method not in self.allow_methods:
            mistakes.append(
                f"a page may not use the method {shown(method)}; allowed are {', '.join(METHODS)}"
            )
        names = filter(None, map(str.strip, asked.split(",")))
        mistakes.extend(
            f"a page may not send the header {shown(name)}; to allow it, start the server with "
            f"`--allowed-header {name[:SHOWN_LENGTH_MAX]}`"
            for name in names
            if name.lower() not in self.allow_headers
        )
        return mistakes

    def answer_headers(self, origin: str | None) -> Mapping[str, str]:
        """Return the headers that Starlette adds to the answer to a request of this origin."""
        if origin is None:
            return {"vary": "Origin"}
        headers = MutableHeaders(self.simple_headers)
        if self.is_allowed_origin(origin):
            self.allow_explicit_origin(headers, origin)
        else:
            headers["vary"] = "Origin"
        return dict(headers.items())


_ASKED_HEADERS: Final = "access-control-request-headers"


async def _no_application(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Do nothing: only the headers of the layer are asked for."""
