"""The order of the answers on one connection: the current request, and the requests that wait after it.

It owns the queue, starts each request of the application in its turn, and knows which answer is the last one.
It never writes.
"""

from __future__ import annotations

from collections import deque

from tailrace.app.protocols.asgi import AsgiRequest
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.state import Answering, ConnectionState, Event, Receiving


class Answers:
    """`current`: the request that Answering follows (`state`). `queue`: the requests after it, the oldest
    first; all of them are the application's."""

    __slots__ = ("_state", "current", "queue")

    def __init__(self, state: ConnectionState) -> None:
        self._state = state
        self.current: AsgiRequest | HotRequest | None = None
        self.queue: deque[AsgiRequest] = deque()

    def submit(self, request: HotRequest) -> None:
        """The store answers `request`. Nothing else is being answered, except earlier requests of its run."""
        self._state.happened(Event.HOT_SUBMITTED)
        self.current = request

    def start(self, request: AsgiRequest) -> None:
        """The application answers `request` now; nothing else is being answered, or only the hot request
        that the store refused, and that `request` is."""
        is_handed_on = self._state.answering is Answering.HOT
        self._state.happened(Event.HANDED_ON if is_handed_on else Event.STARTED)
        self.current = request
        request.start()

    def start_next(self) -> None:
        """Start the oldest request of the queue."""
        self.start(self.queue.popleft())

    def end_after_latest(self) -> bool:
        """Make the last answer that is due the last one of the connection. Return whether one is due."""
        latest = self.queue[-1] if self.queue else self.current
        if latest is None or self._state.answering is Answering.LEAVING:
            return False
        latest.end_connection_after()
        return True

    def end_after_input(self, incomplete: AsgiRequest | HotRequest | None) -> bool:
        """The client sends no more: end the connection after the answers that are due. Return whether any is.

        `incomplete`: the request whose body will never be complete; it gets no answer. A refusal that waits
        for its turn is the last answer anyway.
        """
        if incomplete is not None and self.queue:
            self.queue.pop()
        elif incomplete is not None and incomplete is self.current:
            return False
        if self._state.receiving is Receiving.DISCARDING:
            return self._state.answering in {Answering.HOT, Answering.ASGI}
        is_due = self.end_after_latest()
        if is_due:
            self._state.happened(Event.INPUT_ENDED)
        return is_due

    def drop(self) -> None:
        """Tell the application that the client is gone."""
        if isinstance(self.current, AsgiRequest):
            self.current.disconnect()
        self.current = None
        self.queue.clear()
