"""Idle times, with a clock that may step back. This module owns that one rule.

If the clock stepped back after a delivery or a request, its time is later than now. Its idle time is then 0:
no reply shows a negative time, and a threshold of 0 matches every entry.
"""

from __future__ import annotations


def idle_since(at_ms: int, now_ms: int) -> int:
    """Return the milliseconds from `at_ms` to `now_ms`; 0 if `at_ms` is later."""
    return now_ms - at_ms if now_ms > at_ms else 0
