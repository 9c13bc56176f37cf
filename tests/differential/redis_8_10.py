"""Redis 8.10.2, and the differences between it and the engine that are allowed, each with its reason.

All other answers must be equal. `docs/differences.md` has a row for each.
"""

from __future__ import annotations

from typing import Final

from tests.differential.harness import Comparison
from tests.differential.replies import Members, Refusal, Reply
from tests.differential.vocabulary import Words

TREE_MEMBERS: Final = frozenset({b"radix-tree-keys", b"radix-tree-nodes"})
"""The engine has blocks instead of a radix tree; that they end at the same entries as Redis's nodes
shows in what approximate trimming removes."""


EXHAUSTED: Final = "ERR The stream has exhausted the last possible ID, unable to add more items"
"""Redis keeps a producer without keys where it refuses an XADD with IDMP; here a refused command leaves
nothing behind. The numbers of producers differ from there on: the program ends."""


class Comparison810(Comparison):
    """The engine against 8.10.2."""

    omitted: Members = TREE_MEMBERS

    def ends(self, words: Words, ours: Reply) -> bool:
        producer = any(word.upper() in {b"IDMP", b"IDMPAUTO"} for word in words)
        return producer and ours == Refusal(EXHAUSTED)
