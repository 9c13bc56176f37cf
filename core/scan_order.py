"""The keys of a keyspace in the order of SCAN: by a hash of the key.

Keys are kept in buckets by the first bits of their hash, and a bucket is sorted when a SCAN reaches it. So a
stream is added or removed in constant time, and no request sorts all keys. This module never reads a stream.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final, TypeAlias

from sortedcontainers import SortedDict

ScanEntry: TypeAlias = tuple[int, bytes]
"""The scan position of a key, and the key."""

_BUCKET_BITS: Final = 12
_SHIFT: Final = 64 - _BUCKET_BITS


class ScanOrder:
    """n: keys. A bucket has about n / 4096 of them."""

    __slots__ = ("buckets",)

    def __init__(self) -> None:
        self.buckets: SortedDict[int, set[ScanEntry]] = SortedDict()

    def add(self, key: bytes) -> None:
        """Add a key. O(1)."""
        position = scan_position(key)
        number = position >> _SHIFT
        bucket = self.buckets.get(number)
        if bucket is None:
            bucket = self.buckets[number] = set()
        bucket.add((position, key))

    def remove(self, key: bytes) -> None:
        """Remove an existing key. O(1)."""
        position = scan_position(key)
        number = position >> _SHIFT
        bucket = self.buckets[number]
        bucket.remove((position, key))
        if not bucket:
            del self.buckets[number]

    def places_from(self, position: int) -> Iterator[ScanEntry]:
        """Yield the keys at or after `position`, in order. O(n / 4096 log n) for each bucket that the caller
        reaches."""
        first = position >> _SHIFT
        for number in self.buckets.irange(first):
            places = sorted(self.buckets[number])
            yield from places if number > first else places[bisect_left(places, (position, b"")) :]


def scan_position(key: bytes) -> int:
    """Return the position of `key` in a SCAN: a hash of 64 bits, so that a cursor reveals nothing about other
    keys. Never 0, which is the cursor that starts a scan."""
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") or 1
