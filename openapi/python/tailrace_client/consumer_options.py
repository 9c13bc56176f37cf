"""The options of a consumer, checked. This module reads and sends nothing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from tailrace_client.group_settings import GroupSettings

if TYPE_CHECKING:
    from tailrace_client.fields import Fields

OnFailure: TypeAlias = Literal["wait", "nack"]
OrderBy: TypeAlias = "str | Callable[[Fields], Hashable]"

BEATS_PER_LEASE: Final = 3
"""The number of extensions within the length of a lease: two extensions can fail before the lease expires."""

BEAT_S_MAX: Final = 3_600.0
"""The longest time between two extensions. Timers cannot wait for as long as a lease may be."""

WAIT_MAX_MS: Final = 60_000
"""The longest time that the server lets a read wait."""

CLAIM_MIN_IDLE_MS: Final = 60_000
"""After which time a consumer takes over entries, unless it or the settings of its group say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerOptions:
    """The checked options of a consumer; `Consumer` documents them. Hooks receive this object."""

    streams: tuple[str, ...]
    group: str
    consumer: str
    claim_min_idle_ms: int | None
    max_deliveries: int | None
    dead_letter_stream: str | None
    on_failure: OnFailure
    order_by: OrderBy | None
    extend_leases: bool
    batch: int
    wait_ms: int
    create_group: bool
    after: str
    settings: GroupSettings | None = None
    min_count: int | None = None
    linger_ms: int | None = None
    retry_delay_ms: int | None = None

    def __post_init__(self) -> None:
        if not self.streams:
            raise ValueError("streams is empty; pass at least one key")
        if len(set(self.streams)) < len(self.streams):
            raise ValueError(f"streams={self.streams!r} names a stream twice; name each stream once")
        at_least("batch", self.batch, 1)
        at_least("wait_ms", self.wait_ms, 0, WAIT_MAX_MS)
        if self.max_deliveries is not None:
            at_least("max_deliveries", self.max_deliveries, 1)
        if self.claim_min_idle_ms is not None:
            at_least("claim_min_idle_ms", self.claim_min_idle_ms, 0)
        own = None if self.settings is None else self.settings.dead_letter_stream
        for target in {self.dead_letter_stream, own} & set(self.streams):
            raise ValueError(
                f"dead_letter_stream={target!r} is one of the streams that are consumed; use another stream"
            )
        if self.on_failure not in get_args(OnFailure):
            raise ValueError(f"on_failure={self.on_failure!r} is unknown; use 'wait' or 'nack'")
        self._check_pairs()

    def _check_pairs(self) -> None:
        """Check the options that need another one."""
        if self.retry_delay_ms is not None:
            at_least("retry_delay_ms", self.retry_delay_ms, 0)
            if self.on_failure != "nack":
                raise ValueError(f"retry_delay_ms={self.retry_delay_ms} needs on_failure='nack'; pass both")
        if self.min_count is not None:
            at_least("min_count", self.min_count, 1, self.batch)
        if self.linger_ms is not None:
            at_least("linger_ms", self.linger_ms, 0)
            if self.min_count is None:
                raise ValueError(f"linger_ms={self.linger_ms} needs min_count; pass both")

    @property
    def beat_s(self) -> float | None:
        """Return the seconds between two extensions of leases; None if leases are not extended."""
        if not self.claim_min_idle_ms or not self.extend_leases:
            return None
        return min(self.claim_min_idle_ms / BEATS_PER_LEASE / 1_000, BEAT_S_MAX)


class WrongHandlerError(TypeError):
    """A handler is an async function for a `Consumer`, or none for an `AsyncConsumer`. It ends the run."""


def claim_time(given_ms: int | None, settings: GroupSettings | None) -> int | None:
    """Return the time after which the consumer takes entries over: that of the group if it has one. Raises
    `ValueError` if the consumer asks for another one."""
    own_ms = None if settings is None else settings.claim_min_idle_ms
    if own_ms is None or own_ms == given_ms:
        return given_ms
    if given_ms != CLAIM_MIN_IDLE_MS:
        raise ValueError(
            f"claim_min_idle_ms={given_ms} differs from {own_ms} in the settings; leave out one of them"
        )
    return own_ms


def keys_of(streams: str | Iterable[str]) -> tuple[str, ...]:
    """Return one key or several keys as a tuple. Raises `TypeError`."""
    keys = (streams,) if isinstance(streams, str | bytes) else tuple(streams)
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(f"the key {key!r} is of type {type(key).__name__}; use str")
    return keys


def at_least(name: str, value: int, least: int, greatest: int | None = None) -> int:
    """Return `value` if it is an int in this range. Raises `TypeError` or `ValueError` with the range."""
    allowed = f"at least {least}" if greatest is None else f"from {least} to {greatest}"
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}={value!r} is of type {type(value).__name__}; it must be an int, {allowed}")
    if value < least or (greatest is not None and value > greatest):
        raise ValueError(f"{name}={value} is out of range; it must be {allowed}")
    return value
