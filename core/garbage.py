"""Deleted streams, groups and consumers, whose memory is freed in small steps.

A deletion moves a stream from the keyspace to this place at once. Freeing takes time for each block and each
segment of pending entries, so the engine's owner calls `free_some` between commands until nothing is left.
Segments and the order refer to each other: freeing cuts these references, so that memory is released without
the garbage collector.

Garbage is not part of the state: no command reads it, no effect changes it, and storage never writes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from sortedcontainers import SortedDict

from tailrace.core.group import Group
from tailrace.core.idempotency.memory import IdempotencyMemory
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.scan_order import ScanOrder
from tailrace.core.stream import Stream

FREED_PARTS_PER_TURN: Final = 1_000
"""Parts that one call frees: about 2 ms, so that requests are served between two calls."""

GARBAGE_PARTS_MAX: Final = 1_000_000
"""Parts that may wait, about 100 MiB. Above this, each deletion frees as many parts as it adds."""

_STEP: Final = 100
"""Parts that are freed between two checks of the budget."""

_BACKLOG_SHARE: Final = 100
"""One call frees at least one in this many parts of a large backlog, so that the backlog shrinks even while
streams are deleted."""

_PARTS_PER_CALL_MAX: Final = 10 * FREED_PARTS_PER_TURN


class Garbage:
    """The deleted objects of one keyspace. Parts are streams, blocks, segments of pending entries,
    idempotency keys and names."""

    __slots__ = ("_waiting", "part_count")

    def __init__(self) -> None:
        # One iterator per deleted object, in order. Each step frees some parts and yields how many.
        self._waiting: deque[Iterator[int]] = deque()
        # A lower bound of the parts that wait to be freed.
        self.part_count = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    # --- for core.keyspace ---------------------------------------------------------------------

    def add_stream(self, stream: Stream) -> None:
        """Add a stream that was removed from its keyspace. O(groups); with a large backlog, O(parts of the
        stream)."""
        self._add(_stream(stream), 1 + stream.part_count)

    def add_group(self, group: Group) -> None:
        """Add a group that was removed from its stream. O(1); with a large backlog, O(parts of the group)."""
        self._add(_group(group), group.part_count)

    def _add(self, parts: Iterator[int], count: int) -> None:
        has_backlog = self.part_count > GARBAGE_PARTS_MAX
        self._waiting.append(parts)
        self.part_count += count
        if has_backlog:
            self._free(count)

    def add_all(
        self,
        streams: SortedDict[bytes, Stream],
        keys_by_serial: dict[int, bytes],
        scan_order: ScanOrder,
    ) -> None:
        """Add all streams of a keyspace, with the indexes of their names. O(1)."""
        self._waiting.append(_streams(streams))
        self._waiting.append(_table(keys_by_serial))
        self._waiting.append(_buckets(scan_order))
        self.part_count += 3 * len(streams)

    # --- for the owner of the engine -------------------------------------------------------

    def free_some(self) -> bool:
        """Free `FREED_PARTS_PER_TURN` parts, or more of a large backlog. Return whether parts are left."""
        share = self.part_count // _BACKLOG_SHARE
        self._free(min(max(FREED_PARTS_PER_TURN, share), _PARTS_PER_CALL_MAX))
        return bool(self)

    def free_all(self) -> None:
        """Free everything. O(parts)."""
        while self:
            self._free(self.part_count + 1)

    def _free(self, most: int) -> None:
        """Free about `most` parts, at least one step."""
        while self._waiting:
            freed = next(self._waiting[0], None)
            if freed is None:
                self._waiting.popleft()
                continue
            self.part_count = max(self.part_count - freed, 0)
            most -= freed
            if most <= 0:
                return
        self.part_count = 0


# --- freeing: each step yields how many parts it freed -----------------------------------------


def _streams(streams: SortedDict[bytes, Stream]) -> Iterator[int]:
    while streams:
        # `dict.popitem` leaves the sorted keys as they are: no key is looked up any more.
        _, stream = dict.popitem(streams)
        yield from _stream(stream)


def _stream(stream: Stream) -> Iterator[int]:
    yield 1
    yield from _log(stream.log)
    while stream.groups:
        _, group = stream.groups.popitem()
        yield from _group(group)
    yield from _memory(stream.idempotency)
    if stream.schedule is not None:
        yield from _table(stream.schedule.entries)


def _log(log: EntryLog) -> Iterator[int]:
    while freed := log.drop_last_blocks(_STEP):
        yield freed


def _memory(memory: IdempotencyMemory) -> Iterator[int]:
    while memory.timed.producers:
        _, keys = memory.timed.producers.popitem()
        yield len(keys)
    while memory.epochs.producers:
        _, epochs = memory.epochs.producers.popitem()
        for epoch in epochs:
            yield from _table(epoch.keys)


def _group(group: Group) -> Iterator[int]:
    yield 1
    while freed := group.pending.table.clear(_STEP):
        yield freed
    yield from _table(group.consumers)


def _table(table: dict[Any, Any] | SortedDict[Any, Any]) -> Iterator[int]:
    while table:
        count = min(len(table), _STEP)
        for _ in range(count):
            # A sorted table keeps its order in a list: nothing reads it any more.
            dict.popitem(table)
        yield count


def _buckets(order: ScanOrder) -> Iterator[int]:
    while order.buckets:
        _, bucket = order.buckets.popitem()
        yield from _table(bucket)
