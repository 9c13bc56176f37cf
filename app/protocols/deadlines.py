"""The deadlines of one connection: how long the server waits for the client.

uvicorn has no such limit: a client may send a head one byte at a time forever, or never read its answer. This
server checks every connection about once a second (`connections`). If a connection has made no progress since
the last check, the time between the checks counts towards the deadline of its phase:

=========  =============================================  =============================  ===================
phase      the connection waits for                       progress                       after the deadline
=========  =============================================  =============================  ===================
HEAD       a first request, or the rest of a head         another head begins            408, or closed if
                                                                                         nothing arrived
BODY       the rest of a body                             the bytes of 8 s at the        408
                                                          minimum rate arrive
ANSWER     the client to read the answer                  fewer bytes are unsent         cut
IDLE       another request                                a request arrives              closed
LEAVING    the client to end its side                     never                          cut
WORK       the server                                     always                         never
=========  =============================================  =============================  ===================

After a request that was answered before its body was complete, the phase is HEAD. uvicorn sets a timer for
idle connections at every answer, which costs as much as a tenth of an append.

This module owns the phases and the time. It never ends a connection and has no clock: the caller passes the
seconds since the last check.
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
"""The seconds over which the rate of a body is measured: long enough for an unsteady line."""

LINGER_S: Final = 5
"""How long a client may continue to send after a refusal, or after an answer to an incomplete body."""


class Phase(Enum):
    """What a connection waits for. The value is the reason in the metrics, except for IDLE and WORK."""

    HEAD = "header_timeout"
    BODY = "body_timeout"
    ANSWER = "answer_timeout"
    IDLE = "idle"
    LEAVING = "lingering"
    WORK = "none"


class Progress(NamedTuple):
    """The progress of a connection. `head_count`: complete heads so far. `head_bytes`: of the incomplete
    head. `body_bytes`: bytes of the current body. `is_body_owed`: this body is incomplete, its request has no
    answer, and the server is reading."""

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
        """Return the current progress of a connection."""
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
    """How to end a connection whose deadline has passed. `reason`: for the metrics; None for an idle one.
    `is_cut`: cut it at once. Otherwise close it, after the refusal if there is one."""

    reason: str | None
    is_cut: bool
    refusal: ProtocolRefusal | None


class _Mark(NamedTuple):
    """The state of a connection at one check. `number` changes when the connection makes progress; after
    `limit_s` seconds without progress the deadline has passed."""

    phase: Phase
    number: int
    limit_s: int


_AT_WORK: Final = _Mark(Phase.WORK, 0, 0)


class Deadlines:
    """The time that one connection has made no progress."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._mark = _AT_WORK
        self._still_s = 0.0
        self._unsent_bytes = 0
        self._drain_count = 0

    def check(self, progress: Progress, passed_s: float) -> Overdue | None:
        """Count `passed_s`, the seconds since the last check. Return how to end an overdue connection."""
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
            # Only a decrease shows that the client reads: the server itself adds to these bytes.
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
    # Browsers open connections in advance: an unused connection is not an error.
    if mark.phase is Phase.HEAD and progress.head_bytes:
        return Overdue(reason, is_cut, _too_slow("the head did not arrive in full", mark))
    return Overdue(reason, is_cut, None)


def _too_slow(what: str, mark: _Mark) -> ProtocolRefusal:
    return ProtocolRefusal(HttpCode.REQUEST_TIMEOUT, f"{what} within {mark.limit_s} s")
