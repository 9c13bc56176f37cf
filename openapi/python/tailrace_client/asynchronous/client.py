"""The client for asyncio programs."""

from __future__ import annotations

from ssl import SSLContext
from types import TracebackType
from typing import Self
from uuid import uuid4

from tailrace_client import generated
from tailrace_client.asynchronous.commands import AsyncCommands
from tailrace_client.asynchronous.stream import AsyncStream
from tailrace_client.retry import RetryPolicy
from tailrace_client.session import CONNECTIONS_MAX, TIMEOUT_S, AsyncSession, Consistency, Settings


class AsyncTailrace(AsyncCommands):
    """A client of one server. It connects with the first call, and the tasks of one event loop share it.

    `timeout_s`: how long each step of a request may take (connect, send, receive), not counting the time that
    a read waits for entries. A connection is opened within 5 s, or fails. `retry`: when failed requests are
    sent again; see `RetryPolicy`. `producer_id`: the producer of idempotency keys, for calls that name none.
    Set it if the keys must stay valid after a restart of the program.

    Behind a gateway, `min_replicas` is the number of replicas that must confirm each write, and
    `consistency="eventual"` lets a replica answer reads. Other servers ignore both.
    """

    def __init__(  # noqa: PLR0913 - all parameters but one have a default
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        retry: RetryPolicy = RetryPolicy(),  # noqa: B008 - the policy is frozen
        connections_max: int = CONNECTIONS_MAX,
        verify: SSLContext | bool = True,
        producer_id: str | None = None,
        min_replicas: int | None = None,
        consistency: Consistency | None = None,
    ) -> None:
        self.session = AsyncSession(
            Settings(
                url,
                token,
                timeout_s,
                retry,
                connections_max,
                verify,
                producer_id or uuid4().hex,
                min_replicas,
                consistency,
            )
        )
        self.generated = generated.Client(base_url=self.session.settings.shown_url).set_async_httpx_client(
            self.session.http
        )
        """The client for the generated operations, like `Tailrace.generated`."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session.settings.shown_url!r})"

    def stream(self, key: str) -> AsyncStream:
        """Return the stream with this key. This sends no request."""
        return AsyncStream(self.session, key)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.session.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
