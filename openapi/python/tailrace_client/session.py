"""Send calls: each call is as many requests as the retry policy allows, over one pool of connections.

This module owns the connections of a client, its Authorization header, its timeouts and the loop of attempts.
The call contains the request and the reader of the response. `Session` blocks and `AsyncSession` awaits;
there is no other difference.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx

from tailrace_client.answers import WholeAnswer
from tailrace_client.call import Call
from tailrace_client.connections import transport_to
from tailrace_client.errors import TailraceError, error_of_answer, error_of_transport
from tailrace_client.outgoing import Outgoing, exact_path, outgoing
from tailrace_client.retry import Attempts, Contact, RetryPolicy

T = TypeVar("T")
Consistency: TypeAlias = Literal["strong", "eventual"]

MS_PER_S: Final = 1_000

TIMEOUT_S: Final = 30.0
"""The time limit for each step of a request. It exceeds the pauses of a server that takes a checkpoint on a
busy disk."""

CONNECTIONS_MAX: Final = 100
"""The most connections of one client. Further requests wait until a connection is free."""

CONNECT_TIMEOUT_S: Final = 5.0
"""The most time for opening one connection, if `timeout_s` is longer. The kernel of a busy server still
accepts connections; a host that does not is down or the wrong one."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a client.

    `timeout_s`: the time limit for each step of an attempt (connect, send, receive). `verify`: as in httpx:
    False trusts any certificate, and a context can contain an authority of your own. `producer_id`: the
    producer of idempotency keys, for calls that name none. `min_replicas`, `consistency`: behind a gateway,
    the headers `Min-Replicas` of writes and `Consistency` of reads. `uses_proxies`: whether requests go
    through the proxy that the environment names.
    """

    url: str = field(repr=False)
    token: str | None = field(repr=False)
    timeout_s: float
    retry: RetryPolicy
    connections_max: int
    verify: SSLContext | bool
    producer_id: str
    min_replicas: int | None = None
    consistency: Consistency | None = None
    uses_proxies: bool = True

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of every request."""
        values = {
            "Authorization": self.token and f"Bearer {self.token}",
            "Min-Replicas": None if self.min_replicas is None else str(self.min_replicas),
            "Consistency": self.consistency,
        }
        return {name: value for name, value in values.items() if value is not None}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `httpx.Client` and `httpx.AsyncClient`."""
        return {
            "base_url": self.url,
            "headers": self.headers,
            "timeout": self.timeout_s,
            "limits": httpx.Limits(
                max_connections=self.connections_max, max_keepalive_connections=self.connections_max
            ),
            "verify": self.verify,
            "trust_env": self.uses_proxies,
        }

    def timeout(self, waits_ms: int) -> httpx.Timeout:
        """Return the timeouts for a response that the server may delay by `waits_ms`."""
        return httpx.Timeout(
            self.timeout_s, read=self.timeout_s + waits_ms / MS_PER_S, connect=self.connect_timeout_s
        )

    def silence(self, silence_max_s: float) -> httpx.Timeout:
        """Return the timeouts for a response that may pause for `silence_max_s`."""
        return httpx.Timeout(silence_max_s, connect=self.connect_timeout_s)

    @property
    def connect_timeout_s(self) -> float:
        """Return the time limit for opening one connection."""
        return min(self.timeout_s, CONNECT_TIMEOUT_S)

    @property
    def shown_url(self) -> str:
        """Return the URL without a password, for errors and `repr`."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class _Client(httpx.Client):
    """A client of httpx that keeps names of dots in paths."""

    def build_request(self, method: str, url: httpx.URL | str, **more: Any) -> httpx.Request:
        """Return the request."""
        return super().build_request(method, exact_path(str(url)), **more)


class _AsyncClient(httpx.AsyncClient):
    """A `_Client` for programs that await."""

    def build_request(self, method: str, url: httpx.URL | str, **more: Any) -> httpx.Request:
        """Return the request."""
        return super().build_request(method, exact_path(str(url)), **more)


class Session:
    """The connections of a `Tailrace`. `http`: the client for the generated operations, over the same
    connections."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.contact = Contact()
        self._transport = transport_to(
            settings.url, settings.connections_max, settings.verify, uses_proxies=settings.uses_proxies
        )
        self.http = _Client(**settings.arguments(), transport=self._transport)
        self._base_url = settings.url.rstrip("/")
        self._timeouts = settings.timeout(0).as_dict()
        self._headers = {"Accept": "*/*", "User-Agent": self.http.headers["User-Agent"], **settings.headers}

    def attempts(self, *, is_idempotent: bool) -> Attempts:
        """Return the attempts of one request."""
        return self.settings.retry.attempts(is_idempotent=is_idempotent, contact=self.contact)

    def send(self, call: Call[T]) -> T:
        """Send `call` and return its result. Raises `TailraceError`."""
        attempts = self.attempts(is_idempotent=call.is_idempotent)
        while True:
            try:
                result = self.attempt(call)
            except TailraceError as error:
                delay_s = attempts.delay_after(error)
            else:
                return call.repeated if attempts.is_unclear and call.repeated is not None else result
            time.sleep(delay_s)

    def attempt(self, call: Call[T]) -> T:
        """Send `call` once, without retries, and return its result. Raises `TailraceError`."""
        waits_ms = call.waits_ms
        timeouts = self.settings.timeout(waits_ms).as_dict() if waits_ms else self._timeouts
        try:
            answer = self._transport.answer(self._outgoing(call.request), timeouts)
        except httpx.TransportError as error:
            raise error_of_transport(error, self.settings.shown_url) from error
        self.contact.is_made = True
        if not answer.is_success:
            raise self._error(call.request, answer)
        return call.read(answer)

    @contextmanager
    def stream(
        self,
        request: Mapping[str, Any],
        timeouts: httpx.Timeout,
        on_headers: Callable[[httpx.Headers], object] = id,
    ) -> Iterator[Iterator[bytes]]:
        """Open one response and yield its bytes as they arrive. Leaving the context closes the response.
        Raises `TailraceError`."""
        try:
            with closing(self._transport.opened(self._outgoing(request), timeouts.as_dict())) as answer:
                self.contact.is_made = True
                if not answer.is_success:
                    answer.read()
                    raise self._error(request, answer)
                on_headers(answer.headers)
                yield answer.iter_bytes()
        except httpx.TransportError as error:
            raise error_of_transport(error, self.settings.shown_url) from error

    def _outgoing(self, request: Mapping[str, Any]) -> Outgoing:
        """Return the request for the transport. It bypasses `httpx.Client`, whose additions (redirects,
        cookies, merged URLs) this interface does not use, and which takes as long as everything else."""
        return outgoing(self._base_url, self._headers, request)

    def _error(self, request: Mapping[str, Any], answer: WholeAnswer | httpx.Response) -> TailraceError:
        sent = httpx.Request(request["method"], self._base_url + request["url"])
        # The body is already decompressed, so the headers must not name an encoding.
        headers = [pair for pair in answer.headers.multi_items() if pair[0] != "content-encoding"]
        return error_of_answer(
            httpx.Response(answer.status_code, headers=headers, content=answer.content, request=sent)
        )

    def close(self) -> None:
        """Close the connections."""
        self.http.close()


class AsyncSession:
    """The connections of an `AsyncTailrace`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.contact = Contact()
        self.http = _AsyncClient(**settings.arguments())

    def attempts(self, *, is_idempotent: bool) -> Attempts:
        """Return the attempts of one request."""
        return self.settings.retry.attempts(is_idempotent=is_idempotent, contact=self.contact)

    async def send(self, call: Call[T]) -> T:
        """Send a call, like `Session.send`."""
        import asyncio  # noqa: PLC0415 - blocking programs start sooner without it

        attempts = self.attempts(is_idempotent=call.is_idempotent)
        while True:
            try:
                result = await self.attempt(call)
            except TailraceError as error:
                delay_s = attempts.delay_after(error)
            else:
                return call.repeated if attempts.is_unclear and call.repeated is not None else result
            await asyncio.sleep(delay_s)

    async def attempt(self, call: Call[T]) -> T:
        """Send a call once, like `Session.attempt`."""
        try:
            answer = await self.http.request(**call.request, timeout=self.settings.timeout(call.waits_ms))
        except httpx.TransportError as error:
            raise error_of_transport(error, self.settings.shown_url) from error
        self.contact.is_made = True
        if not answer.is_success:
            raise error_of_answer(answer)
        return call.read(answer)

    @asynccontextmanager
    async def stream(
        self,
        request: Mapping[str, Any],
        timeouts: httpx.Timeout,
        on_headers: Callable[[httpx.Headers], object] = id,
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open one response, like `Session.stream`."""
        try:
            async with self.http.stream(**request, timeout=timeouts) as answer:
                self.contact.is_made = True
                if not answer.is_success:
                    await answer.aread()
                    raise error_of_answer(answer)
                on_headers(answer.headers)
                yield answer.aiter_bytes()
        except httpx.TransportError as error:
            raise error_of_transport(error, self.settings.shown_url) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self.http.aclose()
