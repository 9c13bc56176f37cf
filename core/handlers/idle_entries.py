"""The pending entries of a group that are idle long enough to be claimed, longest idle first (rule 35).

Owns the walk over the delivery order; reads and changes nothing else. `without_deleted` also serves reads of
a consumer's history.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress, islice
from typing import Final

from tailrace.core.group import Group
from tailrace.core.idle import idle_since
from tailrace.core.pending.units import Unit
from tailrace.core.replies import Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, StreamId

_LOOKUP_CHUNK: Final = 1_000
"""How many pending entries are looked up at once."""


class IdleEntries:
    """The entries of `group` that are pending for at least `min_idle_ms` at `now_ms`."""

    def __init__(self, stream: Stream, group: Group, now_ms: int, min_idle_ms: int) -> None:
        self._stream = stream
        self._group = group
        self._now_ms = now_ms
        self._min_idle_ms = min_idle_ms

    def first(self, wanted: int, max_bytes: int) -> Entries:
        """The first `wanted` live entries, or as many as fit into `max_bytes`. O(units + entries examined).

        Deleted entries stay pending and are skipped (rule 38). Units below the first entry of the stream are
        skipped as a whole. If other entries were deleted, the walk is repeated for more entries, until enough
        of them are live.
        """
        limit = wanted
        while True:
            examined, live = self._examined(limit, max_bytes)
            if len(live) >= wanted or examined < limit:
                return live.first(wanted)
            limit += 2 * (limit - len(live))

    def _examined(self, limit: int, max_bytes: int) -> tuple[int, Entries]:
        """How many of the first `limit` entries fit, and the live ones among them."""
        ids, idle_ms, counts = self._longest_idle(limit)
        fragments = self._stream.log.get_many(ids, max_bytes)
        fitting = Entries(ids, fragments, idle_ms, counts).first(len(fragments))
        return len(fragments), without_deleted(fitting)

    def _longest_idle(self, wanted: int) -> tuple[list[StreamId], list[int], list[int]]:
        """The ids, idle times and delivery counts of the first `wanted` idle entries in delivery order.

        O(units + ids); the work for each id is in C.
        """
        ids: list[StreamId] = []
        idle_ms: list[int] = []
        counts: list[int] = []
        for unit in _units_with_entries(self._stream, self._group):
            age_ms = idle_since(unit.delivered_at_ms, self._now_ms)
            if age_ms < self._min_idle_ms or len(ids) == wanted:
                break
            some = list(islice(unit.live_ids(), wanted - len(ids)))
            ids += some
            idle_ms += [age_ms] * len(some)
            counts += unit.counts_of(some)
        return ids, idle_ms, counts


def claimable_from_ms(stream: Stream, group: Group) -> int | None:
    """When the live entry that is pending longest was delivered, in Unix milliseconds; None if there is none.

    O(units + entries examined): deleted entries are examined if the stream has an entry below them.
    """
    for unit in _units_with_entries(stream, group):
        ids = unit.live_ids()
        while some := list(islice(ids, _LOOKUP_CHUNK)):
            if stream.log.live_among(some):
                return unit.delivered_at_ms
    return None


def _units_with_entries(stream: Stream, group: Group) -> Iterator[Unit]:
    """The pending units of `group`, longest pending first, without those whose entries were all trimmed from
    the beginning of the stream. O(1) for each unit."""
    least = stream.first_id if stream.length else MAX_ID + 1
    return (unit for unit in group.pending.order if not unit.is_below(least))


def without_deleted(entries: Entries) -> Entries:
    """The live ones of `entries`, which have idle times and delivery counts. O(entries)."""
    if None not in entries.fragments:
        return entries
    assert entries.idle_ms is not None
    assert entries.deliveries is not None
    live = [fragment is not None for fragment in entries.fragments]
    return Entries(
        list(compress(entries.ids, live)),
        list(compress(entries.fragments, live)),
        list(compress(entries.idle_ms, live)),
        list(compress(entries.deliveries, live)),
    )
