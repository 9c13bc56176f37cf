"""The order of the answers on one connection: the current request, and the requests that wait after it.

This module owns the queue. It starts the requests for the application in order, and marks the last answer of
the connection. It never writes.
"""

from __future__ import annotations

from collections import deque

from tailrace.app.protocols.asgi import AsgiRequest
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.state import HOT, HOT_SUBMITTED, Answering, ConnectionState, Event, Receiving


class Answers:
    """`current`: the request that Answering follows (`state`). `queue`: the requests after it, oldest first;
    the application answers all of these."""

    __slots__ = ("_state", "current", "queue")

    def __init__(self, state: ConnectionState) -> None:
        self._state = state
        self.current: AsgiRequest | HotRequest | None = None
        self.queue: deque[AsgiRequest] = deque()

    def submit(self, request: HotRequest) -> None:
        """Make `request` the current one. Only earlier requests of its run may be unanswered."""
        if self._state.answering is not HOT:
            self._state.happened(HOT_SUBMITTED)
        self.current = request

    def start(self, request: AsgiRequest) -> None:
        """Run the application for `request`. No other request is being answered, except the hot request that
        the store refused: `request` is then the same request, for the application."""
        is_handed_on = self._state.answering is Answering.HOT
        self._state.happened(Event.HANDED_ON if is_handed_on else Event.STARTED)
        self.current = request
        request.start()

    def start_next(self) -> None:
        """Start the oldest request of the queue."""
        self.start(self.queue.popleft())

    def end_after_latest(self, deferred: HotRequest | None) -> bool:
        """End the connection after the last answer that is still due. Return False if none is due.
        `deferred`: the request that follows the current one, before those of the queue."""
        latest = self.queue[-1] if self.queue else deferred or self.current
        if latest is None or self._state.answering is Answering.LEAVING:
            return False
        latest.end_connection_after()
        return True

    def end_after_input(
        self, incomplete: AsgiRequest | HotRequest | None, deferred: HotRequest | None
    ) -> bool:
        """End the connection after the answers that are due, because the client has ended its side.

        Return False if no answer is due. `incomplete`: the request whose body will never be complete; it gets
        no answer. If a refusal waits for its turn, it is the last answer.
        """
        if incomplete is not None and self.queue:
            self.queue.pop()
        elif incomplete is not None and incomplete is self.current:
            return False
        if self._state.receiving is Receiving.DISCARDING:
            return self._state.answering in {Answering.HOT, Answering.ASGI}
        is_due = self.end_after_latest(deferred)
        if is_due:
            self._state.happened(Event.INPUT_ENDED)
        return is_due

    def drop(self) -> None:
        """Notify the application that the client has disconnected, and forget all requests."""
        if isinstance(self.current, AsgiRequest):
            self.current.disconnect()
        self.current = None
        self.queue.clear()
