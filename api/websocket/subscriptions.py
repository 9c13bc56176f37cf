"""Subscriptions to streams: push their entries when they are appended, as far as the credit allows.

It owns positions and gaps. A subscription continues to read only if it has credit and the client reads its
output, so a slow client needs memory only for its position. `api.websocket.consumption` pushes the entries of
groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, islice
from typing import Final, NamedTuple, Protocol

from tailrace.api.problems.table import Refusal
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.pushes import Delivery, Filter, end_push, gap_push
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket.shared_reads import ReadPosition, Received, SharedRead, SharedReads
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.api.wire.filtering import AT_ONCE_MAX
from tailrace.core.commands import SOME_INCARNATION
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.replies import Entries
from tailrace.core.stream_id import ZERO_ID, StreamId, parse_id


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


SKIPPED_MAX: Final = 1_000
"""After this many entries that do not match, a subscription tells the client its position."""


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


class Reached(NamedTuple):
    """Where a subscription begins to read a stream. `incarnation`: as in `ReadFrom`."""

    key: bytes
    after: StreamId
    incarnation: str | None


class Feed:
    """One stream of a subscription: its position, and its waiting read.

    `position` is the last id that was read. `gap_told_to` is the id up to which a gap was reported to the
    client. `incarnation` is that of the stream in which the position was reached, and `told` the one that the
    client knows.
    """

    __slots__ = (
        "_gap_told_to",
        "_incarnation",
        "_key",
        "_position",
        "_skipped",
        "_subscription",
        "_told",
        "_waiting",
    )

    def __init__(
        self, subscription: Subscription, key: bytes, position: StreamId, incarnation: str | None
    ) -> None:
        self._subscription = subscription
        self._key = key
        self._position = position
        self._incarnation = self._told = incarnation
        self._gap_told_to = ZERO_ID
        self._waiting: SharedRead | None = None
        # Entries that did not match since the last push.
        self._skipped = 0

    def arm(self) -> None:
        """Wait for entries, if they may be pushed."""
        if self._waiting is None and self._subscription.may_push:
            place = ReadPosition(
                self._key, self._position, self._position >= self._gap_told_to, self._incarnation
            )
            self._waiting = self._subscription.reads.join(place, self)

    def close(self) -> None:
        """Stop waiting."""
        if self._waiting is not None:
            self._waiting.leave(self)
            self._waiting = None

    def received(self, received: Received) -> None:
        """Push the entries or the gap, or end the subscription with the error."""
        self._waiting = None
        if isinstance(received, Delivery):
            self._incarnation = received.read.incarnation or SOME_INCARNATION
            self._take(received)
        elif isinstance(received, StreamError) and received.code is ErrorCode.POSITION_TRIMMED:
            self._tell_gap(received)
        else:
            self._subscription.end(received)

    def _take(self, delivery: Delivery) -> None:
        """Push as much as the credit allows; the rest is read again later."""
        subscription = self._subscription
        if not delivery.selection(subscription.wanted).ids:
            self._skip(delivery)
            return
        count = subscription.push(delivery, self._untold(delivery))
        if count:
            self._told = self._incarnation
            self._skipped = 0
            self._position = delivery.next_after(subscription.wanted, count)
            self.arm()

    def _skip(self, delivery: Delivery) -> None:
        """Read on after entries of which none matches. Further stored entries wait for the turn of the
        filter."""
        self._position = delivery.read.next
        self._skipped += len(delivery.read.entries)
        if self._skipped >= SKIPPED_MAX:
            self._skipped = 0
            if self._subscription.tell_position(delivery, self._untold(delivery)):
                self._told = self._incarnation
        if len(delivery.read.entries) > AT_ONCE_MAX:
            self._subscription.reads.turns.later(self.arm)
        else:
            self.arm()

    def _untold(self, delivery: Delivery) -> str | None:
        """Return the incarnation of the delivery's stream if the client does not know it."""
        incarnation = delivery.read.incarnation
        return None if incarnation == self._told else incarnation

    def _tell_gap(self, error: StreamError) -> None:
        after = self._position
        if "next" in error.details:
            self._begin_again(after, error)
            return
        first_id = parse_id(error.details["first_id"].encode())
        if first_id > after + 1:
            before = first_id
            self._position = first_id - 1
        else:
            # Entries in the middle were trimmed (those that every group has acknowledged). The engine reports
            # that some are missing, but not which ones, so one gap covers all of them.
            self._gap_told_to = parse_id(error.details["last_id"].encode())
            before = self._gap_told_to + 1
        self._subscription.tell_gap(self._key, after, before)
        self.arm()

    def _begin_again(self, after: StreamId, error: StreamError) -> None:
        """Report a gap that ends at the beginning of another stream, and read on there."""
        self._position = parse_id(error.details["next"].encode())
        self._gap_told_to = ZERO_ID
        self._incarnation = self._told = incarnation = error.details.get("incarnation")
        self._subscription.tell_gap(self._key, after, self._position + 1, incarnation=incarnation)
        self.arm()


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
        positions: Iterable[Reached],
        wanted: Filter | None,
        credit: CreditBalance,
    ) -> None:
        self.reads = reads
        self.wanted = wanted
        self.credit = credit
        self._connection = connection
        self._sub = sub
        self._is_closed = False
        self._feeds = [Feed(self, *reached) for reached in positions]

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

    # --- for its feeds -------------------------------------------------------------------------

    def push(self, delivery: Delivery, incarnation: str | None) -> int:
        """Push as much of a delivery as the credit allows, with the incarnation of its stream unless it is
        None. Return the number of pushed entries, which can be 0."""
        if not self.may_push:
            return 0
        selection = delivery.selection(self.wanted)
        count = self.credit.covered(selection)
        self.credit.pay(selection, count)
        codec = self._connection.codec
        self._connection.send(delivery.push(codec, self._sub, self.wanted, count, incarnation))
        return count

    def tell_position(self, delivery: Delivery, incarnation: str | None) -> bool:
        """Push the position after a delivery of which no entry matches, without entries. Return False if
        nothing may be pushed now."""
        if not self.may_push:
            return False
        codec = self._connection.codec
        self._connection.send(delivery.push(codec, self._sub, self.wanted, 0, incarnation))
        return True

    def tell_gap(self, key: bytes, after: StreamId, before: StreamId, **more: str | None) -> None:
        """Push that the entries between the two ids were trimmed, or are of another stream."""
        self._connection.send(gap_push(self._connection.codec, self._sub, key, after, before, **more))

    def end(self, failure: Refusal) -> None:
        """End the subscription with a last push that has the reason."""
        self.close()
        self._connection.send(end_push(self._connection.codec, self._sub, failure))
        self._connection.subscription_ended(self._sub, failure)
