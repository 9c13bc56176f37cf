"""Request rates as clients see them: what a quota is, the headers that show it, and the refusal beyond it.

It owns the ASGI layer that asks for each request, and the words. How quotas are counted, and of whom, is
`app.token_buckets`'. The headers are those of the IETF's draft (draft-ietf-httpapi-ratelimit-headers-11):
`RateLimit-Policy` names the quota `q` of a window of `w` seconds, `RateLimit` what remains (`r`) and in how
many seconds (`t`) the quota is whole again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tailrace.api.access.security import authorization_of
from tailrace.api.http.path_shim import raw_path_of
from tailrace.api.principals import Authenticator, Principal, Unauthenticated
from tailrace.api.problems.table import HttpCode, RequestRefused, problem, problem_response, request_id_of

UNCOUNTED_PATHS: Final = frozenset({"/healthz", "/readyz"})
"""Health probes: the server never refuses them for their rate."""

QUOTA_STATE: Final = "rate_quota"
"""The key in the scope's state for the quota of a request that was counted before the framework saw it."""

_POLICY: Final = "requests"


class Quota(NamedTuple):
    """What became of one request. `burst` may come at once, and are whole again after `window_s`.

    `retry_after_s`: None where the request is allowed; else when the next one is.
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
        return (
            f"{self.burst} requests in {self.window_s} s are allowed; the next one in {self.retry_after_s} s"
        )


class Rates(Protocol):
    """Counts the requests of each token and of each address."""

    @property
    def is_set(self) -> bool:
        """Whether there is a rate at all."""
        ...

    def take(self, principal: Principal | None, host: str) -> Quota | None:
        """Count one request; None where no rate is set. `host`: the address, for those without a token."""
        ...


class NoRates:
    """`Rates` without a limit."""

    is_set = False

    def take(self, _principal: Principal | None, _host: str) -> None:
        """Not counted."""


UNRATED: Final = NoRates()


def refusal_of(quota: Quota) -> RequestRefused:
    """What to raise for a request that comes too early."""
    assert quota.retry_after_s is not None
    return RequestRefused(
        HttpCode.RATE_LIMITED,
        quota.detail,
        members={"retry_after_s": quota.retry_after_s},
        headers={"Retry-After": str(quota.retry_after_s)},
    )


def require_quota(quota: Quota | None) -> None:
    """Raises `RequestRefused` where the request that was counted comes too early."""
    if quota is not None and quota.retry_after_s is not None:
        raise refusal_of(quota)


class RateLimit:
    """Pure ASGI: counts each request once, shows the quota, refuses what is beyond it.

    It runs before the layer that answers 401, and authenticates by itself. Requests without a valid token
    count by address, which limits how fast a client can try tokens. If the request was counted before, its
    quota is in the scope's state as `QUOTA_STATE`.
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
    """The address that a request came from; empty where the server does not say."""
    client = scope.get("client")
    return client[0] if client else ""
