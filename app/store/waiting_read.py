"""One waiting read, as `readers` keeps it, and as its reader stops it. It never looks for entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tailrace.api.ports import Answer
from tailrace.core.commands import Command

Receive = Callable[[Answer], None]


@dataclass(slots=True, eq=False)
class WaitingRead:
    """One waiting read. `discard` removes it from the queue. `command`: that of a retry. `until_ms`: its
    monotonic deadline, or None."""

    discard: Callable[[WaitingRead], bool]
    command: Command
    receive: Receive
    until_ms: int | None

    def cancel(self) -> bool:
        """Stop waiting: see `api.ports.Watch`."""
        return self.discard(self)
