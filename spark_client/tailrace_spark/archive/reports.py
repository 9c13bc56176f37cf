"""What a run of the archive job has done: the progress while it runs, and the report at its end.

This module owns the texts for people. It never reads an archive or a stream.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """The result of a run.

    `steps`, `entries` and `bytes` count what this run archived. `trimmed`: how many entries it removed from
    the stream. `end`: the id up to which the stream is archived; None if the archive is empty.
    """

    steps: int
    entries: int
    bytes: int
    trimmed: int
    end: str | None
    duration_s: float

    def __str__(self) -> str:
        rate = self.entries / self.duration_s
        return (
            f"{self.entries} entries in {self.steps} steps, {self.bytes} bytes of Parquet, "
            f"{self.trimmed} trimmed, up to {self.end}; {self.duration_s:.2f} s, {rate:.0f} entries/s"
        )


@dataclass(slots=True)
class Progress:
    """How far a run is. `entries`: how many the range had when the run began; clients may delete some of
    them. `entries_per_step`: the most entries of a step."""

    entries: int
    entries_per_step: int
    entries_done: int = 0
    steps_done: int = 0

    @property
    def steps(self) -> int:
        """How many steps the run needs."""
        return -(-self.entries // self.entries_per_step)

    def add_step(self, entries: int) -> None:
        """Count a step that has become part of the archive."""
        self.entries_done += entries
        self.steps_done += 1

    def __str__(self) -> str:
        percent = self.entries_done * 100 // self.entries if self.entries else 100
        return (
            f"{self.steps_done} of {self.steps} steps, {self.entries_done} of {self.entries} entries, "
            f"{percent} %"
        )
