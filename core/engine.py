"""The engine: commands in, outcomes out, one after another. It dispatches, and nothing else.

What holds for every command, and where it is kept:

* A function of the commands and the time: no clock, no randomness, no I/O below this line.
* Handlers (`core.handlers`) read the keyspace, check everything, and only then change it, by effects.
* Effects (`core.effects`) are carried out by `core.apply`, the one writer of the keyspace. Replayed in
  order onto an empty keyspace, they give the same keyspace: they are what a journal keeps.
* A command that raises `StreamError` has no effect at all.
* Wake-ups name keys, never readers: who waits is known to `core.waiters`, and looking again is running
  the same command again.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.command_table import HANDLERS
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError, kept
from tailrace.core.execution import Execution
from tailrace.core.foresight import KeptReply, foreseen_replies
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import TURN_REPLY_BYTES_MAX, TURN_STEPS_MAX
from tailrace.core.log.sealing import STEP_BYTES
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply
from tailrace.core.transaction_work import Work, require_bounded


class Engine:
    """All streams of one server. Not thread-safe: it has one caller, and needs no lock."""

    def __init__(self, keyspace: Keyspace | None = None) -> None:
        self.keyspace = keyspace or Keyspace()

    def execute(self, command: Command, now_ms: int) -> Outcome:
        """Carry out one command at the instant `now_ms` (Unix milliseconds).

        Raises `StreamError`, and then nothing was changed. Cost: see the handler.
        """
        self.keyspace.sealing.left_bytes = STEP_BYTES
        execution = Execution(self.keyspace, now_ms)
        reply = HANDLERS[type(command)](execution, command)
        return Outcome(reply, execution.effects, execution.wake_ups, execution.wait, execution.retry)

    def execute_all(
        self, commands: Sequence[Command], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Carry out `commands` at one instant, as MULTI does: a refused one stops none of the others.

        The replies one by one, and an outcome that joins their effects and wake-ups. Reads that would
        block answer at once (rule 25). Raises REPLY_TOO_LARGE where the replies together surely do not fit,
        and LIMIT_EXCEEDED where the commands together take too much work; then nothing was changed.
        """
        require_bounded(self.keyspace, commands)
        self.keyspace.sealing.left_bytes = STEP_BYTES
        execution = Execution(self.keyspace, now_ms)
        kept_replies = foreseen_replies(execution, commands, HANDLERS)
        replies = [
            _reply(execution, command, kept_replies.get(number)) for number, command in enumerate(commands)
        ]
        return replies, Outcome(None, execution.effects, execution.wake_ups)

    def execute_some(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Carry out the commands of the first of `requests`, each with its own room, until their replies take
        `TURN_REPLY_BYTES_MAX`, refused ones included, or their work takes `TURN_STEPS_MAX`: of one request at
        least. As `execute_all` otherwise."""
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
        return replies, Outcome(None, execution.effects, execution.wake_ups)


def _reply(execution: Execution, command: Command, known: KeptReply | None = None) -> Reply | StreamError:
    """The reply of a command, `known` from before if there is still room for it."""
    if known is not None and known.size_bytes <= execution.room().left_bytes:
        execution.room().charge(known.size_bytes)
        reply: Reply = known.reply
        return reply
    try:
        return HANDLERS[type(command)](execution, command)
    except StreamError as error:
        return kept(error)
