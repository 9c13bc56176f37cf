"""Removes the gateway's own names, which are marks and hidden consumers, from replies of core.

A reserved group is dropped. The consumer `NACKED` is no consumer, and its pending entries have none. This
module reads no answers and sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from tailrace.app.remote.functions.names import NACKED, is_reserved
from tailrace.app.remote.functions.pending import visible_deliveries
from tailrace.core.replies import (
    ConsumerFullInfo,
    ConsumerInfo,
    GroupFullInfo,
    GroupInfo,
    PendingEntry,
    PendingSummaryReply,
    StreamInfo,
)


def visible_groups(groups: Sequence[GroupInfo], hidden: AbstractSet[bytes] = frozenset()) -> list[GroupInfo]:
    """Return XINFO GROUPS without marks. `hidden`: the groups whose hidden consumer must not count."""
    return [
        replace(group, consumer_count=group.consumer_count - (group.name in hidden))
        for group in groups
        if not is_reserved(group.name)
    ]


def visible_consumers(consumers: Sequence[ConsumerInfo]) -> list[ConsumerInfo]:
    """XINFO CONSUMERS without the hidden consumer."""
    return [consumer for consumer in consumers if not is_reserved(consumer.name)]


def visible_summary(summary: PendingSummaryReply) -> PendingSummaryReply:
    """XPENDING's summary: nacked entries count, and belong to no consumer."""
    owners = [(name, count) for name, count in summary.consumers if not is_reserved(name)]
    return replace(summary, consumers=owners)


def visible_entry(entry: PendingEntry) -> PendingEntry:
    """One pending entry; a nacked one has no consumer."""
    deliveries = visible_deliveries(entry.deliveries)
    if entry.consumer == NACKED:
        return PendingEntry(entry.id, None, -1, 0, deliveries)
    return replace(entry, deliveries=deliveries)


def visible_full_groups(groups: Sequence[GroupFullInfo]) -> list[GroupFullInfo]:
    """The groups of XINFO STREAM FULL."""
    return [_visible_full_group(group) for group in groups if not is_reserved(group.name)]


def _visible_full_group(group: GroupFullInfo) -> GroupFullInfo:
    hidden = [consumer for consumer in group.consumers if is_reserved(consumer.name)]
    return replace(
        group,
        nacked_count=group.nacked_count + sum(consumer.pending_count for consumer in hidden),
        pending=[visible_entry(entry) for entry in group.pending],
        consumers=[_visible_consumer(each) for each in group.consumers if not is_reserved(each.name)],
    )


def _visible_consumer(consumer: ConsumerFullInfo) -> ConsumerFullInfo:
    return replace(consumer, pending=[visible_entry(entry) for entry in consumer.pending])


def visible_stream(info: StreamInfo, *, is_marked: bool) -> StreamInfo:
    """XINFO STREAM, whose group count has the mark in it if the stream has one."""
    return replace(info, group_count=max(info.group_count - is_marked, 0))
