"""How long ago something happened, by a clock that may step back. It owns that one rule.

If the clock stepped back after a delivery or a request, its time is later than now. Its idle time is then 0:
no reply shows a negative time, and a threshold of 0 takes every entry.
"""

from __future__ import annotations


def idle_since(at_ms: int, now_ms: int) -> int:
    """Milliseconds from `at_ms` to `now_ms`; 0 where `at_ms` is later."""
    return max(now_ms - at_ms, 0)
