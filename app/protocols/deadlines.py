"""How long a client may keep its connection waiting: a clock for each connection, without a timer.

uvicorn has no such limit: a client may drip a head forever, or never read its answer. Here every
connection is checked about once a second (`connections`). If it is still where it was at the last check, the
time in between counts against the deadline of what it waits for:

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

from asyncio import Transport
from enum import Enum
from typing import Final, NamedTuple

from tailrace.api.problems.table import HttpCode
from tailrace.api.server_limits import ServerLimits
from tailrace.app.protocols.refusals import ProtocolRefusal
from tailrace.app.protocols.request_reader import RequestReader
from tailrace.app.protocols.state import Answering, ConnectionState, Receiving

BODY_WINDOW_S: Final = 8
"""Over how many seconds the rate of a body is taken: long enough for a line that stutters."""

LINGER_S: Final = 5
"""How long a client may continue to send after a refusal, or after an answer to an incomplete body."""


class Phase(Enum):
    """What a connection waits for. The value is the reason in the metrics, for phases that count as a cut."""

    HEAD = "header_timeout"
    BODY = "body_timeout"
    ANSWER = "answer_timeout"
    IDLE = "idle"
    LEAVING = "lingering"
    WORK = "none"


class Progress(NamedTuple):
    """How far a connection has come. `head_count`: complete heads so far. `head_bytes`: of the incomplete
    one. `body_bytes`: of the body that arrives. `is_body_owed`: that body is incomplete, its request is not
    answered, and the server reads what the client sends."""

    state: ConnectionState
    head_count: int
    head_bytes: int
    body_bytes: int
    unsent_bytes: int
    is_body_owed: bool
    is_closing: bool

    @classmethod
    def of(
        cls, state: ConnectionState, reader: RequestReader, transport: Transport, *, is_body_owed: bool
    ) -> Progress:
        """The progress of a connection now."""
        return cls(
            state,
            reader.head_count,
            reader.unframed_bytes,
            reader.body_bytes,
            transport.get_write_buffer_size(),
            is_body_owed,
            transport.is_closing(),
        )


class Overdue(NamedTuple):
    """What becomes of a connection whose deadline is over. `reason`: for the metrics, None if it is no fault.
    It is cut at once, or closed, after the refusal if there is one."""

    reason: str | None
    is_cut: bool
    refusal: ProtocolRefusal | None


class _Mark(NamedTuple):
    """Where a connection is. `number` differs from that of the last check if the connection moved; after
    `limit_s` seconds without a move the deadline is over."""

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

    def check(self, progress: Progress, passed_s: float) -> Overdue | None:
        """`passed_s` have passed since the last check. Returns what to do if a deadline is over."""
        mark = self._mark_of(progress)
        if mark != self._mark or mark is _AT_WORK:
            self._mark = mark
            self._still_s = 0.0
            return None
        self._still_s += passed_s
        if self._still_s < mark.limit_s:
            return None
        self._still_s = 0.0
        return _overdue(mark, progress)

    def _mark_of(self, progress: Progress) -> _Mark:
        limits, state = self._limits, progress.state
        before, self._unsent_bytes = self._unsent_bytes, progress.unsent_bytes
        if state.answering is Answering.LEAVING or progress.is_closing:
            return _Mark(Phase.LEAVING, 0, LINGER_S)
        if progress.unsent_bytes:
            # What the server writes meanwhile is no sign of life: only less than before is.
            self._drain_count += progress.unsent_bytes < before
            return _Mark(Phase.ANSWER, self._drain_count, limits.answer_timeout_s)
        if progress.is_body_owed:
            return self._mark_of_body(progress)
        if state.answering is not Answering.FREE:
            return _AT_WORK
        if state.receiving is Receiving.IDLE and progress.head_count:
            return _Mark(Phase.IDLE, progress.head_count, limits.keep_alive_timeout_s)
        return _Mark(Phase.HEAD, progress.head_count, limits.header_timeout_s)

    def _mark_of_body(self, progress: Progress) -> _Mark:
        bytes_per_s_min = self._limits.body_bytes_per_s_min
        if not bytes_per_s_min:
            return _AT_WORK
        return _Mark(Phase.BODY, progress.body_bytes // (bytes_per_s_min * BODY_WINDOW_S), BODY_WINDOW_S)


def _overdue(mark: _Mark, progress: Progress) -> Overdue:
    reason = None if mark.phase is Phase.IDLE else mark.phase.value
    is_cut = mark.phase in {Phase.ANSWER, Phase.LEAVING}
    if mark.phase is Phase.BODY:
        return Overdue(reason, is_cut, _too_slow("too little of the body arrived", mark))
    # Browsers open connections in stock: one that was never used is no error.
    if mark.phase is Phase.HEAD and progress.head_bytes:
        return Overdue(reason, is_cut, _too_slow("the head did not arrive in full", mark))
    return Overdue(reason, is_cut, None)


def _too_slow(what: str, mark: _Mark) -> ProtocolRefusal:
    return ProtocolRefusal(HttpCode.REQUEST_TIMEOUT, f"{what} within {mark.limit_s} s")
