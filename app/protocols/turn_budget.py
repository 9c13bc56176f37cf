"""The work that one connection may do in one turn of the event loop.

One read can hold thousands of requests or frames, and each of them can be the largest request of its
operation. So a connection stops when its budget is spent, keeps the bytes that follow, and continues in the
next turn. Every other connection is served in between. The budget is time, so it covers whatever a request
or a frame costs: the parser, the checks, the engine and the answer.

This module owns the budget. The protocols own where they can stop: between two requests or frames, and after
a piece of a read (`PIECE_BYTES`).
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Final

TURN_NS: Final = 5_000_000
"""After this time a connection lets others continue. The last request or frame before it may take longer:
no request without `admin` takes more than about 50 ms (`make bench-largest`)."""

PIECE_BYTES: Final = 16_384
"""A parser gets at most this many bytes at a time, because it cannot stop in the middle. They hold at most
600 requests or 2 700 frames, which take about 20 ms if none of them does anything."""


class TurnBudget:
    """The budget of one connection. `clock`: returns nanoseconds."""

    __slots__ = ("_clock", "_ends_ns")

    def __init__(self, clock: Callable[[], int] = perf_counter_ns) -> None:
        self._clock = clock
        self._ends_ns = 0

    def begin(self) -> None:
        """Begin a turn."""
        self._ends_ns = self._clock() + TURN_NS

    @property
    def is_spent(self) -> bool:
        """Whether the connection has to let others continue."""
        return self._clock() >= self._ends_ns
