"""The construction of a consumer from its parameters, the same for blocking and asyncio programs.

It owns the parameters and their defaults; `Consumer` documents them. It reads and sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from tailrace_client.consumer_options import (
    CLAIM_MIN_IDLE_MS,
    ConsumerOptions,
    OnFailure,
    OrderBy,
    claim_time,
    keys_of,
)
from tailrace_client.consumer_settings import GroupSettings
from tailrace_client.hooks import ConsumerHooks

ClientT = TypeVar("ClientT")


class ConsumerBase(Generic[ClientT]):
    """A consumer with checked options. `_begin` connects its parts."""

    def __init__(  # noqa: PLR0913 - all parameters but four have a default
        self,
        client: ClientT,
        streams: str | Iterable[str],
        group: str,
        consumer: str,
        *,
        claim_min_idle_ms: int | None = CLAIM_MIN_IDLE_MS,
        max_deliveries: int | None = None,
        dead_letter_stream: str | None = None,
        on_failure: OnFailure = "wait",
        order_by: OrderBy | None = None,
        extend_leases: bool = True,
        batch: int = 100,
        wait_ms: int = 1_000,
        create_group: bool = True,
        after: str = "0-0",
        settings: GroupSettings | None = None,
        min_count: int | None = None,
        linger_ms: int | None = None,
        retry_delay_ms: int | None = None,
        hooks: Iterable[ConsumerHooks] = (),
    ) -> None:
        self.options = ConsumerOptions(
            streams=keys_of(streams),
            group=group,
            consumer=consumer,
            claim_min_idle_ms=claim_time(claim_min_idle_ms, settings),
            max_deliveries=max_deliveries,
            dead_letter_stream=dead_letter_stream,
            on_failure=on_failure,
            order_by=order_by,
            extend_leases=extend_leases,
            batch=batch,
            wait_ms=wait_ms,
            create_group=create_group,
            after=after,
            settings=settings,
            min_count=min_count,
            linger_ms=linger_ms,
            retry_delay_ms=retry_delay_ms,
        )
        self._begin(client, hooks)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.options.consumer!r} of {self.options.group!r}>"

    def _begin(self, client: ClientT, hooks: Iterable[ConsumerHooks]) -> None:
        raise NotImplementedError
