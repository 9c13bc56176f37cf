"""The bytes that a budget counts are those of RESP, whether entries are measured or only bounded."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tailrace.core.bounds import reply_budget
from tailrace.core.bounds.reply_budget import ReplyBudget
from tailrace.core.commands import ReadLimits
from tailrace.core.log.entry import flat_of, fragment_from_flat
from tailrace.core.replies import Entries
from tailrace.core.stream_id import format_id
from tests.support.seeds import seeds

ITEMS = (
    b"",
    b"a",
    b"rider",
    b"x" * 9,
    b"y" * 10,
    b"z" * 99,
    b"w" * 100,
    b"v" * 300,
    b"\xff",
    b"\x00\n",
    b'"\\',
    "é".encode(),
)


def bulk(item: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(item), item)


def resp_of(entries: Entries, *, claim: bool) -> list[int]:
    """The bytes of each entry, written out."""
    zeros = [0] * len(entries)
    sizes = []
    for value, fragment, idle, count in zip(
        entries.ids, entries.fragments, entries.idle_ms or zeros, entries.deliveries or zeros, strict=True
    ):
        written = b"*%d\r\n" % (4 if claim else 2) + bulk(format_id(value).encode())
        if fragment is None:
            written += b"*-1\r\n"
        else:
            flat = flat_of(fragment)
            written += b"*%d\r\n" % len(flat) + b"".join(map(bulk, flat))
        if claim:
            written += b":%d\r\n:%d\r\n" % (idle, count)
        sizes.append(len(written))
    return sizes


def random_entries(chance: random.Random) -> Entries:
    count = chance.randrange(1, 8)
    ids: Sequence[int] = sorted(chance.randrange(1 << chance.choice((3, 70, 128))) for _ in range(count))
    fragments: list[bytes | None] = [
        fragment_from_flat([chance.choice(ITEMS) for _ in range(2 * chance.choice((1, 2, 5)))]) for _ in ids
    ]
    if chance.random() < 0.3:
        fragments[0] = None
    if chance.random() < 0.5:
        return Entries(ids, fragments)
    numbers = [[chance.randrange(1 << chance.choice((1, 40))) for _ in ids] for _ in range(2)]
    return Entries(ids, fragments, *numbers)


@pytest.mark.parametrize("seed", seeds(10))
def test_the_size_of_an_entry_is_that_of_its_resp_and_within_its_bound(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        entries, claim = random_entries(chance), chance.random() < 0.5
        sizes = resp_of(entries, claim=claim)
        assert list(reply_budget._sizes(entries, claim=claim)) == sizes, seed
        fragment_bytes = sum(map(len, filter(None, entries.fragments)))
        at_most = reply_budget.RESP_GROWTH_MAX * fragment_bytes
        assert sum(sizes) <= at_most + reply_budget._around_at_most(entries, claim=claim), seed


@pytest.mark.parametrize("seed", seeds(10))
def test_a_reply_ends_with_the_entry_that_reaches_the_limit(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        limit = chance.choice((1, 50, 300, 2_000))
        budget = ReplyBudget(ReadLimits(max_bytes=limit))
        used = served = 0
        for _ in range(3):
            entries, claim = random_entries(chance), chance.random() < 0.5
            expected = 0
            for size in resp_of(entries, claim=claim):
                if served + expected and used >= limit:
                    break
                used += size
                expected += 1
            assert budget.spend(entries, claim=claim) == expected, seed
            served += expected


def test_no_entries_take_no_bytes() -> None:
    assert ReplyBudget(ReadLimits(max_bytes=5)).spend(Entries([], [])) == 0
