"""Decide whether and when a failed request is sent again. This module neither sends nor waits.

The rule: a request is repeated if the same request can succeed later (`retryable`) and the repetition is
harmless. It is harmless if nothing was changed (`side_effects` is "none"), or if the request is idempotent by
its method or by an idempotency key. Every other error is raised at once.

The bound of the waits doubles from `first_delay_s` to `delay_max_s`, and each wait is a random time up to the
bound, so that many clients of a restarted server do not send their requests at the same moment. Retry-After
is a lower limit. A wait that would end after `deadline_s` does not begin; the last error is raised instead.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from tailrace_client.errors import TailraceError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The policy for retries. `deadline_s`: how long after the first attempt a request may be sent again; 0
    means no retries.

    Keep it below the time for which the server remembers idempotency keys (100 s by default): after that
    time, a repeated append would add its entries twice.
    """

    deadline_s: float = 60.0
    first_delay_s: float = 0.05
    delay_max_s: float = 5.0
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def attempts(self, *, is_idempotent: bool) -> Attempts:
        """Return the attempts of one request, which begin now."""
        return Attempts(self, is_idempotent, self.clock() + self.deadline_s)


NO_RETRIES = RetryPolicy(deadline_s=0)


class Attempts:
    """The attempts of one request."""

    __slots__ = ("_bound_s", "_deadline", "_is_idempotent", "_policy")

    def __init__(self, policy: RetryPolicy, is_idempotent: bool, deadline: float) -> None:  # noqa: FBT001
        self._policy = policy
        self._is_idempotent = is_idempotent
        self._deadline = deadline
        self._bound_s = policy.first_delay_s

    def delay_after(self, error: TailraceError) -> float:
        """Return the seconds to wait before the next attempt. Raises `error` if there is no next attempt."""
        if not error.retryable or (error.side_effects == "unknown" and not self._is_idempotent):
            raise error
        delay_s = self._policy.chance() * self._bound_s + (error.retry_after_s or 0.0)
        self._bound_s = min(2 * self._bound_s, self._policy.delay_max_s)
        if self._policy.clock() + delay_s >= self._deadline:
            raise error
        return delay_s
