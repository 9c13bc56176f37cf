"""The settings of a consumer group, and the call that changes them. This module sends nothing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias


@dataclass(frozen=True)
class Backoff:
    """How long a nack delays the next delivery of an entry: `initial_ms` after the first delivery, and
    `factor` times as long after each further one, but at most `max_ms`."""

    initial_ms: int
    factor: float = 2.0
    max_ms: int = 3_600_000


Setting: TypeAlias = int | str | Backoff
"""The value of a setting."""


# --- of a consumer ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class GroupSettings:
    """What the server applies to a group, whichever consumer reads. A setting that is None stays as it is.

    `max_deliveries`: an entry that was delivered this many times moves to `dead_letter_stream` instead of one
    more delivery; by default to `<stream>:dead`. `filter`: the group delivers only entries that match.
    `claim_min_idle_ms`: a read first takes over entries that are pending for this long.
    `consumer_expiry_ms`: a consumer that was not seen for this long gives its entries back. `max_lag_ms`: the
    server warns if the oldest unread entry is older. `backoff`: how long a nack delays the next delivery.
    `order_by`: a field; of the entries with one value of it, one at a time is with a consumer.
    """

    max_deliveries: int | None = None
    dead_letter_stream: str | None = None
    filter: str | None = None
    claim_min_idle_ms: int | None = None
    consumer_expiry_ms: int | None = None
    max_lag_ms: int | None = None
    backoff: Backoff | None = None
    order_by: str | None = None

    def values(self, stream: str) -> dict[str, Setting]:
        """Return what to set for the group on this stream."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        values: dict[str, Setting] = {name: value for name, value in given.items() if value is not None}
        if self.max_deliveries is not None:
            values.setdefault("dead_letter_stream", f"{stream}:dead")
        return values
