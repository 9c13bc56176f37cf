"""The clocks of the server: two functions. Other modules take a clock as a parameter, so tests can set it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Returns milliseconds."""

_NS_PER_MS: Final = 1_000_000


def system_clock_ms() -> int:
    """Return Unix time in milliseconds. It may step back; ids increase nevertheless (rule 5)."""
    return time.time_ns() // _NS_PER_MS


def monotonic_clock_ms() -> int:
    """Return milliseconds from an arbitrary start that never step, for measuring durations."""
    return time.monotonic_ns() // _NS_PER_MS
