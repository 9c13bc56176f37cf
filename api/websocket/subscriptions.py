"""Subscriptions: entries of streams, or of a group, pushed as they come and as credit allows.

It owns credit, positions and gaps. A subscription asks for the next read only when it may push what comes
and the client takes what it was sent; so a client that is slow costs nothing but its own position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from typing import Protocol

from tailrace.api.ports import Answer, StoreUnavailable, StreamStore, Watch
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.pushes import Delivery, Failure, Filter, end_push, entries_push, gap_push
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket.shared_reads import Place, Received, SharedRead, SharedReads
from tailrace.api.websocket.unsettled import Owner, Unsettled, given_back
from tailrace.api.websocket_limits import PUSH_BYTES_MAX, PUSH_ENTRIES_MAX
from tailrace.core.commands import Command, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.replies import Entries, ReadReply, StreamRead
from tailrace.core.stream_id import ZERO_ID, StreamId, parse_id


class Connection(Protocol):
    """What a subscription needs of its session."""

    @property
    def codec(self) -> Codec:
        """The subprotocol it speaks."""
        ...

    @property
    def is_congested(self) -> bool:
        """Whether the client lags behind what it was sent."""
        ...

    def send(self, frame: bytes) -> None:
        """Push one frame."""
        ...

    def subscription_ended(self, sub: RequestId, failure: Failure) -> None:
        """The subscription is over, and the client was told."""
        ...

    def give_back(self, commands: Sequence[Command]) -> None:
        """Have these carried out: entries were taken that nobody is there to be sent."""
        ...


class CreditBalance:
    """What may still be pushed: entries, and bytes once the client has named any."""

    __slots__ = ("bytes", "entries")

    def __init__(self, entries: int, size: int | None) -> None:
        self.entries = entries
        self.bytes = size

    def add(self, entries: int, size: int | None) -> None:
        """More may be pushed."""
        self.entries += entries
        if size is not None:
            self.bytes = size + (self.bytes or 0)

    @property
    def is_spent(self) -> bool:
        """Whether nothing may be pushed."""
        return self.entries <= 0 or (self.bytes is not None and self.bytes <= 0)

    def covered(self, entries: Entries) -> int:
        """How many of these, from the first on, may be pushed; the last of them may overshoot in bytes."""
        count = min(self.entries, len(entries))
        if self.bytes is None:
            return count
        sizes = map(_size, entries.fragments[:count])
        return sum(before < self.bytes for before in islice(accumulate(sizes, initial=0), count))

    def pay(self, entries: Entries, count: int) -> None:
        """The first `count` of these were pushed."""
        self.entries -= count
        if self.bytes is not None:
            self.bytes -= sum(map(_size, entries.fragments[:count]))


def _size(fragment: bytes | None) -> int:
    return 0 if fragment is None else len(fragment)


class Feed:
    """One stream of a subscription: where it stands, and what is done with what comes.

    `position`: read up to here. `gap_told_to`: up to here the client knows that entries may be missing.
    """

    __slots__ = ("_gap_told_to", "_key", "_position", "_subscription", "_waiting")

    def __init__(self, subscription: Subscription, key: bytes, position: StreamId) -> None:
        self._subscription = subscription
        self._key = key
        self._position = position
        self._gap_told_to = ZERO_ID
        self._waiting: SharedRead | None = None

    def arm(self) -> None:
        """Wait for entries, where they may be pushed."""
        if self._waiting is None and self._subscription.may_push:
            place = Place(self._key, self._position, self._position >= self._gap_told_to)
            self._waiting = self._subscription.reads.join(place, self)

    def close(self) -> None:
        """Wait no more."""
        if self._waiting is not None:
            self._waiting.leave(self)
            self._waiting = None

    def received(self, received: Received) -> None:
        """Push what came, or say why nothing comes."""
        self._waiting = None
        if isinstance(received, Delivery):
            self._take(received)
        elif isinstance(received, StreamError) and received.code is ErrorCode.POSITION_TRIMMED:
            self._tell_gap(received)
        else:
            self._subscription.end(received)

    def _take(self, delivery: Delivery) -> None:
        """Push what may be pushed; the rest is read again when it may. What is late pushes nothing."""
        subscription = self._subscription
        if delivery.selection(subscription.wanted).ids:
            count = subscription.push(delivery)
            if count == 0:
                return
            self._position = delivery.next_after(subscription.wanted, count)
        else:
            self._position = delivery.read.next
        self.arm()

    def _tell_gap(self, error: StreamError) -> None:
        after = self._position
        first_id = parse_id(error.details["first_id"].encode())
        if first_id > after + 1:
            before = first_id
            self._position = first_id - 1
        else:
            # Entries were trimmed out of the middle (those that every group had done with): the engine
            # knows that some are missing ahead, not which. It is said once, for all of them.
            self._gap_told_to = parse_id(error.details["last_id"].encode())
            before = self._gap_told_to + 1
        self._subscription.tell_gap(self._key, after, before)
        self.arm()


class Subscription:
    """XREAD, pushed: each stream on its own, all under one credit.

    Streams are read one by one, though XREAD takes many: so a read is shared with all who stand at the same
    place, an append costs nothing for the streams beside it, and a gap is one stream's.
    """

    def __init__(
        self,
        connection: Connection,
        reads: SharedReads,
        sub: RequestId,
        positions: Iterable[tuple[bytes, StreamId]],
        wanted: Filter | None,
        credit: CreditBalance,
    ) -> None:
        self.reads = reads
        self.wanted = wanted
        self.credit = credit
        self._connection = connection
        self._sub = sub
        self._feeds = [Feed(self, key, position) for key, position in positions]

    @property
    def stream_count(self) -> int:
        """How many streams it watches."""
        return len(self._feeds)

    @property
    def may_push(self) -> bool:
        """Whether there is credit, and the client takes what it was sent."""
        return not self.credit.is_spent and not self._connection.is_congested

    def arm(self) -> None:
        """Wait for entries of each stream, where they may be pushed."""
        for feed in self._feeds:
            feed.arm()

    def close(self) -> None:
        """Push nothing more."""
        for feed in self._feeds:
            feed.close()
        self._feeds = []

    # --- for its feeds -------------------------------------------------------------------------

    def push(self, delivery: Delivery) -> int:
        """Push as much of a delivery as may be, which may be nothing; how many entries that were."""
        if not self.may_push:
            return 0
        selection = delivery.selection(self.wanted)
        count = self.credit.covered(selection)
        self.credit.pay(selection, count)
        self._connection.send(delivery.push(self._connection.codec, self._sub, self.wanted, count))
        return count

    def tell_gap(self, key: bytes, after: StreamId, before: StreamId) -> None:
        """Entries between the two were trimmed away."""
        self._connection.send(gap_push(self._connection.codec, self._sub, key, after, before))

    def end(self, failure: Failure) -> None:
        """Say why nothing more comes."""
        self.close()
        self._connection.send(end_push(self._connection.codec, self._sub, failure))
        self._connection.subscription_ended(self._sub, failure)


class Consumption:
    """XREADGROUP, pushed: all streams in one read, which asks for no more than the credit."""

    def __init__(
        self,
        connection: Connection,
        store: StreamStore,
        sub: RequestId,
        command: ReadGroup,
        unsettled: Unsettled,
        credit: CreditBalance,
    ) -> None:
        self._connection = connection
        self._store = store
        self._sub = sub
        self._command = command
        self._unsettled = unsettled
        self._watch: Watch | None = None
        self._is_closed = False
        self.credit = credit

    @property
    def stream_count(self) -> int:
        """How many streams it watches."""
        return len(self._command.streams)

    def arm(self) -> None:
        """Wait for entries, where they may be pushed."""
        if self._watch is None and self._may_push:
            self._watch = self._store.watch(self._next_command(), self._received)

    def close(self) -> None:
        """Push nothing more. What a read has taken already is given back when it arrives."""
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()

    def end(self, failure: Failure) -> None:
        """Say why nothing more comes."""
        self.close()
        self._connection.send(end_push(self._connection.codec, self._sub, failure))
        self._connection.subscription_ended(self._sub, failure)

    @property
    def _may_push(self) -> bool:
        return not (self._is_closed or self.credit.is_spent or self._connection.is_congested)

    def _next_command(self) -> ReadGroup:
        balance, command = self.credit, self._command
        size = PUSH_BYTES_MAX if balance.bytes is None else min(balance.bytes, PUSH_BYTES_MAX)
        return ReadGroup(
            command.group,
            command.consumer,
            command.streams,
            ReadLimits(max_count=min(balance.entries, PUSH_ENTRIES_MAX), max_bytes=size),
            block_ms=0,
            claim_min_idle_ms=command.claim_min_idle_ms,
            noack=command.noack,
        )

    def _received(self, answer: Answer) -> None:
        self._watch = None
        if isinstance(answer, ReadReply):
            self._take([read for read in answer.streams if read.entries.ids])
        elif not self._is_closed:
            assert isinstance(answer, StreamError | StoreUnavailable)
            self.end(answer)

    def _take(self, reads: Sequence[StreamRead]) -> None:
        if self._is_closed:
            self._connection.give_back([given_back(self._owner(read), read.entries.ids) for read in reads])
            return
        for read in reads:
            self._push(read)
        self.arm()

    def _push(self, read: StreamRead) -> None:
        self._unsettled.delivered(self._owner(read), read.entries.ids)
        # All of it: the engine was asked for no more than the credit. It counts bytes as RESP, so that part
        # of the balance may end a little below zero.
        self.credit.pay(read.entries, len(read.entries))
        frame = entries_push(self._connection.codec, self._sub, read, read.entries, read.next)
        self._connection.send(frame)

    def _owner(self, read: StreamRead) -> Owner:
        return Owner(read.key, self._command.group, self._command.consumer)


def new_entries_of(keys: Iterable[bytes]) -> tuple[ReadFrom, ...]:
    """The streams of a group read, each from where the group stands."""
    return tuple(ReadFrom(key, Special.NEW) for key in keys)
