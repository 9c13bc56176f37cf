"""The memory ceiling: whether the process takes more than it may, looked at once a second.

It owns the look. What is refused meanwhile, the store knows. Resident memory is what an operator sees and
what the system's own killer goes by; to account for every object would cost each append, and still miss
what the allocators keep. What they keep free is given back before the answer is yes, so that data that
was deleted counts no longer.
"""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tailrace.core.limits import MIB

_STATM: Final = Path("/proc/self/statm")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """Resident memory of this process; 0 where the system does not say (it is no Linux)."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0


def give_back() -> None:
    """Return to the system what is free; on other C libraries than glibc nothing happens."""
    gc.collect(0)
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class MemoryCeiling:
    """Whether `limit_mb` is exceeded; 0: it never is. `measure` gives bytes."""

    def __init__(
        self,
        limit_mb: int,
        measure: Callable[[], int] = resident_bytes,
        relieve: Callable[[], None] = give_back,
    ) -> None:
        self._limit_bytes = limit_mb * MIB
        self._measure = measure
        self._relieve = relieve

    def is_exceeded(self) -> bool:
        """Look now. Costs a read of a file; above the ceiling also what giving back takes, milliseconds."""
        if not self._limit_bytes or self._measure() <= self._limit_bytes:
            return False
        self._relieve()
        return self._measure() > self._limit_bytes
