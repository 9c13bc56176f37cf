"""What the HTTP surface needs of the world, and nothing of how it is done.

`app` implements these; tests may too. A store answers commands of `core.commands` with replies of
`core.replies`, or raises `StreamError`, or `NotAccepting` where nothing is wrong with the request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.commands import Command
from core.errors import StreamError
from core.replies import Reply


class NotAccepting(Exception):
    """The store takes no such command now; the text says why. Nothing was changed.

    `retry_after_s`: when to try again, None where a restart is needed first.
    """

    def __init__(self, reason: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s


class StreamStore(Protocol):
    """Streams by name. Commands take effect one after another, in the order in which they arrive."""

    async def execute(self, command: Command) -> Reply:
        """Carry out one command. A read that blocks waits here; cancelling it takes nothing.

        Raises `StreamError` where the command is refused, `NotAccepting` where the store is closed.
        """
        ...

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Carry out `commands` with nothing between them, at one instant; a refused one stops none.

        Reads do not block. Raises `NotAccepting`, and then nothing was done.
        """
        ...

    @property
    def not_ready_reason(self) -> str | None:
        """Why the store takes no writes, or None where it does."""
        ...
