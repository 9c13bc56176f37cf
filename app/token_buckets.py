"""Rate limits: a token bucket for each token, and for each address that sends requests without a token.

It owns the buckets. A bucket is two numbers, which are updated when a request arrives; nothing runs in the
background. A full bucket is equivalent to no bucket, so full buckets are forgotten when there are too many.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from typing import Final

from tailrace.api.access.rates import Quota
from tailrace.api.principals import ANONYMOUS_LOCAL, Principal
from tailrace.api.server_limits import ServerLimits
from tailrace.app.protocols.connections import network_of

BUCKETS_MAX: Final = 100_000
"""The maximum number of buckets. An attacker with more addresses reaches the limit on connections first."""


class TokenBuckets:
    """Implements `api.access.rates.Rates`. `clock_s` is monotonic."""

    def __init__(self, limits: ServerLimits, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._per_s = limits.requests_per_s
        self._burst = limits.request_burst or limits.requests_per_s
        self._window_s = ceil(self._burst / self._per_s) if self._per_s else 0
        self._clock_s = clock_s
        self._buckets: dict[str, tuple[float, float]] = {}
        """For each key, the number of requests that were allowed at a time, and that time."""

    @property
    def is_set(self) -> bool:
        """Whether a limit is configured."""
        return self._per_s > 0

    def take(self, principal: Principal | None, host: str) -> Quota | None:
        """Count one request. A refused request costs nothing. O(1)."""
        if not self._per_s:
            return None
        now_s = self._clock_s()
        who = _who(principal, host)
        left = self._left(who, now_s)
        if left >= 1:
            self._buckets[who] = left - 1, now_s
            return self._quota(left - 1, None)
        return self._quota(left, ceil((1 - left) / self._per_s))

    def _left(self, who: str, now_s: float) -> float:
        bucket = self._buckets.get(who)
        if bucket is None:
            if len(self._buckets) >= BUCKETS_MAX:
                self._forget_full(now_s)
            return self._burst
        left, at_s = bucket
        return min(left + (now_s - at_s) * self._per_s, self._burst)

    def _forget_full(self, now_s: float) -> None:
        """Forget the full buckets. If none is full, forget all buckets, to limit the memory for random
        addresses."""
        self._buckets = {
            who: (left, at_s)
            for who, (left, at_s) in self._buckets.items()
            if left + (now_s - at_s) * self._per_s < self._burst
        }
        if len(self._buckets) >= BUCKETS_MAX:
            self._buckets.clear()

    def _quota(self, left: float, retry_after_s: int | None) -> Quota:
        whole_in_s = ceil((self._burst - left) / self._per_s)
        return Quota(self._burst, self._window_s, int(left), whole_in_s, retry_after_s)


def _who(principal: Principal | None, host: str) -> str:
    """Return the key of a bucket; keys of tokens and of addresses differ."""
    if principal is None or principal is ANONYMOUS_LOCAL:
        return f"address {network_of(host)}"
    return f"token {principal.token_id}"
