"""A sorted view gives the same results as sorting."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.pending.sorted_view import SortedView

START = 20


@given(st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=150))
def test_it_gives_in_order_what_its_owner_holds(steps: list[tuple[int, bool]]) -> None:
    members: set[int] = set()
    view = SortedView(members)
    for value, is_read in steps:
        members ^= {value}
        view.note((value,))
        if is_read:
            rising = sorted(members)
            assert list(view.from_(START)) == [each for each in rising if each >= START]
            assert list(view.up_to(START)) == [each for each in reversed(rising) if each <= START]
            assert view.last() == max(members, default=None)
    assert list(view.from_(0)) == sorted(members)


def test_what_comes_goes_and_comes_again_between_two_looks_is_there_once() -> None:
    members = set(range(100))
    view = SortedView(members)
    assert view.last() == 99
    for change in (members.discard, members.add, members.discard, members.add):
        change(50)
        view.note((50,))
    assert list(view.from_(49)) == list(range(49, 100))
