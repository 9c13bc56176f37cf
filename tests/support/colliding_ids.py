"""Ids that Python hashes alike, and ids that count how often they are compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tailrace.core.stream_id import StreamId, make_id

FIRST_MS: Final = 1_000_000
SEQS_PER_MS: Final = 8
"""The hash of the id ``ms-seq`` is ``8 * ms + seq``."""


def colliding_ids(count: int) -> list[StreamId]:
    """Return `count` rising ids with one hash."""
    ids = [make_id(FIRST_MS + each, SEQS_PER_MS * (count - each)) for each in range(count)]
    assert len(set(map(hash, ids))) <= 1, "Python hashes ints in another way"
    return ids


class Counted(int):
    """An id that counts comparisons with others. `comparisons`: of all of them."""

    comparisons = 0

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return int.__eq__(self, other)

    def __lt__(self, other: int) -> bool:
        Counted.comparisons += 1
        return int.__lt__(self, other)

    def __ne__(self, other: object) -> bool:
        Counted.comparisons += 1
        return int.__ne__(self, other)


def counted(ids: Iterable[StreamId]) -> list[Counted]:
    """Return `ids` as numbers that count their comparisons."""
    return list(map(Counted, ids))
