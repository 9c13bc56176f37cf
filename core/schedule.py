"""The schedule of a stream: entries that are stored and not visible yet, in the order of their times.

A scheduled id has the time at which the entry becomes visible in its upper half, and a number that is unique
in the stream in its lower half. So the order of these ids is the order in which the entries are published: by
time, and entries of equal time in the order of their requests. The number begins with the time of the request
in microseconds, so that a stream that is deleted and created again does not use an id again.

Scheduled ids and the ids of entries are both ints of 128 bits and never mixed: a client sees a scheduled id
as ``s1764003600000-1763999999000000``. This module never decides when an entry is published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from sortedcontainers import SortedDict

from tailrace.core.id_keys import id_key, id_keys, ids_of_keys, rising
from tailrace.core.stream_id import SEQ_BITS, U64_MAX

ScheduledId: TypeAlias = int
"""The id of a scheduled entry: ``deliver_at_ms << 64 | number``."""

_US_PER_MS: Final = 1_000
_TEXT: Final = re.compile(r"s([0-9]{1,20})-([0-9]{1,20})", re.ASCII)


def deliver_at_ms(value: ScheduledId) -> int:
    """Return the time at which the entry becomes visible, in Unix milliseconds."""
    return value >> SEQ_BITS


def format_scheduled_id(value: ScheduledId) -> str:
    """Return the id as clients see it."""
    return f"s{value >> SEQ_BITS}-{value & U64_MAX}"


def parse_scheduled_id(text: str) -> ScheduledId | None:
    """Return the id: the inverse of `format_scheduled_id`; None for any other text."""
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    at_ms, number = map(int, found.groups())
    return at_ms << SEQ_BITS | number if max(at_ms, number) <= U64_MAX else None


class Schedule:
    """The scheduled entries of one stream. Only `core.effects` and `core.storage` change it. n: entries."""

    __slots__ = ("entries", "last_number", "size_bytes")

    def __init__(self) -> None:
        # The fragments by the keys of the scheduled ids (`core.id_keys`), in the order of publication.
        self.entries: SortedDict[bytes, bytes] = SortedDict()
        # The bytes of all fragments.
        self.size_bytes = 0
        # The greatest number ever used.
        self.last_number = 0

    def add(self, ids: Sequence[ScheduledId], fragments: Sequence[bytes]) -> None:
        """Add entries under new ids. O(log n) an entry."""
        self.entries.update(zip(id_keys(ids), fragments, strict=True))
        self.size_bytes += sum(map(len, fragments))
        self.last_number = max(self.last_number, ids[-1] & U64_MAX)

    def remove(self, ids: Sequence[ScheduledId]) -> list[bytes]:
        """Remove entries, which all exist, and return their fragments. O(log n) an entry."""
        fragments = list(map(self.entries.pop, id_keys(ids)))
        self.size_bytes -= sum(map(len, fragments))
        return fragments

    def due(self, now_ms: int, most: int, max_bytes: int) -> list[ScheduledId]:
        """Return the first ids whose time has come, at most `most`, and as many as fit into `max_bytes`, or
        one. O(log n + m)."""
        ids: list[ScheduledId] = []
        for key in islice(self.entries.irange(maximum=id_key(now_ms << SEQ_BITS | U64_MAX)), most):
            if max_bytes <= 0:
                break
            ids.append(int.from_bytes(key))
            max_bytes -= len(self.entries[key])
        return ids

    def ids(self) -> Iterator[ScheduledId]:
        """Return all ids in the order of publication. O(n)."""
        return ids_of_keys(self.entries)

    def after(self, value: ScheduledId | None, most: int) -> Sequence[ScheduledId]:
        """Return the first ids, or those above `value` if given, at most `most`. O(log n + m)."""
        keys = self.entries.irange(None if value is None else id_key(value), inclusive=(False, True))
        return list(ids_of_keys(islice(keys, most)))

    def among(self, ids: Sequence[ScheduledId]) -> Sequence[ScheduledId]:
        """Return those of `ids` that are scheduled, rising, each once. O(m log m)."""
        return rising(ids_of_keys(filter(self.entries.__contains__, id_keys(ids))))

    def fragments_of(self, ids: Sequence[ScheduledId]) -> list[bytes]:
        """Return the fragments of entries, which all exist. O(m)."""
        return list(map(self.entries.__getitem__, id_keys(ids)))

    @property
    def first_ms(self) -> int | None:
        """The time of the first entry, None if there is none. O(1)."""
        return deliver_at_ms(next(self.ids())) if self.entries else None


def new_scheduled_ids(
    schedule: Schedule | None, at_ms: int, now_ms: int, count: int
) -> Sequence[ScheduledId]:
    """Return ids for `count` new entries of one time, requested at `now_ms`. O(1)."""
    last_number = 0 if schedule is None else schedule.last_number
    first = at_ms << SEQ_BITS | max(last_number + 1, now_ms * _US_PER_MS)
    return range(first, first + count)
