"""Where time enters the server: two functions, so that everything below can be given any time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Gives milliseconds."""

_NS_PER_MS: Final = 1_000_000


def system_clock_ms() -> int:
    """The system's Unix time. It may step back, as system clocks do: ids rise all the same (rule 5)."""
    return time.time_ns() // _NS_PER_MS


def monotonic_clock_ms() -> int:
    """Time that never steps, from an arbitrary beginning: for measuring how long something waits."""
    return time.monotonic_ns() // _NS_PER_MS
