"""A client that never reached its server gives up early, with the URL in the error, after a warning."""

from __future__ import annotations

import asyncio
import logging
from itertools import count

import pytest

from tailrace_client import AsyncTailrace, RetryPolicy, Tailrace, TailraceError
from tailrace_client.retry import Attempts, Contact
from tests.support.cutting_proxy import CuttingProxy


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def waits(attempts: Attempts, clock: Clock, code: str) -> float:
    """The seconds until the attempts of a request that always fails with this error end."""
    error = TailraceError(code, "x", retryable=True)
    while True:
        try:
            clock.now_s += attempts.delay_after(error)
        except TailraceError:
            return clock.now_s


@pytest.mark.parametrize(
    ("is_made", "code", "least_s", "most_s"),
    [
        (False, "NOT_CONNECTED", 2.5, 5.0),
        (True, "NOT_CONNECTED", 55.0, 60.0),
        (False, "NOT_ACCEPTING", 55.0, 60.0),
    ],
)
def test_only_a_first_connection_has_the_short_deadline(
    is_made: bool,  # noqa: FBT001
    code: str,
    least_s: float,
    most_s: float,
) -> None:
    clock = Clock()
    policy = RetryPolicy(clock=clock, chance=lambda: 1.0)
    attempts = policy.attempts(is_idempotent=True, contact=Contact(is_made=is_made))
    assert least_s <= waits(attempts, clock, code) <= most_s


NOBODY = "127.0.0.1:1"
"""An address on which no server listens."""


def test_a_wrong_address_fails_with_the_url_and_one_warning_before(caplog: pytest.LogCaptureFixture) -> None:
    clock = count(step=0.1)  # so that a slow machine does not skip the warning
    quick = RetryPolicy(first_connection_s=0.3, clock=lambda: next(clock))
    with (
        Tailrace(f"http://me:secret@{NOBODY}", retry=quick) as tailrace,
        caplog.at_level(logging.WARNING, "tailrace_client"),
        pytest.raises(TailraceError, match=f"cannot connect to http://{NOBODY}: ") as refused,
    ):
        tailrace.stream("s").length()
    assert refused.value.code == "NOT_CONNECTED"
    [warning] = [record.getMessage() for record in caplog.records]
    assert warning.startswith(f"trying again for 0.3 s: NOT_CONNECTED: cannot connect to http://{NOBODY}")
    assert "secret" not in f"{warning} {refused.value}"


def test_a_tail_and_an_export_of_a_wrong_address_fail_too() -> None:
    quick = RetryPolicy(first_connection_s=0.05)
    with Tailrace(f"http://{NOBODY}", retry=quick) as tailrace:
        stream = tailrace.stream("s")
        reads = (stream.tail, lambda: next(stream.read()), lambda: next(stream.read_reverse()))
        for read in (*reads, lambda: tailrace.tail("s")):
            with pytest.raises(TailraceError, match="NOT_CONNECTED: cannot connect to http://127"):
                read()


def test_the_asyncio_client_fails_in_the_same_way() -> None:
    async def program() -> None:
        url = f"http://{NOBODY}"
        async with AsyncTailrace(url, retry=RetryPolicy(first_connection_s=0.05)) as tailrace:
            with pytest.raises(TailraceError, match=f"NOT_CONNECTED: cannot connect to {url}: "):
                await tailrace.stream("s").length()

    asyncio.run(program())


def test_any_response_is_a_first_connection(proxy: CuttingProxy, key: str) -> None:
    with Tailrace(proxy.url) as tailrace:
        assert not tailrace.session.contact.is_made
        with pytest.raises(TailraceError, match="NO_SUCH_STREAM"):
            tailrace.stream(key).info()
        assert tailrace.session.contact.is_made


def test_a_server_that_is_not_there_is_not_ready_and_does_not_answer() -> None:
    quick = RetryPolicy(first_connection_s=0.05)
    with Tailrace(f"http://{NOBODY}", retry=quick) as tailrace:
        assert not tailrace.is_ready()
        with pytest.raises(TailraceError, match="NOT_CONNECTED"):
            tailrace.ping()
