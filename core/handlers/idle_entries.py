"""The pending entries of a group that are idle long enough to be claimed, longest idle first (rule 35).

Owns the walk over the delivery order; reads and changes nothing else. `without_deleted` also serves reads of
a consumer's history, and `joined` those that deliver new entries as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Final

from msgspec import Struct

from tailrace.core.bounds.pending_work import PACKED_PER_UNIT, PendingWork
from tailrace.core.group import Group
from tailrace.core.id_keys import membership
from tailrace.core.idle import idle_since
from tailrace.core.limits import PENDING_LOOKS_MAX
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.pending.delivery_order import opened
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Unit
from tailrace.core.replies import Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, StreamId

_LOOKUP_CHUNK: Final = 1_000
"""How many pending entries are looked up at once."""

_LOOKS_PER_UNIT: Final = 3
_LOOKS_PER_BLOCK: Final = 40
"""Examining a unit, or looking entries up in a block, costs as much as looking at this many more entries."""


def first_idle(
    stream: Stream,
    group: Group,
    now_ms: int,
    min_idle_ms: int,
    wanted: int,
    max_bytes: int,
    work: PendingWork,
) -> Entries:
    """Return the first `wanted` live entries that are pending for at least `min_idle_ms` at `now_ms`, or as
    many as fit into `max_bytes` and into the `work` of the read; at least one if there is one. O(units +
    entries examined).

    Deleted entries stay pending and are skipped (rule 38). If the first entries are all live, the work for
    each of them is in C. `live_units` bounds the work otherwise.
    """
    found, order, left = _Found(now_ms, min_idle_ms, wanted, work.units_left), group.pending.order, work.left
    unit = order.next_not_passed(None)
    while unit is not None and found.takes_unit(unit):
        unit = order.next_not_passed(unit)
    entries = found.entries(stream.log, max_bytes, work)
    if None in entries.fragments:
        work.left = left
        found = _Found(now_ms, min_idle_ms, wanted, work.units_left)
        for unit, ids in live_units(stream, group):
            if not found.takes(unit, ids):
                break
        entries = found.entries(stream.log, max_bytes, work)
    return entries


class _Found(Struct, gc=False):
    """The first `wanted` entries that are pending for at least `min_idle_ms` at `now_ms`, as columns, from
    about `units_max` units at most."""

    now_ms: int
    min_idle_ms: int
    wanted: int
    units_max: int
    ids: list[StreamId] = []
    idle_ms: list[int] = []
    counts: list[int] = []
    packed: int = 0
    """The units, counted in entries of strips: `PACKED_PER_UNIT` for each unit."""

    def takes_unit(self, unit: Unit) -> bool:
        """As `takes`, for all entries of `unit`; each entry of a strip has its own time."""
        if isinstance(unit, Strip):
            return all(self.takes(entry, [entry.id], 1) for entry in unit.entries())
        return self.takes(unit, unit.first_ids(self.wanted))

    def takes(self, unit: Unit, ids: list[StreamId], packed: int = PACKED_PER_UNIT) -> bool:
        """Add the entries `ids` of `unit` if they are idle for long enough. Return whether further ones are
        wanted and may be idle."""
        idle_ms = idle_since(unit.delivered_at_ms, self.now_ms)
        if idle_ms < self.min_idle_ms:
            return False
        left = self.wanted - len(self.ids)
        if len(ids) > left:
            del ids[left:]
        self.ids += ids
        self.idle_ms += [idle_ms] * len(ids)
        self.counts += unit.counts_of(ids)
        self.packed += packed
        return len(ids) < left and self.packed < self.units_max * PACKED_PER_UNIT

    def entries(self, log: EntryLog, max_bytes: int, work: PendingWork) -> Entries:
        """Return the entries as far as they fit into `max_bytes` and into `work`, up to some that were
        deleted. O(entries)."""
        ids, fragments = self.ids, list[bytes | None]()
        units = self.packed // PACKED_PER_UNIT
        while len(fragments) < len(ids):
            some = ids[len(fragments) : len(fragments) + _LOOKUP_CHUNK]
            looks = log.cache.lookups
            read = log.get_many(some, max_bytes)
            work.count(len(read), units * len(read) // len(ids), log.cache.lookups - looks)
            fragments += read
            if len(read) < len(some) or work.is_spent or None in read:
                break
            max_bytes -= sum(map(len, filter(None, read)))
        entries = Entries(ids, fragments, self.idle_ms, self.counts)
        return entries if len(fragments) == len(ids) else entries.first(len(fragments))


def claimable_from_ms(stream: Stream, group: Group) -> int | None:
    """When the live entry that is pending longest was delivered, in Unix milliseconds; None if there is none.

    If that takes too many looks (`live_units`), the result is the time of an earlier unit: a reader that
    waits until then looks further. O(units + entries examined).
    """
    for unit, _ in live_units(stream, group):
        return unit.delivered_at_ms
    return next((unit.delivered_at_ms for unit in opened(group.pending.order.not_passed())), None)


def live_units(stream: Stream, group: Group) -> Iterator[tuple[Unit, list[StreamId]]]:
    """The pending units of `group` that have live entries, longest pending first, and these entries.

    Units before the first of them are passed over for good (`DeliveryOrder.passed`), so the next call begins
    after them. Ends after about `PENDING_LOOKS_MAX` entries or trimmed units were examined, or fewer if they
    are in many units or blocks.
    """
    order, log = group.pending.order, stream.log
    least = stream.first_id if stream.length else MAX_ID + 1
    units, examined, is_leading = order.not_passed(), 0, True
    while examined < PENDING_LOOKS_MAX and (some := _some_of(units, least)):
        looks = log.cache.lookups
        live_ids = log.live_among(value for _, ids in some for value in ids)
        examined += sum(len(ids) + _LOOKS_PER_UNIT if ids else 1 for _, ids in some)
        examined += (log.cache.lookups - looks) * _LOOKS_PER_BLOCK
        if is_leading and not live_ids:
            order.pass_over(some[-1][0])
            continue
        is_live = membership(live_ids)
        for unit, ids in some:
            kept = list(filter(is_live, ids))
            if kept:
                is_leading = False
                yield from _parts_of(unit, kept)
            elif is_leading:
                order.pass_over(unit)


def _parts_of(unit: Unit, ids: list[StreamId]) -> Iterator[tuple[Unit, list[StreamId]]]:
    """The unit of the entries `ids` with them, or each entry of a strip with its id."""
    if isinstance(unit, Strip):
        for value, at in zip(ids, unit.positions_of(ids), strict=True):
            yield unit.entry_at(at), [value]
    else:
        yield unit, ids


def _some_of(units: Iterator[Unit], least: StreamId) -> list[tuple[Unit, Sequence[StreamId]]]:
    """Take units with about `_LOOKUP_CHUNK` entries. The entries of a unit that is below `least`, the first
    entry of the stream, were trimmed: they are left out."""
    some: list[tuple[Unit, Sequence[StreamId]]] = []
    count = 0
    for unit in units:
        ids = () if unit.is_below(least) else list(unit.live_ids())
        some.append((unit, ids))
        count += len(ids) or 1
        if count >= _LOOKUP_CHUNK:
            break
    return some


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


def joined(claimed: Entries, new: Entries) -> Entries:
    """Return the claimed entries, then the new ones, whose idle times and delivery counts are 0."""
    if not claimed.ids:
        return new
    if not new.ids:
        return claimed
    assert claimed.idle_ms is not None
    assert claimed.deliveries is not None
    zeros = [0] * len(new.ids)
    return Entries(
        [*claimed.ids, *new.ids],
        [*claimed.fragments, *new.fragments],
        [*claimed.idle_ms, *zeros],
        [*claimed.deliveries, *zeros],
    )
