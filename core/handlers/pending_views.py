"""XPENDING: shows pending entries and changes nothing (rule 53)."""

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

LOOKUP_CHUNK: Final = 1_000
"""How many pending entries XPENDING and XINFO look up at once."""

UNOWNED_IDLE_MS = -1
"""The idle time in milliseconds that replies show for an unowned entry."""


def pending_summary(execution: Execution, command: PendingSummary) -> PendingSummaryReply:
    """XPENDING without a range: counts, and the least and greatest pending id. O(consumers + log n).

    Raises NOGROUP.
    """
    group = require_key_and_group(execution, command.key, command.group)
    min_id, max_id = group.pending.bounds() or (None, None)
    owners = [
        (name, consumer.pending_count) for name, consumer in group.consumers.items() if consumer.pending_count
    ]
    execution.room().charge_names([name for name, _ in owners])
    return PendingSummaryReply(group.pending.count, min_id, max_id, owners)


def pending_range(execution: Execution, command: PendingRange) -> list[PendingEntry]:
    """XPENDING with a range: pending entries in id order. O(log n + entries examined).

    Raises NOGROUP and REPLY_TOO_LARGE.
    """
    group = require_key_and_group(execution, command.key, command.group)
    found: list[PendingEntry] = []
    if command.count <= 0:
        return found
    room = execution.room()
    if not _may_find_any(group, execution.now_ms, command.min_idle_ms):
        return found
    ids, wanted = _ids(group, command), min(command.count, LOOKUP_CHUNK)
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
        wanted = LOOKUP_CHUNK
    return found


def _may_find_any(group: Group, now_ms: int, min_idle_ms: int) -> bool:
    """Whether the entry that is pending longest is idle enough. O(1).

    Without this check, a monitor that looks for stuck entries walks over all pending entries of a healthy
    group.
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
    """The greatest size in bytes of one pending entry in a reply. O(1)."""
    return 2 * ITEM_BYTES + (0 if unit.consumer is None else NAME_GROWTH_MAX * len(unit.consumer.name))


def describe(values: Sequence[StreamId], unit: Unit, now_ms: int) -> Iterator[PendingEntry]:
    """The pending entries `values` of one unit as replies show them. O(values).

    If the clock stepped back, an entry that was delivered later than now has an idle time of 0.
    """
    name, idle_ms = None, UNOWNED_IDLE_MS
    if unit.consumer is not None:
        name, idle_ms = unit.consumer.name, idle_since(unit.delivered_at_ms, now_ms)
    at_ms = unit.delivered_at_ms
    return map(PendingEntry, values, repeat(name), repeat(idle_ms), repeat(at_ms), unit.counts_of(values))
