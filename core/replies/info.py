"""The replies that list keys, and that describe streams, groups, consumers and the server.

This module holds data only.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.group_settings import NO_SETTINGS, GroupSettings
from tailrace.core.replies.entries import Entries
from tailrace.core.replies.pending import PendingEntry
from tailrace.core.retention import RetentionRules
from tailrace.core.stream_id import StreamId


class RetentionInfo(Struct, frozen=True):
    """The retention of a stream."""

    rules: RetentionRules
    """The rules."""
    removed: dict[str, int]
    """How many entries were ever removed, by `Reason`."""
    removed_at_ms: int | None
    """When the last ones were removed, in Unix milliseconds; None if none were."""
    protected_count: int
    """How many entries stay only because a group has not read them."""
    protected_bytes: int
    """The bytes of the blocks that have only such entries."""


class StreamInfo(Struct, frozen=True):
    """XINFO STREAM."""

    length: int
    """The number of entries."""
    block_count: int
    """The number of blocks; Redis reports its radix tree's keys and nodes in this place."""
    last_id: StreamId
    """The greatest id ever generated or set."""
    max_deleted_id: StreamId
    """The greatest id ever deleted, trimming aside; 0-0 if there is none (rule 17)."""
    entries_added: int
    """The number of entries ever added."""
    first_id: StreamId
    """The id of the first entry; 0-0 for an empty stream."""
    idmp_duration_s: int
    """How long an idempotency key is kept, in seconds."""
    idmp_maxsize: int
    """How many idempotency keys are kept for each producer."""
    producer_count: int
    """The number of producers with remembered keys."""
    idmp_key_count: int
    """The number of remembered keys of all producers."""
    idmp_keys_added: int
    """The number of keys ever remembered."""
    idmp_duplicates: int
    """The number of appends that were answered from memory."""
    group_count: int
    """The number of groups."""
    first_entry: Entries
    """The first entry, or no entries for an empty stream."""
    last_entry: Entries
    """The last entry, or no entries for an empty stream."""
    incarnation: str | None = None
    """A text that distinguishes the stream from earlier and later ones under the same key; None if the store
    keeps none. Redis does not have it."""
    retention: RetentionInfo | None = None
    """The retention; None if the stream has none. Redis does not have it."""
    size_bytes: int | None = None
    """The bytes of the entries' fragments, before compression; None if the store does not know them. Redis
    does not have them."""
    scheduled_count: int = 0
    """The number of scheduled entries. Redis does not have them."""


class GroupInfo(Struct, frozen=True, gc=False):
    """One group in XINFO GROUPS."""

    name: bytes
    """The group's name."""
    consumer_count: int
    """The number of consumers."""
    pending_count: int
    """The number of pending entries, unowned ones included."""
    last_delivered_id: StreamId
    """The group's position."""
    entries_read: int | None
    """How many of all entries ever added are at or before the position; None: unknown (rules 56 and 57)."""
    lag: int | None
    """How many entries the group has not delivered yet, as XINFO shows it; None: unknown (rule 59)."""
    settings: GroupSettings = NO_SETTINGS
    """The settings. Redis does not have them."""
    dead_letter_count: int = 0
    """How many entries were ever moved to a dead-letter stream."""
    lag_ms: int | None = None
    """The age of the oldest entry that the group has not read, by the time in its id; None if it has read
    all, or if the store does not know it. Redis does not have it."""
    held_count: int | None = None
    """How many entries the group holds back because of `order_by`; None without an order by key."""
    keys_in_flight: int | None = None
    """How many different keys are in flight; None without an order by key."""
    unread_count: int | None = None
    """How many entries the group has not delivered yet, also where `lag` is None; None if the store does not
    know it. Redis does not have it."""


class ConsumerInfo(Struct, frozen=True, gc=False):
    """One consumer in XINFO CONSUMERS."""

    name: bytes
    """The consumer's name."""
    pending_count: int
    """The number of entries that the consumer owns."""
    idle_ms: int
    """Milliseconds since the consumer's last attempt to read or claim."""
    inactive_ms: int
    """Milliseconds since the consumer last received an entry; -1 if it never did."""


class ConsumerFullInfo(Struct, frozen=True, gc=False):
    """One consumer in XINFO STREAM FULL."""

    name: bytes
    """The consumer's name."""
    seen_at_ms: int
    """Unix time of the last attempt to read or claim."""
    active_at_ms: int
    """Unix time at which the consumer last received an entry; -1 if it never did."""
    pending_count: int
    """The number of entries that the consumer owns."""
    pending: Sequence[PendingEntry]
    """The consumer's first pending entries by id, as many as the command asked for."""


class GroupFullInfo(Struct, frozen=True, gc=False):
    """One group in XINFO STREAM FULL."""

    name: bytes
    """The group's name."""
    last_delivered_id: StreamId
    """The group's position."""
    entries_read: int | None
    """As in `GroupInfo`."""
    lag: int | None
    """As in `GroupInfo`."""
    pending_count: int
    """The number of pending entries, unowned ones included."""
    nacked_count: int
    """The number of pending entries without an owner."""
    pending: Sequence[PendingEntry]
    """The group's first pending entries by id, as many as the command asked for."""
    consumers: Sequence[ConsumerFullInfo]
    """The consumers in byte order of their names."""
    first_held_id: StreamId | None = None
    """The first entry that the group holds back because of `order_by`; None if there is none. Redis does not
    have it."""
    unread_count: int | None = None
    """As in `GroupInfo`."""


class StreamFullInfo(Struct, frozen=True):
    """XINFO STREAM FULL."""

    info: StreamInfo
    """The stream's counters. The full form does not show `group_count`, `first_entry` and `last_entry`."""
    entries: Entries
    """The first entries, as many as the command asked for."""
    groups: Sequence[GroupFullInfo]
    """The groups in byte order of their names."""


class EpochInfo(Struct, frozen=True):
    """One epoch of a producer."""

    number: int
    """The epoch's number, as the producer chose it."""
    layout: bytes | None
    """The layout; None until a request names one."""
    key_count: int
    """The number of idempotency keys in the epoch."""


class ServerStats(Struct, frozen=True):
    """The counts that INFO shows."""

    streams: int
    """The number of streams."""
    entries: int
    """The number of entries in all streams."""
    groups: int
    """The number of groups in all streams."""
    pending: int
    """The number of pending entries in all groups."""
    now_ms: int
    """The instant of the command, in Unix milliseconds."""
    blocked_clients: int = 0
    """The number of waiting readers. The engine leaves it 0; `app`, which keeps the readers, sets it."""


class StreamSummary(Struct, frozen=True, gc=False):
    """One stream in a list of streams."""

    key: bytes
    """The stream's key."""
    length: int
    """The number of entries."""
    last_id: StreamId
    """The greatest id ever generated or set."""
    entries_added: int
    """The number of entries ever added, or as set by XSETID."""
    group_count: int
    """The number of groups."""


class StreamList(Struct, frozen=True, gc=False):
    """One page of streams."""

    streams: Sequence[StreamSummary]
    """The streams in byte order of their keys."""
    more: bool = False
    """Whether further streams follow the last one."""


class KeyScan(Struct, frozen=True, gc=False):
    """One step of SCAN."""

    cursor: int
    """The cursor of the next step; 0: the scan is complete."""
    keys: Sequence[bytes]
    """The keys found in this step; may be empty before the end."""
