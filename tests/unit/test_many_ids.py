"""Commands with many ids do the same as one command for each id, and their work depends only on the number of
ids."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from random import Random
from types import FrameType
from typing import Any, Final, SupportsIndex

import pytest

from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.invariants import check
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.parser import parse_request
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.rows import Delivery
from tests.support.engine_calls import FRAGMENT
from tests.support.pending_order import entries_in_order
from tests.support.seeds import seeds

ENTRIES: Final = 150
SEEDS: Final = seeds(40)
GROUPS: Final = (b"g", b"h")


def command(*words: object) -> c.Command:
    parsed = parse_request(
        [str(word).encode() if not isinstance(word, bytes) else word for word in words]
    ).command
    assert parsed is not None
    return parsed


class Twin:
    """The same stream on two engines: one is given many ids at once, the other one id at a time."""

    def __init__(self, ids: Sequence[int], random: Random) -> None:
        self.random = random
        self.ids = ids
        self.now_ms = 1_000
        self.many, self.single = Engine(), Engine()
        node = random.choice((7, 100))
        for engine in (self.many, self.single):
            engine.execute(command("CONFIG", "SET", "stream-node-max-entries", node), self.now_ms)
            engine.execute(c.Append(b"s", [FRAGMENT] * len(ids), list(ids)), self.now_ms)
        for group in GROUPS:
            self.both("XGROUP", "CREATE", "s", group, "0")
            for _ in range(3):
                size = random.choice((5, 50, 1000))
                self.both(
                    "XREADGROUP", "GROUP", group, random.choice("ab"), "COUNT", size, "STREAMS", "s", ">"
                )

    def both(self, *words: object) -> None:
        self.now_ms += 1
        replies = [engine.execute(command(*words), self.now_ms).reply for engine in (self.many, self.single)]
        assert repr(replies[0]) == repr(replies[1])

    def some_ids(self) -> list[str]:
        """Ids of live and deleted entries and others, in random order, with repetitions."""
        kind = self.random.randrange(5)
        start = self.random.randrange(len(self.ids))
        chosen = list(self.ids[start : start + self.random.choice((1, 3, 20, 120))])
        if kind == 1:
            chosen = chosen[::2]
        elif kind == 2:
            self.random.shuffle(chosen)
        elif kind == 3:
            chosen = chosen[::-1]
        elif kind == 4:
            chosen += [*self.random.sample(chosen, len(chosen) // 3), 1, self.ids[-1] + 5]
        return [f"{value >> 64}-{value & (1 << 64) - 1}" for value in chosen]

    def state(self, engine: Engine) -> str:
        check(engine.keyspace)
        views: list[tuple[object, ...]] = [
            ("XINFO", "STREAM", "s"),
            ("XRANGE", "s", "-", "+"),
            ("XINFO", "GROUPS", "s"),
        ]
        for group in GROUPS:
            views += [("XPENDING", "s", group, "-", "+", "10000"), ("XINFO", "CONSUMERS", "s", group)]
        replies = [engine.execute(command(*words), self.now_ms).reply for words in views]
        orders = [
            [(at_ms, value) for value, _, at_ms in entries_in_order(pending)]
            for pending in (engine.keyspace.streams[b"s"].groups[group].pending for group in GROUPS)
        ]
        return repr((replies, orders))

    def compare(self) -> None:
        assert self.state(self.many) == self.state(self.single)


Words = Callable[[Random, Sequence[str]], list[object]]

COMMANDS: Final[dict[str, Words]] = {
    "XACK": lambda _, ids: ["XACK", "s", "g", *ids],
    "XNACK": lambda random, ids: [
        "XNACK",
        "s",
        "g",
        random.choice(("SILENT", "FAIL", "FATAL")),
        "IDS",
        len(ids),
        *ids,
    ],
    "XCLAIM": lambda random, ids: ["XCLAIM", "s", "g", random.choice("abc"), random.choice((0, 3)), *ids],
    "XCLAIM FORCE": lambda _, ids: ["XCLAIM", "s", "g", "b", 0, *ids, "FORCE", "JUSTID"],
    "XDEL": lambda _, ids: ["XDEL", "s", *ids],
    "XDELEX": lambda random, ids: [
        "XDELEX",
        "s",
        random.choice(("DELREF", "KEEPREF", "ACKED")),
        "IDS",
        len(ids),
        *ids,
    ],
    "XACKDEL": lambda random, ids: [
        "XACKDEL",
        "s",
        "h",
        random.choice(("DELREF", "KEEPREF")),
        "IDS",
        len(ids),
        *ids,
    ],
}


def one_of(words: Sequence[object], ids: Sequence[str], value: str) -> list[object]:
    """The same command for one of its ids."""
    start = words.index(ids[0])
    single = [*words[:start], value, *words[start + len(ids) :]]
    if "IDS" in single:
        single[single.index("IDS") + 1] = 1
    return single


@pytest.mark.parametrize("seed", SEEDS)
def test_many_ids_do_what_the_same_ids_do_one_by_one(seed: int) -> None:
    random = Random(seed)
    # The hash of an id is 8 * ms + seq: with the last step, all ids have one hash.
    step = random.choice((1, 3, 1 << 64, (1 << 64) - 8))
    twin = Twin([(5 << 64) + step * number for number in range(1, ENTRIES)], random)
    for _ in range(10):
        ids = twin.some_ids()
        words = COMMANDS[random.choice(list(COMMANDS))](random, ids)
        twin.now_ms += 1
        twin.many.execute(command(*words), twin.now_ms)
        for value in ids:
            twin.single.execute(command(*one_of(words, ids, value)), twin.now_ms)
        twin.compare()


# --- work ----------------------------------------------------------------------------------------------


def scattered(count: int) -> list[str]:
    """The ids 1-0 to `count`-0, each far from the one before it."""
    return [f"{number * 79 % count + 1}-0" for number in range(count)]


def calls_of(run: Callable[[], object]) -> int:
    """How many functions `run` calls, those in C included."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def engine_with(count: int) -> Engine:
    engine = Engine()
    engine.execute(c.Append(b"s", [FRAGMENT] * count, [number << 64 for number in range(1, count + 1)]), 1)
    for group in GROUPS:
        engine.execute(command("XGROUP", "CREATE", "s", group, "0"), 1)
        engine.execute(command("XREADGROUP", "GROUP", group, "a", "STREAMS", "s", ">"), 1)
    return engine


@pytest.mark.parametrize("name", COMMANDS)
def test_the_work_of_a_command_grows_with_its_ids_and_not_faster(name: str) -> None:
    def calls(count: int) -> int:
        engine = engine_with(count)
        words = command(*COMMANDS[name](Random(1), scattered(count)))
        return calls_of(lambda: engine.execute(words, 10))

    assert calls(4_000) < 2.5 * calls(2_000)


@pytest.mark.parametrize("policy", ["KEEPREF", "DELREF", "ACKED"])
@pytest.mark.parametrize("start", [["XDELEX", "s"], ["XACKDEL", "s", "g"]])
def test_a_deletion_looks_all_its_ids_up_together(start: list[str], policy: str) -> None:
    engine = engine_with(2_000)
    ids = scattered(2_000)
    words = command(*start, policy, "IDS", len(ids), *ids)
    assert calls_of(lambda: engine.execute(words, 10)) < 20 * len(ids)


class Watched(list[int]):
    """Ids that count how many of them are copied into slices."""

    copied = 0

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        found = super().__getitem__(index)
        if isinstance(index, slice):
            self.copied += len(found)  # type: ignore[arg-type] # a slice gives a list
        return found


def test_claiming_ids_in_no_order_compares_each_with_its_neighbours_only() -> None:
    pending, alice, bob = PendingEntriesList(), Consumer(b"alice", 0), Consumer(b"bob", 0)
    ids = [number << 64 for number in range(1, 2_001)]
    pending.deliver(pack_ids(ids), alice, 1)
    random = Random(7)
    watched = Watched(random.sample(ids, len(ids)))
    pending.claim(watched, bob, 2, [2] * len(ids))
    assert bob.pending_count == len(ids)
    assert watched.copied <= 10 * len(ids)


@pytest.mark.parametrize("gap", [1, 2, 1 << 64])
def test_deliveries_of_many_ids_are_those_of_each_id(gap: int) -> None:
    pending, alice = PendingEntriesList(), Consumer(b"alice", 0)
    ids = list(range(gap, 400 * gap, gap))
    for start in (20, 120, 300):
        pending.deliver(pack_ids(ids[start : start + 90]), alice, start)
    pending.remove(ids[130:135])
    pending.remove(ids[160:200:3])
    pending.nack(ids[205:209], [1] * 4)
    asked = [0, *ids[::-1], 401 * gap, 5 * gap + gap // 2]
    for some in (asked, asked[:7], asked[100:300], [5], ids[125:150]):
        found = {value: unit for value in some if (unit := pending.get(value)) is not None}
        assert pending.find_all(some) == found
        assert pending.present(some) == sorted(found) or set(pending.present(some)) == set(found)


def test_there_is_nothing_to_find_in_an_empty_list() -> None:
    assert PendingEntriesList().find_all([1, 2, 3, 4, 5]) == {}


@pytest.mark.parametrize("counts", [[2] * 6, [2, 3, 2, 9, 1, 2]])
def test_claiming_all_entries_of_a_claim_again_moves_them_with_their_new_counts(counts: list[int]) -> None:
    pending, alice, bob = PendingEntriesList(), Consumer(b"alice", 0), Consumer(b"bob", 0)
    ids = [70, 30, 50, 10, 90, 20]
    pending.claim(ids, alice, 1, [1] * 6)
    pending.claim(ids, bob, 2, counts)
    assert [pending.get(value) for value in ids] == [Delivery(bob, 2, count) for count in counts]
    assert (alice.pending_count, list(pending.ids_of(bob))) == (0, sorted(ids))
    pending.remove(ids[:5])
    assert list(pending.ids()) == list(pending.ids_of(bob)) == [20]


@pytest.mark.parametrize("gap", [1, 1 << 64])
def test_one_id_at_a_time_is_found_until_it_is_removed(gap: int) -> None:
    random = Random(3)
    for order in (list, reversed, lambda ids: random.sample(ids, len(ids))):
        pending, alice = PendingEntriesList(), Consumer(b"alice", 0)
        left = list(range(gap, 41 * gap, gap))
        pending.deliver(pack_ids(left), alice, 1)
        for value in list(order(left)):
            assert list(pending.present((value,))) == [value]
            pending.remove((value,))
            left.remove(value)
            assert not pending.present((value,))
            assert value not in pending
            assert (list(pending.ids()), pending.count, alice.pending_count) == (left, len(left), len(left))
