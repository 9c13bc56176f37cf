"""The replies to commands on scheduled entries. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.schedule import ScheduledId


class ScheduleReply(Struct, frozen=True, gc=False):
    """The entries that a request scheduled."""

    scheduled_ids: Sequence[ScheduledId]
    """Their ids, in the order of the request. All have the same time."""
    replayed: bool = False
    """Whether an earlier request with the same idempotency key scheduled them, and this one nothing."""


class ScheduledPage(Struct, frozen=True, gc=False):
    """Some scheduled entries of a stream, in the order of publication."""

    scheduled_ids: Sequence[ScheduledId]
    """Their ids."""
    fragments: Sequence[bytes]
    """The entries in their stored form; ``fragments[i]`` is that of ``scheduled_ids[i]``."""
    has_more: bool
    """Whether more follow."""
