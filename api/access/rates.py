"""Rate limits as clients see them: the quota, the response headers that show it, and the refusal above it.

This module owns the ASGI layer that checks each request, and the texts. `app.token_buckets` counts the
requests. The headers follow the IETF draft draft-ietf-httpapi-ratelimit-headers-11: `RateLimit-Policy`
contains the quota `q` of a window of `w` seconds. `RateLimit` contains the remaining requests (`r`) and the
seconds until the full quota is available again (`t`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.access.security import authorization_of
from tailrace.api.http.layers import raw_path_of
from tailrace.api.principals import Authenticator, Principal, Unauthenticated
from tailrace.api.problems.table import HttpCode, RequestRefused, problem, problem_response, request_id_of

UNCOUNTED_PATHS: Final = frozenset({"/healthz", "/readyz"})
"""Health probes: the server never refuses them for their rate."""

QUOTA_STATE: Final = "rate_quota"
"""The key in the scope's state for the quota of a request that was counted before the framework saw it."""

_POLICY: Final = "requests"


class Quota(NamedTuple):
    """The quota after one request. `burst`: how many requests may arrive at once; the full burst is available
    again after `window_s` without requests. `remaining`: how many of them are left. `whole_in_s`: the time
    until the full burst is available.

    `retry_after_s`: the time until the next request is allowed; None if this request is allowed.
    """

    burst: int
    window_s: int
    remaining: int
    whole_in_s: int
    retry_after_s: int | None

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """The rate headers of the response."""
        policy = f'"{_POLICY}";q={self.burst};w={self.window_s}'
        state = f'"{_POLICY}";r={self.remaining};t={self.whole_in_s}'
        return ((b"ratelimit-policy", policy.encode()), (b"ratelimit", state.encode()))

    @property
    def detail(self) -> str:
        """The detail of the refusal."""
        return f"{self.burst} requests in {self.window_s} s are allowed; try again in {self.retry_after_s} s"


class Rates(Protocol):
    """Counts the requests of each token and of each address."""

    @property
    def is_set(self) -> bool:
        """Whether a limit is configured."""
        ...

    def take(self, principal: Principal | None, host: str) -> Quota | None:
        """Count one request and return its quota; None if no limit is configured. `host`: the client's
        address, which counts requests without a token."""
        ...


class NoRates:
    """`Rates` without a limit."""

    is_set = False

    def take(self, _principal: Principal | None, _host: str) -> None:
        """Return None: nothing is counted."""


UNRATED: Final = NoRates()


def refusal_of(quota: Quota) -> RequestRefused:
    """Return the refusal of a request above the quota."""
    assert quota.retry_after_s is not None
    return RequestRefused(
        HttpCode.RATE_LIMITED,
        quota.detail,
        members={"retry_after_s": quota.retry_after_s},
        headers={"Retry-After": str(quota.retry_after_s)},
    )


def require_quota(quota: Quota | None) -> None:
    """Raise `RequestRefused` if the request is above the quota."""
    if quota is not None and is_above(quota):
        raise refusal_of(quota)


def is_above(quota: Quota | None) -> bool:
    """Return whether the request is above the quota."""
    return quota is not None and quota.retry_after_s is not None


class RateLimit:
    """An ASGI layer that counts each request once, adds the rate headers, and refuses requests above the
    quota.

    It runs before the layer that responds with 401, and authenticates by itself. Requests without a valid
    token count by address, which limits how fast a client can try tokens. If the request was counted before,
    its quota is in the scope's state as `QUOTA_STATE`.
    """

    def __init__(self, app: ASGIApp, rates: Rates, authenticator: Authenticator) -> None:
        self._app = app
        self._rates = rates
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 429."""
        quota = self._quota(scope)
        if quota is None:
            await self._app(scope, receive, send)
            return

        async def send_with_quota(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *quota.headers]
            await send(message)

        if quota.retry_after_s is None:
            await self._app(scope, receive, send_with_quota)
            return
        refusal = refusal_of(quota)
        content = problem(refusal.code, refusal.detail, request_id_of(scope), **refusal.members)
        await problem_response(content, refusal.headers)(scope, receive, send_with_quota)

    def _quota(self, scope: Scope) -> Quota | None:
        if scope["type"] != "http" or raw_path_of(scope) in UNCOUNTED_PATHS:
            return None
        counted: Quota | None = scope.get("state", {}).get(QUOTA_STATE)
        return counted or self._rates.take(self._principal(scope), client_address_of(scope))

    def _principal(self, scope: Scope) -> Principal | None:
        try:
            return self._authenticator.authenticate(authorization_of(scope))
        except Unauthenticated:
            return None


def client_address_of(scope: Scope) -> str:
    """Return the client's address; empty if the server does not provide it."""
    client = scope.get("client")
    return client[0] if client else ""
