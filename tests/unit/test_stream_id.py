"""Parsing and formatting of ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tailrace.core.errors import StreamError
from tailrace.core.stream_id import (
    MAX_ID,
    RUN_MIN,
    U64_MAX,
    ZERO_ID,
    format_id,
    id_ms,
    id_seq,
    make_id,
    parse_id,
    parse_ids,
    parse_position,
    parse_range_end,
    parse_range_start,
)

INVALID = "ERR Invalid stream ID specified as stream command argument"


@given(st.integers(0, U64_MAX), st.integers(0, U64_MAX))
def test_an_id_is_read_back_as_it_was_written(ms: int, seq: int) -> None:
    value = make_id(ms, seq)
    assert parse_id(format_id(value).encode()) == value
    assert (id_ms(value), id_seq(value)) == (ms, seq)


@pytest.mark.parametrize(
    "raw",
    [b"", b"-", b"+", b"1-", b"-1", b"1-2-3", b"+1-1", b"1 ", b" 1", b"1-*", b"a", b"1-a", b"\xff", b"1\n"],
)
def test_what_is_no_id_is_refused(raw: bytes) -> None:
    with pytest.raises(StreamError) as refused:
        parse_id(raw)
    assert refused.value.line == INVALID


@pytest.mark.parametrize("raw", [b"18446744073709551616", b"1-18446744073709551616", b"0" * 128])
def test_an_id_out_of_range_or_too_long_is_refused(raw: bytes) -> None:
    with pytest.raises(StreamError) as refused:
        parse_id(raw)
    assert refused.value.line == INVALID


def test_127_bytes_are_the_longest_id() -> None:
    assert parse_id(b"0" * 126 + b"7") == make_id(7, 0)


def test_a_missing_sequence_is_zero_or_what_is_asked_for() -> None:
    assert parse_id(b"5") == make_id(5, 0)
    assert parse_id(b"5", U64_MAX) == make_id(5, U64_MAX)
    assert parse_range_start(b"5") == make_id(5, 0)
    assert parse_range_end(b"5") == make_id(5, U64_MAX)


def test_minus_and_plus_are_positions_only() -> None:
    assert parse_position(b"-") == ZERO_ID
    assert parse_position(b"+") == MAX_ID


def test_a_parenthesis_excludes_the_id_itself() -> None:
    assert parse_range_start(b"(5-1") == make_id(5, 2)
    assert parse_range_start(b"(5") == make_id(5, 1)
    assert parse_range_end(b"(5-1") == make_id(5, 0)
    assert parse_range_end(b"(5-0") == make_id(4, U64_MAX)


def test_excluding_the_outermost_id_leaves_no_interval() -> None:
    with pytest.raises(StreamError, match="invalid start ID for the interval"):
        parse_range_start(f"({U64_MAX}-{U64_MAX}".encode())
    with pytest.raises(StreamError, match="invalid end ID for the interval"):
        parse_range_end(b"(0-0")


@pytest.mark.parametrize("raw", [b"(", b"(-", b"(+", b"((1"])
def test_a_parenthesis_needs_an_id(raw: bytes) -> None:
    for parse in (parse_range_start, parse_range_end):
        with pytest.raises(StreamError) as refused:
            parse(raw)
        assert refused.value.line == INVALID


@given(
    st.lists(
        st.one_of(
            st.from_regex(r"[0-9]{1,20}(-[0-9]{1,20})?", fullmatch=True),
            st.sampled_from(["", "-", "1-", "-1", "1--1", "+", "1_0-0", "\u0661-1", " 1-1", "1-1 ", "0x1-1"]),
        ),
        max_size=4,
    )
)
@example([f"{U64_MAX + 1}-0"])
@example(["1-0", f"0-{U64_MAX}", f"{U64_MAX}-{U64_MAX}"])
@example(["1-0", "01-1"])
def test_many_ids_are_read_as_each_of_them_is(texts: list[str]) -> None:
    def line_of(read: Callable[[], Sequence[int]]) -> list[int] | str:
        try:
            return list(read())
        except StreamError as error:
            return error.line

    one_by_one = line_of(lambda: [parse_id(text.encode()) for text in texts])
    assert line_of(lambda: parse_ids(texts)) == one_by_one


@pytest.mark.parametrize("first", ["1-0", "1692632086370-7", f"5-{U64_MAX - RUN_MIN + 1}"])
@pytest.mark.parametrize("bad", [None, 0, RUN_MIN // 2, RUN_MIN - 1])
def test_ids_that_follow_each_other_are_read_as_each_of_them_is(first: str, bad: int | None) -> None:
    ms, _, seq = first.partition("-")
    texts = [f"{ms}-{int(seq) + step}" for step in range(RUN_MIN)]
    if bad is not None:
        texts[bad] = f"9{texts[bad]}"
    ids = parse_ids(texts)
    assert list(ids) == [parse_id(text.encode()) for text in texts]
    assert isinstance(ids, range) is (bad is None)
