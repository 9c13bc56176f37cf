"""The size of a block as Redis would count it for a macro node, which decides when a block is full.

Redis stores field names once per node as long as they do not change. So an entry adds what it has beyond the
names and punctuation of the block's first entry (its skeleton), plus a few bytes of overhead. The estimate is
close for entries of one shape. This module never looks at ids, and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.limits import KIB
from tailrace.core.log.entry import flat_of

ENTRY_OVERHEAD_BYTES: Final = 8
"""The bytes that a Redis macro node adds to the values of an entry: flags, two deltas, a count."""

_ELEMENT_OVERHEAD_BYTES: Final = 2
"""What a Redis macro node spends around one name or value."""

MEASURED_BYTES_MAX: Final = 64 * KIB
"""A larger first entry fills a macro node alone. Parsing it takes 1 ms per MiB and would not change that."""


_STEP_ENTRIES_MIN: Final = 16
"""Fewer entries are added one by one, which costs less than looking at them together."""

_NO_BOUND: Final = 1 << 62


class NodeLimits:
    """The settings that bound a block: `stream-node-max-entries` and `stream-node-max-bytes`. 0: no limit."""

    __slots__ = ("entries_max", "size_bytes_max")

    def __init__(self, entries: int, size_bytes: int) -> None:
        # The maximum number of positions. Without a limit, this and the other one are numbers that no block
        # reaches, so that an append need not ask whether there is a limit.
        self.entries_max = entries or _NO_BOUND
        # A block is full before it reaches this estimated size.
        self.size_bytes_max = size_bytes or _NO_BOUND


def measure(fragment: bytes) -> tuple[int, int]:
    """Return what a macro node spends on the names of its first entry, and that entry's skeleton: its bytes
    without values. O(bytes).

    Both are 0 for a fragment above `MEASURED_BYTES_MAX`, which is not parsed: values are nearly all of it.
    """
    if len(fragment) > MEASURED_BYTES_MAX:
        return 0, 0
    if fragment[:1] == b"{" and b"\\" not in fragment:
        # Without escapes, a field has four quotation marks, a colon and a comma around its name and value.
        # The element overhead of the value, 2 bytes, is counted with the value.
        names = fragment.split(b'"')[1::4]
        names_bytes, count = len(b"".join(names)), len(names)
        return names_bytes + _ELEMENT_OVERHEAD_BYTES * count, names_bytes + 4 * count + 1
    flat = flat_of(fragment)
    overhead = _ELEMENT_OVERHEAD_BYTES * (len(flat) // 2)
    values_bytes = sum(map(len, flat[1::2]))
    return sum(map(len, flat[::2])) + overhead, len(fragment) - values_bytes - overhead


def fill(
    lengths: Sequence[int], start: int, limits: NodeLimits, count: int, size_bytes: int, skeleton_bytes: int
) -> tuple[int, int]:
    """Return the index after the last entry that belongs into a block, and the block's size with all of them.

    `lengths`: the bytes of each fragment; the first one to add is at `start`. The block has `count` entries
    and `size_bytes` so far. The result is the same as `Block.append` for one entry after another. Many
    entries about as long as the first one are added in one step: O(entries added) in C.
    """
    most_bytes = limits.size_bytes_max
    end = min(len(lengths), start + limits.entries_max - count)
    stop = start
    shared = skeleton_bytes - ENTRY_OVERHEAD_BYTES
    if not count:
        size_bytes += max(lengths[start] - shared, ENTRY_OVERHEAD_BYTES)
        stop += 1
    if stop < end:
        each = max(lengths[stop] - shared, ENTRY_OVERHEAD_BYTES)
        likely = min(end, stop + (most_bytes - size_bytes - 1) // each)
        if likely - stop >= _STEP_ENTRIES_MIN:
            some = lengths[stop:likely]
            if min(some) >= skeleton_bytes:
                grown_bytes = size_bytes + sum(some) - len(some) * shared
                if grown_bytes < most_bytes:
                    stop, size_bytes = likely, grown_bytes
    while stop < end:
        length = lengths[stop]
        grown_bytes = size_bytes + (length - shared if length > skeleton_bytes else ENTRY_OVERHEAD_BYTES)
        if grown_bytes >= most_bytes:
            break
        stop, size_bytes = stop + 1, grown_bytes
    return stop, size_bytes
