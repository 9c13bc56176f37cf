"""Lanes: where the commands of some slots wait while their order would otherwise be lost.

A lane opens when a command is refused, or when slots change their node. Commands that were sent before and
come back wait first, those that are new wait after them, so each key keeps its order. A lane never sends: its
owner does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.exchange import Exchange


class Lane:
    """Waiting commands of `slots`. `on_open` gets the lane once nothing in flight can overtake, and pauses
    are over."""

    def __init__(self, slots: Iterable[int], on_end: Callable[[Lane], None]) -> None:
        self.slots = list(slots)
        self.returned: list[Exchange] = []
        self.fresh: list[Exchange] = []
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._holds = 0

    def hold_until_answered(self, channel: Channel) -> None:
        """Wait until everything that was sent on a channel has been answered."""
        if channel.is_busy:
            self._holds += 1
            channel.when_idle(self._let_go)

    def hold_for(self, pause_s: float) -> None:
        """Wait at least this long. Also ends a lane without any other hold, on the next turn of the loop."""
        self._holds += 1
        self._loop.call_later(pause_s, self._let_go)

    def _let_go(self) -> None:
        self._holds -= 1
        if not self._holds:
            self._on_end(self)
