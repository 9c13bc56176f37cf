"""The replies to commands that claim and show pending entries. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.replies.entries import Entries
from tailrace.core.stream_id import StreamId


class ClaimReply(Struct, frozen=True, gc=False):
    """The result of XCLAIM or XAUTOCLAIM."""

    entries: Entries
    """The claimed entries; `entries.fragments` is empty with `just_id`."""
    just_id: bool = False
    """Whether the command asked for ids only."""
    cursor: StreamId = 0
    """The id from which the next XAUTOCLAIM continues, 0-0 at the end of the list. Always 0-0 for XCLAIM."""
    deleted_ids: Sequence[StreamId] = ()
    """Pending ids whose entries were deleted; the command removed them from the pending entries list. XCLAIM
    reports them here as well, and its RESP reply omits them."""


class PendingSummaryReply(Struct, frozen=True, gc=False):
    """The short form of XPENDING."""

    count: int
    """The number of pending entries, unowned ones included."""
    min_id: StreamId | None
    """The lowest pending id; None if there is none."""
    max_id: StreamId | None
    """The highest pending id; None if there is none."""
    consumers: Sequence[tuple[bytes, int]]
    """Name and number of pending entries of each consumer that has any, in byte order of the names."""
    is_short: bool = False
    """Whether ids and consumers are left out, because there are more consumers than the command allows."""


class PendingEntry(Struct, frozen=True, gc=False):
    """One pending entry."""

    id: StreamId
    """The entry's id; the entry itself may be deleted."""
    consumer: bytes | None
    """The owner's name; None after XNACK."""
    idle_ms: int
    """Milliseconds since the last delivery; -1 without an owner."""
    delivered_at_ms: int
    """Unix time of the last delivery; 0 without an owner."""
    deliveries: int
    """How often the entry was delivered."""
    claimable_at_ms: int | None = None
    """Unix time before which nothing claims the entry; None if it is not delayed."""


class RedriveReply(Struct, frozen=True, gc=False):
    """The result of sending dead letters back."""

    ids: Sequence[StreamId]
    """The ids in the dead-letter stream of those that were sent back, rising."""
    new_ids: Sequence[StreamId]
    """The ids in the group's stream; ``new_ids[i]`` is that of ``ids[i]``."""
    skipped: int = 0
    """How many were examined and stay, because they are not dead letters of this group, or are missing."""
    next: StreamId | None = None
    """The id from which the next call continues; None at the end."""


class ExtendReply(Struct, frozen=True, gc=False):
    """The result of extending leases."""

    extended: Sequence[StreamId]
    """The ids whose idle time began again, each once, in the order of the command."""
    lost: Sequence[StreamId]
    """The other ids, each once: they are pending for another consumer, for none, or not at all."""


class ExpiryReply(Struct, frozen=True, gc=False):
    """The result of one step of the expiry of consumers."""

    next: tuple[int, bytes, bytes] | None
    """Where the next step continues; None if all groups were examined."""
    consumers: int = 0
    """How many consumers were deleted."""
    entries: int = 0
    """How many entries lost their owner."""
