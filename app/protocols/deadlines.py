"""How long a client may keep its connection waiting: a clock for each connection, without a timer.

uvicorn has no such bound: a client may drip a head for ever, and leave its answer unread. Here every
connection is looked at about once a second (`connections`). If it is still where it was at the last look,
the time in between counts against the deadline of what it waits for:

=========  =============================================  =============================  ===================
phase      the connection waits for                       it moved if                    when it is over
=========  =============================================  =============================  ===================
HEAD       a first request, or the rest of a head         another head began             408, or closed if
                                                                                         nothing came
BODY       the rest of a body                             8 s worth of the least rate    408
                                                          arrived
ANSWER     the client to take what is written             less is unsent than before     cut
IDLE       another request                                a request came                 closed
LEAVING    the client to end its side                     never                          cut
WORK       the server                                     always                         never
=========  =============================================  =============================  ===================

A request that was answered before its body was complete counts as one whose head is awaited. uvicorn sets a
timer for idle connections at every answer, which costs as much as a tenth of an append.

This module owns the phases and the time. It never ends a connection, and knows no clock: the seconds that
passed are given.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from tailrace.api.server_limits import ServerLimits
from tailrace.app.protocols.state import Answering, Receiving

BODY_WINDOW_S: Final = 8
"""Over how many seconds the rate of a body is taken: long enough for a line that stutters."""

LINGER_S: Final = 5
"""How long a client that was refused, or answered before its body was there, may go on sending."""


class Phase(Enum):
    """What a connection waits for. The value is the reason in the metrics, for phases that count as a cut."""

    HEAD = "header_timeout"
    BODY = "body_timeout"
    ANSWER = "answer_timeout"
    IDLE = "idle"
    LEAVING = "lingering"
    WORK = "none"


class Progress(NamedTuple):
    """How far a connection has come. `head_count`: complete heads so far. `body_bytes`: of the body that
    arrives. `is_body_awaited`: a body is incomplete, and its request unanswered. `is_paused`: the server does
    not read, so the client cannot send."""

    receiving: Receiving
    answering: Answering
    head_count: int
    body_bytes: int
    unsent_bytes: int
    is_body_awaited: bool
    is_paused: bool
    is_closing: bool


class _Mark(NamedTuple):
    """Where a connection is. `number` differs from the last look's if the connection moved; after `limit_s`
    seconds without that it is over."""

    phase: Phase
    number: int
    limit_s: int


_AT_WORK: Final = _Mark(Phase.WORK, 0, 0)


class Deadlines:
    """The clock of one connection."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._mark = _AT_WORK
        self._still_s = 0.0
        self._unsent_bytes = 0
        self._drain_count = 0

    @property
    def limit_s(self) -> int:
        """The deadline of the phase that the last check found."""
        return self._mark.limit_s

    def check(self, progress: Progress, passed_s: float) -> Phase | None:
        """`passed_s` have passed since the last check. Returns the phase whose deadline is over, if it is."""
        mark = self._mark_of(progress)
        if mark != self._mark or mark is _AT_WORK:
            self._mark = mark
            self._still_s = 0.0
            return None
        self._still_s += passed_s
        if self._still_s < mark.limit_s:
            return None
        self._still_s = 0.0
        return mark.phase

    def _mark_of(self, progress: Progress) -> _Mark:
        limits = self._limits
        before, self._unsent_bytes = self._unsent_bytes, progress.unsent_bytes
        if progress.answering is Answering.LEAVING or progress.is_closing:
            return _Mark(Phase.LEAVING, 0, LINGER_S)
        if progress.unsent_bytes:
            # What the server writes meanwhile is no sign of life: only less than before is.
            self._drain_count += progress.unsent_bytes < before
            return _Mark(Phase.ANSWER, self._drain_count, limits.answer_timeout_s)
        if progress.is_body_awaited:
            return self._mark_of_body(progress)
        if progress.answering is not Answering.FREE:
            return _AT_WORK
        if progress.receiving is Receiving.IDLE and progress.head_count:
            return _Mark(Phase.IDLE, progress.head_count, limits.keep_alive_timeout_s)
        return _Mark(Phase.HEAD, progress.head_count, limits.header_timeout_s)

    def _mark_of_body(self, progress: Progress) -> _Mark:
        bytes_per_s_min = self._limits.body_bytes_per_s_min
        if progress.is_paused or not bytes_per_s_min:
            return _AT_WORK
        return _Mark(Phase.BODY, progress.body_bytes // (bytes_per_s_min * BODY_WINDOW_S), BODY_WINDOW_S)
