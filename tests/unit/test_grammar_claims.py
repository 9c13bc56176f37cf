from __future__ import annotations

from itertools import permutations

import pytest

from tailrace.core.commands import AutoClaim, Claim, ClaimOptions, PendingRange, PendingSummary
from tailrace.core.replies import ClaimReply, Entries, PendingEntry, PendingSummaryReply
from tailrace.core.stream_id import MAX_ID, ZERO_ID
from tests.support.grammar import at, command, entries, late_refusal, refusal, request

SYNTAX = "ERR syntax error"
INVALID_ID = "ERR Invalid stream ID specified as stream command argument"
NOT_AN_INTEGER = "ERR value is not an integer or out of range"
MAX = "18446744073709551615"


def claim_options(words: str) -> ClaimOptions:
    options = command(f"XCLAIM k g c {words}", Claim).options
    assert isinstance(options, ClaimOptions)
    return options


# --- XCLAIM ----------------------------------------------------------------------------------------


def test_xclaim_takes_ids_up_to_the_first_option() -> None:
    claim = command("XCLAIM k g c 10 1 2-3", Claim)
    assert claim == Claim(b"k", b"g", b"c", ClaimOptions(10, (at("1-0"), at("2-3"))))
    assert claim_options("0 FORCE") == ClaimOptions(0, (), force=True)


def test_xclaim_takes_its_options_in_any_order_and_any_case() -> None:
    words = ["idle 5", "RetryCount 7", "FORCE", "JustId", "lastid 9-1"]
    expected = ClaimOptions(
        1, (at("1-0"),), idle_ms=5, retry_count=7, force=True, just_id=True, last_id=at("9-1")
    )
    for order in permutations(words):
        assert claim_options(f"1 1 {' '.join(order)}") == expected


def test_a_negative_min_idle_is_zero() -> None:
    assert claim_options("-5 1").min_idle_ms == 0
    assert command("XAUTOCLAIM k g c -5 0", AutoClaim).min_idle_ms == 0


def test_of_idle_and_time_the_last_one_counts() -> None:
    assert claim_options("0 1 IDLE 5 TIME 6") == ClaimOptions(0, (at("1-0"),), delivered_at_ms=6)
    assert claim_options("0 1 TIME 6 IDLE -5") == ClaimOptions(0, (at("1-0"),), idle_ms=-5)


def test_a_negative_retrycount_is_ignored() -> None:
    assert claim_options("0 1 RETRYCOUNT -1").retry_count is None
    assert claim_options("0 1 RETRYCOUNT 5 RETRYCOUNT -2").retry_count is None
    assert claim_options("0 1 RETRYCOUNT 0").retry_count == 0


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("x 1", "ERR Invalid min-idle-time argument for XCLAIM"),
        ("0 1 IDLE x", "ERR Invalid IDLE option argument for XCLAIM"),
        ("0 1 TIME x", "ERR Invalid TIME option argument for XCLAIM"),
        ("0 1 RETRYCOUNT x", "ERR Invalid RETRYCOUNT option argument for XCLAIM"),
        ("0 1 LASTID -", INVALID_ID),
        ("0 1 foo", "ERR Unrecognized XCLAIM option 'foo'"),
        ("0 1 IDLE", "ERR Unrecognized XCLAIM option 'IDLE'"),
        ("0 1 JUSTID 2-2", "ERR Unrecognized XCLAIM option '2-2'"),
        ("0 1 'a\nb'", "ERR Unrecognized XCLAIM option 'a b'"),
    ],
)
def test_xclaim_tells_what_is_malformed_after_the_group_was_looked_for(words: str, error: str) -> None:
    assert late_refusal(command(f"XCLAIM k g c {words}", Claim).options) == error


def test_xclaim_answers_entries_or_ids() -> None:
    to_resp = request("XCLAIM k g c 0 1").to_resp
    assert to_resp(ClaimReply(entries(1))) == [[b"1-0", [b"f", b"1"]]]
    assert to_resp(ClaimReply(Entries([at("1-0")], []), just_id=True)) == [b"1-0"]


# --- XAUTOCLAIM ------------------------------------------------------------------------------------


def test_xautoclaim_takes_a_start_and_its_options() -> None:
    claim = command("XAUTOCLAIM k g c 10 -", AutoClaim)
    assert claim == AutoClaim(b"k", b"g", b"c", 10, ZERO_ID)
    expected = AutoClaim(b"k", b"g", b"c", 10, at("5-1"), 7, just_id=True)
    assert command("XAUTOCLAIM k g c 10 (5 justid Count 7", AutoClaim) == expected
    assert command("XAUTOCLAIM k g c 10 5-1 COUNT 1 COUNT 7 JUSTID", AutoClaim) == expected


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("x y", "ERR Invalid min-idle-time argument for XAUTOCLAIM"),
        ("0 y", INVALID_ID),
        (f"0 ({MAX}-{MAX}", "ERR invalid start ID for the interval"),
        ("0 0 COUNT", SYNTAX),
        ("0 0 FOO", SYNTAX),
        ("0 0 COUNT x", "ERR COUNT must be > 0"),
        ("0 0 COUNT 0", "ERR COUNT must be > 0"),
        ("0 0 COUNT 576460752303423488", "ERR COUNT must be > 0"),
    ],
)
def test_xautoclaim_refuses(words: str, error: str) -> None:
    assert refusal(f"XAUTOCLAIM k g c {words}") == error


def test_xautoclaim_takes_a_count_that_only_the_engine_can_call_too_high() -> None:
    assert command("XAUTOCLAIM k g c 0 0 COUNT 576460752303423487", AutoClaim).count == 576460752303423487


def test_xautoclaim_answers_the_cursor_what_was_claimed_and_what_was_gone() -> None:
    to_resp = request("XAUTOCLAIM k g c 0 0").to_resp
    reply = ClaimReply(entries(1), cursor=at("5-2"), deleted_ids=[at("2-0")])
    assert to_resp(reply) == [b"5-2", [[b"1-0", [b"f", b"1"]]], [b"2-0"]]
    ids = ClaimReply(Entries([at("1-0")], []), just_id=True)
    assert to_resp(ids) == [b"0-0", [b"1-0"], []]


# --- XPENDING --------------------------------------------------------------------------------------


def test_xpending_of_a_group_is_a_summary() -> None:
    assert command("XPENDING k g", PendingSummary) == PendingSummary(b"k", b"g")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("- + 10", PendingRange(b"k", b"g", ZERO_ID, MAX_ID, 10)),
        ("1 (2-0 10 c", PendingRange(b"k", b"g", at("1-0"), at("2-0") - 1, 10, consumer=b"c")),
        ("idle 5 - + 10", PendingRange(b"k", b"g", ZERO_ID, MAX_ID, 10, 5)),
        ("IDLE 5 - + 10 c", PendingRange(b"k", b"g", ZERO_ID, MAX_ID, 10, 5, b"c")),
        ("- + 10 c ignored", PendingRange(b"k", b"g", ZERO_ID, MAX_ID, 10, consumer=b"c")),
        ("- + 10 c ignored ignored", PendingRange(b"k", b"g", ZERO_ID, MAX_ID, 10, consumer=b"c")),
        ("- + -1", PendingRange(b"k", b"g", ZERO_ID, MAX_ID, 0)),
    ],
)
def test_xpending_with_a_range_takes_a_count_and_perhaps_idle_and_a_consumer(
    words: str, expected: PendingRange
) -> None:
    assert command(f"XPENDING k g {words}", PendingRange) == expected


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("-", SYNTAX),
        ("- +", SYNTAX),
        ("IDLE 1 - + 1 c d", SYNTAX),
        ("IDLE x - +", NOT_AN_INTEGER),
        ("IDLE 1 - +", SYNTAX),
        ("x y z", NOT_AN_INTEGER),
        ("x (0-0 1", INVALID_ID),
        ("- (0-0 1", "ERR invalid end ID for the interval"),
        (f"({MAX}-{MAX} x 1", "ERR invalid start ID for the interval"),
    ],
)
def test_xpending_refuses(words: str, error: str) -> None:
    assert refusal(f"XPENDING k g {words}") == error


def test_xpending_answers_a_summary_with_counts_as_strings() -> None:
    to_resp = request("XPENDING k g").to_resp
    reply = PendingSummaryReply(3, at("1-0"), at("3-0"), [(b"a", 2), (b"b", 1)])
    assert to_resp(reply) == [3, b"1-0", b"3-0", [[b"a", b"2"], [b"b", b"1"]]]
    assert to_resp(PendingSummaryReply(0, None, None, [])) == [0, None, None, None]


def test_xpending_answers_entries_and_shows_those_without_an_owner() -> None:
    owned = PendingEntry(at("1-0"), b"a", 700, 1_000, 2)
    unowned = PendingEntry(at("2-0"), None, -1, 0, 1)
    expected = [[b"1-0", b"a", 700, 2], [b"2-0", b"", -1, 1]]
    assert request("XPENDING k g - + 9").to_resp([owned, unowned]) == expected
