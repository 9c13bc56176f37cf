"""Measures the parts of a request's time: the engine, the commit, and blocking as requested by the client.

The timing of a request is in a context variable of its task. The observer of requests sets it and evaluates
it after the response; the store adds to it. Without a timing, nothing is recorded. All times are nanoseconds
of `time.perf_counter_ns`. The module never decides whether a request is slow.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final, NamedTuple

from tailrace.core.commands import Command

COMMIT: Final = "commit"
"""The phase in which a response waits until everything that it reveals is on disk."""

WAIT: Final = "wait for data"
"""The phase of a blocking read. It does not count as time of the server."""


PHASES_MAX: Final = 100
"""How many phases of one request are recorded: a long tail has one per read."""


class TimedPhase(NamedTuple):
    """A period in which the request waited."""

    name: str
    begin_ns: int
    end_ns: int


class RequestTiming:
    """The timing of one request.

    `arrived_ns`: when its head had arrived. `ready_ns`: when its whole body had arrived. `engine_ns`: the
    time of the engine. `commands`: the commands that it ran last. `phases`: in the order in which they ended,
    at most `PHASES_MAX`.
    """

    __slots__ = ("arrived_ns", "commands", "engine_ns", "phases", "ready_ns")

    def __init__(self) -> None:
        self.arrived_ns = self.ready_ns = time.perf_counter_ns()
        self.engine_ns = 0
        self.commands: Sequence[Command] = ()
        self.phases: list[TimedPhase] = []

    def spent_ns(self, name: str, until_ns: int) -> int:
        """Return how long the request was in phases called `name` before `until_ns`. O(phases)."""
        return sum(
            max(min(phase.end_ns, until_ns) - phase.begin_ns, 0)
            for phase in self.phases
            if phase.name == name
        )


current_timing: Final[ContextVar[RequestTiming | None]] = ContextVar("current_timing", default=None)


def note_commands(commands: Sequence[Command], engine_ns: int) -> None:
    """Record that the engine ran `commands` for the current request in `engine_ns`."""
    timing = current_timing.get()
    if timing is not None:
        timing.commands = commands
        timing.engine_ns += engine_ns


def note_phase(name: str, begin_ns: int) -> None:
    """Record that the current request was in the phase `name` from `begin_ns` until now."""
    timing = current_timing.get()
    if timing is not None and len(timing.phases) < PHASES_MAX:
        timing.phases.append(TimedPhase(name, begin_ns, time.perf_counter_ns()))
