"""Counts commits: their durations and sizes, and the number of checkpoints.

`app.store` updates the counters on the event loop. The module never measures time itself.
"""

from __future__ import annotations

from tailrace.app.observability.counters.histogram import Histogram, durations


class CommitFigures:
    """The counters of all commits.

    `durations`: from the start of a row's transaction to the end of its sync.
    `commands`: the number of commands or transactions per row. `size_bytes`: the total size of all rows.
    `checkpoints`: the number of finished checkpoints.
    """

    __slots__ = ("checkpoints", "commands", "durations", "size_bytes")

    def __init__(self) -> None:
        self.durations = durations()
        self.commands = Histogram()
        self.size_bytes = 0
        self.checkpoints = 0

    def note(self, duration_ns: int, command_count: int, size_bytes: int) -> None:
        """Count one durable row. O(1)."""
        self.durations.add(duration_ns)
        self.commands.add(command_count)
        self.size_bytes += size_bytes
