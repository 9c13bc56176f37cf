"""The memory limit: measures the resident memory of the process.

It owns the measurement. The store rejects commands while the limit is exceeded. Resident memory is the value
that operators see and that the system's OOM killer uses. Counting each object would slow down appends, and
would miss memory that the allocator keeps. Before the limit counts as exceeded, the allocator returns its
free memory to the system, so deleted data does not count.
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
    """Return the resident memory of this process in bytes; 0 on systems without `/proc`."""
    try:
        return int(_STATM.read_bytes().split()[1]) * _PAGE_BYTES
    except OSError:
        return 0


def give_back() -> None:
    """Return free memory to the system. Without glibc, this has no effect."""
    gc.collect(0)
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class MemoryCeiling:
    """The limit `limit_mb` in MiB; 0: no limit. `measure` returns bytes; `relieve` frees unused memory."""

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
        """Return whether the limit is exceeded now.

        Reads one file; above the limit it takes some milliseconds.
        """
        if not self._limit_bytes or self._measure() <= self._limit_bytes:
            return False
        self._relieve()
        return self._measure() > self._limit_bytes
