"""Sets and tables of ids give what Python's own give, and no table hashes many ids as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import pytest

from tailrace.core.id_keys import (
    FEW_IDS,
    IdTable,
    OrderedIdTable,
    are_among,
    are_rising,
    at_first_mention,
    distinct,
    ends_of,
    id_key,
    id_keys,
    ids_of_keys,
    membership,
    rising,
    table_of,
)
from tailrace.core.stream_id import MAX_ID, ZERO_ID
from tests.support.colliding_ids import Counted, colliding_ids, counted
from tests.support.seeds import seeds

SEEDS: Final = seeds(60)
MANY: Final = 2_000
COMPARISONS_PER_ID: Final = 20
"""What a sort of so many ids needs, and more."""


def some_ids(seed: int) -> list[int]:
    random = Random(seed)
    count = random.choice((0, 1, 5, FEW_IDS, FEW_IDS + 1, 300))
    ids = colliding_ids(count)
    kind = random.randrange(4)
    if kind == 1:
        random.shuffle(ids)
    elif kind == 2:
        ids = [*ids, *random.sample(ids, count // 2)]
    elif kind == 3:
        ids = random.choices([ZERO_ID, MAX_ID, *ids], k=count)
    return ids


@pytest.mark.parametrize("seed", SEEDS)
def test_the_functions_agree_with_sets_and_dicts(seed: int) -> None:
    ids = some_ids(seed)
    assert list(distinct(ids)) == list(dict.fromkeys(ids))
    assert list(rising(ids)) == list(rising(iter(ids))) == sorted(set(ids))
    assert are_rising(ids) == (ids == sorted(set(ids)))
    for members in ids[: len(ids) // 2], ids, sorted(ids), [5]:
        assert are_among(ids, members) == [value in set(members) for value in ids]
        assert list(map(membership(members), ids)) == [value in set(members) for value in ids]
    members = list(dict.fromkeys(ids[::2]))
    for each, other in (ids, members), (members, members):
        expected = dict(zip(members, map(str, members), strict=True))
        found = at_first_mention(each, other, list(map(str, members)), "none")
        assert found == [expected.pop(value, "none") for value in each]
    if ids:
        assert ends_of(list(id_keys(ids))) == (min(ids), max(ids))
    assert list(ids_of_keys(id_keys(ids))) == ids
    assert list(map(id_key, ids)) == list(id_keys(ids))
    assert sorted(ids) == list(ids_of_keys(sorted(id_keys(ids))))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_of_ids_is_a_dict(seed: int) -> None:
    ids = some_ids(seed)
    expected = {value: str(value) for value in ids}
    assert [table_of(ids, map(str, ids)).get(value) for value in [*ids, 7]] == [*map(str, ids), None]
    for table in IdTable.of(ids, map(str, ids)), OrderedIdTable.of(ids, map(str, ids)), OrderedIdTable[str]():
        table.update(expected)
        assert dict(table.items()) == expected
        assert list(table) == list(expected)
        assert list(table.values()) == list(expected.values())
        assert len(table) == len(expected)
        assert [table.get(value) for value in [*ids, 7]] == [*map(str, ids), None]
        assert table.get(7, "none") == "none"
        assert 7 not in table
        assert all(value in table for value in ids)
        for value in ids[::2]:
            table.pop(value, None)
        left = {value: text for value, text in expected.items() if value not in ids[::2]}
        assert dict(table.items()) == left
        with pytest.raises(KeyError):
            table[7]
        table.clear()
        assert not table


def test_a_range_of_ids_stays_one() -> None:
    ids = range(5, 500)
    assert are_rising(ids)
    assert rising(ids) is ids
    assert distinct(ids) is ids


@pytest.mark.parametrize("shuffled", [False, True])
def test_ids_with_one_hash_cost_as_few_comparisons_as_others(*, shuffled: bool) -> None:
    ids: Sequence[Counted] = counted(colliding_ids(MANY))
    if shuffled:
        ids = Random(1).sample(ids, MANY)
    Counted.comparisons = 0
    distinct(ids)
    rising(ids)
    are_among(ids, ids[::2])
    table: IdTable[int] = IdTable.of(ids, range(MANY))
    assert all(value in table for value in ids)
    assert Counted.comparisons < COMPARISONS_PER_ID * MANY
    # A set compares each id with all others.
    Counted.comparisons = 0
    set(ids)
    assert Counted.comparisons > COMPARISONS_PER_ID * MANY
