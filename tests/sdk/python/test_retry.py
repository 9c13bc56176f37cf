"""Which failures are retried, when, and for how long: the decisions, with a clock and random numbers that the
test sets."""

from __future__ import annotations

import httpx
import pytest

from tailrace_client import NO_RETRIES, RetryPolicy, TailraceError
from tailrace_client.errors import SideEffects, error_of_answer, error_of_transport


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def policy(clock: Clock | None = None, chance: float = 1.0) -> RetryPolicy:
    return RetryPolicy(60, 0.05, 5.0, clock=clock or Clock(), chance=lambda: chance)


def failure(
    *, retryable: bool = True, side_effects: SideEffects = "none", retry_after_s: float | None = None
) -> TailraceError:
    return TailraceError(
        "X", "x", retryable=retryable, side_effects=side_effects, retry_after_s=retry_after_s
    )


def test_what_cannot_pass_is_not_tried_again() -> None:
    error = failure(retryable=False)
    with pytest.raises(TailraceError) as raised:
        policy().attempts(is_idempotent=True).delay_after(error)
    assert raised.value is error


def test_what_may_have_been_done_is_tried_again_only_where_that_doubles_nothing() -> None:
    error = failure(side_effects="unknown")
    with pytest.raises(TailraceError):
        policy().attempts(is_idempotent=False).delay_after(error)
    policy().attempts(is_idempotent=True).delay_after(error)
    policy().attempts(is_idempotent=False).delay_after(failure())


def test_waits_grow_twofold_to_a_bound_and_are_drawn_below_it() -> None:
    attempts = policy().attempts(is_idempotent=True)
    assert [attempts.delay_after(failure()) for _ in range(9)] == [
        0.05,
        0.1,
        0.2,
        0.4,
        0.8,
        1.6,
        3.2,
        5.0,
        5.0,
    ]
    assert policy(chance=0.5).attempts(is_idempotent=True).delay_after(failure()) == 0.025


def test_the_server_says_how_long_to_wait_at_least() -> None:
    assert policy(chance=0).attempts(is_idempotent=True).delay_after(failure(retry_after_s=3)) == 3


def test_no_wait_begins_that_would_end_after_the_deadline() -> None:
    clock = Clock()
    attempts = policy(clock).attempts(is_idempotent=True)
    clock.now_s = 59.9
    attempts.delay_after(failure())
    with pytest.raises(TailraceError):
        attempts.delay_after(failure())
    with pytest.raises(TailraceError):
        NO_RETRIES.attempts(is_idempotent=True).delay_after(failure())


REQUEST = httpx.Request("POST", "http://tailrace/v1/streams/s/entries")


@pytest.mark.parametrize(
    ("error", "code", "side_effects"),
    [
        (httpx.ConnectError("refused"), "NOT_CONNECTED", "none"),
        (httpx.ConnectTimeout("late"), "NOT_CONNECTED", "none"),
        (httpx.PoolTimeout("all busy"), "NOT_CONNECTED", "none"),
        (httpx.ReadError("cut"), "ANSWER_LOST", "unknown"),
        (httpx.WriteError("cut"), "ANSWER_LOST", "unknown"),
        (httpx.ReadTimeout("late"), "ANSWER_LOST", "unknown"),
        (httpx.RemoteProtocolError("closed"), "ANSWER_LOST", "unknown"),
    ],
)
def test_a_failed_connection_says_whether_the_request_can_have_arrived(
    error: httpx.TransportError, code: str, side_effects: str
) -> None:
    told = error_of_transport(error)
    assert (told.code, told.side_effects, told.retryable, told.status) == (code, side_effects, True, 0)


def test_an_answer_of_something_in_between_is_named_and_its_outcome_is_not_known() -> None:
    answer = httpx.Response(502, text="<h1>Bad Gateway</h1>", request=REQUEST)
    told = error_of_answer(answer)
    assert (told.code, told.status, told.retryable, told.side_effects) == (
        "UNEXPECTED_ANSWER",
        502,
        True,
        "unknown",
    )
    assert "Bad Gateway" in told.detail
    assert not error_of_answer(httpx.Response(404, text="nginx", request=REQUEST)).retryable


def test_a_problem_that_is_no_json_is_an_unexpected_answer() -> None:
    headers = {"content-type": "application/problem+json"}
    assert (
        error_of_answer(httpx.Response(500, text="{", headers=headers, request=REQUEST)).code
        == "UNEXPECTED_ANSWER"
    )


@pytest.mark.parametrize(
    ("header", "seconds"), [("2", 2.0), ("0.5", 0.5), ("-1", None), ("inf", None), ("soon", None)]
)
def test_retry_after_is_read_in_seconds(header: str, seconds: float | None) -> None:
    problem = {
        "code": "NOT_ACCEPTING",
        "detail": "",
        "status": 503,
        "retryable": True,
        "side_effects": "none",
    }
    headers = {"content-type": "application/problem+json", "retry-after": header}
    answer = httpx.Response(503, json=problem, headers=headers, request=REQUEST)
    assert error_of_answer(answer).retry_after_s == seconds
