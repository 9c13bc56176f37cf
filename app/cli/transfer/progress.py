"""Shows the progress of a transfer: a bar on standard error if that is a terminal, and a summary.

It owns the counts of the current run. It never reads or writes a state file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


class Meter:
    """Counts the rows and bytes of this run and shows them."""

    def __init__(self, progress: Progress, bytes_total: int | None, rows_before: int) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=bytes_total, rows=rows_before, rate=0)
        self._began_s = time.monotonic()
        self._rows_before = rows_before
        self.rows = 0
        self.bytes = 0

    def add(self, rows: int, size: int, bytes_done: int) -> None:
        """Add `rows` rows of `size` bytes, and set the bar to `bytes_done` bytes."""
        self.rows += rows
        self.bytes += size
        self._progress.update(
            self._task, completed=bytes_done, rows=self._rows_before + self.rows, rate=self._per_s(self.rows)
        )

    def _per_s(self, count: int) -> float:
        return count / max(time.monotonic() - self._began_s, 1e-9)

    @property
    def summary(self) -> str:
        """Return the rows, bytes, time and rates of this run as text."""
        took_s = time.monotonic() - self._began_s
        return (
            f"{self.rows:,} rows, {decimal(self.bytes)} in {took_s:.1f} s "
            f"({self._per_s(self.rows):,.0f} rows/s, {decimal(int(self._per_s(self.bytes)))}/s)"
        )


_COLUMNS: Final = (
    BarColumn(),
    DownloadColumn(),
    TextColumn("{task.fields[rows]:,} rows"),
    TextColumn("{task.fields[rate]:,.0f} rows/s"),
    TransferSpeedColumn(),
    TimeRemainingColumn(),
)


@contextmanager
def metered(bytes_total: int | None, rows_before: int = 0) -> Iterator[Meter]:
    """Show a meter for the duration of the context. `bytes_total` None: the total is unknown."""
    console = Console(stderr=True)
    with Progress(*_COLUMNS, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        yield Meter(progress, bytes_total, rows_before)
