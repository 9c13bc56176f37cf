"""The settings of a consumer group, which Redis does not have. This module holds data only."""

from __future__ import annotations

from msgspec import Struct


class GroupSettings(Struct, frozen=True, array_like=True, gc=False):
    """The settings of one group; None: not set. Storage writes the members in this order.

    A new setting is a new member at the end, with None as its default, so that older data stays readable.
    """

    max_deliveries: int | None = None
    """How often an entry is delivered at most. Set together with `dead_letter_stream`."""
    dead_letter_stream: bytes | None = None
    """The key of the stream to which an entry is moved instead of one more delivery."""
    filter: str | None = None
    """The condition on entries that the group delivers (`core.filters`). Others count as read."""
    claim_min_idle_ms: int | None = None
    """A read of new entries first claims entries that were delivered at least this many milliseconds ago,
    unless the read says otherwise."""
    consumer_expiry_ms: int | None = None
    """A consumer that was not seen for this many milliseconds gives its entries back and is deleted."""
    max_lag_ms: int | None = None
    """The age of the oldest unread entry, in milliseconds, from which the server warns."""
    backoff_initial_ms: int | None = None
    """How long a nack after the first delivery delays the entry, in milliseconds. Set together with the next
    two."""
    backoff_factor: float | None = None
    """By which factor the delay grows with each further delivery."""
    backoff_max_ms: int | None = None
    """The longest delay, in milliseconds."""

    @property
    def is_empty(self) -> bool:
        """Whether no setting is set."""
        return self == NO_SETTINGS


NO_SETTINGS = GroupSettings()
