"""Decides which commands the store accepts: during shutdown, after a storage failure, at the memory limit.

It owns these three states and their errors. It never runs a command.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.api.ports import StoreUnavailable
from tailrace.core.command_table import GROWING, READ_ONLY
from tailrace.core.commands import Command
from tailrace.core.errors import ErrorCode, StreamError, out_of_memory
from tailrace.core.replies import Reply

_DRAINING: Final = "the server is shutting down"
_RETRY_AFTER_DRAINING_S: Final = 1

_NO_REPLY: Final = StreamError(ErrorCode.REPLY_TOO_LARGE, "")


class Admission:
    """The checks of one store before a command runs."""

    def __init__(self) -> None:
        self.refusal: StoreUnavailable | None = None
        """Why the store rejects writes; None while it accepts them."""
        self.refuses_growth = False
        """Whether the store rejects commands that add data, because the memory limit is reached."""
        self._refuses_reads = False

    def drain(self) -> StoreUnavailable:
        """Reject all commands from now on, because the server shuts down; return the error."""
        self._refuses_reads = True
        self.refusal = StoreUnavailable(_DRAINING, retry_after_s=_RETRY_AFTER_DRAINING_S)
        return self.refusal

    def fail(self, reason: str, *, can_read: bool) -> StoreUnavailable:
        """Reject all writes from now on, and reads unless `can_read`; return the error."""
        self._refuses_reads = self._refuses_reads or not can_read
        self.refusal = StoreUnavailable(reason)
        return self.refusal

    def require(self, command: Command) -> None:
        """Raise an error unless `command` may run now. O(1).

        Raises `StoreUnavailable` during shutdown and after a failure, and `StreamError` at the memory limit.
        """
        if self.refusal is not None:
            self.require_accepting(command)
        if self.refuses_growth and type(command) in GROWING:
            raise out_of_memory()

    def require_accepting(self, command: Command) -> None:
        """Raise `StoreUnavailable` if the store rejects `command` at a shutdown or after a failure. O(1)."""
        refusal = self.refusal
        if refusal is not None and (self._refuses_reads or type(command) not in READ_ONLY):
            raise StoreUnavailable(refusal.reason, retry_after_s=refusal.retry_after_s)

    def require_all_accepting(self, commands: Sequence[Command]) -> None:
        """Do the same for several commands. O(1) while the store accepts writes."""
        if self.refusal is not None:
            for command in commands:
                self.require_accepting(command)

    def allowed(self, commands: Sequence[Command]) -> Sequence[Command]:
        """Return `commands` without those that the memory limit forbids. O(commands)."""
        return [command for command in commands if type(command) not in GROWING]

    def with_refusals(
        self, commands: Sequence[Command], replies: Sequence[Reply | StreamError]
    ) -> Sequence[Reply | StreamError]:
        """Insert an error for each forbidden command into `replies`, the replies to the allowed commands.

        The result ends at the first allowed command without a reply. O(commands).
        """
        filled: list[Reply | StreamError] = []
        given = iter(replies)
        for command in commands:
            reply = out_of_memory() if type(command) in GROWING else next(given, _NO_REPLY)
            if reply is _NO_REPLY:
                break
            filled.append(reply)
        return filled
