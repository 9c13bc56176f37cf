"""XPENDING: looking at what is pending, without touching it (rule 53)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, repeat
from typing import Final

from tailrace.core.bounds.reply_room import ITEM_BYTES, NAME_GROWTH_MAX
from tailrace.core.commands import PendingRange, PendingSummary
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.idle import idle_since
from tailrace.core.pending.units import Unit
from tailrace.core.replies import PendingEntry, PendingSummaryReply
from tailrace.core.stream_id import StreamId

LOOKED_UP_TOGETHER: Final = 1_000
"""Pending entries that XPENDING finds out about at a time."""

UNOWNED_IDLE_MS = -1
"""The idle time shown for an entry without an owner."""


def pending_summary(execution: Execution, command: PendingSummary) -> PendingSummaryReply:
    """Counts, and the least and greatest pending id. O(consumers + log n)."""
    group = require_key_and_group(execution, command.key, command.group)
    min_id, max_id = group.pending.bounds() or (None, None)
    owners = [
        (name, consumer.pending_count) for name, consumer in group.consumers.items() if consumer.pending_count
    ]
    execution.room().charge_names([name for name, _ in owners])
    return PendingSummaryReply(group.pending.count, min_id, max_id, owners)


def pending_range(execution: Execution, command: PendingRange) -> list[PendingEntry]:
    """Pending entries in id order. O(log n + those examined)."""
    group = require_key_and_group(execution, command.key, command.group)
    found: list[PendingEntry] = []
    if command.count <= 0:
        return found
    room = execution.room()
    if not _may_find_any(group, execution.now_ms, command.min_idle_ms):
        return found
    ids, wanted = _ids(group, command), min(command.count, LOOKED_UP_TOGETHER)
    while some := list(islice(ids, wanted)):
        for unit, values in group.pending.by_unit(some[: bisect_right(some, command.end)]):
            if (
                unit.consumer is None
                or idle_since(unit.delivered_at_ms, execution.now_ms) >= command.min_idle_ms
            ):
                more = values[: command.count - len(found)]
                room.charge(len(more) * description_bytes(unit))
                found += describe(more, unit, execution.now_ms)
        if some[-1] >= command.end or len(found) == command.count:
            break
        wanted = LOOKED_UP_TOGETHER
    return found


def _may_find_any(group: Group, now_ms: int, min_idle_ms: int) -> bool:
    """Whether the entry that is pending longest is idle enough. O(1).

    A monitor asks this of healthy groups too, and must not walk over all that is pending there.
    """
    oldest = group.pending.order.head
    if oldest is None:
        return False
    return oldest.consumer is None or idle_since(oldest.delivered_at_ms, now_ms) >= min_idle_ms


def _ids(group: Group, command: PendingRange) -> Iterator[StreamId]:
    if command.consumer is None:
        return group.pending.ids(command.start)
    consumer = group.consumers.get(command.consumer)
    return iter(()) if consumer is None else consumer.pending_ids(command.start)


def description_bytes(unit: Unit) -> int:
    """What one pending entry takes in a reply, at most. O(1)."""
    return 2 * ITEM_BYTES + (0 if unit.consumer is None else NAME_GROWTH_MAX * len(unit.consumer.name))


def describe(values: Sequence[StreamId], unit: Unit, now_ms: int) -> Iterator[PendingEntry]:
    """Pending entries of one unit as replies show them; a clock that stepped back shows 0 idle, not less."""
    name, idle_ms = None, UNOWNED_IDLE_MS
    if unit.consumer is not None:
        name, idle_ms = unit.consumer.name, idle_since(unit.delivered_at_ms, now_ms)
    at_ms = unit.delivered_at_ms
    return map(PendingEntry, values, repeat(name), repeat(idle_ms), repeat(at_ms), unit.counts_of(values))
