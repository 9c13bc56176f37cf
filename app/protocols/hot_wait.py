"""The wait of one hot read for entries.

This module owns the two watches of a wait, on the store and on the client's token, and the times of the wait.
It never answers a request.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tailrace.api.ports import Watch
from tailrace.app.observability.timing import WAIT, TimedPhase


class ReadWait:
    """A wait that has just begun. `watch`: of the store; `forget_token`: ends the watch on the token.

    `ended_ns`: 0 while the read waits. Times are those of `time.perf_counter_ns`.
    """

    __slots__ = ("_began_ns", "_forget_token", "_watch", "ended_ns")

    def __init__(self, watch: Watch, forget_token: Callable[[], None]) -> None:
        self._watch: Watch | None = watch
        self._forget_token = forget_token
        self._began_ns = time.perf_counter_ns()
        self.ended_ns = 0

    def cancel(self) -> bool:
        """Stop the wait; the read takes no entries. Return False if it is over, or if the answer exists."""
        if self._watch is None or not self._watch.cancel():
            return False
        self.end()
        return True

    def end(self) -> None:
        """Note the end of the wait, and drop the watches, which have references to the request."""
        self._watch = None
        self._forget_token()
        self.ended_ns = time.perf_counter_ns()

    @property
    def duration_ns(self) -> int:
        """How long the wait took, after its end."""
        return self.ended_ns - self._began_ns

    @property
    def phase(self) -> TimedPhase:
        """The wait as a part of a trace, after its end."""
        return TimedPhase(WAIT, self._began_ns, self.ended_ns)
