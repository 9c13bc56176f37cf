"""A choice of fields: the entry is returned as if it had no other fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.log.entry import flat_of, fragment_from_flat
from tailrace.core.log.entry_json import NO_FIELDS, FieldChoice
from tests.unit.test_many_ids import calls_of

names = st.sampled_from(["rider", "speed", "é", 'with "quotes"', "", "line\nend"])
values = st.binary(max_size=6)
entries = st.lists(st.tuples(names, values), min_size=1, max_size=6)


@given(entries, st.lists(names, min_size=1, max_size=4))
def test_an_entry_keeps_the_chosen_fields_in_the_order_of_the_choice(
    entry: list[tuple[str, bytes]], chosen: list[str]
) -> None:
    fragment = fragment_from_flat([item for name, value in entry for item in (name.encode(), value)])
    expected = [
        item
        for name in dict.fromkeys(chosen)
        for found, value in entry
        if found == name
        for item in (name.encode(), value)
    ]
    [result] = FieldChoice(chosen).of([fragment])
    assert result == (fragment_from_flat(expected) if expected else NO_FIELDS)
    assert flat_of(result) == expected


@pytest.mark.parametrize("name", ["rider", 'with "quotes"'])
def test_an_entry_without_a_chosen_field_has_no_fields(name: str) -> None:
    assert FieldChoice([name]).of([b'{"speed":"30.2"}'] * 3) == [NO_FIELDS] * 3


def test_nothing_is_chosen_from_no_entries() -> None:
    assert FieldChoice(["rider"]).of([]) == []


@pytest.mark.parametrize("escaped", [[], ['"']])
def test_the_work_for_many_names_grows_with_the_fields_of_the_entries(escaped: list[str]) -> None:
    fragments = [b'{"a":"1","b":"2"}', b'[["a","1"],["a","2"]]'] * 500

    def calls(names: int) -> int:
        choice = FieldChoice([*escaped, "a", *(f"none-{number}" for number in range(names))])
        return calls_of(lambda: choice.of(fragments))

    assert calls(999) < 1.1 * calls(100)


def test_entries_of_all_kinds_keep_their_places() -> None:
    fragments = [b'{"a":"1"}', b'[["a","1"],["a","2"]]', b'{"b":"1"}', b'{"a":"2","b":"3"}']
    assert FieldChoice(["a"]).of(fragments) == [b'{"a":"1"}', b'[["a","1"],["a","2"]]', b"{}", b'{"a":"2"}']
