"""Runs commands on the engine at the current time, and records their effects in the log.

It owns the time of the last command, the handling of commands that end midway, and the background work that
effects cause: a few milliseconds per turn of the event loop, full blocks are sealed, so that large appends
never block. It never rejects a command and never releases a result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tailrace.api.ports import StoreUnavailable
from tailrace.app.clock import Clock
from tailrace.app.store.measured_engine import Execute, MeasuredEngine
from tailrace.app.store.publishing import Publisher
from tailrace.core.command_table import READ_ONLY
from tailrace.core.commands import Command
from tailrace.core.effects import Effect
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.keyspace import Keyspace
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply
from tailrace.core.storage.damage import Damage


class BackgroundSealing:
    """The sealing of one store. `keyspace`: the current keyspace. Use it from one event loop only."""

    def __init__(self, keyspace: Keyspace) -> None:
        self.keyspace = keyspace
        self._is_arranged = False

    def arrange(self) -> None:
        """Seal blocks from the next turn of the event loop on, until none is waiting. O(1)."""
        if not self._is_arranged:
            self._is_arranged = True
            asyncio.get_running_loop().call_soon(self._seal_some)

    def _seal_some(self) -> None:
        sealing = self.keyspace.sealing
        sealing.step()
        self._is_arranged = bool(sealing.waiting)
        if self._is_arranged:
            asyncio.get_running_loop().call_soon(self._seal_some)


ExecuteTogether: TypeAlias = Callable[[], tuple[Sequence[Reply | StreamError], Outcome]]
"""Runs commands at one instant; returns their replies, or those of the first of them, and all effects."""


class Recorder:
    """The only user of the engine in one store. `ran_at_ms`: the time of the last single command."""

    def __init__(self, engine: MeasuredEngine, publisher: Publisher, clock: Clock) -> None:
        self.engine = engine
        self.clock = clock
        self.ran_at_ms = 0
        self._publisher = publisher
        self._sealing = BackgroundSealing(engine.engine.keyspace)

    def run(self, command: Command, execute: Execute | None = None) -> Outcome:
        """Run one command and record its effects. `execute`: a method of the engine; None: for requests.

        Raises `StreamError` if the engine rejects the command, and `StoreUnavailable` at a damaged block.
        After an unexpected error of a write, which this raises as it is, the store accepts no writes.
        """
        clock = self.clock
        self.ran_at_ms = now_ms = clock()
        try:
            outcome = execute(command, now_ms) if execute else self.engine.execute(command, now_ms)
        except StreamError:
            raise
        except Exception as error:
            self._stop_after((command,), error)
            raise
        if outcome.effects:
            self._record(outcome.effects)
        return outcome

    def run_together(
        self, commands: Sequence[Command], execute: ExecuteTogether
    ) -> tuple[Sequence[Reply | StreamError], Outcome]:
        """Call `execute`, which runs `commands` or the first of them, and record the effects.

        Raises `StreamError` if the engine rejects all of them, and `StoreUnavailable` as `run` does.
        """
        try:
            replies, outcome = execute()
        except StreamError:
            raise
        except Exception as error:
            self._stop_after(commands, error)
            raise
        if outcome.effects:
            self._record(outcome.effects)
        return replies, outcome

    def replace(self, keyspace: Keyspace) -> None:
        """Continue with another keyspace."""
        self.engine.replace(Engine(keyspace))
        self._sealing.keyspace = keyspace

    def _record(self, effects: Sequence[Effect]) -> None:
        self._publisher.log.record(effects)
        if self._sealing.keyspace.sealing.waiting:
            self._sealing.arrange()

    def _stop_after(self, commands: Sequence[Command], error: Exception) -> None:
        """Stop accepting writes if one of `commands`, which ended midway with `error`, is a write.

        A read changes nothing, so it only fails. A write may have changed a part of the keyspace, and its
        effects are lost. The log reports the failure to the store, and never writes a later change, which
        could build on the lost one. Raises `StoreUnavailable` at a damaged block.
        """
        is_damage = isinstance(error, Damage)
        if any(type(command) not in READ_ONLY for command in commands):
            failure = error if is_damage else RuntimeError("a command failed unexpectedly")
            self._publisher.log.fail(failure)
        if is_damage:
            raise StoreUnavailable(f"storage is damaged: {error}") from error
