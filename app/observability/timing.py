"""Where the time of one request goes: the engine's part, the disk's part, and what it waited as asked.

A request's timing travels with its task in a context variable: who serves the request sets it
(`app.request_observer`), the store adds to it, whoever reads it decides what is slow. Where none is set
nothing is noted. Instants and durations are of `time.perf_counter_ns`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final, NamedTuple

from tailrace.core.commands import Command

COMMIT: Final = "commit"
"""Waiting until the disk has what the answer reveals."""

WAIT: Final = "wait for data"
"""Waiting because the client asked to: it is no fault of the server, and counts as no time of its."""


PHASES_MAX: Final = 100


class TimedPhase(NamedTuple):
    """A stretch of time in which the request did nothing itself."""

    name: str
    begin_ns: int
    end_ns: int


class RequestTiming:
    """One request. `arrived_ns`: its head was there; `ready_ns`: all of its body was.

    `commands`: what it had carried out last. `phases`: in the order in which they ended, and no more than
    `PHASES_MAX`: a long tail has one for each of its reads.
    """

    __slots__ = ("arrived_ns", "commands", "engine_ns", "phases", "ready_ns")

    def __init__(self) -> None:
        self.arrived_ns = self.ready_ns = time.perf_counter_ns()
        self.engine_ns = 0
        self.commands: Sequence[Command] = ()
        self.phases: list[TimedPhase] = []

    def spent_ns(self, name: str, until_ns: int) -> int:
        """How long it was in that phase before `until_ns`."""
        return sum(
            max(min(phase.end_ns, until_ns) - phase.begin_ns, 0)
            for phase in self.phases
            if phase.name == name
        )


current_timing: Final[ContextVar[RequestTiming | None]] = ContextVar("current_timing", default=None)


def note_commands(commands: Sequence[Command], engine_ns: int) -> None:
    """The engine has carried out `commands` for the present request."""
    timing = current_timing.get()
    if timing is not None:
        timing.commands = commands
        timing.engine_ns += engine_ns


def note_phase(name: str, begin_ns: int) -> None:
    """The present request was in this phase from `begin_ns` until now."""
    timing = current_timing.get()
    if timing is not None and len(timing.phases) < PHASES_MAX:
        timing.phases.append(TimedPhase(name, begin_ns, time.perf_counter_ns()))
