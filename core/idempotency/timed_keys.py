"""Idempotency keys as Redis keeps them (IDMP): forgotten by time and by count, oldest first.

A key's time is the time part of the first id of its append, so no clock is needed (rules 60 to 63). One
stream keeps a bounded number of keys in all: above it, the producer whose keys were used least recently is
forgotten with all of them.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from tailrace.core.limits import IDMP_KEYS_MAX
from tailrace.core.log.id_sequence import IdSequence
from tailrace.core.stream_id import id_ms


class Remembered(Struct, frozen=True, gc=False):
    """The append under one key."""

    ids: IdSequence
    """The ids that the append made, rising."""
    fingerprint: bytes | None
    """The hash of the append's body; None: any body matches."""


class TimedKeys:
    """The keys without an epoch of one stream."""

    __slots__ = ("key_count", "producers")

    def __init__(self) -> None:
        # The keys of all producers.
        self.key_count = 0
        # Each producer's keys, oldest first, at least one. The least recently used producer is first.
        self.producers: OrderedDict[bytes, OrderedDict[bytes, Remembered]] = OrderedDict()

    def find(self, producer: bytes, key: bytes) -> Remembered | None:
        """Return the append under this key, None if the key is new. O(1)."""
        keys = self.producers.get(producer)
        return None if keys is None else keys.get(key)

    def remember(self, producer: bytes, key: bytes, made: Remembered, maxsize: int) -> None:
        """Remember a new key. The producer keeps at most `maxsize` keys; the oldest are forgotten. O(1)
        amortised."""
        keys = self.producers.setdefault(producer, OrderedDict())
        keys[key] = made
        self.key_count += 1
        while len(keys) > maxsize:
            keys.popitem(last=False)
            self.key_count -= 1
        self.producers.move_to_end(producer)
        while self.key_count > IDMP_KEYS_MAX and len(self.producers) > 1:
            _, forgotten = self.producers.popitem(last=False)
            self.key_count -= len(forgotten)

    def touch(self, producer: bytes) -> None:
        """Mark the producer, if it has keys, as the most recently used one. O(1)."""
        if producer in self.producers:
            self.producers.move_to_end(producer)

    def restore(self, producer: bytes, keys: OrderedDict[bytes, Remembered]) -> None:
        """Add a producer from stored state, after those added before. O(1)."""
        self.producers[producer] = keys
        self.key_count += len(keys)

    def oldest_ms(self) -> int | None:
        """Return the least time of the oldest keys of all producers, None without keys. O(producers)."""
        return min(map(_oldest_ms, self.producers.values()), default=None)

    def has_expired(self, before_ms: int) -> bool:
        """Return whether `expire` with the same time would forget a key. O(producers)."""
        return any(_is_expired(keys, before_ms) for keys in self.producers.values())

    def expire(self, before_ms: int) -> None:
        """Forget keys whose first id has a time at or before `before_ms`. O(forgotten keys + producers)."""
        emptied = []
        for producer, keys in self.producers.items():
            while keys and _is_expired(keys, before_ms):
                keys.popitem(last=False)
                self.key_count -= 1
            if not keys:
                emptied.append(producer)
        for producer in emptied:
            del self.producers[producer]

    def clear(self) -> None:
        """Forget all keys."""
        self.producers.clear()
        self.key_count = 0

    def copy(self) -> TimedKeys:
        """Return an independent copy. O(keys)."""
        twin = TimedKeys()
        for producer, keys in self.producers.items():
            twin.restore(producer, keys.copy())
        return twin


def _is_expired(keys: OrderedDict[bytes, Remembered], before_ms: int) -> bool:
    return _oldest_ms(keys) <= before_ms


def _oldest_ms(keys: OrderedDict[bytes, Remembered]) -> int:
    oldest = next(iter(keys.values()))
    return id_ms(oldest.ids[0])
