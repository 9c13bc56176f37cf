"""Shows the progress of a migration: a bar on standard error if that is a terminal, and rates.

It owns the counts of the current phase. It decides nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_PHASE: Final = TextColumn("{task.description}")
_RATE: Final = TextColumn("{task.fields[rate]:,.0f} entries/s")
_COUNT: Final = TextColumn("{task.completed:,} entries")
_WITH_TOTAL: Final = (
    _PHASE,
    BarColumn(),
    MofNCompleteColumn(),
    TextColumn("entries"),
    _RATE,
    TimeRemainingColumn(),
)


class Meter:
    """Counts the entries and bytes of a phase. A comparison also counts streams, groups and pending
    entries."""

    def __init__(self, progress: Progress, phase: str, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task(phase, total=total, rate=0)
        self._began_s = time.monotonic()
        self.entries = 0
        self.bytes = 0
        self.streams = 0
        self.groups = 0
        self.pending = 0

    def add(self, entries: int, size: int) -> None:
        """Add `entries` entries of `size` bytes."""
        self.entries += entries
        self.bytes += size
        self._progress.update(self._task, completed=self.entries, rate=self._per_s)

    @property
    def _per_s(self) -> float:
        return self.entries / max(time.monotonic() - self._began_s, 1e-9)

    @property
    def summary(self) -> str:
        """Return entries, bytes, time and rate as text."""
        took_s = time.monotonic() - self._began_s
        rate = f"{self._per_s:,.0f} entries/s"
        return f"{self.entries:,} entries, {decimal(self.bytes)} in {took_s:.1f} s ({rate})"


@contextmanager
def metered(phase: str, total: int) -> Iterator[Meter]:
    """Show a meter for the duration of the context. Without a total (0) it has no bar."""
    columns = _WITH_TOTAL if total else (_PHASE, _COUNT, _RATE)
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        yield Meter(progress, phase, max(total, 1))
