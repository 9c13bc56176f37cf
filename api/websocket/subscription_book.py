"""The subscriptions of one connection by their ids, how many there may be, and which are to be armed.

It never pushes: `api.websocket.subscriptions` does.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.api.ports import StreamStore
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.websocket.pushes import Failure, Filter
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket.shared_reads import SharedReads
from tailrace.api.websocket.subscriptions import Connection, Consumption, CreditBalance, Subscription
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.api.websocket_limits import SUBSCRIPTIONS_MAX, WATCHED_STREAMS_MAX
from tailrace.core.commands import ReadGroup
from tailrace.core.errors import ErrorCode
from tailrace.core.stream_id import StreamId


class SubscriptionBook:
    """What `subscribe`, `consume`, `credit` and `unsubscribe` act on.

    A subscription is armed by `arm_fresh`, which the session calls once the reply is on its way: no push
    may overtake the reply that opened it.
    """

    def __init__(
        self, connection: Connection, store: StreamStore, reads: SharedReads, unsettled: Unsettled
    ) -> None:
        self._connection = connection
        self._store = store
        self._reads = reads
        self._unsettled = unsettled
        self._open: dict[RequestId, Subscription | Consumption] = {}
        self._fresh: list[Subscription | Consumption] = []
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._open)

    def subscribe(
        self,
        sub: RequestId,
        positions: Sequence[tuple[bytes, StreamId]],
        wanted: Filter | None,
        credit: CreditBalance,
    ) -> None:
        """Open a subscription to streams. Raises `RequestRefused`."""
        self._require_room(sub, len(positions))
        self._add(sub, Subscription(self._connection, self._reads, sub, positions, wanted, credit))

    def consume(self, sub: RequestId, command: ReadGroup, credit: CreditBalance) -> None:
        """Open a group's subscription. Raises `RequestRefused`."""
        self._require_room(sub, len(command.streams))
        self._add(sub, Consumption(self._connection, self._store, sub, command, self._unsettled, credit))

    def add_credit(self, sub: RequestId, entries: int, size: int | None) -> CreditBalance:
        """Allow more; the balance is given back. Raises `RequestRefused` for an unknown subscription."""
        subscription = self._find(sub)
        subscription.credit.add(entries, size)
        self._fresh.append(subscription)
        return subscription.credit

    def unsubscribe(self, sub: RequestId) -> None:
        """End a subscription. Raises `RequestRefused` for an unknown one."""
        self._find(sub).close()
        self.forget(sub)

    def forget(self, sub: RequestId) -> None:
        """It has ended."""
        del self._open[sub]
        self._reads.subscriptions.leave()

    def arm_fresh(self) -> None:
        """Let what was opened or credited since the last call push."""
        fresh, self._fresh = self._fresh, []
        for subscription in fresh:
            subscription.arm()

    def arm_all(self) -> None:
        """The client has taken what it was sent: go on. O(streams watched)."""
        for subscription in list(self._open.values()):
            subscription.arm()

    def end_all(self, failure: Failure) -> None:
        """End all subscriptions, and say why."""
        for subscription in list(self._open.values()):
            subscription.end(failure)

    def close(self) -> None:
        """End all subscriptions without a word, and open no others."""
        self._is_closed = True
        for subscription in self._open.values():
            subscription.close()
            self._reads.subscriptions.leave()
        self._open.clear()
        self._fresh.clear()

    def _add(self, sub: RequestId, subscription: Subscription | Consumption) -> None:
        if self._is_closed:
            # The connection ended while the request ran: nobody would close the subscription.
            return
        self._open[sub] = subscription
        self._reads.subscriptions.enter()
        self._fresh.append(subscription)

    def _find(self, sub: RequestId) -> Subscription | Consumption:
        found = self._open.get(sub)
        if found is None:
            raise RequestRefused(HttpCode.NOT_FOUND, f"no subscription {sub!r:.60} on this connection")
        return found

    def _require_room(self, sub: RequestId, stream_count: int) -> None:
        if sub in self._open:
            raise RequestRefused(HttpCode.BAD_REQUEST, f"there is a subscription {sub!r:.60} already")
        if len(self._open) >= SUBSCRIPTIONS_MAX:
            told = f"a connection may have {SUBSCRIPTIONS_MAX} subscriptions"
            raise RequestRefused(ErrorCode.LIMIT_EXCEEDED, told)
        self._reads.subscriptions.require_room()
        watched = sum(subscription.stream_count for subscription in self._open.values())
        if watched + stream_count > WATCHED_STREAMS_MAX:
            told = f"{watched + stream_count} streams: a connection may watch {WATCHED_STREAMS_MAX}"
            raise RequestRefused(ErrorCode.LIMIT_EXCEEDED, told)
