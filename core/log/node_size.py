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

_NO_BOUND: Final = 1 << 62


class AlikeFragments(list[bytes]):
    """Fragments that have the same names in the same order, and no escapes."""

    __slots__ = ()


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
) -> tuple[int, int, int]:
    """Return the index after the last entry that belongs into a block, the block's size with all of them, and
    the bytes of their fragments.

    `lengths`: the bytes of each fragment; the first one to add is at `start`. The block has `count` entries,
    fewer than `limits` allow, and `size_bytes` so far. The result is the same as `Block.append` for one entry
    after another. Entries about as long as the first one are added in one step: O(entries added) in C.
    """
    end = len(lengths)
    left = limits.entries_max - count
    if left < end - start:
        end = start + left
    room_bytes = limits.size_bytes_max - size_bytes - 1
    # An entry that is not shorter than the skeleton adds its length less `shared`. If all are about as long
    # as the first one, the first guess is right.
    shared = skeleton_bytes - ENTRY_OVERHEAD_BYTES
    each_bytes = lengths[start] - shared
    each_bytes = each_bytes if each_bytes > 0 else ENTRY_OVERHEAD_BYTES
    stop = min(end, start + room_bytes // each_bytes) if room_bytes > 0 else start
    grown_bytes = sum(lengths[start:stop]) - (stop - start) * shared
    while stop < end and grown_bytes + lengths[stop] - shared <= room_bytes:
        grown_bytes += lengths[stop] - shared
        stop += 1
    while stop > start and grown_bytes > room_bytes:
        stop -= 1
        grown_bytes -= lengths[stop] - shared
    if stop == start and not count:
        grown_bytes = lengths[start] - shared
        stop += 1
    if min(lengths[start:stop], default=skeleton_bytes) < skeleton_bytes:
        return _fill_one_by_one(lengths[start:stop], start, room_bytes, count, size_bytes, skeleton_bytes)
    return stop, size_bytes + grown_bytes, grown_bytes + (stop - start) * shared


def joined_if_full(
    fragments: AlikeFragments, start: int, limits: NodeLimits, size_bytes: int, skeleton_bytes: int
) -> tuple[list[bytes], bytes] | None:
    """Return the entries of a new block that begins at `start`, and their text, with a newline between two of
    them; None if the block may be full before it has the greatest number of entries. Else as `fill`.

    The block has `size_bytes` without entries. All entries have the skeleton of the first one, so none is
    shorter, and the length of the text is enough to know that all have room. O(entries) in C.
    """
    count = min(len(fragments) - start, limits.entries_max)
    room_bytes = limits.size_bytes_max - size_bytes - 1
    shared = skeleton_bytes - ENTRY_OVERHEAD_BYTES
    length = len(fragments[start])
    if length > MEASURED_BYTES_MAX or count * (length - shared) > room_bytes:
        return None
    some = fragments[start : start + count]
    text = b"\n".join(some)
    return (some, text) if len(text) - count + 1 - count * shared <= room_bytes else None


def _fill_one_by_one(
    lengths: Sequence[int], start: int, room_bytes: int, count: int, size_bytes: int, skeleton_bytes: int
) -> tuple[int, int, int]:
    """Do as `fill` for entries of which some are shorter than the skeleton. `lengths`: of the entries from
    `start` on that may belong into the block."""
    added, most_bytes = 0, size_bytes + room_bytes
    for length in lengths:
        grown_bytes = size_bytes + ENTRY_OVERHEAD_BYTES
        if length > skeleton_bytes:
            grown_bytes += length - skeleton_bytes
        if grown_bytes > most_bytes and (count or added):
            break
        added, size_bytes = added + 1, grown_bytes
    return start + added, size_bytes, sum(lengths[:added])
