"""A segment: pending entries with neighbouring ids, and for each one byte that names its row.

    ids      [i0 i1 i2 i3 i4 i5]      rising: a range, or packed
    marks    [ 0  1  0  .  1 254]     each entry's row; `GONE`: not pending (any more)

    rows from 0 up             (time, serial, owner, count) of this segment, rising by (time, serial)
    rows from 254 down         batches: rows that other segments have as well

This module owns the form of a segment and of a batch. It never changes an index or a consumer's counter:
`core.pending.pending_list` does.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, islice
from operator import and_
from typing import Any, Final, TypeAlias, TypeVar, cast

from tailrace.core.id_keys import id_keys
from tailrace.core.log.id_sequence import (
    IdSequence,
    OwnIds,
    are_consecutive,
    are_same,
    count_below,
    ids_within,
    pack_ids,
    position_of,
)
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.rows import HELD_FROM, UNOWNED, Batch, Delivery, Local, Row, Stamp
from tailrace.core.stream_id import StreamId

T = TypeVar("T")

SEGMENT_MAX: Final = 1024
"""The entries of a segment: what C code translates in about 1 us."""
GONE: Final = 255
"""The mark of entries that are not pending."""
ROWS_MAX: Final = GONE
"""The rows and batches of a segment."""
LAST: Final = GONE - 1
"""The mark of the first batch; those that follow have smaller ones."""

_GONE_BYTE: Final = bytes([GONE])
_SAME: Final = bytes(range(256))
_ONLY: Final = [bytes(mark) + b"\x01" + bytes(255 - mark) for mark in range(256)]
_IS_LIVE: Final = bytes(number != GONE for number in range(256))
_LIVE_TO_FIRST: Final = bytes(GONE if number == GONE else 0 for number in range(256))
_SERIALS_SHORT: Final = 1 << 32
"""Serials below this one take four bytes."""
_FEW: Final = 4
"""So many ids are looked up one by one."""
_ADDED_MAX: Final = 255
"""More entries that are delivered together become a segment of their own."""
_RANGE_MIN: Final = 64
"""So many consecutive ids stay a range, in a segment of their own: packed ids take 16 bytes each."""


Tally: TypeAlias = tuple[Consumer | None, Batch | None, int]
"""An owner or batch that has entries, and how many."""


class Segment:
    """Pending entries with neighbouring ids. A position is an index into `ids`; n: their number."""

    __slots__ = (
        "batches",
        "bound",
        "counts",
        "first",
        "held_bound",
        "ids",
        "kinds",
        "last",
        "live",
        "marks",
        "owners",
        "passed",
        "serials",
        "times",
    )

    def __init__(self, ids: IdSequence, row: Row) -> None:
        """`ids`: all of them are in `row`."""
        self.ids = ids
        self.first, self.last = ids[0], ids[-1]
        self.live = len(ids)
        # Of each row of this segment: its time and serial, and the index of its owner and count.
        # Serials take four bytes each until one is too large for that.
        self.times, self.serials, self.kinds = array("q"), array("I"), bytearray()
        # As two columns: pairs would take 5 bytes more for each entry of many consumers.
        self.owners: list[Consumer | None] = []
        self.counts: list[int] = []
        self.batches: list[Batch] = []
        # So many of the first rows have no entry that is in the stream: a hint, neither stored nor copied.
        self.passed = 0
        self.bound: Stamp | None = None
        self.held_bound: Stamp | None = None
        self.marks = bytearray(len(ids))
        if isinstance(row, Batch):
            self.batches.append(row)
            self.marks = bytearray([LAST]) * len(ids)
        else:
            self.add_row(row)

    # --- finding and reading -------------------------------------------------------------------

    def has_span(self, at: int, ids: Sequence[StreamId]) -> bool:
        """Whether `ids` are the ids from the position `at` on, all pending. O(ids) in C, O(1) for ranges."""
        end = at + len(ids)
        return self.marks.find(GONE, at, end) < 0 and are_same(self.ids[at:end], ids)

    @property
    def is_uniform(self) -> bool:
        """Whether the segment has one row of its own, and no other."""
        return len(self.times) == 1 and not self.batches

    def positions_of(self, ids: Sequence[StreamId]) -> Sequence[int]:
        """Return the position of each of `ids`, which rise, -1 if it is not pending here. O(n) in C."""
        count, own, marks = len(ids), self.ids, self.marks
        at = -1 if count <= _FEW else position_of(own, ids[0])
        if at >= 0 and self.has_span(at, ids):
            return range(at, at + count)
        if count <= _FEW or isinstance(own, range) or count * 4 < len(own):
            found: list[int] = [position_of(own, value) for value in ids]
        else:
            table = dict(zip(id_keys(own), range(len(own)), strict=True))
            found = [table.get(key, -1) for key in id_keys(ids)]
        return [-1 if at < 0 or marks[at] == GONE else at for at in found]

    def ids_from(self, start: StreamId) -> Iterator[StreamId]:
        """Return the pending ids at or after `start`. O(n) in C."""
        return self._selected(start, _IS_LIVE)

    def live_ids(self) -> Sequence[StreamId]:
        """Return the pending ids. O(n) in C, O(1) if all are pending."""
        return self.ids if self.live == len(self.ids) else list(self.ids_from(0))

    def ids_of(self, consumer: Consumer, start: StreamId) -> Iterator[StreamId]:
        """Return the ids of `consumer` at or after `start`. O(n) in C."""
        return self._selected(start, self.rows_of(consumer))

    def idle_ids(self, latest_ms: int, consumer: Consumer | None, start: StreamId) -> Iterator[StreamId]:
        """Return the ids at or after `start` that are idle, those of `consumer` if given. O(n) in C."""
        idle = b"\x01" * bisect_right(self.times, latest_ms)
        table = _table(idle, [batch.at_ms <= latest_ms for batch in self.batches])
        if consumer is not None:
            table = bytes(map(and_, table, self.rows_of(consumer)))
        return self._selected(start, table)

    def rows_of(self, consumer: Consumer) -> bytes:
        """Return a byte for each mark, 1 for the rows of `consumer`. O(rows) in C."""
        owned = bytes(owner is consumer for owner in self.owners)
        local = self.kinds.translate(owned + bytes(256 - len(owned)))
        return _table(local, [batch.consumer is consumer for batch in self.batches])

    def may_be_idle(self, latest_ms: int) -> bool:
        """Whether an entry may be idle. O(batches)."""
        return bool(self.times and self.times[0] <= latest_ms) or any(
            batch.at_ms <= latest_ms for batch in self.batches
        )

    def _selected(self, start: StreamId, table: bytes) -> Iterator[StreamId]:
        low = count_below(self.ids, start) if start > self.first else 0
        ids = self.ids[low:] if low else self.ids
        return compress(ids, (self.marks[low:] if low else self.marks).translate(table))

    def views_at(self, at: Sequence[int]) -> Iterable[Delivery]:
        """Return what the rows of the pending entries at the positions `at` say, one object for each row.
        O(positions) in C, and O(rows)."""
        if len(at) == 1:
            return (self.view(at[0]),)
        if isinstance(at, range):
            marks: Sequence[int] = self.marks[at.start : at.stop]
        else:
            marks = list(map(self.marks.__getitem__, at))
        views = {mark: self._view_of(mark) for mark in set(marks)}
        found = map(views.__getitem__, marks)
        if None not in views.values():
            return cast("Iterable[Delivery]", found)
        return [
            self.view(position) if view is None else view for view, position in zip(found, at, strict=True)
        ]

    def view(self, at: int) -> Delivery:
        """Return what the row of the pending entry at `at` says."""
        mark = self.marks[at]
        view = self._view_of(mark)
        if view is not None:
            return view
        batch = self.batches[LAST - mark]
        return Delivery(batch.consumer, batch.at_ms, batch.count_of(self.ids[at]))

    def _view_of(self, mark: int) -> Delivery | None:
        """Return what the row of a mark says, None if it is a batch whose entries differ."""
        if mark < len(self.times):
            kind = self.kinds[mark]
            return Delivery(self.owners[kind], self.times[mark], self.counts[kind])
        batch = self.batches[LAST - mark]
        return Delivery(batch.consumer, batch.at_ms, batch.counts) if isinstance(batch.counts, int) else None

    def row(self, mark: int) -> Row:
        """Return the row of a mark."""
        return self.local_row(mark) if mark < len(self.times) else self.batches[LAST - mark]

    def owner_at(self, at: int) -> tuple[Consumer | None, Batch | None]:
        """Return the owner of the pending entry at `at`, and its batch if it is in one."""
        mark = self.marks[at]
        if mark < len(self.times):
            return self.owners[self.kinds[mark]], None
        batch = self.batches[LAST - mark]
        return batch.consumer, batch

    def local_row(self, row: int) -> Local:
        """Return a row of this segment alone."""
        kind = self.kinds[row]
        return self.times[row], self.serials[row], self.owners[kind], self.counts[kind]

    def count_between(self, low: int, high: int) -> int:
        """Return how many entries at positions from `low` up to but not including `high` are pending."""
        return high - low - self.marks.count(GONE, low, high)

    def entries(self) -> tuple[list[StreamId], list[Row]]:
        """Return the pending ids, and the row of each. O(n) in C."""
        marks = self.marks.translate(None, _GONE_BYTE)
        rows = {mark: self.row(mark) for mark in set(marks)}
        return list(self.ids_from(0)), list(map(rows.__getitem__, marks))

    def live_marks(self) -> bytes:
        """Return the marks of the pending entries. O(n) in C."""
        return bytes(self.marks.translate(None, _GONE_BYTE))

    def tally(self, marks: bytes) -> Iterator[Tally]:
        """Return how many of `marks`, those of pending entries, each owner and batch has. O(marks) in C."""
        if self.batches:
            for number, batch in enumerate(self.batches):
                if count := marks.count(LAST - number):
                    yield batch.consumer, batch, count
            marks = marks.translate(None, _SAME[len(self.times) :])
        if len(self.owners) == 1:
            if marks:
                yield self.owners[0], None, len(marks)
            return
        kinds = marks.translate(bytes(self.kinds) + bytes(256 - len(self.kinds)))
        for kind, count in Counter(kinds).items():
            yield self.owners[kind], None, count

    def all_owners(self) -> set[Consumer]:
        """Return all that may own an entry. O(rows)."""
        owners = {*self.owners, *(batch.consumer for batch in self.batches)}
        return {owner for owner in owners if owner is not None}

    # --- the rows in order ---------------------------------------------------------------------

    def first_row(self, low: int) -> int:
        """Return the first row from `low` on that has an entry, the number of rows if none has."""
        marks, most = self.marks, len(self.times)
        while low < most and marks.find(low) < 0:
            low += 1
        return low

    @property
    def held_row(self) -> int:
        """The first row that may have delayed entries."""
        return bisect_left(self.times, HELD_FROM)

    def rows_before(self, stop: tuple[Any, ...], low: int, most: int) -> int:
        """Return the first row after `low` that is not before `stop`, or one of those from `most` on that
        does not follow a row of equal time and serial."""
        times, serials = self.times, self.serials
        high = max(bisect_left(times, stop[0], low), low + 1)
        while high < len(times) and times[high] == stop[0] and (serials[high], self.first) < stop[1:3]:
            high += 1
        if high > most:
            high = most
            while times[high] == times[high - 1] and serials[high] == serials[high - 1]:
                high += 1
                if high == len(times):
                    break
        return high

    @property
    def first_owned_ms(self) -> int:
        """The earliest time of an entry that has an owner and is not passed over, `UNOWNED` if there is
        none."""
        row = self.first_row(max(self.passed, bisect_right(self.times, UNOWNED)))
        return self.times[row] if row < self.held_row else UNOWNED

    def in_order(
        self, low: int, high: int, most: int
    ) -> tuple[Sequence[int], list[StreamId], list[int], list[int]]:
        """Return row, id, time and count of each entry of the rows from `low` up to but not including `high`,
        in order of delivery; the first `most` are enough. O(n) in C, and O(m log m) for several rows."""
        marks = self.marks
        if high - low == 1:
            count = self.counts[self.kinds[low]]
            at = marks.find(low)
            if most == 1 or marks.find(low, at + 1) < 0:
                return (low,), [self.ids[at]], [self.times[low]], [count]
            following = ids_within(self.ids, at, len(marks))
            found = list(islice(compress(following, marks[at:].translate(_ONLY[low])), most))
            size = len(found)
            return [low] * size, found, [self.times[low]] * size, [count] * size
        chosen = marks.translate(bytes(low) + b"\x01" * (high - low) + bytes(256 - high))
        ids, rows = list(compress(self.ids, chosen)), marks.translate(None, _SAME[:low] + _SAME[high:])
        # Entries of equal time and serial are in the order of ids.
        rank = bytearray(_SAME)
        for row in range(low + 1, high):
            if self.times[row] == self.times[row - 1] and self.serials[row] == self.serials[row - 1]:
                rank[row] = rank[row - 1]
        order = sorted(range(len(ids)), key=rows.translate(rank).__getitem__)
        rows = bytearray(map(rows.__getitem__, order))
        counts = [self.counts[kind] for kind in self.kinds]
        return (
            rows,
            list(map(ids.__getitem__, order)),
            list(map(self.times.__getitem__, rows)),
            list(map(counts.__getitem__, rows)),
        )

    # --- changing ------------------------------------------------------------------------------

    def has_room(self, rows: int) -> bool:
        """Whether so many rows can be added."""
        return len(self.times) + len(self.batches) + rows <= ROWS_MAX and len(self.owners) + rows <= ROWS_MAX

    def add_row(self, row: Row) -> int:
        """Return the mark of `row`, a new one if need be; there must be room. O(1) at the end, O(n) in C."""
        if isinstance(row, Batch):
            if row not in self.batches:
                self.batches.append(row)
            return LAST - self.batches.index(row)
        at_ms, serial, consumer, count = row
        times, serials = self.times, self.serials
        if serial >= _SERIALS_SHORT and serials.typecode == "I":
            self.serials = serials = array("q", serials)
        at = len(times)
        kind = self._kind_of(consumer, count)
        if at and times[-1] >= at_ms and (at_ms, serial) < (times[-1], serials[-1]):
            at = bisect_right(times, at_ms)
            while at and times[at - 1] == at_ms and serials[at - 1] > serial:
                at -= 1
        if at and times[at - 1] == at_ms and serials[at - 1] == serial and self.kinds[at - 1] == kind:
            self.passed = min(self.passed, at - 1)
            return at - 1
        if at < len(times):
            most = len(times)
            self.marks = self.marks.translate(_SAME[:at] + _SAME[at + 1 : most + 1] + _SAME[most:])
        times.insert(at, at_ms)
        serials.insert(at, serial)
        self.kinds.insert(at, kind)
        self.passed = min(self.passed, at)
        return at

    def _kind_of(self, consumer: Consumer | None, count: int) -> int:
        owners, kind = self.owners, -1
        if owners and owners[kind] is consumer and self.counts[kind] == count:
            return len(owners) - 1
        for _ in range(owners.count(consumer)):
            kind = owners.index(consumer, kind + 1)
            if self.counts[kind] == count:
                return kind
        owners.append(consumer)
        self.counts.append(count)
        return len(owners) - 1

    def set_all(self, row: Row) -> None:
        """Give all pending entries the row `row`, and forget all others."""
        marks = self.marks
        self.marks = marks.translate(_LIVE_TO_FIRST) if self.live < len(marks) else bytearray(len(marks))
        del self.times[:], self.serials[:], self.kinds[:]
        self.owners, self.counts, self.batches, self.passed = [], [], [], 0
        mark = self.add_row(row)
        if mark:
            self.marks = self.marks.translate(bytes([mark]) + _SAME[1:])

    def put(self, at: Sequence[int], mark: int) -> None:
        """Set the marks at the positions `at`. O(positions)."""
        if isinstance(at, range):
            self.marks[at.start : at.stop] = bytes([mark]) * len(at)
        else:
            marks = self.marks
            for position in at:
                marks[position] = mark

    def extend(self, ids: Sequence[StreamId], row: Row) -> None:
        """Add `ids`, which are above all others and not too many, with the row `row`. O(ids)."""
        mark = self.add_row(row)
        own = self.ids
        if isinstance(own, range) and own.stop == ids[0] and are_consecutive(ids):
            self.ids = range(own.start, ids[-1] + 1)
        else:
            self._own_ids().extend(ids)
        self.last = ids[-1]
        self.marks += bytes([mark]) * len(ids)
        self.live += len(ids)

    def insert(self, value: StreamId, row: Row) -> None:
        """Add `value`, which is between the others, with the row `row`. O(n) in C."""
        mark = self.add_row(row)
        at = count_below(self.ids, value)
        self._own_ids().insert(at, value)
        self.marks.insert(at, mark)
        self.live += 1

    def _own_ids(self) -> OwnIds:
        own = self.ids
        if not isinstance(own, OwnIds):
            self.ids = own = OwnIds.of(own)
        return own

    def trim(self) -> None:
        """Give memory back that the columns have for more entries, because there will be none. O(n) in C."""
        self.times, self.serials = self.times[:], self.serials[:]
        self.marks, self.kinds = self.marks[:], self.kinds[:]
        self.owners, self.counts = self.owners[:], self.counts[:]
        if isinstance(self.ids, OwnIds):
            self.ids = OwnIds.of(self.ids)

    def parts_at(self, at: int) -> Iterator[Segment]:
        """Return the entries before the position `at`, and those from there on. O(n) in C, and O(rows)."""
        for low, high in (0, at), (at, len(self.marks)):
            part = self.copy(_itself, _itself)
            part.ids = pack_ids(self.ids[low:high])
            part.marks = self.marks[low:high]
            part.first, part.last = part.ids[0], part.ids[-1]
            part.live = part.count_between(0, high - low)
            part.passed = self.passed
            part.compact()
            yield part

    def take_masked(self, mask: bytes) -> None:
        """Set the marks to `GONE` where `mask` is 1. The caller counts them. O(n) in C."""
        gone = int.from_bytes(mask.translate(b"\0" + _GONE_BYTE * 255))
        self.marks = bytearray((int.from_bytes(self.marks) | gone).to_bytes(len(self.marks)))

    def transfer(self, consumer: Consumer, heir: Consumer) -> None:
        """Make `heir` the owner of all entries of `consumer`. O(rows)."""
        self.owners = [heir if owner is consumer else owner for owner in self.owners]
        for batch in self.batches:
            if batch.consumer is consumer:
                batch.consumer = heir

    def takes(self, ids: Sequence[StreamId]) -> bool:
        """Whether `ids`, which are above all others, may be added. A long range stays one. O(1)."""
        own = self.ids
        if len(own) + len(ids) > SEGMENT_MAX or len(ids) > _ADDED_MAX:
            return False
        if not isinstance(own, range):
            return len(ids) < _RANGE_MIN or not are_consecutive(ids)
        return (own.stop == ids[0] and are_consecutive(ids)) or max(len(own), len(ids)) < _RANGE_MIN

    def compact(self) -> None:
        """Forget the rows that have no entry. O(n) in C, and O(rows)."""
        used = bytes(sorted(set(self.marks.translate(None, _GONE_BYTE))))
        size = bisect_left(used, len(self.times))
        local, batches = used[:size], used[size:]
        self.marks = self.marks.translate(
            bytes.maketrans(local + batches, _SAME[:size] + _SAME[LAST : LAST - len(batches) : -1])
        )
        kinds = bytes(map(self.kinds.__getitem__, local))
        kept = bytes(sorted(set(kinds)))
        self.kinds = bytearray(kinds.translate(bytes.maketrans(kept, _SAME[: len(kept)])))
        self.owners = list(map(self.owners.__getitem__, kept))
        self.counts = list(map(self.counts.__getitem__, kept))
        self.times = array("q", map(self.times.__getitem__, local))
        self.serials = array(self.serials.typecode, map(self.serials.__getitem__, local))
        self.passed = bisect_left(local, self.passed)
        self.batches = [self.batches[LAST - mark] for mark in batches]

    def copy(
        self, twin_of: Callable[[Consumer | None], Consumer | None], batch_of: Callable[[Batch], Batch]
    ) -> Segment:
        """Return the same entries with other owners and batches, in no index. O(n) in C."""
        twin = object.__new__(Segment)
        ids = self.ids
        twin.ids = OwnIds.of(ids) if isinstance(ids, OwnIds) else ids
        twin.first, twin.last, twin.live = self.first, self.last, self.live
        twin.marks, twin.kinds = self.marks[:], self.kinds[:]
        twin.times, twin.serials = self.times[:], self.serials[:]
        twin.owners, twin.counts = list(map(twin_of, self.owners)), self.counts[:]
        twin.batches = list(map(batch_of, self.batches))
        twin.passed, twin.bound, twin.held_bound = 0, None, None
        return twin


def _itself(value: T) -> T:
    return value


def _table(local: bytes | bytearray, batches: Sequence[bool]) -> bytes:
    """Return a byte for each mark: `local`, those of the first rows, and `batches`; 0 for all others."""
    return bytes(local) + bytes(GONE - len(local) - len(batches)) + bytes(batches[::-1]) + b"\0"
