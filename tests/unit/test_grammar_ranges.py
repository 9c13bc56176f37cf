from __future__ import annotations

import pytest

from tailrace.core.commands import Range, StreamLength
from tailrace.core.replies import RangeReply
from tailrace.core.stream_id import MAX_ID, ZERO_ID
from tests.support.grammar import at, command, entries, refusal, request

INVALID_ID = "ERR Invalid stream ID specified as stream command argument"
MAX = "18446744073709551615"


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        ("-", "+", ZERO_ID, MAX_ID),
        ("+", "-", MAX_ID, ZERO_ID),
        ("1", "2", at("1-0"), at(f"2-{MAX}")),
        ("1-1", "2-2", at("1-1"), at("2-2")),
        ("(1", "(2-0", at("1-1"), at(f"1-{MAX}")),
        (f"(1-{MAX}", "(2", at("2-0"), at(f"2-{MAX}") - 1),
    ],
)
def test_a_range_takes_inclusive_and_exclusive_bounds(start: str, end: str, first: int, last: int) -> None:
    assert command(f"XRANGE k {start} {end}", Range) == Range(b"k", first, last)
    assert command(f"XREVRANGE k {end} {start}", Range) == Range(b"k", first, last, reverse=True)


def test_a_range_takes_the_last_count() -> None:
    assert command("XRANGE k - + COUNT 3", Range).count == 3
    assert command("XREVRANGE k + - count 0 Count 5", Range).count == 5


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("( +", INVALID_ID),
        ("(- +", INVALID_ID),
        ("- (+", INVALID_ID),
        ("x +", INVALID_ID),
        ("- $", INVALID_ID),
        (f"({MAX}-{MAX} +", "ERR invalid start ID for the interval"),
        ("- (0-0", "ERR invalid end ID for the interval"),
        ("x + COUNT x", INVALID_ID),
        ("- + COUNT", "ERR syntax error"),
        ("- + LIMIT 5", "ERR syntax error"),
        ("- + COUNT x", "ERR value is not an integer or out of range"),
    ],
)
def test_a_range_refuses(words: str, error: str) -> None:
    assert refusal(f"XRANGE k {words}") == error


def test_a_reversed_range_reads_its_start_first_too() -> None:
    assert refusal(f"XREVRANGE k x ({MAX}-{MAX}") == "ERR invalid start ID for the interval"


def test_a_range_answers_entries() -> None:
    reply = RangeReply(entries(1, 2))
    assert request("XRANGE k - +").to_resp(reply) == [[b"1-0", [b"f", b"1"]], [b"2-0", [b"f", b"2"]]]
    assert request("XRANGE k - +").to_resp(RangeReply(entries(), exists=False)) == []


@pytest.mark.parametrize("count", ["0", "-1"])
def test_a_range_with_a_count_that_is_not_positive_answers_the_null_array(count: str) -> None:
    line = f"XRANGE k - + COUNT {count}"
    assert command(line, Range).count == 0
    assert request(line).to_resp(RangeReply(entries())) is None


def test_a_range_with_count_zero_over_a_missing_stream_answers_an_empty_array() -> None:
    assert request("XRANGE k - + COUNT 0").to_resp(RangeReply(entries(), exists=False)) == []


def test_xlen_answers_the_length() -> None:
    assert command("XLEN k", StreamLength) == StreamLength(b"k")
    assert request("XLEN k").to_resp(3) == 3
