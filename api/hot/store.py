"""The interface that hot requests need of a store: commands without a task, and appends that run together.

`app` implements it. Replies and errors are those of `api.ports`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct

from tailrace.api.ports import Answer, Watch
from tailrace.core.commands import Command

BeginWait: TypeAlias = Callable[[Watch], None]
"""Gets how to stop a read that begins to wait."""


class Joined(Struct, frozen=True):
    """What a store returns for a command that waits for others of the same turn of the loop. No command that
    follows can change that it succeeds."""


JOINED: Final = Joined()


class HotStore(Protocol):
    """The interface of a store for hot requests."""

    def submit(
        self, command: Command, receive: Callable[[Any], None], wait: BeginWait | None = None
    ) -> Answer | Joined:
        """Run one command, and call `receive` once with its answer.

        The call can happen before this method returns, or later on the event loop. No task is needed.

        A read with `block_ms` needs `wait`. If there is nothing to read, it waits as `StreamStore.watch`
        describes, and `wait` is called first, at any time, with how to stop it.

        Return the answer that `receive` gets unless the storage fails. It may be shown only after that call.
        Return None if the answer is not known yet. Between `begin_joining` and `end_joining`, the store may
        return `JOINED` and run the command by `end_joining` at the latest, together with others; if that
        fails by a defect, `receive` gets the exception.
        """
        ...

    def begin_joining(self) -> None:
        """Let commands wait for each other. `end_joining` must follow in the same turn of the loop."""
        ...

    def end_joining(self) -> None:
        """Run the commands that wait."""
        ...
