"""Random programs for engines behind the library, and what may differ from the embedded engine, with the reasons."""

from __future__ import annotations

from random import Random
from typing import Final

from tailrace.core import commands as c
from tailrace.core.parser import parse_request
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


class EmulatedBy70(Comparison70):
    """The engine against 7.0.15 behind the library."""

    omitted: Members = frozenset({b"active-time", b"inactive", b"radix-tree-keys", b"radix-tree-nodes"})

    def _probed(self, index: int) -> Reply:
        # The library creates the consumer of an empty read, so nothing is to be turned into today's answer.
        return self.theirs[index]


class EmulatedBy810(Comparison810):
    """The engine against 8.10.2 behind the library."""

    omitted: Members = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})


def program(seed: int, steps: int) -> Program:
    """The random program of that seed."""
    return EmulatedGenerator(Random(seed)).program(steps)


def first_difference(
    emulation: Emulation, comparison: type[Comparison], steps: Program
) -> Difference | None:
    """None where the engine and the engine behind the library answer alike."""
    commands = commands_of([*OPENING, *steps, *FAREWELL])
    return comparison(commands, [emulation.run(words) for words in commands]).run()
