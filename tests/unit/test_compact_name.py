"""Names of any length in a form of bounded size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.idempotency.compact_name import compact_name
from tailrace.core.limits import NAME_BYTES_MAX

COMPACT_BYTES_MAX = NAME_BYTES_MAX


@pytest.mark.parametrize("name", [b"k", b"\x00\xff", b"n" * NAME_BYTES_MAX])
def test_a_short_name_is_kept_as_it_is(name: bytes) -> None:
    assert compact_name(name) == name


@pytest.mark.parametrize("size", [NAME_BYTES_MAX + 1, 65_536, 1_000_000])
def test_a_long_name_takes_no_more_than_a_short_one(size: int) -> None:
    assert len(compact_name(b"n" * size)) < COMPACT_BYTES_MAX
    assert compact_name(b"n" * size) != compact_name(b"n" * size + b"n")


def test_a_short_name_that_spells_a_digest_is_not_taken_for_the_long_name() -> None:
    digest = compact_name(b"n" * 1000)
    assert compact_name(digest) != digest
    assert compact_name(compact_name(digest)) not in {digest, compact_name(digest)}


@given(st.binary(max_size=1200), st.binary(max_size=1200))
def test_different_names_stay_different(one: bytes, other: bytes) -> None:
    assert (compact_name(one) == compact_name(other)) is (one == other)
