"""Counts commits: their durations and sizes, and the number of checkpoints.

`app.store` updates the counters on the event loop. The module never measures time itself.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from tailrace.app.observability.counters.histogram import Histogram, durations

RECENT_MAX: Final = 1_000
"""How many durations are kept one by one: enough for the 99th percentile of the last commits."""


class CommitFigures:
    """The counters of all commits.

    `durations`: from the start of a row's transaction to the end of its sync.
    `commands`: the number of commands or transactions per row. `size_bytes`: the total size of all rows.
    `checkpoints`: the number of finished checkpoints. `recent_ns`: the durations of the last commits.
    """

    __slots__ = ("checkpoints", "commands", "durations", "recent_ns", "size_bytes")

    def __init__(self) -> None:
        self.durations = durations()
        self.commands = Histogram()
        self.size_bytes = 0
        self.checkpoints = 0
        self.recent_ns: deque[int] = deque(maxlen=RECENT_MAX)

    def note(self, duration_ns: int, command_count: int, size_bytes: int) -> None:
        """Count one durable row. O(1)."""
        self.durations.add(duration_ns)
        self.commands.add(command_count)
        self.size_bytes += size_bytes
        self.recent_ns.append(duration_ns)
