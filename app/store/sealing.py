"""Seals full blocks in the background, a few per turn of the event loop, so that large appends never block.

It owns when this happens. `core` decides what is sealed in one step.
"""

from __future__ import annotations

import asyncio

from tailrace.core.keyspace import Keyspace


class BackgroundSealing:
    """The sealing of one store. `keyspace`: the current keyspace. Use it from one event loop only."""

    def __init__(self, keyspace: Keyspace) -> None:
        self.keyspace = keyspace
        self._is_arranged = False

    def arrange(self) -> None:
        """Seal blocks from the next turn of the event loop on, until none is waiting. O(1)."""
        if not self._is_arranged:
            self._is_arranged = True
            asyncio.get_running_loop().call_soon(self._seal_some)

    def _seal_some(self) -> None:
        sealing = self.keyspace.sealing
        sealing.step()
        self._is_arranged = bool(sealing.waiting)
        if self._is_arranged:
            asyncio.get_running_loop().call_soon(self._seal_some)
