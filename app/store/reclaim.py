"""Frees deleted data in the background, a few milliseconds per turn of the event loop.

It owns when this happens. `core.garbage` owns the deleted data and the size of a step.
"""

from __future__ import annotations

import asyncio

from tailrace.core.garbage import Garbage


class Reclaimer:
    """Frees the garbage of one keyspace. Use it from one event loop only."""

    def __init__(self, garbage: Garbage) -> None:
        self.garbage = garbage
        self._is_arranged = False

    def arrange(self) -> None:
        """Free all garbage, starting on the next turn of the event loop. O(1)."""
        if not self._is_arranged:
            self._is_arranged = True
            asyncio.get_running_loop().call_soon(self._free_some)

    def _free_some(self) -> None:
        self._is_arranged = self.garbage.free_some()
        if self._is_arranged:
            asyncio.get_running_loop().call_soon(self._free_some)
