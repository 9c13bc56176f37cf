"""Redis 8.10.2, and the differences between it and the engine that are allowed, each with its reason.

All other answers must be equal. `docs/differences.md` has a row for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.errors import StreamError
from tailrace.core.stream_id import StreamId, parse_id
from tests.differential.harness import Comparison
from tests.differential.replies import Members, Refusal, Reply
from tests.differential.vocabulary import Words
from tests.support.redis_server import Value

TREE_MEMBERS: Final = frozenset({b"radix-tree-nodes"})
"""The engine has blocks instead of a radix tree. They begin and end at the same entries as Redis's nodes,
so `radix-tree-keys` is compared; how many nodes the tree itself has depends on the ids."""

EXHAUSTED: Final = "ERR The stream has exhausted the last possible ID, unable to add more items"
"""Redis keeps a producer without keys where it refuses an XADD with IDMP; here a refused command leaves
nothing behind. The numbers of producers differ from there on: the program ends."""


class Comparison810(Comparison):
    """The engine against 8.10.2.

    `_blocks`: before a trim by MINID, the first and the last id of each block, deleted or not.
    """

    omitted: Members = TREE_MEMBERS

    def __init__(self, commands: Sequence[Words], replies: Sequence[Value]) -> None:
        super().__init__(commands, replies)
        self._blocks: dict[StreamId, StreamId] = {}

    def before(self, words: Words) -> None:
        self._blocks = {} if _min_id(words) is None else self._blocks_of(words[1])

    def _blocks_of(self, key: bytes) -> dict[StreamId, StreamId]:
        stream = self.stream(key)
        return {} if stream is None else {block.first_id: block.last_id for block in stream.log.blocks}

    def ends(self, words: Words, ours: Reply) -> bool:
        return self._leaves_a_producer(words, ours) or self._leaves_an_empty_node(words)

    def _leaves_a_producer(self, words: Words, ours: Reply) -> bool:
        producer = any(word.upper() in {b"IDMP", b"IDMPAUTO"} for word in words)
        return producer and ours == Refusal(EXHAUSTED)

    def _leaves_an_empty_node(self, words: Words) -> bool:
        """Whether Redis keeps a node of deleted entries only, which the engine has dropped.

        Where the last entry of a node was deleted and MINID, at most that entry's id, then removes the
        others, the node stays, and later entries may go into it: the program ends.
        """
        min_id = _min_id(words)
        if min_id is None:
            return False
        kept = {first_id for first_id, last_id in self._blocks.items() if last_id >= min_id}
        return not kept.issubset(self._blocks_of(words[1]))


def _min_id(words: Words) -> StreamId | None:
    """The threshold of a trim by MINID, None for all other commands."""
    upper = [word.upper() for word in words]
    if upper[0] not in {b"XADD", b"XTRIM"} or b"MINID" not in upper[:-1]:
        return None
    place = upper.index(b"MINID") + 1
    place += words[place] in {b"=", b"~"} and len(words) > place + 1
    try:
        return parse_id(words[place])
    except StreamError:
        return None
