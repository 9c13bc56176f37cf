"""The interface that hot requests need of a store: commands without a task, and appends that run together.

`app` implements it. Replies and errors are those of `api.ports`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from tailrace.api.ports import Answer, Watch
from tailrace.core.commands import Command

BeginWait: TypeAlias = Callable[[Watch], None]
"""Gets how to stop a read that begins to wait."""


class JoinedReceiver(Protocol):
    """The owner of requests whose appends run together. `requests`: those of one run, as given to `take`."""

    def receive(self, requests: Sequence[Any], answer: Answer | Exception) -> None:
        """Get the answer to a run: an `AppendReply` with one id for each request, or an error for all of
        them, which may be the exception of a defect."""
        ...

    def wait_began(self, requests: Sequence[Any]) -> None:
        """Note that the engine has run the appends, and that their answer waits for the disk."""
        ...


class Joining(Protocol):
    """Runs the appends of one turn of the event loop together, those to one stream as one command, if all of
    them are certain to succeed."""

    def begin(self, receiver: JoinedReceiver) -> None:
        """Let appends wait for each other. `end` must follow in the same turn of the loop."""
        ...

    def take(self, key: bytes, fragment: bytes, request: object) -> bool:
        """Let the append of one entry to `key` wait for others, and return True. It runs by `end` at the
        latest, and before any command that `HotStore.submit` gets.

        Return False if it may not wait: the appends that wait have run, and it must be submitted. O(1).
        """
        ...

    def end(self) -> None:
        """Run the appends that wait."""
        ...


class HotStore(Protocol):
    """The interface of a store for hot requests."""

    @property
    def joining(self) -> Joining | None:
        """Where appends wait for each other; None if they never do."""
        ...

    def submit(
        self, command: Command, receive: Callable[[Any], None], wait: BeginWait | None = None
    ) -> Answer:
        """Run one command, and call `receive` once with its answer.

        The call can happen before this method returns, or later on the event loop. No task is needed.

        A read with `block_ms` needs `wait`. If there is nothing to read, it waits as `StreamStore.watch`
        describes, and `wait` is called first, at any time, with how to stop it.

        Return the answer that `receive` gets unless the storage fails. It may be shown only after that call.
        Return None if the answer is not known yet.
        """
        ...
