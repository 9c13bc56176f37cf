"""Estimates the pages in SQLite's write-ahead log, so that the writer thread empties the log in time.

SQLite copies the log into the database at the first commit that finds a thousand pages in it. This takes
several milliseconds, and the commit may run on the event loop. This module only counts, and touches no file.
"""

from __future__ import annotations

from typing import Final

PAGES_MAX: Final = 900
"""Leaves room for the commits of one more turn below SQLite's thousand."""

_PAGE_BYTES: Final = 4096
_PAGES_PER_COMMIT: Final = 3
"""The ends of the two tables that each commit changes, and the page that the row begins on."""


class LogPages:
    """Counts the pages of the commits since the log was last emptied."""

    def __init__(self) -> None:
        self._count = 0

    def are_many_after(self, size_bytes: int) -> bool:
        """Count a commit with a row of `size_bytes`. Return True if the log should be emptied; the count then
        begins again. O(1)."""
        self._count += _PAGES_PER_COMMIT + size_bytes // _PAGE_BYTES
        if self._count < PAGES_MAX:
            return False
        self._count = 0
        return True
