"""What the HTTP surface needs of the world, and nothing of how it is done.

`app` implements these; tests may too. A store answers commands of `core.commands` with replies of
`core.replies`, or raises `StreamError`, or `NotAccepting` where nothing is wrong with the request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from core.commands import Command, Read, ReadGroup
from core.errors import StreamError
from core.replies import Reply


class NotAccepting(Exception):
    """The store takes no such command now; the text says why.

    `retry_after_s`: when to try again, None where a restart is needed first. `is_outcome_unknown`: the
    command was carried out, and it could not be made sure that it lasts; else nothing was changed.
    """

    def __init__(
        self, reason: str, *, retry_after_s: int | None = None, is_outcome_unknown: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s
        self.is_outcome_unknown = is_outcome_unknown


Answer: TypeAlias = Reply | StreamError | NotAccepting
"""What becomes of a command: its reply, or why there is none."""


class Watch(Protocol):
    """A read that was given to `StreamStore.watch`."""

    def cancel(self) -> bool:
        """Stop waiting. True: nothing was taken, and `receive` is never called.

        False: the answer was taken already; `receive` was called, or will be once it is durable.
        """
        ...


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

    def watch(self, command: Read | ReadGroup, receive: Callable[[Answer], None]) -> Watch:
        """Run a read, and hand its answer to `receive`: once, on the event loop, after this returns.

        With `block_ms` it waits for data, for something to claim, for its timeout (the answer is then a
        reply without entries), or until what it reads is gone. No task is spent on the waiting.
        """
        ...

    @property
    def not_ready_reason(self) -> str | None:
        """Why the store takes no writes, or None where it does."""
        ...


class DirectStore(Protocol):
    """What the path below the framework needs of a store."""

    def submit(self, command: Command, receive: Callable[[Answer], None]) -> None:
        """Carry out one command that does not block, and hand its answer to `receive`, once.

        The answer may come before this returns, or later from the event loop. No task is spent.
        """
        ...
