"""Subscriptions: the outputs of followers on a WebSocket. They push entries as far as the credit allows.

A subscription continues to read only if it has credit and the client reads its output, so a slow client needs
memory only for its positions. Entries that a read took for a connection that is closing return to their
group. `api.follow` owns positions and reads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from typing import Final, Protocol

from tailrace.api.follow.followers import Delivery, Feed, Filter, GroupFollower, SharedReads, Start
from tailrace.api.ports import SubmitStore
from tailrace.api.problems.table import Refusal
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.pushes import end_push, entries_push, gap_push, shared_push
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket.unsettled import Owner, Unsettled
from tailrace.api.websocket_limits import PUSH_BYTES_MAX, PUSH_ENTRIES_MAX
from tailrace.core.commands import ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.replies import Entries, StreamRead
from tailrace.core.stream_id import StreamId

_logger: Final = logging.getLogger("tailrace.websocket")


class CreditBalance:
    """How much may still be pushed: entries, and bytes once the client has given a credit in bytes."""

    __slots__ = ("bytes", "entries")

    def __init__(self, entries: int, size: int | None) -> None:
        self.entries = entries
        self.bytes = size

    def add(self, entries: int, size: int | None) -> None:
        """Add credit."""
        self.entries += entries
        if size is not None:
            self.bytes = size + (self.bytes or 0)

    @property
    def is_spent(self) -> bool:
        """True if there is no credit left."""
        return self.entries <= 0 or (self.bytes is not None and self.bytes <= 0)

    def covered(self, entries: Entries) -> int:
        """Return how many of `entries`, from the first on, may be pushed. The last one may exceed the
        bytes."""
        count = min(self.entries, len(entries))
        if self.bytes is None:
            return count
        sizes = map(_size, entries.fragments[:count])
        return sum(before < self.bytes for before in islice(accumulate(sizes, initial=0), count))

    def pay(self, entries: Entries, count: int) -> None:
        """Subtract the first `count` of `entries`, which were pushed."""
        self.entries -= count
        if self.bytes is not None:
            self.bytes -= sum(map(_size, entries.fragments[:count]))


def _size(fragment: bytes | None) -> int:
    return 0 if fragment is None else len(fragment)


class Connection(Protocol):
    """What a subscription uses of its session."""

    @property
    def codec(self) -> Codec:
        """The subprotocol of the connection."""
        ...

    @property
    def is_congested(self) -> bool:
        """True if nothing should be pushed now: much output waits for the client, or the connection is
        closing."""
        ...

    @property
    def is_closing(self) -> bool:
        """True if nothing can be pushed any more."""
        ...

    def send(self, frame: bytes) -> None:
        """Push one frame."""
        ...

    def subscription_ended(self, sub: RequestId, failure: Refusal) -> None:
        """Handle the end of a subscription; its last push was sent."""
        ...

    def give_back(self, unsent: Unsettled) -> None:
        """Return entries that were read but can no longer be pushed, if they are still pending."""
        ...


class Subscription:
    """Pushes like XREAD: each stream has its own read, and all of them share one credit.

    XREAD could read all streams at once. With one read for each stream, subscriptions at the same position
    share the read, an append does not affect the other streams, and a gap belongs to one stream.
    """

    def __init__(
        self,
        connection: Connection,
        reads: SharedReads,
        sub: RequestId,
        starts: Iterable[Start],
        wanted: Filter | None,
        credit: CreditBalance,
    ) -> None:
        self.reads = reads
        self.wanted = wanted
        self.credit = credit
        self._connection = connection
        self._sub = sub
        self._is_closed = False
        self._feeds = [Feed(self, start) for start in starts]

    @property
    def stream_count(self) -> int:
        """How many streams the subscription watches."""
        return len(self._feeds)

    @property
    def may_push(self) -> bool:
        """True if the subscription is open, there is credit, and the client reads its output."""
        return not (self._is_closed or self.credit.is_spent or self._connection.is_congested)

    def arm(self) -> None:
        """Wait for entries of each stream, if they may be pushed."""
        for feed in self._feeds:
            feed.arm()

    def close(self) -> None:
        """Stop pushing."""
        self._is_closed = True
        for feed in self._feeds:
            feed.close()
        self._feeds = []

    def end(self, failure: Refusal) -> None:
        """End the subscription with a last push that has the reason."""
        self.close()
        self._connection.send(end_push(self._connection.codec, self._sub, failure))
        self._connection.subscription_ended(self._sub, failure)

    def failed(self, error: Exception) -> None:
        """Log a defect."""
        _logger.error("subscription_failed", exc_info=error)

    # --- for its feeds -------------------------------------------------------------------------

    def push(self, feed: Feed, delivery: Delivery, incarnation: str | None) -> int:
        """Push as much of a delivery as the credit allows: see `StreamOutput`."""
        del feed
        if not self.may_push:
            return 0
        selection = delivery.selection(self.wanted)
        count = self.credit.covered(selection)
        self.credit.pay(selection, count)
        self._push(delivery, count, incarnation)
        return count

    def tell_position(self, feed: Feed, delivery: Delivery, incarnation: str | None) -> bool:
        """Push the position after a delivery of which no entry matches, without entries."""
        del feed
        may_push = self.may_push
        if may_push:
            self._push(delivery, 0, incarnation)
        return may_push

    def _push(self, delivery: Delivery, count: int, incarnation: str | None) -> None:
        connection = self._connection
        connection.send(shared_push(delivery, connection.codec, self._sub, self.wanted, count, incarnation))

    def tell_gap(self, feed: Feed, after: StreamId, before: StreamId, **more: str | None) -> None:
        """Push that the entries between the two ids were trimmed, or are of another stream."""
        self._connection.send(gap_push(self._connection.codec, self._sub, feed.key, after, before, **more))


class Consumption:
    """Pushes like XREADGROUP: one read for all streams, which asks for at most the credit."""

    def __init__(
        self,
        connection: Connection,
        store: SubmitStore,
        sub: RequestId,
        command: ReadGroup,
        unsettled: Unsettled,
        credit: CreditBalance,
    ) -> None:
        self._connection = connection
        self._sub = sub
        self._command = command
        self._unsettled = unsettled
        self._follower = GroupFollower(store, self)
        self._is_closed = False
        self.credit = credit

    @property
    def stream_count(self) -> int:
        """How many streams the subscription watches."""
        return len(self._command.streams)

    def arm(self) -> None:
        """Wait for entries, if they may be pushed."""
        self._follower.arm()

    def close(self) -> None:
        """Stop pushing. If a running read has already taken entries, they are returned to the group."""
        self._is_closed = True
        self._follower.close()

    def end(self, failure: Refusal) -> None:
        """End the subscription with a last push that has the reason."""
        self.close()
        self._connection.send(end_push(self._connection.codec, self._sub, failure))
        self._connection.subscription_ended(self._sub, failure)

    def failed(self, error: Exception) -> None:
        """Log a defect."""
        _logger.error("subscription_failed", exc_info=error)

    # --- for its follower ----------------------------------------------------------------------

    def next_read(self) -> ReadGroup | None:
        """Return a read of at most the credit, None if nothing may be pushed."""
        balance, command = self.credit, self._command
        if self._is_closed or balance.is_spent or self._connection.is_congested:
            return None
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

    def take(self, reads: Sequence[StreamRead]) -> None:
        """Push the entries of a read, or return them to the group if nothing can be pushed any more."""
        found = [read for read in reads if read.entries.ids]
        if self._is_closed or self._connection.is_closing:
            self._give_back(found)
        else:
            for read in found:
                self._push(read)

    def _push(self, read: StreamRead) -> None:
        mark = self._unsettled.next_mark()
        self._unsettled.delivered(self._owner(read), read.entries.ids, mark)
        # All entries are pushed, because the read asked for at most the credit. The engine counts bytes as
        # RESP, so the balance in bytes may become slightly negative.
        self.credit.pay(read.entries, len(read.entries))
        frame = entries_push(self._connection.codec, self._sub, read, read.entries, read.next)
        self._connection.send(frame)

    def _give_back(self, reads: Sequence[StreamRead]) -> None:
        unsent = Unsettled()
        for read in reads:
            owner = self._owner(read)
            unsent.track(owner)
            unsent.delivered(owner, read.entries.ids, unsent.next_mark())
        self._connection.give_back(unsent)

    def _owner(self, read: StreamRead) -> Owner:
        return Owner(read.key, self._command.group, self._command.consumer)


def new_entries_of(keys: Iterable[bytes]) -> tuple[ReadFrom, ...]:
    """Return the streams of a group read, each for new entries."""
    return tuple(ReadFrom(key, Special.NEW) for key in keys)
