"""The way in, for programs that block."""

from __future__ import annotations

from ssl import SSLContext
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from tailrace_client import generated
from tailrace_client.retry import RetryPolicy
from tailrace_client.session import Session, Settings
from tailrace_client.stream import Stream

TIMEOUT_S: Final = 30.0
"""Of each step of a request: above the pauses of a server that takes a checkpoint on a busy disk."""

CONNECTIONS_MAX: Final = 100
"""Of one client; more requests at a time wait for one of them."""


class Tailrace:
    """A server. It connects with the first call; threads may share it.

    `timeout_s`: how long each step of a request may take (to connect, to send, to receive), beside the time
    for which a read waits on purpose. `producer_id`: whose idempotency keys are where a call does not say;
    one that is the same after a restart must be given.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        retry: RetryPolicy = RetryPolicy(),  # noqa: B008 - it is frozen
        connections_max: int = CONNECTIONS_MAX,
        verify: SSLContext | bool = True,
        producer_id: str | None = None,
    ) -> None:
        self.session = Session(
            Settings(url, token, timeout_s, retry, connections_max, verify, producer_id or uuid4().hex)
        )
        self.generated = generated.Client(base_url=url).set_httpx_client(self.session.http)
        """For the generated operations (`tailrace_client.generated.api`), over the same connections."""

    def stream(self, key: str) -> Stream:
        """The stream of that key; nothing is asked for it."""
        return Stream(self.session, key)

    def close(self) -> None:
        """Close the connections."""
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
