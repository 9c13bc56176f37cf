"""Repeats a step of a migration while a place is away. It owns the pauses and the deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from tailrace.app.cli.migrate.port import PlaceDown
from tailrace.app.cli.migrate.progress import Meter

PAUSE_MIN_S: Final = 0.1
PAUSE_MAX_S: Final = 5.0

ResultT = TypeVar("ResultT")


class Patience:
    """`retry_s`: how long a place may be away. `say` prints a line for the user."""

    def __init__(self, retry_s: float, say: Callable[[str], None]) -> None:
        self._retry_s = retry_s
        self._say = say

    def __call__(self, step: Callable[[], ResultT], meter: Meter | None = None) -> ResultT:
        """Repeat `step` while a place is away, for at most `retry_s` since the last progress of `meter`."""
        pause_s = PAUSE_MIN_S
        entries = 0 if meter is None else meter.entries
        deadline_s = time.monotonic() + self._retry_s
        is_first = True
        while True:
            try:
                return step()
            except PlaceDown as down:
                if meter is not None and meter.entries > entries:
                    entries, pause_s = meter.entries, PAUSE_MIN_S
                    deadline_s = time.monotonic() + self._retry_s
                if time.monotonic() + pause_s > deadline_s:
                    raise
                if is_first:
                    self._say(f"{down}; trying again for {self._retry_s:g} s")
                    is_first = False
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)
