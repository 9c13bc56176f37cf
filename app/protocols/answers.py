"""The order of the answers on one connection: the current request, and the requests that wait after it.

It owns the queue, and starts each request of the application in its turn. It never writes.
"""

from __future__ import annotations

from collections import deque

from tailrace.app.protocols.asgi import AsgiRequest
from tailrace.app.protocols.hot_request import HotRequest
from tailrace.app.protocols.state import Answering, ConnectionState, Event


class Answers:
    """`current`: the request that Answering follows (`state`). `queue`: the requests after it, the oldest
    first; all of them are the application's."""

    __slots__ = ("_state", "current", "queue")

    def __init__(self, state: ConnectionState) -> None:
        self._state = state
        self.current: AsgiRequest | HotRequest | None = None
        self.queue: deque[AsgiRequest] = deque()

    @property
    def latest(self) -> AsgiRequest | HotRequest | None:
        """The request that came last and is not answered."""
        return self.queue[-1] if self.queue else self.current

    def submit(self, request: HotRequest) -> None:
        """The store answers `request`; nothing else is being answered."""
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

    def drop(self) -> None:
        """Tell the application that the client is gone."""
        if isinstance(self.current, AsgiRequest):
            self.current.disconnect()
        self.current = None
        self.queue.clear()
