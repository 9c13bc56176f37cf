"""Segments by their first id: those of a group, or those in which one consumer has entries.

This module only finds, adds and removes segments, and never changes them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tailrace.core.pending.segment import Segment
from tailrace.core.stream_id import StreamId

_SWEPT_MIN: Final = 16


class SegmentIndex:
    """Segments that do not overlap. s: their number. Adding and removing moves O(s) bytes; all else is
    O(log s)."""

    __slots__ = ("_most", "firsts", "segments")

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        """`segments`: in order of their ids."""
        self.segments = list(segments)
        self.firsts = [each.first for each in self.segments]
        # With so many segments, those without entries are removed: an index of a consumer may have some.
        self._most = _SWEPT_MIN

    def add(self, segment: Segment) -> None:
        """Add `segment`, if it is not there."""
        first, firsts = segment.first, self.firsts
        if len(firsts) >= self._most:
            self.sweep()
            self._most = 2 * len(firsts) + _SWEPT_MIN
        if not firsts or first > firsts[-1]:
            firsts.append(first)
            self.segments.append(segment)
        elif firsts[at := bisect_left(firsts, first)] == first:
            # An index of a consumer may have one that was replaced.
            self.segments[at] = segment
        else:
            firsts.insert(at, first)
            self.segments.insert(at, segment)

    def __len__(self) -> int:
        return len(self.segments)

    def __contains__(self, segment: Segment) -> bool:
        at = bisect_left(self.firsts, segment.first)
        return at < len(self.firsts) and self.segments[at] is segment

    def discard(self, segment: Segment) -> bool:
        """Remove `segment`, and return whether it was there."""
        if segment not in self:
            return False
        at = bisect_left(self.firsts, segment.first)
        del self.firsts[at], self.segments[at]
        return True

    def discard_all(self, segments: Sequence[Segment]) -> None:
        """Remove those of `segments`, which are in order of their ids, that are there. O(s) in C at most."""
        if not segments or not self.firsts:
            return
        low = bisect_left(self.firsts, segments[0].first)
        high = bisect_right(self.firsts, segments[-1].first)
        gone = set(map(id, segments))
        kept = [each for each in self.segments[low:high] if id(each) not in gone]
        self.segments[low:high] = kept
        self.firsts[low:high] = [each.first for each in kept]

    def sweep(self) -> None:
        """Remove the segments without entries. O(s)."""
        kept = [each for each in self.segments if each.live]
        if len(kept) < len(self.segments):
            self.segments[:] = kept
            self.firsts[:] = [each.first for each in kept]

    def at(self, value: StreamId) -> Segment | None:
        """Return the last segment that begins at or before `value`, None if there is none."""
        at = bisect_right(self.firsts, value)
        return self.segments[at - 1] if at else None

    def after(self, value: StreamId) -> Segment | None:
        """Return the first segment that begins after `value`, None if there is none."""
        at = bisect_right(self.firsts, value)
        return self.segments[at] if at < len(self.firsts) else None

    def from_(self, value: StreamId) -> Segment | None:
        """Return the first segment that may have an id at or after `value`, None if there is none."""
        at = self.at(value)
        return at if at is not None and at.last >= value else self.after(value)

    def all_from(self, value: StreamId) -> Iterator[Segment]:
        """Return the segments that may have an id at or after `value`. The caller may remove the one that was
        returned last."""
        segment = self.from_(value)
        while segment is not None:
            yield segment
            segment = self.after(segment.first)

    def between(self, first: StreamId, last: StreamId) -> list[Segment]:
        """Return the segments that may have an id from `first` to `last`. O(result)."""
        low = bisect_right(self.firsts, first)
        if low and self.segments[low - 1].last >= first:
            low -= 1
        return self.segments[low : bisect_right(self.firsts, last)]
