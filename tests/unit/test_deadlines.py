"""The deadlines of a connection: what counts as progress, and how a connection without progress ends."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.api.problems.table import HttpCode
from tailrace.api.server_limits import ServerLimits
from tailrace.app.protocols.deadlines import BODY_WINDOW_S, LINGER_S, Deadlines, Overdue, Progress
from tailrace.app.protocols.state import Answering, ConnectionState, Receiving

LIMITS = ServerLimits(
    header_timeout_s=3, body_bytes_per_s_min=100, answer_timeout_s=4, keep_alive_timeout_s=6
)


def progress(
    receiving: Receiving = Receiving.IDLE, answering: Answering = Answering.FREE, **values: Any
) -> Progress:
    state = ConnectionState()
    state.receiving, state.answering = receiving, answering
    return Progress(state, 0, 0, 0, 0, is_body_owed=False, is_closing=False)._replace(**values)


def seconds_until_over(deadlines: Deadlines, still: Progress, most: int = 60) -> tuple[int, Overdue | None]:
    """How many checks, a second apart, pass before the deadline of `still` is over."""
    for second in range(most):
        overdue = deadlines.check(still, 1.0)
        if overdue is not None:
            return second, overdue
    return most, None


@pytest.mark.parametrize(
    ("still", "limit_s", "reason", "is_cut", "is_told"),
    [
        (progress(), 3, "header_timeout", False, False),
        (progress(Receiving.HEAD, head_bytes=9), 3, "header_timeout", False, True),
        (
            progress(Receiving.BODY, head_count=1, is_body_owed=True),
            BODY_WINDOW_S,
            "body_timeout",
            False,
            True,
        ),
        (progress(answering=Answering.HOT, unsent_bytes=5), 4, "answer_timeout", True, False),
        (progress(head_count=1), 6, None, False, False),
        (progress(Receiving.DISCARDING, Answering.LEAVING), LINGER_S, "lingering", True, False),
        (progress(answering=Answering.ASGI, is_closing=True), LINGER_S, "lingering", True, False),
    ],
    ids=["nothing came", "head", "body", "answer", "idle", "leaving", "closing"],
)
def test_a_connection_that_does_not_move_ends_when_its_deadline_is_over(
    *, still: Progress, limit_s: int, reason: str | None, is_cut: bool, is_told: bool
) -> None:
    seconds, overdue = seconds_until_over(Deadlines(LIMITS), still)
    assert overdue is not None
    assert (seconds, overdue.reason, overdue.is_cut) == (limit_s, reason, is_cut)
    assert (overdue.refusal is not None) is is_told
    if overdue.refusal is not None:
        assert overdue.refusal.code is HttpCode.REQUEST_TIMEOUT
        assert str(limit_s) in overdue.refusal.detail


@pytest.mark.parametrize("answering", [Answering.HOT, Answering.ASGI])
def test_the_server_may_take_its_time(answering: Answering) -> None:
    assert seconds_until_over(Deadlines(LIMITS), progress(answering=answering))[1] is None


def test_a_body_that_arrives_at_the_least_rate_is_never_over() -> None:
    deadlines = Deadlines(LIMITS)
    for second in range(60):
        arriving = progress(Receiving.BODY, head_count=1, is_body_owed=True, body_bytes=100 * second)
        assert deadlines.check(arriving, 1.0) is None


def test_a_body_below_the_least_rate_is_over_unless_there_is_no_such_rate() -> None:
    free = Deadlines(ServerLimits(body_bytes_per_s_min=0))
    bound = Deadlines(LIMITS)
    ends = []
    for second in range(60):
        arriving = progress(Receiving.BODY, head_count=1, is_body_owed=True, body_bytes=10 * second)
        assert free.check(arriving, 1.0) is None
        ends.append(bound.check(arriving, 1.0))
    assert any(ends)


def test_an_answer_moves_only_when_less_of_it_is_unsent() -> None:
    deadlines = Deadlines(LIMITS)
    for unsent in (90, 80, 70, 60, 50, 40, 30, 20):
        assert deadlines.check(progress(unsent_bytes=unsent), 1.0) is None
    grown = [deadlines.check(progress(unsent_bytes=20 + more), 1.0) for more in range(5)]
    assert [overdue is not None for overdue in grown] == [False, False, False, True, False]


def test_another_request_begins_the_time_anew() -> None:
    deadlines = Deadlines(LIMITS)
    for count in range(1, 60):
        assert deadlines.check(progress(head_count=count // 3), 1.0) is None
