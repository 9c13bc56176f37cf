"""Measures the engine: times and counts every command, and adds slow ones to the slow log.

All calls of the engine go through this module, so the counters are complete. It never changes the effects or
the reply of a command.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Final

from tailrace.api.ports import StoreUnavailable
from tailrace.app.observability.counters import CommandFigures
from tailrace.app.observability.slow_log import SlowLog
from tailrace.app.observability.timing import current_timing, note_commands
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Append, Command, Read, ReadGroup
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply

Execute = Callable[[Command, int], Outcome]
"""A method that runs one command at a time in Unix milliseconds."""

SOCKET: Final = "websocket"
SUBSCRIPTION: Final = "subscription"
WAITING_READER: Final = "waiting_reader"
TICK: Final = "tick"
"""The sources of commands other than HTTP requests, as named in the slow log."""


class MeasuredEngine:
    """Measures one engine at a time; `replace` exchanges the engine and keeps the counters."""

    def __init__(self, engine: Engine, slow_log: SlowLog) -> None:
        self._engine = engine
        self.figures = CommandFigures()
        self.slow_log = slow_log

    @property
    def engine(self) -> Engine:
        """Return the engine itself, for reading its keyspace."""
        return self._engine

    def replace(self, engine: Engine) -> None:
        """Continue with another engine and the same counters."""
        self._engine = engine

    def execute(self, command: Command, now_ms: int) -> Outcome:
        """Run a command of a request, like `Engine.execute`. Adds about 0.7 us.

        The caller measures the whole request and adds it to the slow log if necessary.
        """
        begin_ns = time.perf_counter_ns()
        outcome = self._engine.execute(command, now_ms)
        self.figures.ran(command, outcome, time.perf_counter_ns() - begin_ns)
        return outcome

    def note_read(self, command: Command) -> None:
        """Add the read that was executed last to the slow log, if it is slow and one of a follower. Followers
        wait without a limit; requests have one, and are noted as a whole."""
        if isinstance(command, Read | ReadGroup) and not command.block_ms:
            self._note_slow(SUBSCRIPTION, (command,), self.figures.last_engine_ns)

    def execute_for(self, who: str, command: Command, now_ms: int) -> Outcome:
        """Run a command of the source `who`, like `Engine.execute`. Add it to the slow log if it is slow."""
        outcome = self.execute(command, now_ms)
        self._note_slow(who, (command,), self.figures.last_engine_ns)
        return outcome

    def look_again(self, command: Command, now_ms: int) -> Outcome:
        """Run the retry of a waiting reader, like `Engine.execute`.

        The command was counted when the wait began.
        """
        begin_ns = time.perf_counter_ns()
        outcome = self._engine.execute(command, now_ms)
        engine_ns = time.perf_counter_ns() - begin_ns
        self.figures.looked(command, outcome, engine_ns)
        self._note_slow(WAITING_READER, (command,), engine_ns)
        return outcome

    def execute_all(
        self, commands: Sequence[Command], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Run commands of a request or a WebSocket, like `Engine.execute_all`."""
        return self._together(partial(self._engine.execute_all, commands, now_ms), commands)

    def execute_joined(
        self, commands: Sequence[Append], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Run the appends of several requests, like `Engine.execute_together`. As after `execute`, the slow
        log is a matter of the caller."""
        begin_ns = time.perf_counter_ns()
        replies, outcome = self._engine.execute_together(commands, now_ms)
        self.figures.ran_joined(commands, replies, outcome.effects, time.perf_counter_ns() - begin_ns)
        return replies, outcome

    def execute_some(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """Run commands of a request or a WebSocket, like `Engine.execute_some`."""
        commands = list(chain.from_iterable(requests))
        return self._together(partial(self._engine.execute_some, requests, rooms, now_ms), commands)

    def _together(
        self,
        execute: Callable[[], tuple[list[Reply | StreamError], Outcome]],
        commands: Sequence[Command],
    ) -> tuple[list[Reply | StreamError], Outcome]:
        begin_ns = time.perf_counter_ns()
        replies, outcome = execute()
        commands = commands[: len(replies)]
        engine_ns = time.perf_counter_ns() - begin_ns
        self.figures.ran_all(commands, replies, outcome.effects, engine_ns)
        if current_timing.get() is None:
            self._note_slow(SOCKET, commands, engine_ns)
        else:
            note_commands(commands, engine_ns)
        return replies, outcome

    def note_refusal(self, command: Command, refusal: StreamError | StoreUnavailable) -> None:
        """Count a rejected command, also one that the store rejected before it reached the engine. O(1)."""
        self.figures.refused(command, refusal.code)

    def _note_slow(self, who: str, commands: Sequence[Command], engine_ns: int) -> None:
        if engine_ns >= self.slow_log.threshold_ns:
            self.slow_log.note(who, None, commands, engine_ns=engine_ns)
