"""Commits: how long the disk took, how much went into one, and how many checkpoints were taken.

Filled by `app.store.storage`, on the event loop. It never times anything itself.
"""

from __future__ import annotations

from tailrace.app.observability.counters.histogram import Histogram, durations


class CommitFigures:
    """`durations`: from the begin of a row's transaction to the end of its sync, in the writer's thread.
    `commands`: how many commands or transactions a row carried. `size_bytes`: of all rows together."""

    __slots__ = ("checkpoints", "commands", "durations", "size_bytes")

    def __init__(self) -> None:
        self.durations = durations()
        self.commands = Histogram()
        self.size_bytes = 0
        self.checkpoints = 0

    def note(self, duration_ns: int, command_count: int, size_bytes: int) -> None:
        """One row is durable."""
        self.durations.add(duration_ns)
        self.commands.add(command_count)
        self.size_bytes += size_bytes
