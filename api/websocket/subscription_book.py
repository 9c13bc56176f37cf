"""The subscriptions of one connection by id, with their limits.

It never pushes entries; the subscriptions do.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.api.follow.followers import Filter, SharedReads, Start
from tailrace.api.ports import SubmitStore
from tailrace.api.problems.table import HttpCode, Refusal, RequestRefused
from tailrace.api.server_limits import OpenLimit
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket.subscriptions import (
    Connection,
    Consumption,
    CreditBalance,
    Subscription,
)
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.api.websocket_limits import SUBSCRIPTIONS_MAX, WATCHED_STREAMS_MAX
from tailrace.core.commands import ReadGroup
from tailrace.core.errors import ErrorCode


class SubscriptionBook:
    """The open subscriptions of a connection. `subscribe`, `consume`, `credit` and `unsubscribe` change them.

    A new subscription starts to read with `arm_fresh`. The session calls it after it has sent the reply, so
    that no push is sent before the reply that opened the subscription.
    """

    def __init__(
        self,
        connection: Connection,
        store: SubmitStore,
        reads: SharedReads,
        unsettled: Unsettled,
        open_limit: OpenLimit,
    ) -> None:
        self._connection = connection
        self._store = store
        self._reads = reads
        self._unsettled = unsettled
        self._open_limit = open_limit
        self._open: dict[RequestId, Subscription | Consumption] = {}
        self._fresh: list[Subscription | Consumption] = []
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._open)

    def subscribe(
        self,
        sub: RequestId,
        starts: Sequence[Start],
        wanted: Filter | None,
        credit: CreditBalance,
    ) -> None:
        """Open a subscription to streams. Raises `RequestRefused` if the id is in use or a limit is
        reached."""
        self._require_room(sub, len(starts))
        self._add(sub, Subscription(self._connection, self._reads, sub, starts, wanted, credit))

    def consume(self, sub: RequestId, command: ReadGroup, credit: CreditBalance) -> None:
        """Open a subscription to a group. Raises `RequestRefused` if the id is in use or a limit is
        reached."""
        self._require_room(sub, len(command.streams))
        self._add(sub, Consumption(self._connection, self._store, sub, command, self._unsettled, credit))

    def add_credit(self, sub: RequestId, entries: int, size: int | None) -> CreditBalance:
        """Add credit and return the balance. Raises `RequestRefused` for an unknown subscription."""
        subscription = self._find(sub)
        subscription.credit.add(entries, size)
        self._fresh.append(subscription)
        return subscription.credit

    def unsubscribe(self, sub: RequestId) -> None:
        """End a subscription. Raises `RequestRefused` for an unknown subscription."""
        self._find(sub).close()
        self.forget(sub)

    def forget(self, sub: RequestId) -> None:
        """Remove a subscription that has ended."""
        del self._open[sub]
        self._open_limit.leave()

    def arm_fresh(self) -> None:
        """Start the subscriptions that were opened or got credit since the last call."""
        fresh, self._fresh = self._fresh, []
        for subscription in fresh:
            subscription.arm()

    def arm_all(self) -> None:
        """Continue all subscriptions, after the client has read its output. Those that wait for the reply to
        an array start with `arm_fresh`. O(watched streams)."""
        fresh = set(self._fresh)
        for subscription in list(self._open.values()):
            if subscription not in fresh:
                subscription.arm()

    def end_all(self, failure: Refusal) -> None:
        """End all subscriptions with a last push that has the reason."""
        for subscription in list(self._open.values()):
            subscription.end(failure)

    def close(self) -> None:
        """End all subscriptions without a push, and open no others."""
        self._is_closed = True
        for subscription in self._open.values():
            subscription.close()
            self._open_limit.leave()
        self._open.clear()
        self._fresh.clear()

    def _add(self, sub: RequestId, subscription: Subscription | Consumption) -> None:
        if self._is_closed:
            # The connection ended while the request ran, so the subscription would never be closed.
            return
        self._open[sub] = subscription
        self._open_limit.enter()
        self._fresh.append(subscription)

    def _find(self, sub: RequestId) -> Subscription | Consumption:
        found = self._open.get(sub)
        if found is None:
            raise RequestRefused(
                HttpCode.NOT_FOUND,
                f"this connection has no subscription {sub!r:.60}; send the `id` of the request that "
                "opened it",
            )
        return found

    def _require_room(self, sub: RequestId, stream_count: int) -> None:
        if sub in self._open:
            raise RequestRefused(
                HttpCode.BAD_REQUEST,
                f"this connection already has a subscription {sub!r:.60}; use another `id`",
            )
        if len(self._open) >= SUBSCRIPTIONS_MAX:
            detail = f"the connection has {SUBSCRIPTIONS_MAX} subscriptions, its limit; end one first"
            raise RequestRefused(ErrorCode.LIMIT_EXCEEDED, detail)
        self._open_limit.require_room()
        watched = sum(subscription.stream_count for subscription in self._open.values())
        if watched + stream_count > WATCHED_STREAMS_MAX:
            detail = (
                f"the connection would watch {watched + stream_count} streams; at most "
                f"{WATCHED_STREAMS_MAX} are allowed"
            )
            raise RequestRefused(ErrorCode.LIMIT_EXCEEDED, detail)
