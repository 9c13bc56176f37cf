"""The keys of a keyspace in the order of SCAN: by a hash of the key.

Keys are kept in buckets by the first bits of their hash. A SCAN takes whole buckets, and sorts only the
bucket in which its step ends. So a stream is added or removed in constant time, and no request sorts all
keys: with 100 000 keys a step of SCAN takes 0.1 ms, where sorting all of them takes 100 to 200 ms. This
module never reads a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Final, TypeAlias

from sortedcontainers import SortedDict

Positions: TypeAlias = Mapping[bytes, int]
"""Keys with their scan positions, in no order."""

_BUCKET_BITS: Final = 12
_SHIFT: Final = 64 - _BUCKET_BITS


class ScanOrder:
    """n: keys. A bucket has about n / 4096 of them."""

    __slots__ = ("buckets",)

    def __init__(self) -> None:
        self.buckets: SortedDict[int, dict[bytes, int]] = SortedDict()

    def add(self, key: bytes) -> None:
        """Add a key. O(1)."""
        position = scan_position(key)
        number = position >> _SHIFT
        bucket = self.buckets.get(number)
        if bucket is None:
            bucket = self.buckets[number] = {}
        bucket[key] = position

    def remove(self, key: bytes) -> None:
        """Remove an existing key. O(1)."""
        number = scan_position(key) >> _SHIFT
        bucket = self.buckets[number]
        del bucket[key]
        if not bucket:
            del self.buckets[number]

    def runs_from(self, position: int) -> Iterator[Positions]:
        """Yield the keys at or after `position` in runs: each key of a run is before those of the next one. A
        run has about n / 4096 keys; the caller must not change it. O(log n) for each run."""
        first = position >> _SHIFT
        for number in self.buckets.irange(first):
            bucket = self.buckets[number]
            yield bucket if number > first else {key: at for key, at in bucket.items() if at >= position}


def in_order(positions: Positions, keys: Iterable[bytes]) -> list[bytes]:
    """Return `keys` in the order of SCAN. O(keys log keys)."""
    return [key for _, key in sorted([(positions[key], key) for key in keys])]


def joined(runs: Iterable[Positions]) -> dict[bytes, int]:
    """Return the keys of all `runs`. O(keys)."""
    positions: dict[bytes, int] = {}
    for run in runs:
        positions.update(run)
    return positions


def first_of(runs: Iterable[Positions], count: int) -> tuple[list[Positions], int]:
    """Return the runs with the first `count` keys of `runs`, and the position of the next key; 0 if there is
    none.

    Keys with the same position stay together, so there may be more than `count`. O(runs + n / 4096 log n).
    """
    taken: list[Positions] = []
    room = count
    for run in runs:
        if len(run) > room:
            some, following = cut(run, room)
            taken.append(some)
            if following is not None:
                return taken, following
        else:
            taken.append(run)
        room -= len(run)
    return taken, 0


def cut(run: Positions, count: int) -> tuple[Positions, int | None]:
    """Return the first `count` keys of `run`, with all that have the position of the last, and the position
    of the next key; None if there is none. O(keys log keys)."""
    keys = in_order(run, run)
    end = max(count, 0)
    while 0 < end < len(keys) and run[keys[end]] == run[keys[end - 1]]:
        end += 1
    return {key: run[key] for key in keys[:end]}, run[keys[end]] if end < len(keys) else None


def scan_position(key: bytes) -> int:
    """Return the position of `key` in a SCAN: a hash of 64 bits, so that a cursor reveals nothing about other
    keys. Never 0, which is the cursor that starts a scan."""
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") or 1
