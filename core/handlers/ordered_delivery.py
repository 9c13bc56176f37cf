"""Deliveries of a group with `order_by`: which entries a read may deliver, and which it holds.

A read first takes the held entries that are ready, and then examines entries after the position of the
group. It delivers those whose key is free, holds the others, and moves the position over both. It examines as
many entries at once as it still may deliver, then twice as many as before: so it examines few entries that it
does not pass over. The bounds of filters apply (`FilterScan`). This module changes nothing;
`core.handlers.group_reader` records the delivery.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import compress
from operator import itemgetter
from typing import Final, NamedTuple

from tailrace.core.effects import Effect, EntriesHeld, KeysTaken
from tailrace.core.execution import Execution
from tailrace.core.filters import Filter
from tailrace.core.filters.conditions import UTF8, Getter, RowReader
from tailrace.core.group import Group
from tailrace.core.handlers.filtered_delivery import FilterScan
from tailrace.core.key_order import KeyOrder
from tailrace.core.limits import (
    FILTER_STEP_ENTRIES,
    HELD_ENTRIES_MAX,
    KEYS_IN_FLIGHT_MAX,
    ORDER_KEY_BYTES_KEPT,
)
from tailrace.core.replies import NO_ENTRIES, Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId

_FIELDS_KEPT: Final = 256
"""How many readers of a field are kept: about 5 KiB each."""


def keys_of(field: str, fragments: Sequence[bytes]) -> list[bytes | None]:
    """Return the key of each stored entry, None for one without the field. O(bytes)."""
    reader, value_of = _reader_of(field)
    return [None if text is None else _key(text) for text in map(value_of, reader.rows(fragments))]


@lru_cache(_FIELDS_KEPT)
def _reader_of(field: str) -> tuple[RowReader, Getter]:
    reader = RowReader([field])
    return reader, reader.getter(field)


def _key(text: str) -> bytes:
    raw = text.encode(*UTF8)
    # One byte more than the longest plain key, so that no digest equals one.
    return raw if len(raw) <= ORDER_KEY_BYTES_KEPT else blake2b(raw).digest() + b"+"


def note_left(execution: Execution, key: bytes, name: bytes) -> None:
    """Wake a waiting reader of the group for what a read has left: entries that are ready or new. A reader
    that waited may have used up its limits, and only so many readers were woken as there were entries. O(1).

    Call it only if the read has delivered an entry, so that readers cannot wake each other forever.
    """
    stream = execution.keyspace.streams[key]
    group: Group = stream.groups[name]
    order = group.order
    if order is None:
        return
    if order.ready or (not order.is_full and stream.log.last_id > group.last_delivered_id):
        execution.keyspace.freed.add((key, name))


class Chosen(NamedTuple):
    """What one read does. `entries`: those that it delivers, rising. `passed`: the ids that the position
    moves over. `taken`, `held`: ids and keys for the effects."""

    entries: Entries
    passed: Sequence[StreamId]
    taken: tuple[Sequence[StreamId], Sequence[bytes | None]]
    held: tuple[Sequence[StreamId], Sequence[bytes | None]]

    def effects(self, key: bytes, group: bytes) -> Iterator[Effect]:
        """Return the effects on the order of the group. They follow those of the delivery."""
        if self.taken[0]:
            yield KeysTaken(key, group, *self.taken)
        if self.held[0]:
            yield EntriesHeld(key, group, *self.held)


NOTHING: Final = Chosen(NO_ENTRIES, (), ((), ()), ((), ()))


class Choice:
    """The entries that one read of a group may deliver. `found`: the ready ones, then new ones."""

    def __init__(self, order: KeyOrder, stream: Stream, position: StreamId, *, noack: bool) -> None:
        self.found: Entries = NO_ENTRIES
        self._order = order
        self._stream = stream
        self._position = position
        self._noack = noack
        # How many of `found` were held before.
        self._ready_count = 0
        # The key of each entry in `found`, and the keys that new ones take.
        self._keys: list[bytes | None] = []
        self._taken: set[bytes] = set()
        # All ids that were passed over, rising, and those among them to hold, with their keys.
        self._passed: list[StreamId] = []
        self._held_ids: list[StreamId] = []
        self._held_keys: list[bytes | None] = []
        self._held_set: set[bytes] = set()

    def choose(self, scan: FilterScan, wanted: Filter | None, most: int, max_bytes: int) -> None:
        """Find up to `most` entries. O(entries examined)."""
        ready = self._order.first_ready(min(most, self._free_keys()), whole_queues=self._noack)
        fragments = self._stream.log.get_many(ready, max_bytes) if ready else ()
        ready = ready[: len(fragments)]
        self._ready_count = len(ready)
        self._keys = [self._order.held[value] for value in ready]
        self.found = Entries(ready, fragments)
        if self._ready_count < most and self._order.field is not None:
            self._examine(scan, wanted, most - self._ready_count, self._order.field)

    def _free_keys(self) -> int:
        """Return how many entries more may be in flight."""
        return max(KEYS_IN_FLIGHT_MAX - (0 if self._noack else len(self._order.key_of)), 0)

    def _examine(self, scan: FilterScan, wanted: Filter | None, most: int, field: str) -> None:
        """Find up to `most` new entries."""
        step = FILTER_STEP_ENTRIES if wanted is None else wanted.step_entries
        ids: list[StreamId] = []
        fragments: list[bytes | None] = []
        count, position = most, self._position
        while len(ids) < most and self._stream.log.last_id > position and not self._is_full():
            some = scan.take(self._stream, position, step, count)
            if not some.ids:
                break
            position = some.ids[-1]
            count = 2 * max(count, len(some.ids))
            if not self._sort(some, wanted, field, ids, fragments, most):
                break
        self.found = Entries([*self.found.ids, *ids], [*self.found.fragments, *fragments])

    def _is_full(self) -> bool:
        held = len(self._order.held) - self._ready_count + len(self._held_ids)
        return held >= HELD_ENTRIES_MAX or self._ready_count + len(self._taken) >= self._free_keys()

    def _sort(
        self,
        some: Entries,
        wanted: Filter | None,
        field: str,
        ids: list[StreamId],
        fragments: list[bytes | None],
        most: int,
    ) -> bool:
        """Deliver, hold or drop each of `some`. Return False if the read must stop before the last one."""
        plain = [fragment for fragment in some.fragments if fragment is not None]
        flags = [True] * len(plain) if wanted is None else wanted.flags(plain)
        keys = iter(keys_of(field, list(compress(plain, flags))))
        for value, fragment, matches in zip(some.ids, plain, flags, strict=True):
            if matches:
                key = next(keys)
                if self._is_full() or len(ids) == most:
                    return False
                if key is not None and self._blocks(key):
                    self._hold(value, key)
                else:
                    ids.append(value)
                    fragments.append(fragment)
                    self._keys.append(key)
                    if key is not None and not self._noack:
                        self._taken.add(key)
            self._passed.append(value)
        return True

    def _blocks(self, key: bytes) -> bool:
        return key in self._taken or key in self._held_set or self._order.blocks(key)

    def _hold(self, value: StreamId, key: bytes) -> None:
        self._held_ids.append(value)
        self._held_keys.append(key)
        self._held_set.add(key)

    def cut_to(self, count: int) -> Chosen:
        """Return what the read does if only the first `count` entries of `found` fit into its reply.
        O(count log count + entries held)."""
        if not self.found.ids and not self._passed:
            return NOTHING
        passed, held = self._passed, (self._held_ids, self._held_keys)
        if count < self._ready_count:
            # The others are held on, so there may be no room for further ones.
            passed, held = [], ([], [])
        elif count < len(self.found.ids):
            # The position stops before the first new entry that does not fit.
            end = self.found.ids[count]
            passed = [value for value in passed if value < end]
            kept = sum(value < end for value in self._held_ids)
            held = (self._held_ids[:kept], self._held_keys[:kept])
        ids, keys = list(self.found.ids[:count]), self._keys[:count]
        taken = self._taken_of(ids, keys)
        entries = Entries(ids, self.found.fragments[:count])
        if self._ready_count and len(ids) > 1:
            pairs = sorted(zip(ids, entries.fragments, strict=True), key=itemgetter(0))
            ids = [value for value, _ in pairs]
            entries = Entries(ids, [fragment for _, fragment in pairs])
        return Chosen(entries, passed, taken, held)

    def _taken_of(
        self, ids: Sequence[StreamId], keys: Sequence[bytes | None]
    ) -> tuple[Sequence[StreamId], Sequence[bytes | None]]:
        """Return which entries leave the held ones, or are in flight from now on, with their keys."""
        if self._noack:
            ready = ids[: self._ready_count]
            return ready, [None] * len(ready)
        pairs = [
            (value, key)
            for at, (value, key) in enumerate(zip(ids, keys, strict=True))
            if key is not None or at < self._ready_count
        ]
        return [value for value, _ in pairs], [key for _, key in pairs]
