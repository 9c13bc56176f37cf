"""Copies of a pending entries list, and its entries in order of delivery, as storage writes them.

This module never decides what is stored in which form: `core.storage.state` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, repeat
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from tailrace.core.id_keys import are_rising
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.rows import Batch, Counts, Row
from tailrace.core.pending.segment import SEGMENT_MAX
from tailrace.core.pending.segment_table import segments_of
from tailrace.core.stream_id import StreamId

Stored: TypeAlias = tuple[Sequence[StreamId], Consumer | None, int, int | Sequence[int]]
"""Entries with one owner and time in order of delivery, and their count, or the count of each."""


class _Piece(NamedTuple):
    """Entries of one row in one segment, or those of a batch."""

    at_ms: int
    serial: int
    first: StreamId
    ids: Sequence[StreamId]
    consumer: Consumer | None
    deliveries: Counts


def copied(
    pending: PendingEntriesList, owners: Mapping[bytes, Consumer], twins: Mapping[bytes, Consumer]
) -> PendingEntriesList:
    """Return the same entries, owned by the `twins` of their `owners`, both by name. O(n) in C."""
    twin = PendingEntriesList()
    batches: dict[Batch, Batch] = {}

    def batch_of(batch: Batch) -> Batch:
        if batch not in batches:
            pending.table.refresh(batch)
            counts = batch.counts if isinstance(batch.counts, int) else batch.counts[:]
            made = Batch(batch.ids[:], twin_of(batch.consumer), batch.at_ms, batch.serial, counts)
            batches[batch] = made
            if made.live:
                twin.table.order.note(made, made.at_ms, made.serial)
        return batches[batch]

    def twin_of(owner: Consumer | None) -> Consumer | None:
        return None if owner is None else twins.get(owner.name)

    for segment in pending.table.segments.segments:
        twin.table.replace((), (segment.copy(twin_of, batch_of),))
    for name, each in owners.items():
        twins[name].pending_count = each.pending_count
    twin.table.count, twin.table.nacked_count = pending.count, pending.nacked_count
    twin.table.highest_id = pending.table.highest_id
    twin.latest_ms, twin.serial = pending.latest_ms, pending.serial
    return twin


def stored(pending: PendingEntriesList) -> Iterator[Stored]:
    """Return all entries in order of delivery, delayed ones last. Equal lists give equal rows. O(n log n)."""
    pieces = sorted(_pieces(pending), key=itemgetter(0, 1, 2))
    for _, group in groupby(pieces, lambda piece: (piece.at_ms, id(piece.consumer))):
        together = list(group)
        at_ms, consumer = together[0].at_ms, together[0].consumer
        if len(together) == 1:
            yield together[0].ids, consumer, at_ms, together[0].deliveries
            continue
        ids, counts = list[StreamId](), list[int]()
        for _, of_change in groupby(together, itemgetter(1)):
            # Entries of one change are in the order of ids, but for those of a batch.
            some = list(of_change)
            if len(some) == 1:
                ids += some[0].ids
                counts += _each(some[0])
            else:
                entries = sorted(
                    chain.from_iterable(zip(each.ids, _each(each), strict=True) for each in some)
                )
                ids += [value for value, _ in entries]
                counts += [count for _, count in entries]
        is_same = counts.count(counts[0]) == len(counts)
        yield ids, consumer, at_ms, counts[0] if is_same else counts


def _pieces(pending: PendingEntriesList) -> Iterator[_Piece]:
    batches: dict[Batch, None] = {}
    for segment in pending.table.segments.segments:
        if segment.is_uniform:
            at_ms, serial, consumer, count = segment.local_row(0)
            yield _Piece(at_ms, serial, segment.first, segment.live_ids(), consumer, count)
            continue
        lists: dict[Row, list[StreamId]] = {}
        for value, row in zip(*segment.entries(), strict=True):
            lists.setdefault(row, []).append(value)
        for row, ids in lists.items():
            if isinstance(row, Batch):
                batches[row] = None
            else:
                at_ms, serial, consumer, count = row
                yield _Piece(at_ms, serial, segment.first, ids, consumer, count)
    for batch in batches:
        pending.table.refresh(batch)
        yield _Piece(batch.at_ms, batch.serial, 0, batch.ids, batch.consumer, batch.counts)


def _each(piece: _Piece) -> list[int]:
    counts = piece.deliveries
    return [counts] * len(piece.ids) if isinstance(counts, int) else counts


_Restored: TypeAlias = "tuple[StreamId, StreamId, Sequence[StreamId], Row | list[Row]]"
"""The least and the greatest of ids, the ids, and their row, or the row of each."""


def restore(pending: PendingEntriesList, rows: Iterable[Stored]) -> None:
    """Add the entries that `stored` returned to an empty list. O(n log n), O(m) for runs that are apart from
    others."""
    pieces: list[_Restored] = []
    for ids, consumer, at_ms, counts in rows:
        pending.table.count_owned(consumer, len(ids))
        each = [counts] * len(ids) if isinstance(counts, int) else counts
        rises = are_rising(ids)
        made = pending.rows_for(ids, consumer, at_ms, each, 1, rises=rises)
        pieces.append((ids[0] if rises else min(ids), ids[-1] if rises else max(ids), ids, made))
    pieces.sort(key=itemgetter(0))
    start, end = 0, 0
    for at, (first, last, ids, _) in enumerate(pieces):
        if first > end and (len(ids) > SEGMENT_MAX // 4 or at - start > SEGMENT_MAX):
            _restore_together(pending, pieces[start:at])
            start = at
        end = max(end, last)
    _restore_together(pending, pieces[start:])


def _restore_together(pending: PendingEntriesList, pieces: Sequence[_Restored]) -> None:
    """Add entries above all others."""
    table = pending.table
    if len(pieces) == 1 and not isinstance(pieces[0][3], list) and are_rising(pieces[0][2]):
        table.place(pieces[0][2], pieces[0][3])
        return
    entries: list[tuple[StreamId, Row]] = []
    for _, _, ids, rows in pieces:
        entries += zip(ids, rows if isinstance(rows, list) else repeat(rows), strict=False)
    if entries:
        entries.sort(key=itemgetter(0))
        table.count += len(entries)
        table.highest_id = entries[-1][0]
        table.replace((), segments_of([value for value, _ in entries], [row for _, row in entries]))
