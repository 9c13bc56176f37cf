"""XPENDING: shows pending entries and changes nothing (rule 53).

XPENDING with IDLE searches the entries that are idle long enough, in id order: a segment knows its earliest
time, so the search skips those without an idle entry. `PENDING_LOOKS_MAX` bounds it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from operator import attrgetter
from typing import Final

from tailrace.core.bounds.reply_room import ITEM_BYTES, NAME_GROWTH_MAX
from tailrace.core.commands import PendingRange, PendingSummary
from tailrace.core.deliveries import idle_since
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.limits import PENDING_LOOKS_MAX
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.rows import HELD_FROM, Delivery, latest_idle_ms
from tailrace.core.replies import PendingEntry, PendingSummaryReply
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId


def idle_in_range(
    group: Group, consumer: Consumer | None, command: PendingRange, now_ms: int
) -> Iterator[StreamId]:
    """Return the first `count` entries of `group`, or of one consumer, that `command` asks for. An entry
    without an owner is idle at any threshold, unless it is delayed. O(segments + entries returned).

    Raises LIMIT_EXCEEDED if more than `PENDING_LOOKS_MAX` entries were examined without success.
    """
    ids = _idle_ids(group, consumer, command, now_ms)
    return islice(takewhile(command.end.__ge__, ids), command.count)


def _idle_ids(
    group: Group, consumer: Consumer | None, command: PendingRange, now_ms: int
) -> Iterator[StreamId]:
    latest_ms = latest_idle_ms(now_ms, command.min_idle_ms)
    in_vain = 0
    for examined, ids in group.pending.idle_ids(latest_ms, consumer, command.start, command.end):
        found = list(ids)
        in_vain += examined - len(found)
        if in_vain > PENDING_LOOKS_MAX:
            raise StreamError(
                ErrorCode.LIMIT_EXCEEDED,
                f"ERR too many pending entries to examine: more than {PENDING_LOOKS_MAX} are not idle "
                f"for {command.min_idle_ms} ms; name a narrower range of ids",
            )
        yield from found


LOOKUP_CHUNK: Final = 1_000
"""How many pending entries XPENDING and XINFO look up at once."""

_ROW_BYTES: Final = 2 * ITEM_BYTES
"""The greatest size of a row in a reply, without the name of its consumer."""

_name_of: Final = attrgetter("consumer")

UNOWNED_IDLE_MS = -1
"""The idle time in milliseconds that replies show for an unowned entry."""


def pending_summary(execution: Execution, command: PendingSummary) -> PendingSummaryReply:
    """XPENDING without a range: counts, and the least and greatest pending id. O(consumers + log n), and
    O(1) if ids and consumers are left out.

    Raises NOGROUP.
    """
    group = require_key_and_group(execution, command.key, command.group)
    if command.consumers_max is not None and len(group.consumers) > command.consumers_max:
        return PendingSummaryReply(group.pending.count, None, None, (), is_short=True)
    min_id, max_id = group.pending.bounds() or (None, None)
    # Iterating a sorted dict by its views takes twice as long as looking up all of its keys.
    consumers = map(group.consumers.__getitem__, list(group.consumers))
    owners = [(consumer.name, consumer.pending_count) for consumer in consumers if consumer.pending_count]
    execution.room().charge_names([name for name, _ in owners])
    return PendingSummaryReply(group.pending.count, min_id, max_id, owners)


def pending_range(execution: Execution, command: PendingRange) -> list[PendingEntry]:
    """XPENDING with a range: pending entries in id order. O(log n + entries returned), and with IDLE as
    `idle_in_range`.

    Raises NOGROUP, REPLY_TOO_LARGE and LIMIT_EXCEEDED.
    """
    group = require_key_and_group(execution, command.key, command.group)
    consumer = None
    if command.consumer is not None:
        consumer = group.consumers.get(command.consumer)
        if consumer is None:
            return []
    if command.count <= 0:
        return []
    if command.min_idle_ms > 0:
        return _idle_in_range(execution, group, consumer, command)
    return _all_in_range(execution, group, consumer, command)


def _idle_in_range(
    execution: Execution, group: Group, consumer: Consumer | None, command: PendingRange
) -> list[PendingEntry]:
    found: list[PendingEntry] = []
    rows = PendingRows(execution, group, consumer)
    ids = idle_in_range(group, consumer, command, execution.now_ms)
    while some := list(islice(ids, LOOKUP_CHUNK)):
        found += rows.of(some, len(some))
    return found


def _all_in_range(
    execution: Execution, group: Group, consumer: Consumer | None, command: PendingRange
) -> list[PendingEntry]:
    """The entries of the range, idle or not. O(log n + entries returned)."""
    found: list[PendingEntry] = []
    if (command.start, command.end) == (ZERO_ID, MAX_ID):
        available = group.pending.count if consumer is None else consumer.pending_count
        require_room_for_rows(execution, min(command.count, available))
    rows = PendingRows(execution, group, consumer)
    ids, wanted = rows.ids(command.start), min(command.count, LOOKUP_CHUNK)
    while some := list(islice(ids, wanted)):
        found += rows.of(some[: bisect_right(some, command.end)], command.count - len(found))
        if some[-1] >= command.end or len(found) == command.count:
            break
        wanted = LOOKUP_CHUNK
    return found


def require_room_for_rows(execution: Execution, count: int) -> None:
    """Raise REPLY_TOO_LARGE if `count` rows of pending entries certainly do not fit, before they are made."""
    room = execution.room()
    if count * _ROW_BYTES > room.left_bytes:
        raise room.refusal()


class PendingRows:
    """Describes pending entries of one group, or of one consumer, as replies show them, and charges the reply
    room.

    If the clock stepped back, an entry that was delivered later than now has an idle time of 0.
    """

    def __init__(self, execution: Execution, group: Group, consumer: Consumer | None) -> None:
        self._room = execution.room()
        self._now_ms = execution.now_ms
        self._pending = group.pending
        self._consumer = consumer

    def ids(self, start: StreamId = ZERO_ID) -> Iterator[StreamId]:
        """Return the pending ids at or after `start`, rising. O(log n + m)."""
        pending = self._pending
        return pending.ids(start) if self._consumer is None else pending.ids_of(self._consumer, start)

    def of(self, ids: Sequence[StreamId], most: int) -> list[PendingEntry]:
        """Return the first `most` rows of `ids`, which rise and are all pending. O(ids).

        Raises REPLY_TOO_LARGE.
        """
        found = self._pending.of(ids[:most])
        columns = {each: self._columns_of(each) for each in set(found)}
        rows = list(map(PendingEntry, ids, *zip(*map(columns.__getitem__, found), strict=True)))
        names_bytes = sum(map(len, filter(None, map(_name_of, rows))))
        self._room.charge(_ROW_BYTES * len(rows) + NAME_GROWTH_MAX * names_bytes)
        return rows

    def _columns_of(self, delivery: Delivery) -> tuple[bytes | None, int, int, int, int | None]:
        consumer, at_ms, count = delivery
        if consumer is None:
            return None, UNOWNED_IDLE_MS, 0, count, at_ms - HELD_FROM if at_ms >= HELD_FROM else None
        return consumer.name, idle_since(at_ms, self._now_ms), at_ms, count, None
