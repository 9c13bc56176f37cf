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
    """Counts the rows and bytes of this run and shows them. `counts_rows`: the bar counts rows, not bytes."""

    def __init__(self, progress: Progress, total: int, rows_before: int, *, counts_rows: bool) -> None:
        self._progress = progress
        self._counts_rows = counts_rows
        done = rows_before if counts_rows else 0
        self._task = progress.add_task("", total=total, completed=done, rows=rows_before, rate=0)
        self._began_s = time.monotonic()
        self._rows_before = rows_before
        self.rows = 0
        self.bytes = 0

    def add(self, rows: int, size: int, bytes_done: int) -> None:
        """Add `rows` rows of `size` bytes. `bytes_done`: how far the file has been read."""
        self.rows += rows
        self.bytes += size
        rows_done = self._rows_before + self.rows
        self._progress.update(
            self._task,
            completed=rows_done if self._counts_rows else bytes_done,
            rows=rows_done,
            rate=self._per_s(self.rows),
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


_COUNTS: Final = (
    TextColumn("{task.fields[rows]:,} rows"),
    TextColumn("{task.fields[rate]:,.0f} rows/s"),
)
_OF_BYTES: Final = (BarColumn(), DownloadColumn(), *_COUNTS, TransferSpeedColumn(), TimeRemainingColumn())
_OF_ROWS: Final = (BarColumn(), *_COUNTS, TimeRemainingColumn())


@contextmanager
def metered(
    bytes_total: int | None, rows_before: int = 0, *, rows_total: int | None = None
) -> Iterator[Meter]:
    """Show a meter for the duration of the context. Without a total it has no bar.

    Print a summary after the context: within it, the meter owns the last line of the terminal.
    """
    columns = _OF_BYTES if bytes_total is not None else _OF_ROWS if rows_total is not None else _COUNTS
    total = bytes_total if bytes_total is not None else rows_total
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        # A bar with a total of 0 would be full from the start.
        yield Meter(progress, max(total or 0, 1), rows_before, counts_rows=bytes_total is None)
