"""Commands by kind: how many, how long the engine worked on them, and what was refused.

Filled by the store for every way in alike: a request, a line of a pipeline, a message on a socket, a
waiting reader that looks again. The names of commands are those of Redis, as in the paths' operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from tailrace.app.observability.counters.moved import NOTES, Note, StreamCounters, note_effects
from tailrace.core.command_table import NAMES
from tailrace.core.commands import Command
from tailrace.core.effects import Effect
from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply

SEVERAL: Final = "several"
"""The engine's time for commands that were carried out together, where there was more than one."""


class CommandKind:
    """One kind of command. `engine_ns`: what the engine spent on it, waiting readers' looks included.
    `note`: counts what one of it moved."""

    __slots__ = ("count", "engine_ns", "name", "note")

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.engine_ns = 0
        self.note: Note = note_effects


class CommandFigures:
    """All commands of one store. `refusals`: by the command's name and the error's code. `last_engine_ns`:
    what the last command took that was carried out for somebody; waiting readers' looks are none."""

    def __init__(self) -> None:
        self.counters = StreamCounters()
        self.refusals: Counter[tuple[str, str]] = Counter()
        self.last_engine_ns = 0
        by_name = {name: CommandKind(name) for name in (*NAMES.values(), SEVERAL)}
        self.kinds = by_name.values()
        self._several = by_name[SEVERAL]
        self._kind_of = {command: by_name[name] for command, name in NAMES.items()}
        for command, note in NOTES.items():
            self._kind_of[command].note = note

    def ran(self, command: Command, outcome: Outcome, engine_ns: int) -> None:
        """A command was carried out, for the first time."""
        self.last_engine_ns = engine_ns
        kind = self._kind_of[type(command)]
        kind.count += 1
        kind.engine_ns += engine_ns
        if outcome.wait is None:
            kind.note(self.counters, outcome.reply, outcome.effects)

    def looked(self, command: Command, outcome: Outcome, engine_ns: int) -> None:
        """A command was carried out again, for a reader that waits."""
        kind = self._kind_of[type(command)]
        kind.engine_ns += engine_ns
        if outcome.wait is None:
            kind.note(self.counters, outcome.reply, outcome.effects)

    def ran_all(
        self,
        commands: Sequence[Command],
        replies: Sequence[Reply | StreamError],
        effects: Sequence[Effect],
        engine_ns: int,
    ) -> None:
        """Commands were carried out together; only their effects as a whole are known."""
        self.last_engine_ns = engine_ns
        timed = self._kind_of[type(commands[0])] if len(commands) == 1 else self._several
        timed.engine_ns += engine_ns
        self._several.count += timed is self._several
        note_effects(self.counters, None, effects)
        for command, reply in zip(commands, replies, strict=True):
            if not isinstance(reply, StreamError):
                kind = self._kind_of[type(command)]
                kind.count += 1
                kind.note(self.counters, reply, ())

    def refused(self, command: Command, code: str) -> None:
        """A command was refused: it changed nothing. The store tells, which refuses more than the engine."""
        self.refusals[NAMES[type(command)], code] += 1
