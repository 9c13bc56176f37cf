"""The order by key of one group: which keys are in flight, and which entries wait for them.

The key of an entry is the value of the field that the setting `order_by` names. Rules that always hold:

* A key is in flight while an entry with this key is pending in the group and exists in the stream. A group
  delivers no entry whose key is in flight, so at most one entry of a key is in flight. (Several can be if
  they were pending before `order_by` was set.)
* A read that passes over an entry whose key is in flight, or has held entries, holds it. The position of the
  group then moves on. Held entries are live, and count as not delivered.
* Held entries of one key form a queue, in order of their ids. The first entry of a queue whose key is not in
  flight is ready: the next read delivers it before new entries.
* An entry without the field has no key, so nothing holds it back. After `order_by` was removed, the held
  entries lose their keys: all of them are ready, in order of their ids.

Costs: O(1) amortised for each entry that is held, taken or released, however many keys there are. The state
is a part of the state of the group; effects name ids and keys, so a replay reads no entries. This module
never reads an entry, and never decides which entries a read delivers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice, repeat
from typing import Final

from tailrace.core.id_keys import IdTable, OrderedIdTable, id_keys
from tailrace.core.limits import HELD_ENTRIES_MAX, KEYS_IN_FLIGHT_MAX
from tailrace.core.stream_id import StreamId

_HEAP_SLACK: Final = 64
"""The heap of ids is made again when it has this many ids more than twice those in flight."""


class KeyOrder:
    """The order by key of one group. Only `core.effects` and `core.storage` change it.

    The methods that free a key or room return whether a waiting reader of the group may now find an entry.
    n: entries in flight, m: entries of one call.
    """

    __slots__ = ("field", "heap", "held", "in_flight", "key_of", "queues", "ready")

    def __init__(self, field: str | None) -> None:
        # The field that has the keys; None: `order_by` was removed, and entries are still held.
        self.field = field
        # The key of each entry in flight.
        self.key_of: IdTable[bytes] = IdTable()
        # How many entries of each key are in flight: 1, except as above.
        self.in_flight: dict[bytes, int] = {}
        # The held entries in order of their ids, with their keys; None: no key.
        self.held: OrderedIdTable[bytes | None] = OrderedIdTable()
        # The held entries of each key, in order of their ids.
        self.queues: dict[bytes, OrderedIdTable[None]] = {}
        # The entries that are ready, in the order in which they became so.
        self.ready: OrderedIdTable[None] = OrderedIdTable()
        # A heap of the ids in flight, and of some that no longer are.
        self.heap: list[StreamId] = []

    @property
    def is_full(self) -> bool:
        """Whether reads may not pass over further entries. O(1)."""
        return len(self.held) >= HELD_ENTRIES_MAX or len(self.key_of) >= KEYS_IN_FLIGHT_MAX

    @property
    def is_done(self) -> bool:
        """Whether `order_by` was removed, and no entry is held any more."""
        return self.field is None and not self.held

    def blocks(self, key: bytes) -> bool:
        """Return whether a new entry with this key must be held. O(1)."""
        return key in self.in_flight or key in self.queues

    def first_ready(self, most: int, *, whole_queues: bool = False) -> list[StreamId]:
        """Return up to `most` entries that are ready, in their order. `whole_queues`: each with those behind
        it. O(result)."""
        if not whole_queues:
            return list(islice(self.ready, most))
        return list(islice(self._ready_queues(), most))

    def _ready_queues(self) -> Iterator[StreamId]:
        for value in self.ready:
            key = self.held[value]
            yield from (value,) if key is None else self.queues[key]

    # --- for core.effects ----------------------------------------------------------------------

    def take(self, ids: Sequence[StreamId], keys: Sequence[bytes | None]) -> bool:
        """Note that `ids` were delivered: they are no longer held. A key is in flight from now on; None: the
        entry has none, or is not pending. O(m) amortised."""
        is_freed = False
        for value, id_key, key in zip(ids, id_keys(ids), keys, strict=True):
            held_key = self._pop_held(id_key)
            if key is not None:
                self.key_of.by_key[id_key] = key
                self.in_flight[key] = self.in_flight.get(key, 0) + 1
                heappush(self.heap, value)
            elif held_key is not None:
                is_freed |= self._settle(held_key)
        if len(self.heap) > 2 * len(self.key_of) + _HEAP_SLACK:
            self.heap = list(self.key_of)
            heapify(self.heap)
        return is_freed

    def hold(self, ids: Sequence[StreamId], keys: Sequence[bytes | None]) -> bool:
        """Hold `ids`, which rise and are above all held ones. O(m)."""
        is_freed = False
        for id_key, key in zip(id_keys(ids), keys, strict=True):
            self.held.by_key[id_key] = key
            if key is None:
                self.ready.by_key[id_key] = None
                is_freed = True
                continue
            queue = self.queues.get(key)
            if queue is None:
                queue = self.queues[key] = OrderedIdTable()
            queue.by_key[id_key] = None
            is_freed |= self._settle(key)
        return is_freed

    def release(self, ids: Iterable[StreamId]) -> bool:
        """Free the keys of those of `ids` that are in flight, because they are no longer pending. O(m)."""
        was_full = self.is_full
        is_freed = False
        for id_key in id_keys(ids):
            key = self.key_of.by_key.pop(id_key, None)
            if key is None:
                continue
            count = self.in_flight.pop(key) - 1
            if count:
                self.in_flight[key] = count
            elif self._settle(key):
                is_freed = True
        return is_freed or (was_full and not self.is_full)

    def remove(self, ids: Iterable[StreamId]) -> StreamId | None:
        """Forget the held ones of `ids`, which were deleted. Return the first of them, None if there are
        none. O(m)."""
        gone = list(filter(self.held.by_key.__contains__, id_keys(ids)))
        for id_key in gone:
            key = self._pop_held(id_key)
            if key is not None:
                self._settle(key)
        return int.from_bytes(min(gone)) if gone else None

    def in_flight_up_to(self, last_id: StreamId) -> list[StreamId]:
        """Return the ids in flight up to `last_id`, and forget that they have to be looked for. O(m log n)
        amortised."""
        found = []
        while self.heap and self.heap[0] <= last_id:
            found.append(heappop(self.heap))
        return found

    def held_up_to(self, last_id: StreamId) -> list[StreamId]:
        """Return the held ids up to `last_id`. O(m)."""
        found = []
        for value in self.held:
            if value > last_id:
                break
            found.append(value)
        return found

    def forget_held(self) -> bool:
        """Forget all held entries, because the group was moved. O(1), and later O(held) to free them."""
        was_full = self.is_full
        self.held, self.queues, self.ready = OrderedIdTable(), {}, OrderedIdTable()
        return was_full and not self.is_full

    def drain(self) -> None:
        """Let all held entries be ready, in order of their ids, because `order_by` was removed. O(held)."""
        self.field = None
        self.key_of, self.in_flight, self.queues, self.heap = IdTable(), {}, {}, []
        self.held = OrderedIdTable.of(self.held, repeat(None, len(self.held)))
        self.ready = OrderedIdTable.of(self.held, repeat(None, len(self.held)))

    def _pop_held(self, id_key: bytes) -> bytes | None:
        """Forget that an id is held, if it is, and return its key. `_settle` must follow unless the key is
        taken. O(1)."""
        key = self.held.by_key.pop(id_key, None)
        self.ready.by_key.pop(id_key, None)
        if key is not None:
            queue = self.queues[key]
            del queue.by_key[id_key]
            if not queue:
                del self.queues[key]
        return key

    def _settle(self, key: bytes) -> bool:
        """Make the first entry of the key's queue ready, if the key is free. Return whether it became so.
        O(1)."""
        queue = self.queues.get(key)
        if queue is None or key in self.in_flight:
            return False
        first = next(iter(queue.by_key))
        if first in self.ready.by_key:
            return False
        self.ready.by_key[first] = None
        return True

    # --- copies and storage --------------------------------------------------------------------

    @property
    def part_count(self) -> int:
        """The number of entries that a copy or a checkpoint writes. O(1)."""
        return len(self.held) + len(self.key_of)

    def copy(self) -> KeyOrder:
        """Return an independent copy. O(parts)."""
        return KeyOrder.restored(self.field, self.key_of, self.held, self.ready)

    @classmethod
    def restored(
        cls,
        field: str | None,
        key_of: IdTable[bytes],
        held: OrderedIdTable[bytes | None],
        ready: Iterable[StreamId],
    ) -> KeyOrder:
        """Return the order with this state. O(parts)."""
        order = cls(field)
        order.take(list(key_of), list(key_of.values()))
        order.hold(list(held), list(held.values()))
        ready = list(ready)
        order.ready = OrderedIdTable.of(ready, repeat(None, len(ready)))
        return order
