"""The lazy set against a plain one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.lazy_sorted_ids import LazySortedIds


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=150))
def test_it_holds_what_a_set_holds_and_gives_it_in_order(steps: list[tuple[int, bool]]) -> None:
    lazy, model = LazySortedIds(), set[int]()
    for value, read in steps:
        if value in model:
            lazy.discard((value,))
            model.discard(value)
        else:
            lazy.add((value,))
            model.add(value)
        if read:
            assert list(lazy.from_(20)) == sorted(each for each in model if each >= 20)
            assert lazy.last() == max(model, default=None)
        assert len(lazy) == len(model)
        assert (value in lazy) == (value in model)
    assert list(lazy.from_(0)) == sorted(model)
