"""Random programs for a whole gateway, and what may differ from the embedded engine on each engine, with the
reasons.

Owns the programs and the comparisons. Unlike `tests.remote.functions`, the store chooses between the
engine's commands and the library. On a Cluster the keys of a program have one hash tag, so that a program
may name them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from tailrace.core.commands import CopyKey, ReadGroup, RenameKey
from tailrace.core.parser import parse_request
from tests.differential.harness import FAREWELL, OPENING, Comparison, Difference, commands_of
from tests.differential.later_generator import LaterGenerator
from tests.differential.redis_8_10 import Comparison810
from tests.differential.replies import Members
from tests.differential.vocabulary import KEYS, Program, Words
from tests.remote.functions.emulated import EmulatedBy70, EmulatedByValkey, has_named_difference
from tests.remote.functions.emulation import is_well_formed
from tests.support.store_commands import StoreCommands

TAGGED: Final = {key: b"{program}" + key for key in KEYS}


class NativeBy810(Comparison810):
    """The engine against a gateway before 8.10.2."""

    omitted: Members = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})


class Tagged70(EmulatedBy70):
    """The engine against a gateway before a Cluster of 7.0.15."""

    keys = tuple(TAGGED.values())


class TaggedValkey(EmulatedByValkey):
    """The engine against a gateway before a Cluster of Valkey."""

    keys = tuple(TAGGED.values())


COMPARISONS: Final[dict[str, type[Comparison]]] = {
    "redis-8.10.2": NativeBy810,
    "redis-7.0.15": EmulatedBy70,
    "valkey-9.1.2": EmulatedByValkey,
    "cluster-8.10.2": NativeBy810,
    "cluster-7.0.15": Tagged70,
    "cluster-valkey-9.1.2": TaggedValkey,
}
"""The comparison for each of `tests.support.engines.STORES`."""


@dataclass(frozen=True)
class Behind:
    """A gateway's store in front of one of these engines."""

    name: str
    store: StoreCommands

    def program(self, seed: int, steps: int) -> Program:
        """Return the random program of that seed."""
        made = StoreGenerator(Random(seed), self.name).program(steps)
        return self.tagged(made)

    def tagged(self, program: Program) -> Program:
        """Return the program with tags in its keys, if the store is a Cluster."""
        if not self.name.startswith("cluster"):
            return program
        return [tuple(_with_tags(words) for words in step) for step in program]

    def first_difference(self, steps: Program) -> Difference | None:
        """Return None if the embedded engine and the engine behind the gateway answer alike."""
        commands = commands_of([*OPENING, *steps, *self.tagged(FAREWELL)])
        return COMPARISONS[self.name](commands, [self.store.run(words) for words in commands]).run()


def _with_tags(words: Words) -> Words:
    return [TAGGED.get(word, word) for word in words]


class StoreGenerator(LaterGenerator):
    """Programs of all commands on streams, without those whose difference has a name for this store.

    - CLAIM of a read that names a stream twice: the library runs it on every engine, and its order of equal
      idle times differs. What the library does otherwise differs where commands are emulated: see
      `tests.remote.functions.emulated`.
    - On a Cluster, RENAME and COPY to another slot.
    """

    def __init__(self, random: Random, store: str) -> None:
        super().__init__(random)
        self._is_cluster = store.startswith("cluster")
        self._is_emulated = "8.10.2" not in store

    def _is_comparable(self, words: Words) -> bool:
        if not super()._is_comparable(words):
            return False
        return not (is_well_formed(words) and self._has_named_difference(parse_request(words).command))

    def _has_named_difference(self, command: object) -> bool:
        if isinstance(command, ReadGroup) and command.claim_min_idle_ms is not None:
            return len({source.key for source in command.streams}) < len(command.streams)
        if isinstance(command, RenameKey | CopyKey) and self._is_cluster:
            return not {command.key, command.new_key}.issubset(KEYS)
        return self._is_emulated and has_named_difference(command)
