"""Shares one waiting read among all subscriptions at the same position of a stream.

If a thousand subscribers have read a stream to its end, the store runs one read for all of them, and each
frame is encoded once. Reads of groups are never shared, because each one takes its own entries. This module
never pushes entries.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple, Protocol, TypeAlias

from tailrace.api.ports import Answer, StoreUnavailable, StreamStore, Watch
from tailrace.api.server_limits import DEFAULT_LIMITS, OpenLimit, OpenLimits
from tailrace.api.websocket.pushes import Delivery
from tailrace.api.websocket_limits import PUSH_BYTES_MAX, PUSH_ENTRIES_MAX
from tailrace.api.wire.filtering import ScanTurns
from tailrace.core.commands import Read, ReadFrom, ReadLimits
from tailrace.core.errors import StreamError
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import StreamId

_logger = logging.getLogger("tailrace.websocket")

LIMITS: Final = ReadLimits(max_count=PUSH_ENTRIES_MAX, max_bytes=PUSH_BYTES_MAX)


class ReadPosition(NamedTuple):
    """The position of a reader: a stream, and the id after which it reads. With `strict`, a gap is an
    error. `incarnation`: as in `ReadFrom`."""

    key: bytes
    after: StreamId
    strict: bool
    incarnation: str | None


Received: TypeAlias = Delivery | StreamError | StoreUnavailable


class Member(Protocol):
    """A waiting reader. The read refers to this object itself, so that a wait allocates nothing else."""

    def received(self, received: Received) -> None:
        """Receive the result of the read. It is called once, when the reader has stopped waiting."""
        ...


class SharedReads:
    """The shared reads of one store. One object serves all connections, and counts their `subscriptions`. It
    has the `turns` of their filters."""

    def __init__(self, store: StreamStore, subscriptions: OpenLimit | None = None) -> None:
        self._store = store
        self.subscriptions = subscriptions or OpenLimits(DEFAULT_LIMITS).subscriptions
        self.turns = ScanTurns()
        self._reads: dict[ReadPosition, SharedRead] = {}

    def __len__(self) -> int:
        return len(self._reads)

    def join(self, place: ReadPosition, member: Member) -> SharedRead:
        """Let `member` wait at `place`. It must not already wait there. O(1) if other members wait there."""
        read = self._reads.get(place)
        if read is None:
            read = self._reads[place] = SharedRead(self, place)
            read.watch = self._store.watch(_command(place), read.answered)
        read.members[member] = None
        return read

    def forget(self, place: ReadPosition) -> None:
        """Remove the read at `place`, so that no reader can join it."""
        del self._reads[place]


def _command(place: ReadPosition) -> Read:
    source = ReadFrom(place.key, place.after, place.incarnation)
    return Read((source,), LIMITS, block_ms=0, strict=place.strict)


class SharedRead:
    """One read and its waiting readers, in the order in which they joined."""

    __slots__ = ("_is_open", "_place", "_reads", "members", "watch")

    watch: Watch

    def __init__(self, reads: SharedReads, place: ReadPosition) -> None:
        self._reads = reads
        self._place = place
        self._is_open = True
        self.members: dict[Member, None] = {}

    def answered(self, answer: Answer) -> None:
        """Pass the store's answer to every member."""
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
            # An earlier member may have removed this one when it received the answer.
            if member in self.members:
                _give(member, received)

    def leave(self, member: Member) -> None:
        """Stop waiting for `member`; it receives nothing."""
        del self.members[member]
        if self._is_open and not self.members:
            self._close()
            self.watch.cancel()

    def _close(self) -> None:
        self._is_open = False
        self._reads.forget(self._place)


def _give(member: Member, received: Received) -> None:
    """Pass the answer to a member. An error in one member must not affect the others."""
    try:
        member.received(received)
    except Exception:
        _logger.exception("subscription_failed")
