"""Decide whether and when a failed request is sent again. This module neither sends nor waits.

The rule: a request is repeated if the same request can succeed later (`retryable`) and the repetition is
harmless. It is harmless if nothing was changed (`side_effects` is "none"), or if the request is idempotent by
its method or by an idempotency key. Every other error is raised at once.

A client that never reached its server has a shorter deadline, because the URL is probably wrong: it gives up
after `first_connection_s`. It logs a warning before the first repetition. Once the server has answered, the
full `deadline_s` applies, so that programs survive a restart of the server.

The bound of the waits doubles from `first_delay_s` to `delay_max_s`, and each wait is a random time up to the
bound, so that many clients of a restarted server do not send their requests at the same moment. Retry-After
is a lower limit. A wait that would end after `deadline_s` does not begin; the last error is raised instead.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tailrace_client.errors import NOT_CONNECTED, TailraceError

_log: Final = logging.getLogger("tailrace_client")


@dataclass(slots=True)
class Contact:
    """Whether a client has ever received a response from its server."""

    is_made: bool = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The policy for retries. `deadline_s`: how long after the first attempt a request may be sent again; 0
    means no retries. `first_connection_s`: the same as long as the client has not reached the server yet.

    Keep it below the time for which the server remembers idempotency keys (100 s by default): after that
    time, a repeated append would add its entries twice.
    """

    deadline_s: float = 60.0
    first_delay_s: float = 0.05
    delay_max_s: float = 5.0
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    chance: Callable[[], float] = field(default=random.random, repr=False)
    first_connection_s: float = 5.0

    def attempts(self, *, is_idempotent: bool, contact: Contact | None = None) -> Attempts:
        """Return the attempts of one request, which begin now. `contact`: whether the client has reached the
        server; None if that does not matter."""
        return Attempts(self, is_idempotent, contact or Contact(is_made=True))


NO_RETRIES = RetryPolicy(deadline_s=0)


class Attempts:
    """The attempts of one request."""

    __slots__ = ("_began_at", "_bound_s", "_contact", "_is_idempotent", "_policy", "_warned", "is_unclear")

    def __init__(self, policy: RetryPolicy, is_idempotent: bool, contact: Contact) -> None:  # noqa: FBT001
        self._policy = policy
        self._is_idempotent = is_idempotent
        self._contact = contact
        self._began_at = policy.clock()
        self._bound_s = policy.first_delay_s
        self._warned = False
        self.is_unclear = False
        """Whether an earlier attempt may have taken effect."""

    def delay_after(self, error: TailraceError) -> float:
        """Return the seconds to wait before the next attempt. Raises `error` if there is no next attempt."""
        if not error.retryable or (error.side_effects == "unknown" and not self._is_idempotent):
            raise error
        self.is_unclear = self.is_unclear or error.side_effects == "unknown"
        delay_s = self._policy.chance() * self._bound_s + (error.retry_after_s or 0.0)
        self._bound_s = min(2 * self._bound_s, self._policy.delay_max_s)
        is_first = error.code == NOT_CONNECTED and not self._contact.is_made
        if self._policy.clock() + delay_s >= self._began_at + self._limit_s(is_first=is_first):
            raise error
        if is_first and not self._warned:
            self._warned = True
            _log.warning("trying again for %g s: %s", self._limit_s(is_first=True), error)
        return delay_s

    def _limit_s(self, *, is_first: bool) -> float:
        """Return how long after the first attempt another one may begin."""
        policy = self._policy
        return min(policy.first_connection_s, policy.deadline_s) if is_first else policy.deadline_s
