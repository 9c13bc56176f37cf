"""The engine with a watch beside it: every command is timed and counted, and slow ones are noted.

All ways to the engine lead through here, so that its figures miss none. It never changes what a command
does or answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Final

from tailrace.app.observability.counters.commands import CommandFigures
from tailrace.app.observability.slow_log import SlowLog
from tailrace.app.observability.timing import current_timing, note_commands
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply

Execute = Callable[[Command, int], Outcome]
"""One of the ways in: a command, and the instant in Unix milliseconds."""

SOCKET: Final = "websocket"
SUBSCRIPTION: Final = "subscription"
WAITING_READER: Final = "waiting_reader"
TICK: Final = "tick"
"""Who asked, where it was no HTTP request; names in the slow log."""


class MeasuredEngine:
    """One engine, or one after the other: see `replace`."""

    def __init__(self, engine: Engine, slow_log: SlowLog) -> None:
        self._engine = engine
        self.figures = CommandFigures()
        self.slow_log = slow_log

    @property
    def engine(self) -> Engine:
        """The engine itself, to look at."""
        return self._engine

    def replace(self, engine: Engine) -> None:
        """Go on with another engine; the figures go on."""
        self._engine = engine

    def execute(self, command: Command, now_ms: int) -> Outcome:
        """As `Engine.execute`, for a request: its own caller knows its other times, and notes it if slow.
        About 0.7 us more than the engine's own."""
        begin_ns = time.perf_counter_ns()
        outcome = self._engine.execute(command, now_ms)
        self.figures.ran(command, outcome, time.perf_counter_ns() - begin_ns)
        return outcome

    def execute_for(self, who: str, command: Command, now_ms: int) -> Outcome:
        """As `Engine.execute`, where no request waits for it."""
        outcome = self.execute(command, now_ms)
        self._note_slow(who, (command,), self.figures.last_engine_ns)
        return outcome

    def look_again(self, command: Command, now_ms: int) -> Outcome:
        """As `Engine.execute`, for a waiting reader whose command was counted when it began to wait."""
        begin_ns = time.perf_counter_ns()
        outcome = self._engine.execute(command, now_ms)
        engine_ns = time.perf_counter_ns() - begin_ns
        self.figures.looked(command, outcome, engine_ns)
        self._note_slow(WAITING_READER, (command,), engine_ns)
        return outcome

    def execute_all(
        self, commands: Sequence[Command], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """As `Engine.execute_all`, for a request or for a socket."""
        return self._together(partial(self._engine.execute_all, commands, now_ms), commands)

    def execute_some(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom], now_ms: int
    ) -> tuple[list[Reply | StreamError], Outcome]:
        """As `Engine.execute_some`, for a request or for a socket."""
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

    def _note_slow(self, who: str, commands: Sequence[Command], engine_ns: int) -> None:
        if engine_ns >= self.slow_log.threshold_ns:
            self.slow_log.note(who, None, commands, engine_ns=engine_ns)
