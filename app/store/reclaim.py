"""Frees what deletions leave behind, a few milliseconds at a time, with requests served in between.

It owns when that happens. What is freed, and how much at a time, is `core.garbage`'s.
"""

from __future__ import annotations

import asyncio

from tailrace.core.garbage import Garbage


class Reclaimer:
    """The garbage of one keyspace. Use it from one event loop only."""

    def __init__(self, garbage: Garbage) -> None:
        self.garbage = garbage
        self._is_arranged = False

    def arrange(self) -> None:
        """Free what there is, from the next turn of the event loop on, until nothing is left. O(1)."""
        if not self._is_arranged:
            self._is_arranged = True
            asyncio.get_running_loop().call_soon(self._free_some)

    def _free_some(self) -> None:
        self._is_arranged = self.garbage.free_some()
        if self._is_arranged:
            asyncio.get_running_loop().call_soon(self._free_some)
