"""The engine: executes commands one after another and returns an outcome for each. It only dispatches.

Rules for every command:

* The outcome depends on the keyspace, the command and the time only: `core` has no clock, randomness or I/O.
* Handlers (`core.handlers`) read the keyspace, check everything, and only then change it, by effects.
* Only effects (`core.effects`) change the keyspace. Applying the effects of all commands to an empty keyspace
  rebuilds the keyspace: the journal stores effects.
* A command that raises `StreamError` has no effect.
* Wake-ups name keys, never readers. `core.waiters` has the readers of each key, and a woken reader runs its
  command again.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.command_table import HANDLERS
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError, kept
from tailrace.core.execution import Execution
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import TURN_REPLY_BYTES_MAX, TURN_STEPS_MAX
from tailrace.core.log.sealing import STEP_BYTES
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply
from tailrace.core.transaction_work import Work, require_bounded


class Engine:
    """The engine of one server. Not thread-safe: it has one caller and no lock."""

    def __init__(self, keyspace: Keyspace | None = None) -> None:
        # All streams and settings. Callers may read it.
        self.keyspace = keyspace or Keyspace()

    def execute(self, command: Command, now_ms: int) -> Outcome:
        """Execute one command at the instant `now_ms` (Unix milliseconds).

        Raises `StreamError` if the command is refused; then nothing has changed. The cost is that of the
        handler.
        """
        keyspace = self.keyspace
        keyspace.sealing.left_bytes = STEP_BYTES
        execution = Execution(keyspace, now_ms)
        reply = HANDLERS[type(command)](execution, command)
        if keyspace.freed:
            execution.wake_freed()
        return Outcome(reply, execution.effects, execution.wake_ups, execution.wait, execution.retry)

    def execute_all(
        self, commands: Sequence[Command], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Execute `commands` at one instant, as MULTI does. A refused command does not stop the others.

        Returns the reply or the error of each command, and one outcome with all effects and wake-ups.
        Blocking reads reply at once (rule 25). A read whose reply does not fit next to those before it is
        refused as any other command. Raises LIMIT_EXCEEDED if the commands together take too much work; then
        nothing has changed.
        """
        require_bounded(self.keyspace, commands)
        return self.execute_together(commands, now_ms)

    def execute_together(
        self, commands: Sequence[Command], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Do the same as `execute_all` for commands that are known to take little work together."""
        self.keyspace.sealing.left_bytes = STEP_BYTES
        execution = Execution(self.keyspace, now_ms)
        replies = [_reply(execution, command) for command in commands]
        if self.keyspace.freed:
            execution.wake_freed()
        return replies, Outcome(None, execution.effects, execution.wake_ups)

    def execute_some(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Execute the commands of the first requests, within the limits of one turn.

        A turn ends when the replies take `TURN_REPLY_BYTES_MAX` or the work takes `TURN_STEPS_MAX`.

        Each request has its own reply room. At least one request is executed, and refused replies count.
        Returns the replies of the executed commands, and one outcome, as `execute_all` does.
        """
        self.keyspace.sealing.left_bytes = STEP_BYTES
        execution = Execution(self.keyspace, now_ms)
        replies: list[Reply | StreamError] = []
        reply_bytes = 0
        work = Work(self.keyspace)
        for commands, room in zip(requests, rooms, strict=True):
            if reply_bytes >= TURN_REPLY_BYTES_MAX or work.steps >= TURN_STEPS_MAX:
                break
            for command in commands:
                work.add(command)
            execution.reply_room = room
            reply_bytes -= room.asked_bytes
            replies += [_reply(execution, command) for command in commands]
            reply_bytes += room.asked_bytes
        if self.keyspace.freed:
            execution.wake_freed()
        return replies, Outcome(None, execution.effects, execution.wake_ups)


def _reply(execution: Execution, command: Command) -> Reply | StreamError:
    try:
        return HANDLERS[type(command)](execution, command)
    except StreamError as error:
        return kept(error)
