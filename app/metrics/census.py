"""What all streams hold, counted by walking them in slices: a server with 100 000 groups is not stopped by
a scrape.

Between two slices others may change the keyspace, so the totals are of no one instant; where all fits
into one slice they are. It looks at the keyspace and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappush, heappushpop
from itertools import islice
from typing import Final, NamedTuple

from sortedcontainers import SortedDict

from tailrace.core.group import Group
from tailrace.core.idle import idle_since
from tailrace.core.keyspace import Keyspace
from tailrace.core.lag import lag_of
from tailrace.core.stream import Stream

SLICE: Final = 250
"""Streams and groups that are looked at without a pause: about 0.9 ms."""


class GroupState(NamedTuple):
    """One group, or several as one. In this order the ones to be named stand last.

    `lag`: entries yet to be delivered, -1 where that is not known. `oldest_ms`: for how long the owned
    entry that was delivered the longest ago has been pending; 0 where none is.
    """

    pending: int
    lag: int
    oldest_ms: int
    key: bytes
    group: bytes

    def joined(self, other: GroupState) -> GroupState:
        """Both as one; what is not known counts as nothing."""
        lag = max(self.lag, 0) + max(other.lag, 0)
        oldest_ms = max(self.oldest_ms, other.oldest_ms)
        return GroupState(self.pending + other.pending, lag, oldest_ms, self.key, self.group)


class Census:
    """One walk: run `steps` to its end, then read. `named_max`: how many groups keep their names.

    `named`: those with the most pending entries, then the greatest lag. `rest`: all others as one, None
    where there are none.
    """

    def __init__(self, keyspace: Keyspace, now_ms: int, named_max: int) -> None:
        self.streams = 0
        self.entries = 0
        self.groups = 0
        self.pending = 0
        self.named: list[GroupState] = []
        self.rest: GroupState | None = None
        self._keyspace = keyspace
        self._now_ms = now_ms
        self._named_max = named_max

    def steps(self) -> Iterator[None]:
        """Walk; whatever happens at a yield may change the keyspace."""
        for key, stream in self._all_streams():
            self.streams += 1
            self.entries += stream.length
            if (self.streams + self.groups) % SLICE == 0:
                yield
            for group in _all_groups(stream):
                self._add(key, stream, group)
                if (self.streams + self.groups) % SLICE == 0:
                    yield

    def _all_streams(self) -> Iterator[tuple[bytes, Stream]]:
        """In slices, each found anew behind the last key: an iterator would not outlive a change."""
        after: bytes | None = None
        while keys := list(islice(self._streams.irange(after, inclusive=(False, True)), SLICE)):
            present = [(key, self._streams[key]) for key in keys]
            yield from present
            after = keys[-1]

    @property
    def _streams(self) -> SortedDict[bytes, Stream]:
        """The table of this moment: a flush makes a new one."""
        return self._keyspace.streams

    def _add(self, key: bytes, stream: Stream, group: Group) -> None:
        self.groups += 1
        self.pending += group.pending.count
        state = _state_of(key, stream, group, self._now_ms)
        if len(self.named) < self._named_max:
            heappush(self.named, state)
        else:
            self._add_to_rest(heappushpop(self.named, state))

    def _add_to_rest(self, state: GroupState) -> None:
        self.rest = _NOBODY.joined(state) if self.rest is None else self.rest.joined(state)


_NOBODY: Final = GroupState(0, 0, 0, b"", b"other")
"""No key is empty, so no group can be taken for this one."""


def _all_groups(stream: Stream) -> Iterator[Group]:
    after: bytes | None = None
    while names := list(islice(stream.groups.irange(after, inclusive=(False, True)), SLICE)):
        present = [stream.groups[name] for name in names]
        yield from present
        after = names[-1]


def _state_of(key: bytes, stream: Stream, group: Group, now_ms: int) -> GroupState:
    lag = lag_of(stream, group)
    oldest_at_ms = group.pending.order.oldest_owned_ms()
    oldest_ms = 0 if oldest_at_ms is None else idle_since(oldest_at_ms, now_ms)
    return GroupState(group.pending.count, -1 if lag is None else lag, oldest_ms, key, group.name)
