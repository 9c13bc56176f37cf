"""What a follower selects of its stream, and the result of one read for all followers that share the read.

It owns filters by field, and never writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from tailrace.api.websocket_limits import PUSH_ENTRIES_MAX
from tailrace.core.filters import Filter as EntryCondition
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import Entries, StreamRead
from tailrace.core.stream_id import StreamId


class FieldFilter(NamedTuple):
    """Selects entries in which each of these fields has one of its values. Equal filters share their
    results."""

    fields: tuple[tuple[bytes, frozenset[bytes]], ...]

    @property
    def step_entries(self) -> int:
        """How many entries it tests at once, before others get a turn."""
        return PUSH_ENTRIES_MAX

    def lets_through(self, fragment: bytes) -> bool:
        """Return whether an entry matches. If a name repeats, one matching value is enough. O(bytes)."""
        flat = flat_of(fragment)
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return all(
            any(has == name and value in values for has, value in pairs) for name, values in self.fields
        )

    def select(self, entries: Entries) -> Entries:
        """Return the entries that match. O(bytes)."""
        found = [
            (value, fragment)
            for value, fragment in zip(entries.ids, entries.fragments, strict=True)
            if fragment is not None and self.lets_through(fragment)
        ]
        return Entries([value for value, _ in found], [fragment for _, fragment in found])


Filter: TypeAlias = FieldFilter | EntryCondition
"""What a follower selects: fields with given values, or a condition."""


def filter_of(fields: Mapping[bytes, frozenset[bytes]]) -> FieldFilter:
    """Return the filter for these fields and values."""
    return FieldFilter(tuple(sorted(fields.items(), key=lambda item: item[0])))


class Delivery:
    """The result of one read of a stream. `frames`: what outputs have encoded of it, by the names that they
    give to equal frames."""

    __slots__ = ("_selections", "frames", "read")

    def __init__(self, read: StreamRead) -> None:
        self.read = read
        self.frames: dict[tuple[object, ...], bytes] = {}
        self._selections: dict[Filter, Entries] = {}

    def selection(self, wanted: Filter | None) -> Entries:
        """Return the entries that match the filter; computed once for each filter."""
        if wanted is None:
            return self.read.entries
        found = self._selections.get(wanted)
        if found is None:
            found = self._selections[wanted] = wanted.select(self.read.entries)
        return found

    def next_after(self, wanted: Filter | None, count: int) -> StreamId:
        """Return the position after the first `count` matching entries."""
        entries = self.selection(wanted)
        return self.read.next if count == len(entries.ids) else entries.ids[count - 1]
