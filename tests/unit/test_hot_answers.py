"""The answer of `xadd`, whose text is kept for the ids of one millisecond."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tailrace.api.operations.appends import xadd_bytes
from tailrace.core.stream_id import MAX_ID, format_id, make_id

MS = st.sampled_from((0, 1, 1_700_000_000_000, 1_700_000_000_001, 2**64 - 1))
SEQ = st.one_of(st.integers(0, 2), st.integers(997, 1002), st.integers(0, 2**64 - 1))


@given(st.lists(st.builds(make_id, MS, SEQ)))
def test_the_answer_has_the_id_whatever_was_answered_before(ids: list[int]) -> None:
    for value in (*ids, 0, MAX_ID):
        assert xadd_bytes(value) == b'{"id":"%b"}' % format_id(value).encode()
