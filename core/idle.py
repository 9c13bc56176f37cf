"""How long ago something happened, by a clock that may step back. It owns that one rule.

A delivery or a request can carry a time later than now: the clock stepped back since. Its idle time is 0
then, never less, so that no reply shows a negative time and a threshold of 0 always holds.
"""

from __future__ import annotations


def idle_since(at_ms: int, now_ms: int) -> int:
    """Milliseconds from `at_ms` to `now_ms`; 0 where `at_ms` is later."""
    return max(now_ms - at_ms, 0)
