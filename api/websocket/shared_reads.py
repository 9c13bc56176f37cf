"""One waiting read for all subscriptions that stand at the same place of a stream.

A thousand subscribers that have read a stream to its end wait for the same answer: the store looks once,
and what was encoded for one of them is sent to all. It owns that sharing and nothing of what a
subscription does with an answer. Group reads are never shared: each takes entries for itself.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple, Protocol, TypeAlias

from tailrace.api.ports import Answer, StoreUnavailable, StreamStore, Watch
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.api.tallies import OpenLimit, OpenLimits
from tailrace.api.websocket.pushes import Delivery
from tailrace.api.websocket_limits import PUSH_BYTES_MAX, PUSH_ENTRIES_MAX
from tailrace.core.commands import Read, ReadFrom, ReadLimits
from tailrace.core.errors import StreamError
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import StreamId

_logger = logging.getLogger("tailrace.websocket")

LIMITS: Final = ReadLimits(max_count=PUSH_ENTRIES_MAX, max_bytes=PUSH_BYTES_MAX)


class Place(NamedTuple):
    """Where a reader stands: after which entry of which stream; `strict`: it wants to know of a gap."""

    key: bytes
    after: StreamId
    strict: bool


Received: TypeAlias = Delivery | StreamError | StoreUnavailable


class Member(Protocol):
    """One who waits. The object itself is what the read keeps of it: no other is made for a wait."""

    def received(self, received: Received) -> None:
        """What the read gave; called once, after which it does not wait any more."""
        ...


class SharedReads:
    """All shared reads of one store; one object serves all connections, and counts their `subscriptions`."""

    def __init__(self, store: StreamStore, subscriptions: OpenLimit | None = None) -> None:
        self._store = store
        self.subscriptions = subscriptions or OpenLimits(DEFAULT_LIMITS).subscriptions
        self._reads: dict[Place, SharedRead] = {}

    def __len__(self) -> int:
        return len(self._reads)

    def join(self, place: Place, member: Member) -> SharedRead:
        """Have `member` wait at `place`, where it does not wait yet. O(1) where others do."""
        read = self._reads.get(place)
        if read is None:
            read = self._reads[place] = SharedRead(self, place)
            read.watch = self._store.watch(_command(place), read.answered)
        read.members[member] = None
        return read

    def forget(self, place: Place) -> None:
        """Nobody can join the read at `place` any more."""
        del self._reads[place]


def _command(place: Place) -> Read:
    return Read((ReadFrom(place.key, place.after),), LIMITS, block_ms=0, strict=place.strict)


class SharedRead:
    """One read and those who wait for it, in the order in which they came."""

    __slots__ = ("_is_open", "_place", "_reads", "members", "watch")

    watch: Watch

    def __init__(self, reads: SharedReads, place: Place) -> None:
        self._reads = reads
        self._place = place
        self._is_open = True
        self.members: dict[Member, None] = {}

    def answered(self, answer: Answer) -> None:
        """The store's answer, for every member."""
        if not self._is_open:
            return
        self._close()
        received: Received
        if isinstance(answer, ReadReply):
            received = Delivery(answer.streams[0])
        else:
            assert isinstance(answer, StreamError | StoreUnavailable)
            received = answer
        for member in list(self.members):
            # An earlier one's answer may have made this one leave.
            if member in self.members:
                _give(member, received)

    def leave(self, member: Member) -> None:
        """`member` waits no more, and is told nothing."""
        del self.members[member]
        if self._is_open and not self.members:
            self._close()
            self.watch.cancel()

    def _close(self) -> None:
        self._is_open = False
        self._reads.forget(self._place)


def _give(member: Member, received: Received) -> None:
    """A member that fails to take its answer must not keep it from the others."""
    try:
        member.received(received)
    except Exception:
        _logger.exception("subscription_failed")
