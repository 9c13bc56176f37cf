"""XPENDING: looking at what is pending, without touching it (rule 53)."""

from __future__ import annotations

from collections.abc import Iterator

from core.commands import PendingRange, PendingSummary
from core.execution import Execution
from core.group import Group
from core.handlers.groups import require_key_and_group
from core.idle import idle_since
from core.pending_units import Unit
from core.replies import PendingEntry, PendingSummaryReply
from core.reply_room import ITEM_BYTES, NAME_GROWTH_MAX
from core.stream_id import StreamId

UNOWNED_IDLE_MS = -1
"""The idle time shown for an entry without an owner."""


def pending_summary(run: Execution, command: PendingSummary) -> PendingSummaryReply:
    """Counts, and the least and greatest pending id. O(consumers + log n)."""
    group = require_key_and_group(run, command.key, command.group)
    min_id, max_id = group.pending.bounds() or (None, None)
    owners = [
        (name, consumer.pending_count) for name, consumer in group.consumers.items() if consumer.pending_count
    ]
    run.room().charge_names([name for name, _ in owners])
    return PendingSummaryReply(group.pending.count, min_id, max_id, owners)


def pending_range(run: Execution, command: PendingRange) -> list[PendingEntry]:
    """Pending entries in id order. O(log n + those examined)."""
    group = require_key_and_group(run, command.key, command.group)
    found: list[PendingEntry] = []
    if command.count <= 0:
        return found
    room = run.room()
    if not _may_find_any(group, run.now_ms, command.min_idle_ms):
        return found
    for value in _ids(group, command):
        if value > command.end or len(found) == command.count:
            break
        unit = pending_unit(group, value)
        if unit.consumer is None or idle_since(unit.delivered_at_ms, run.now_ms) >= command.min_idle_ms:
            room.charge(description_bytes(unit))
            found.append(describe(value, unit, run.now_ms))
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


def pending_unit(group: Group, value: StreamId) -> Unit:
    """The unit that holds the pending id `value`."""
    unit = group.pending.get(value)
    assert unit is not None, "only pending ids are asked for"
    return unit


def description_bytes(unit: Unit) -> int:
    """What one pending entry takes in a reply, at most. O(1)."""
    return 2 * ITEM_BYTES + (0 if unit.consumer is None else NAME_GROWTH_MAX * len(unit.consumer.name))


def describe(value: StreamId, unit: Unit, now_ms: int) -> PendingEntry:
    """One pending entry as replies show it; a clock that stepped back shows 0 idle, not less."""
    deliveries = unit.deliveries_of(value)
    if unit.consumer is None:
        return PendingEntry(value, None, UNOWNED_IDLE_MS, unit.delivered_at_ms, deliveries)
    idle_ms = idle_since(unit.delivered_at_ms, now_ms)
    return PendingEntry(value, unit.consumer.name, idle_ms, unit.delivered_at_ms, deliveries)
