"""Counts commands by kind: how many ran, how long the engine took, and how many were rejected.

The store updates the counters for every source of commands: a request, a line of a pipeline, a WebSocket
message, a retry of a waiting reader. Commands have their Redis names. The module never measures time itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from tailrace.app.observability.counters.moved import NOTES, Note, StreamCounters, note_effects
from tailrace.core.command_table import NAMES
from tailrace.core.commands import Append, Command
from tailrace.core.effects import Effect
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.replies import AppendReply, Reply

SEVERAL: Final = "several"
"""The name under which the engine's time for several commands that ran together is counted."""


class CommandKind:
    """The counters of one kind of command.

    `count`: how many ran. `engine_ns`: the engine's time, including retries of waiting readers. `note`: the
    function that counts the entries that a command of this kind moved.
    """

    __slots__ = ("count", "engine_ns", "name", "note")

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.engine_ns = 0
        self.note: Note = note_effects


class CommandFigures:
    """The counters of all commands of one store.

    `refusals`: rejected commands by command name and error code. `last_engine_ns`: the engine's time for the
    last command or commands, excluding retries of waiting readers.
    """

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
        """Count a command that ran for the first time. O(effects)."""
        self.last_engine_ns = engine_ns
        kind = self._kind_of[type(command)]
        kind.count += 1
        kind.engine_ns += engine_ns
        if outcome.wait is None:
            note = kind.note
            note(self.counters, outcome.reply, outcome.effects)
        elif outcome.effects:
            # A read that continues to wait may have moved entries to a dead-letter stream.
            note_effects(self.counters, None, outcome.effects)

    def ran_with_others(self, command: Append) -> None:
        """Count the other appends of a run that `ran` counted as one. All of them succeeded."""
        others = len(command.fragments) - 1
        self._kind_of[Append].count += others
        self.counters.appends += others

    def looked(self, command: Command, outcome: Outcome, engine_ns: int) -> None:
        """Count the retry of a waiting reader's command: its time, and its result if the wait is over."""
        kind = self._kind_of[type(command)]
        kind.engine_ns += engine_ns
        if outcome.wait is None:
            kind.note(self.counters, outcome.reply, outcome.effects)
        elif outcome.effects:
            # A read that continues to wait may have moved entries to a dead-letter stream.
            note_effects(self.counters, None, outcome.effects)

    def ran_all(
        self,
        commands: Sequence[Command],
        replies: Sequence[Reply | StreamError],
        effects: Sequence[Effect],
        engine_ns: int,
    ) -> None:
        """Count commands that ran together. `effects` are those of all commands."""
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
                if isinstance(command, Append) and command.each:
                    self._ran_each(kind, command, reply)

    def _ran_each(self, kind: CommandKind, command: Append, reply: Reply) -> None:
        """Count the other appends of a run, of which the command itself is one."""
        assert isinstance(reply, AppendReply)
        done = len(reply.ids)
        kind.count += done - 1
        self.counters.appends += done - 1
        if done < len(command.fragments):
            self.refusals[kind.name, ErrorCode.ID_EXHAUSTED] += len(command.fragments) - done

    def refused(self, command: Command, code: str) -> None:
        """Count a rejected command; each append of a run.

        The store calls this, because it rejects commands before the engine too.
        """
        count = len(command.fragments) if isinstance(command, Append) and command.each else 1
        self.refusals[NAMES[type(command)], code] += count
