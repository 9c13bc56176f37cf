"""Counts the entries, groups and pending entries of all streams in slices, so a scrape never blocks for
long.

Commands may change the keyspace between two slices. The totals are therefore of one instant only if one
slice covers all streams and groups. The census of a large server is used again for a while, so frequent
scrapes do not count each time. The module reads the keyspace and never changes it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from heapq import heappush, heappushpop, nlargest
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from sortedcontainers import SortedDict

from tailrace.app.store.service import EngineStore
from tailrace.core.deliveries import idle_since
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.lag import unread_count, unread_since_ms
from tailrace.core.log.block_index import fragment_bytes
from tailrace.core.stream import Stream

WEIGHED_MAX: Final = 200
"""How many of the streams with the most blocks a census remembers. Blocks have about the same size."""

SLICE: Final = 50
"""How many streams and groups one slice covers: about 0.2 ms. An append that waits for its commit waits for
several slices, so a slice is short."""

DECODED_MAX: Final = 500
"""Blocks that one census decodes to count the unread entries of a group or to find the oldest one; further
groups have none."""

STAGING: Final = re.compile(rb":staged:[0-9a-f]{32}\Z")
"""The end of the name of a stream with staged chunks: rows of a batch that its producer, such as
tailrace-spark, has not published yet. The name is part of the protocol in docs/spark.md."""

_Measure: TypeAlias = Callable[..., int | None]
"""A figure of a stream's group; None if it is unknown without decoding a block and `decode` is False."""


class GroupState(NamedTuple):
    """The state of one group, or the sum of several. The sort order puts the groups to name last.

    `pending`: pending entries. `lag`: entries that the group has not read, -1 if unknown. `oldest_ms`: the
    time since the earliest delivery of an owned pending entry; 0 if there is none. `dead_letters`: entries
    ever moved to a dead-letter stream; -1 if the group never had one. `lag_ms`: the age of the oldest unread
    entry; -1 if unknown. `behind`: whether that is above the group's `max_lag_ms`; -1 if it has none. `held`,
    `keys`: entries that wait for their key, and keys in flight; -1 without `order_by`.
    """

    pending: int
    lag: int
    oldest_ms: int
    key: bytes
    group: bytes
    dead_letters: int = -1
    lag_ms: int = 0
    behind: int = -1
    held: int = -1
    keys: int = -1

    def joined(self, other: GroupState) -> GroupState:
        """Return the sum of both groups. An unknown lag counts as 0, and so do dead letters of a group
        without any, unless both have none."""
        lag = max(self.lag, 0) + max(other.lag, 0)
        dead_letters = _sum(self.dead_letters, other.dead_letters)
        oldest_ms = max(self.oldest_ms, other.oldest_ms)
        return GroupState(
            self.pending + other.pending,
            lag,
            oldest_ms,
            self.key,
            self.group,
            dead_letters,
            max(self.lag_ms, other.lag_ms),
            max(self.behind, other.behind),
            _sum(self.held, other.held),
            _sum(self.keys, other.keys),
        )


def _sum(one: int, other: int) -> int:
    """Return the sum of two figures, of which -1 counts as 0; -1 if both are."""
    return -1 if max(one, other) < 0 else max(one, 0) + max(other, 0)


class Census:
    """One walk over the keyspace: run `steps` to the end, then read the attributes.

    `named_max`: how many groups to list by name. `named`: the groups with the most pending entries, and among
    equals with the greatest lag. `rest`: the sum of all other groups; None if there are none.
    `staged_entries`, `staged_bytes`: those of the streams with staged chunks, a part of `entries`.
    """

    def __init__(
        self,
        keyspace: Keyspace,
        now_ms: int,
        named_max: int,
        is_behind: Callable[[int, bytes], bool] = lambda _serial, _group: False,
    ) -> None:
        self.streams = 0
        self.entries = 0
        self.staged_entries = 0
        self.staged_bytes = 0
        self.groups = 0
        self.pending = 0
        self.named: list[GroupState] = []
        self.rest: GroupState | None = None
        self._weights: list[tuple[int, int, bytes]] = []
        self._keyspace = keyspace
        self._now_ms = now_ms
        self._named_max = named_max
        self._is_behind = is_behind
        self._decoded = 0

    def steps(self) -> Iterator[None]:
        """Walk the keyspace and yield after each slice; it may change at a yield. O(streams + groups)."""
        for key, stream in self._all_streams():
            self.streams += 1
            self.entries += stream.length
            if STAGING.search(key):
                self.staged_entries += stream.length
                self.staged_bytes += fragment_bytes(stream.log)
            self._weigh(key, stream)
            if (self.streams + self.groups) % SLICE == 0:
                yield
            for group in _all_groups(stream):
                self._add(key, stream, group)
                if (self.streams + self.groups) % SLICE == 0:
                    yield

    def _all_streams(self) -> Iterator[tuple[bytes, Stream]]:
        """Yield all streams.

        Each slice starts after the last key, because a change invalidates an iterator.
        """
        after: bytes | None = None
        while keys := list(islice(self._streams.irange(after, inclusive=(False, True)), SLICE)):
            present = [(key, self._streams[key]) for key in keys]
            yield from present
            after = keys[-1]

    @property
    def _streams(self) -> SortedDict[bytes, Stream]:
        """Return the current table of streams: a flush replaces the table."""
        return self._keyspace.streams

    def _add(self, key: bytes, stream: Stream, group: Group) -> None:
        self.groups += 1
        self.pending += group.pending.count
        state = self._state_of(key, stream, group)
        if len(self.named) < self._named_max:
            heappush(self.named, state)
        else:
            self._add_to_rest(heappushpop(self.named, state))

    def _state_of(self, key: bytes, stream: Stream, group: Group) -> GroupState:
        lag = self._undecoded(unread_count, stream, group)
        oldest_at_ms = group.pending.oldest_owned_ms
        oldest_ms = 0 if oldest_at_ms is None else idle_since(oldest_at_ms, self._now_ms)
        settings = group.settings
        has_dead_letters = group.dead_letter_count or (settings is not None and settings.max_deliveries)
        dead_letters = group.dead_letter_count if has_dead_letters else -1
        is_watched = settings is not None and settings.max_lag_ms is not None
        return GroupState(
            group.pending.count,
            -1 if lag is None else lag,
            oldest_ms,
            key,
            group.name,
            dead_letters,
            self._lag_ms(stream, group),
            int(self._is_behind(stream.serial, group.name)) if is_watched else -1,
            -1 if group.order is None else group.held_count,
            -1 if group.order is None else len(group.order.in_flight),
        )

    def _lag_ms(self, stream: Stream, group: Group) -> int:
        """Return the age of the oldest unread entry, -1 if it is unknown."""
        if group.last_delivered_id >= stream.log.last_id and not group.held_count:
            return 0
        since_ms = self._undecoded(unread_since_ms, stream, group)
        return -1 if since_ms is None else idle_since(since_ms, self._now_ms)

    def _undecoded(self, measure: _Measure, stream: Stream, group: Group) -> int | None:
        """Return a measure of the group, None if it is unknown. It may decode a block, but a census decodes
        `DECODED_MAX` at most."""
        found = measure(stream, group, decode=False)
        if found is None and self._decoded < DECODED_MAX:
            self._decoded += 1
            found = measure(stream, group, decode=True)
        return found

    def _weigh(self, key: bytes, stream: Stream) -> None:
        weight = (len(stream.log.blocks), stream.length, key)
        if len(self._weights) < WEIGHED_MAX:
            heappush(self._weights, weight)
        elif weight > self._weights[0]:
            heappushpop(self._weights, weight)

    def heaviest(self, count: int) -> list[bytes]:
        """Return the keys of the streams that had the most blocks, and among equals the most entries."""
        return [key for *_, key in nlargest(count, self._weights)]

    def _add_to_rest(self, state: GroupState) -> None:
        self.rest = _NO_GROUP.joined(state) if self.rest is None else self.rest.joined(state)


_NO_GROUP: Final = GroupState(0, 0, 0, b"", b"other")
"""The empty key marks the sum of the other groups: no stream has an empty key."""


def _all_groups(stream: Stream) -> Iterator[Group]:
    after: bytes | None = None
    while names := list(islice(stream.groups.irange(after, inclusive=(False, True)), SLICE)):
        present = [stream.groups[name] for name in names]
        yield from present
        after = names[-1]


REUSED_FROM: Final = 5_000
"""The number of streams and groups from which a census is used again. A smaller one takes less than 20 ms."""

REUSE_FACTOR: Final = 20
"""A census is used again for this many times its duration: walks take 5 % of it up to `REUSE_NS_MAX`."""

REUSE_NS_MAX: Final = 15 * 10**9
"""The longest reuse, whatever the walk took: the usual time between two scrapes."""


class _Kept(NamedTuple):
    """A census, and the reading of the clock up to which it is used again."""

    census: Census
    until_ns: int


class CensusReuse:
    """The censuses of one store, one for each number of groups to name. `clock_ns` never goes back."""

    def __init__(self, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock_ns = clock_ns
        self._kept: dict[int, _Kept] = {}
        self._one_at_a_time = asyncio.Lock()

    async def census(self, store: EngineStore, named_max: int) -> Census:
        """Return a census of the store: a kept one, or a new one. O(streams + groups) in slices if new.

        Scrapes that arrive during a walk wait for it and may use its result.
        """
        async with self._one_at_a_time:
            kept = self._kept.get(named_max)
            if kept is not None and self._clock_ns() < kept.until_ns:
                return kept.census
            return await self._walk(store, named_max)

    async def _walk(self, store: EngineStore, named_max: int) -> Census:
        self._kept.pop(named_max, None)
        began_ns = self._clock_ns()
        census = Census(store.keyspace, store.now_ms(), named_max, store.lag_alerts.is_behind)
        for _ in census.steps():
            await asyncio.sleep(0)
        now_ns = self._clock_ns()
        if census.streams + census.groups >= REUSED_FROM:
            reuse_ns = min((now_ns - began_ns) * REUSE_FACTOR, REUSE_NS_MAX)
            self._kept[named_max] = _Kept(census, now_ns + reuse_ns)
        return census
