"""The effects on scheduled entries and on delayed retries. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects.effect import Effect
from tailrace.core.stream_id import StreamId


class EntriesScheduled(Effect, frozen=True):
    """Entries were stored that become visible later. The stream exists."""

    key: bytes
    """The stream's key."""
    scheduled_ids: Sequence[StreamId]
    """The scheduled ids, rising, with their times (`core.schedule`); at least one, and all new."""
    fragments: Sequence[bytes]
    """The entries in their stored form (`core.log.entry`); ``fragments[i]`` is that of
    ``scheduled_ids[i]``."""


class ScheduledPublished(Effect, frozen=True):
    """The time of scheduled entries has come: they were appended to their stream."""

    key: bytes
    """The stream's key."""
    scheduled_ids: Sequence[StreamId]
    """The scheduled ids, rising, which exist; at least one."""
    ids: Sequence[StreamId]
    """The ids of the entries, rising, all above the stream's last id; ``ids[i]`` is that of
    ``scheduled_ids[i]``."""


class ScheduledCancelled(Effect, frozen=True):
    """Scheduled entries were removed before their time."""

    key: bytes
    """The stream's key."""
    scheduled_ids: Sequence[StreamId]
    """The scheduled ids, rising, which exist; at least one."""


class RetriesDelayed(Effect, frozen=True):
    """Entries lost their owner, pending before or not, and cannot be claimed before a time."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct, in the order in which CLAIM takes them."""
    deliveries: Sequence[int]
    """The new delivery count of each id."""
    claimable_at_ms: int
    """The time, in Unix milliseconds; at least 1."""


class RetriesReleased(Effect, frozen=True):
    """The time of delayed retries has come: they can be claimed, as after XNACK."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct, which cannot be claimed so far, in the order in which CLAIM takes them."""
