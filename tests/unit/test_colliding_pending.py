"""Pending entries whose ids have one hash cost what others do: no request can make a table slow.

The ids of a call count how often they are compared. Tables that stay are searched for equal hashes.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any, Final

import pytest

from tailrace.core.engine import Engine
from tailrace.core.group import Group
from tailrace.core.id_keys import FEW_IDS
from tailrace.core.keyspace import Keyspace
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending_invariants import check_group
from tailrace.core.storage.state import decode_group, encode_group
from tests.support.colliding_ids import Counted, colliding_ids, counted
from tests.support.seeds import some_each_day
from tests.unit.test_many_ids import command
from tests.unit.test_trim_work import stream_of

COUNT: Final = 1_200
LOOKS_MAX: Final = 2 * FEW_IDS
"""Comparisons for each id of a call: some look-ups in tables of few ids, and sorting."""


def tables_of(value: object) -> Iterator[dict[Any, Any] | set[Any]]:
    """Return all dicts and sets that belong to a pending entries list."""
    seen: set[int] = set()
    left = [value]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type) or callable(each):
            continue
        seen.add(id(each))
        if isinstance(each, dict | set):
            yield each
        left += gc.get_referents(each)


def most_equal_hashes(value: object) -> int:
    """Return the most keys with one hash in any table of `value`."""
    most = 0
    for table in tables_of(value):
        hashes = Counter(hash(key) for key in table if isinstance(key, int))
        most = max(most, *hashes.values(), 0)
    return most


class Scene:
    """A group that has `COUNT` pending entries whose ids have one hash."""

    def __init__(self, portion: int) -> None:
        """`portion`: how many entries were claimed at once."""
        self.pending = PendingEntriesList()
        self.alice, self.bob = Consumer(b"alice", 0), Consumer(b"bob", 0)
        self.ids = colliding_ids(COUNT)
        self.shuffled = Random(portion).sample(self.ids, COUNT)
        for start in range(0, COUNT, portion):
            some = self.shuffled[start : start + portion]
            self.pending.claim(some, (self.alice, self.bob)[start // portion % 2], 1, [1] * len(some))
        self.counts = [1] * COUNT

    def transfer(self) -> None:
        """Give all entries of alice to bob."""
        self.pending.transfer(self.alice, self.bob)

    def group(self) -> Group:
        group = Group(b"g", 0, 0)
        group.pending = self.pending
        group.consumers.update({b"alice": self.alice, b"bob": self.bob})
        return group


def spans_of(ids: list[int]) -> IdSpans:
    return IdSpans(ids[::3], ids[1::3])


def remove_each(pending: PendingEntriesList, ids: list[Counted]) -> None:
    for value in ids:
        pending.remove((value,))


STEPS: Final[dict[str, Callable[[Scene], object]]] = {
    "claim": lambda scene: scene.pending.claim(counted(scene.shuffled), scene.bob, 2, scene.counts),
    "claim in order": lambda scene: scene.pending.claim(counted(scene.ids), scene.bob, 2, scene.counts),
    "claim some": lambda scene: scene.pending.claim(
        counted(scene.shuffled[::2]), scene.bob, 2, scene.counts[::2]
    ),
    "nack": lambda scene: scene.pending.nack(counted(scene.shuffled[::2]), scene.counts[::2]),
    "hold": lambda scene: scene.pending.hold(counted(scene.shuffled), scene.counts, 9),
    "present": lambda scene: scene.pending.present(counted(scene.shuffled)),
    "find": lambda scene: scene.pending.find_all(counted(scene.shuffled)),
    "remove": lambda scene: scene.pending.remove(counted(scene.shuffled[1:])),
    "remove one by one": lambda scene: remove_each(scene.pending, counted(scene.ids[1:])),
    "deliver again": lambda scene: scene.pending.deliver(counted(scene.ids), scene.bob, 2),
    "trim": lambda scene: scene.pending.remove_spans(
        IdSpans(counted(scene.ids[:1]), counted(scene.ids[9:10]))
    ),
    "trim among many": lambda scene: scene.pending.remove_spans(
        IdSpans(counted(scene.ids[::3]), counted(scene.ids[1::3]))
    ),
    "transfer": lambda scene: scene.transfer(),
}


@pytest.mark.parametrize(("step", "portion"), some_each_day(product(STEPS, [1, 3, 40, 1_000, COUNT]), 3))
def test_ids_with_one_hash_are_compared_a_limited_number_of_times(step: str, portion: int) -> None:
    scene = Scene(portion)
    assert most_equal_hashes(scene.pending) <= FEW_IDS
    Counted.comparisons = 0
    STEPS[step](scene)
    assert Counted.comparisons <= LOOKS_MAX * COUNT
    assert most_equal_hashes(scene.pending) <= FEW_IDS
    check_group(scene.group())


@pytest.mark.parametrize("portion", [4, 100])
def test_segments_of_ids_with_one_hash_are_found_without_many_comparisons(portion: int) -> None:
    pending, alice = PendingEntriesList(), Consumer(b"alice", 0)
    ids = colliding_ids(COUNT)
    for start in range(0, COUNT, portion):
        pending.deliver(ids[start : start + portion], alice, 1)
    assert most_equal_hashes(pending) <= FEW_IDS
    assert most_equal_hashes(alice) <= FEW_IDS
    spans = spans_of(ids)
    for segment in pending.table.segments.segments:
        segment.positions_of(ids[:: COUNT // 7])
        spans.mask(segment.ids)
    assert most_equal_hashes(spans) <= FEW_IDS
    Counted.comparisons = 0
    assert len(pending.find_all(counted(ids))) == COUNT
    pending.remove(counted(ids[::2]))
    assert Counted.comparisons <= LOOKS_MAX * COUNT


def group_of(engine: Engine) -> Group:
    group: Group = stream_of(engine).groups[b"g"]
    return group


def text(value: int) -> str:
    return f"{value >> 64}-{value & (1 << 64) - 1}"


def commands(count: int) -> Iterator[tuple[Any, ...]]:
    """Commands that name many ids with one hash, in the order in which a client could send them."""
    ids = list(map(text, colliding_ids(count)))
    shuffled = Random(1).sample(ids, count)
    for value in ids:
        yield "XADD", "s", value, "f", "v"
    yield "XGROUP", "CREATE", "s", "g", 0
    yield "XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"
    yield "XCLAIM", "s", "g", "b", 0, *shuffled[::2], "JUSTID"
    yield "XCLAIM", "s", "g", "c", 0, *shuffled[: count // 2], "JUSTID"
    yield "XAUTOCLAIM", "s", "g", "d", 0, 0, "COUNT", count, "JUSTID"
    yield "XREADGROUP", "GROUP", "g", "e", "COUNT", count, "CLAIM", 0, "STREAMS", "s", ">"
    yield "XNACK", "s", "g", "FAIL", "IDS", count // 3, *shuffled[: count // 3]
    yield "XCLAIM", "s", "g", "c", 0, *ids[1::2], "JUSTID"
    yield "XACK", "s", "g", *shuffled[: count // 5]
    yield "XTRIM", "s", "MAXLEN", "=", count // 2, "DELREF"
    yield "XPENDING", "s", "g", "-", "+", count
    yield "XGROUP", "DELCONSUMER", "s", "g", "c"


def test_no_table_of_a_group_has_many_equal_hashes_after_any_command() -> None:
    engine, copy = Engine(), Keyspace()
    for number, words in enumerate(commands(COUNT)):
        for effect in engine.execute(command(*words), 10 + number).effects:
            effect.apply(copy)
        if words[0] == "XADD":
            continue
        group = group_of(engine)
        restored = decode_group(encode_group(group))
        for each in (group, restored, copy.streams[b"s"].groups[b"g"]):
            assert most_equal_hashes(each.pending) <= FEW_IDS, words[0]
            check_group(each)
