"""Where time enters the server: one function, so that everything below it can be given any time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Gives Unix milliseconds. It may step back, as system clocks do: ids rise all the same (rule 5)."""


def system_clock_ms() -> int:
    """The system's Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
