"""The pending entries of a group that are idle long enough to be claimed, longest idle first (rule 35).

Owns the walk over the delivery order; reads and changes nothing else. `without_deleted` also serves reads of
a consumer's history, and `joined` those that deliver new entries as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import Final

from msgspec import Struct

from tailrace.core.bounds.reply_budget import PendingWork
from tailrace.core.deliveries import idle_since
from tailrace.core.group import Group
from tailrace.core.id_keys import membership
from tailrace.core.limits import PENDING_LOOKS_MAX
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.pending.order import Stretch
from tailrace.core.pending.rows import HELD_FROM, UNOWNED, Batch, latest_idle_ms
from tailrace.core.pending.segment import SEGMENT_MAX, Segment
from tailrace.core.replies import Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, StreamId

_LOOKUP_CHUNK: Final = 1_000
"""How many pending entries are looked up at once."""

_LOOKS_PER_STRETCH: Final = 3
_LOOKS_PER_BLOCK: Final = 40
"""Examining a stretch, or looking entries up in a block, costs as much as looking at so many more entries."""


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
    many as fit into `max_bytes` and into the `work` of the read; at least one if there is one. O(stretches +
    entries examined).

    Deleted entries stay pending and are skipped (rule 38). If the first entries are all live, the work for
    each of them is in C. `live_stretches` bounds the work otherwise.
    """
    # Redis takes entries without an owner as those of the Unix time 0, here alone.
    latest_ms = latest_idle_ms(now_ms, min_idle_ms) if min_idle_ms <= now_ms else UNOWNED - 1
    left = work.left
    found = _Found(now_ms, wanted, work.units_left)
    for stretch in group.pending.walk(latest_ms, wanted):
        if not found.takes(stretch):
            break
    entries = found.entries(stream.log, max_bytes, work)
    if None in entries.fragments:
        work.left = left
        found = _Found(now_ms, wanted, work.units_left)
        for stretch in live_stretches(stream, group, latest_ms):
            if not found.takes(stretch):
                break
        entries = found.entries(stream.log, max_bytes, work)
    return entries


class _Found(Struct, gc=False):
    """The first `wanted` entries, as columns, from `units_max` changes at most."""

    now_ms: int
    wanted: int
    units_max: int
    ids: list[StreamId] = []
    idle_ms: list[int] = []
    counts: list[int] = []
    units: int = 0

    def takes(self, stretch: Stretch) -> bool:
        """Add the entries of `stretch`. Return whether further ones are wanted."""
        left = self.wanted - len(self.ids)
        ids, times, counts = stretch.ids, stretch.times, stretch.counts
        more = len(ids) < left
        if not more:
            ids, times, counts = ids[:left], times[:left], counts[:left]
        self.ids += ids
        if times and times[0] == times[-1]:
            at_ms = times[0]
            self.idle_ms += [idle_since(max(0, at_ms), self.now_ms)] * len(times)
        else:
            self.idle_ms += [idle_since(max(at_ms, 0), self.now_ms) for at_ms in times]
        self.counts += counts
        self.units += 1
        return more and self.units < self.units_max

    def entries(self, log: EntryLog, max_bytes: int, work: PendingWork) -> Entries:
        """Return the entries as far as they fit into `max_bytes` and into `work`, up to some that were
        deleted. O(entries)."""
        ids, fragments = self.ids, list[bytes | None]()
        while len(fragments) < len(ids):
            some = ids[len(fragments) : len(fragments) + _LOOKUP_CHUNK]
            looks = log.cache.lookups
            read = log.get_many(some, max_bytes)
            work.count(len(read), self.units * len(read) // len(ids), log.cache.lookups - looks)
            fragments += read
            if len(read) < len(some) or work.is_spent or None in read:
                break
            max_bytes -= sum(map(len, filter(None, read)))
        entries = Entries(ids, fragments, self.idle_ms, self.counts)
        return entries if len(fragments) == len(ids) else entries.first(len(fragments))


def claimable_from_ms(stream: Stream, group: Group) -> int | None:
    """When the live entry that is pending longest was delivered, in Unix milliseconds; None if there is none.

    If that takes too many looks (`live_stretches`), the result is the time of an earlier entry: a reader that
    waits until then looks further. O(stretches + entries examined).
    """
    pending, any_ms = group.pending, HELD_FROM - 1
    for stretch in live_stretches(stream, group, any_ms):
        return max(stretch.times[0], 0)
    return next((max(stretch.times[0], 0) for stretch in pending.walk(any_ms, 1) if stretch.ids), None)


def live_stretches(stream: Stream, group: Group, latest_ms: int) -> Iterator[Stretch]:
    """The stretches of `group` up to the time `latest_ms` that have live entries, longest pending first, with
    these entries alone.

    Stretches before the first of them are passed over for good (`PendingEntriesList.pass_over`), so the next
    call begins after them. Ends after about `PENDING_LOOKS_MAX` entries or trimmed stretches were examined,
    or fewer if they are in many stretches or blocks.
    """
    log, least = stream.log, stream.first_id if stream.length else MAX_ID + 1
    stretches = group.pending.walk(latest_ms, SEGMENT_MAX, least)
    passed: list[tuple[Segment | Batch, int]] = []
    examined, is_leading = 0, True
    try:
        while examined < PENDING_LOOKS_MAX and (some := _some_of(stretches)):
            looks = log.cache.lookups
            ids = [value for stretch in some for value in stretch.ids if value >= least]
            is_live = membership(log.live_among(ids))
            examined += sum(len(stretch.ids) for stretch in some) + len(some) * _LOOKS_PER_STRETCH
            examined += (log.cache.lookups - looks) * _LOOKS_PER_BLOCK
            for stretch in some:
                live = stretch.among(is_live)
                if is_leading and not live.ids:
                    passed.append((stretch.item, stretch.end))
                elif is_leading and isinstance(stretch.item, Segment):
                    passed.append((stretch.item, min(live.rows)))
                if live.ids:
                    is_leading = False
                    yield live
    finally:
        group.pending.pass_over(passed)


def _some_of(stretches: Iterator[Stretch]) -> list[Stretch]:
    """Take stretches with about `_LOOKUP_CHUNK` entries."""
    some: list[Stretch] = []
    count = 0
    for stretch in stretches:
        some.append(stretch)
        count += len(stretch.ids) or 1
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
