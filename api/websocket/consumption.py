"""Subscriptions of a group's consumer: push its entries when they are delivered, as far as the credit
allows. Entries that a read took for a connection that is closing return to the group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tailrace.api.ports import Answer, StoreUnavailable, StreamStore, Watch
from tailrace.api.problems.table import Refusal
from tailrace.api.websocket.pushes import end_push, entries_push
from tailrace.api.websocket.requests import RequestId
from tailrace.api.websocket.subscriptions import Connection, CreditBalance
from tailrace.api.websocket.unsettled import Owner, Unsettled
from tailrace.api.websocket_limits import PUSH_BYTES_MAX, PUSH_ENTRIES_MAX
from tailrace.core.commands import ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.errors import StreamError
from tailrace.core.replies import ReadReply, StreamRead


class Consumption:
    """Pushes like XREADGROUP: one read for all streams, which asks for at most the credit."""

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
        """How many streams the subscription watches."""
        return len(self._command.streams)

    def arm(self) -> None:
        """Wait for entries, if they may be pushed."""
        if self._watch is None and self._may_push:
            self._watch = self._store.watch(self._next_command(), self._received)

    def close(self) -> None:
        """Stop pushing. If a running read has already taken entries, they are returned to the group."""
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()

    def end(self, failure: Refusal) -> None:
        """End the subscription with a last push that has the reason."""
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
        if self._is_closed or self._connection.is_closing:
            self._give_back(reads)
            return
        for read in reads:
            self._push(read)
        self.arm()

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
