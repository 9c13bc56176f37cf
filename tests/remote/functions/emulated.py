"""Random programs for engines behind the library, and what may differ from the embedded engine, with the reasons."""

from __future__ import annotations

from random import Random
from typing import Final

from tailrace.app.remote.functions.hidden import visible_deliveries
from tailrace.core import commands as c
from tailrace.core.parser import parse_request
from tests.differential.generator import Generator, Table
from tests.differential.harness import FAREWELL, OPENING, Comparison, Difference, commands_of
from tests.differential.later_generator import LaterGenerator
from tests.differential.redis_7_0 import Comparison70
from tests.differential.redis_8_10 import Comparison810
from tests.differential.replies import Members, Reply
from tests.differential.vocabulary import Program, Words
from tests.remote.functions.emulation import Emulation, is_well_formed

ELSEWHERE: Final = (c.Read, c.ListStreams, c.MatchKeys, c.ScanKeys, c.KeyspaceSize, c.GetConfig, c.SetConfig)
"""Commands that the gateway carries out without the library."""


class EmulatedGenerator(LaterGenerator):
    """Programs that the gateway's grammar takes, of the commands that concern the library."""

    def _table(self) -> Table:
        reads = (Generator.xread, LaterGenerator.xread_bounded)
        return tuple(row for row in super()._table() if row[0] not in reads)

    def _is_comparable(self, words: Words) -> bool:
        if not super()._is_comparable(words) or not is_well_formed(words):
            return False
        command = parse_request(words).command
        return not isinstance(command, ELSEWHERE) and not _has_named_difference(command)

    def program(self, length: int) -> Program:
        # Nodes of the default size: the library does not see where nodes begin.
        return super().program(length)[1:]


def _has_named_difference(command: object) -> bool:
    trim = command.trim if isinstance(command, c.Append | c.TrimStream) else None
    # A limit counts entries where the engine counts whole nodes.
    return trim is not None and trim.references is not c.References.KEEP and trim.limit is not None


def _with_greatest_counts(reply: Reply) -> Reply:
    """The counts just below the greatest, of which the library stores one for all, as the greatest."""
    if isinstance(reply, dict):
        return {name: _with_greatest_counts(value) for name, value in reply.items()}
    if isinstance(reply, list):
        return [_with_greatest_counts(item) for item in reply]
    return visible_deliveries(reply) if isinstance(reply, int) else reply


def _nacks_a_deleted_entry(comparison: Comparison, words: Words) -> bool:
    """Whether XNACK names a pending entry that was deleted: no engine without XNACK gives it to another consumer, so
    it keeps its consumer, and the states differ from there on: the program ends."""
    command = parse_request(words).command if words[0].upper() == b"XNACK" else None
    stream = comparison.stream(command.key) if isinstance(command, c.NegativeAcknowledge) else None
    if stream is None or command.group not in stream.groups:
        return False
    pending = stream.groups[command.group].pending.present(list(command.ids))
    return any(value not in stream.log for value in pending)


class EmulatedBy70(Comparison70):
    """The engine against 7.0.15 behind the library."""

    omitted: Members = frozenset({b"active-time", b"inactive", b"radix-tree-keys", b"radix-tree-nodes"})

    _is_over = False

    def before(self, words: Words) -> None:
        super().before(words)
        self._is_over = _nacks_a_deleted_entry(self, words)

    def compared(self, words: Words, reply: Reply) -> Reply:
        return _with_greatest_counts(super().compared(words, reply))

    def ends(self, words: Words, ours: Reply) -> bool:
        return self._is_over or super().ends(words, ours)

    def _probed(self, index: int) -> Reply:
        # The library creates the consumer of an empty read, so nothing is to be turned into today's answer.
        return self.theirs[index]


class EmulatedBy810(Comparison810):
    """The engine against 8.10.2 behind the library."""

    omitted: Members = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})
    _is_over = False

    def before(self, words: Words) -> None:
        super().before(words)
        self._is_over = _nacks_a_deleted_entry(self, words)

    def compared(self, words: Words, reply: Reply) -> Reply:
        return _with_greatest_counts(super().compared(words, reply))

    def ends(self, words: Words, ours: Reply) -> bool:
        return self._is_over or super().ends(words, ours)


def program(seed: int, steps: int) -> Program:
    """The random program of that seed."""
    return EmulatedGenerator(Random(seed)).program(steps)


def first_difference(
    emulation: Emulation, comparison: type[Comparison], steps: Program
) -> Difference | None:
    """None where the engine and the engine behind the library answer alike."""
    commands = commands_of([*OPENING, *steps, *FAREWELL])
    return comparison(commands, [emulation.run(words) for words in commands]).run()
