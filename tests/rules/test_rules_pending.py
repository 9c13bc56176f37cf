"""Rules 47 to 55 and 66: pending entries, claiming them, giving them back, and all-or-nothing ids."""

from __future__ import annotations

import pytest

from tests.rules.lines import INVALID_ID, NOT_AN_INTEGER, SYNTAX, arity, no_group
from tests.support.redis_like import R, ids_of

COUNT_MAX = (1 << 63) - 1


def delivered(r: R, count: int = 4) -> R:
    """A stream `s` of ids 1-0 to `count`, all pending for alice for 100 ms."""
    r.line("XGROUP CREATE s g 0 MKSTREAM")
    for number in range(1, count + 1):
        r.run("XADD", "s", number, "f", number)
    r.line("XREADGROUP GROUP g alice STREAMS s >")
    r.now_ms += 100
    return r


def test_rule_47_ids_run_to_the_first_word_that_is_none_then_options_follow(r: R) -> None:
    delivered(r)
    assert r.line("XCLAIM s g bob 0 1 2 JUSTID 3") == "ERR Unrecognized XCLAIM option '3'"
    assert r.line("XCLAIM s g bob 0 1 2 x") == "ERR Unrecognized XCLAIM option 'x'"
    assert r.line("XCLAIM s g bob 0 1 2 JUSTID") == ["1-0", "2-0"]


def test_rule_47_a_negative_min_idle_is_zero(r: R) -> None:
    assert delivered(r).line("XCLAIM s g bob -5 1 JUSTID") == ["1-0"]
    assert r.line("XCLAIM s g bob x 1") == "ERR Invalid min-idle-time argument for XCLAIM"


@pytest.mark.parametrize("claim", ["XCLAIM s g bob {} 1 JUSTID", "XAUTOCLAIM s g bob {} 0 JUSTID"])
def test_rule_47_an_entry_is_idle_enough_from_the_very_millisecond(r: R, claim: str) -> None:
    delivered(r, 1).line(claim.format(101))
    assert r.pending("s", "g") == [["1-0", "alice", 100, 1]]
    r.line(claim.format(100))
    assert r.pending("s", "g") == [["1-0", "bob", 0, 1]]


def test_rule_47_an_unowned_entry_is_claimed_however_fresh(r: R) -> None:
    delivered(r)
    r.line("XNACK s g FAIL IDS 1 1")
    assert r.line("XCLAIM s g bob 999999999999999 1 2 JUSTID") == ["1-0"]
    r.line("XADD s 9 f v")
    assert r.line("XCLAIM s g bob 999999999999999 9 FORCE JUSTID") == ["9-0"]


def test_rule_48_claiming_a_deleted_message_removes_it_even_if_not_idle(r: R) -> None:
    delivered(r)
    r.line("XDEL s 1 2")
    assert r.line("XCLAIM s g bob 999999 1 3") == []
    assert ids_of(r.pending("s", "g")) == ["2-0", "3-0", "4-0"]
    assert r.consumer("s", "g", "alice")["pending"] == 3


def test_rule_48_autoclaim_lists_deleted_messages_and_counts_them(r: R) -> None:
    delivered(r)
    r.line("XDEL s 1 2")
    assert r.line("XAUTOCLAIM s g bob 999999 0 COUNT 1") == ["2-0", [], ["1-0"]]
    assert r.line("XAUTOCLAIM s g bob 0 0 COUNT 2 JUSTID") == ["4-0", ["3-0"], ["2-0"]]


def test_rule_49_a_claim_counts_one_more_unless_justid_or_retrycount(r: R) -> None:
    delivered(r)
    r.lines("XCLAIM s g bob 0 1\nXCLAIM s g bob 0 2 JUSTID\nXCLAIM s g bob 0 3 RETRYCOUNT 7")
    r.line("XCLAIM s g bob 0 4 RETRYCOUNT -1")
    assert r.pending("s", "g") == [
        ["1-0", "bob", 0, 2],
        ["2-0", "bob", 0, 1],
        ["3-0", "bob", 0, 7],
        ["4-0", "bob", 0, 2],
    ]


def test_rule_49_a_retrycount_with_justid_is_set_all_the_same(r: R) -> None:
    delivered(r, 1).line("XCLAIM s g bob 0 1 JUSTID RETRYCOUNT 0")
    assert r.pending("s", "g") == [["1-0", "bob", 0, 0]]


@pytest.mark.parametrize(
    ("option", "idle_ms"),
    [
        ("IDLE 30", 30),
        ("IDLE -1", 0),
        (f"IDLE {COUNT_MAX}", 0),
        ("TIME 0", None),
        ("TIME -1", 0),
        ("TIME 99999999999999", 0),
    ],
)
def test_rule_50_idle_and_time_set_the_delivery_time_and_become_now_out_of_range(
    r: R, option: str, idle_ms: int | None
) -> None:
    delivered(r, 1).line(f"XCLAIM s g bob 0 1 {option}")
    assert r.pending("s", "g")[0][2] == (r.now_ms if idle_ms is None else idle_ms)


def test_rule_50_force_makes_pending_only_what_exists(r: R) -> None:
    delivered(r, 2).lines("XACK s g 1\nXADD s 9 f v")
    assert r.line("XCLAIM s g bob 0 1 7 9 JUSTID") == []
    assert r.line("XCLAIM s g bob 0 1 7 9 FORCE JUSTID") == ["1-0", "9-0"]
    assert ids_of(r.pending("s", "g")) == ["1-0", "2-0", "9-0"]


def test_rule_50_lastid_only_raises_the_groups_position_even_if_nothing_is_claimed(r: R) -> None:
    delivered(r)
    assert r.line("XCLAIM s g bob 0 77 LASTID 3") == []
    assert r.group("s", "g")["last-delivered-id"] == "4-0"
    assert r.line("XCLAIM s g bob 0 77 LASTID 8") == []
    assert r.group("s", "g")["last-delivered-id"] == "8-0"


def test_rule_50_claiming_ones_own_entry_resets_its_idle_time_and_counts(r: R) -> None:
    assert ids_of(delivered(r, 1).line("XCLAIM s g alice 50 1")) == ["1-0"]
    assert r.pending("s", "g") == [["1-0", "alice", 0, 2]]


@pytest.mark.parametrize("claim", ["XCLAIM s g {} 999999 1", "XAUTOCLAIM s g {} 999999 0"])
def test_rule_51_a_claim_creates_its_consumer_even_if_it_gets_nothing(r: R, claim: str) -> None:
    delivered(r).line(claim.format("carol"))
    assert r.line("XGROUP CREATECONSUMER s g carol") == 0
    assert r.consumer("s", "g", "carol")["inactive"] == -1


def test_rule_52_autoclaim_goes_by_id_from_its_start_and_its_cursor_is_the_next_unexamined(r: R) -> None:
    delivered(r)
    assert r.line("XAUTOCLAIM s g bob 0 2 COUNT 2 JUSTID") == ["4-0", ["2-0", "3-0"], []]
    assert r.line("XAUTOCLAIM s g bob 0 (3-0 JUSTID") == ["0-0", ["4-0"], []]
    assert r.line("XAUTOCLAIM s g bob 0 - COUNT 4 JUSTID") == ["0-0", ["1-0", "2-0", "3-0", "4-0"], []]


def test_rule_52_autoclaim_examines_at_most_ten_entries_for_each_it_may_give(r: R) -> None:
    delivered(r, 25)
    assert r.line("XAUTOCLAIM s g bob 999999 0 COUNT 2 JUSTID") == ["21-0", [], []]
    assert r.line("XAUTOCLAIM s g bob 999999 21 COUNT 2 JUSTID") == ["0-0", [], []]


def test_rule_52_the_idle_filter_holds_for_owned_entries_only(r: R) -> None:
    delivered(r, 2).line("XNACK s g FAIL IDS 1 2")
    assert r.line("XAUTOCLAIM s g bob 999999999999999 0 JUSTID") == ["0-0", ["2-0"], []]


@pytest.mark.parametrize("count", [0, -1])
def test_rule_52_a_count_below_one_is_refused_and_a_huge_one_too(r: R, count: int) -> None:
    delivered(r)
    assert r.run("XAUTOCLAIM", "s", "g", "bob", 0, 0, "COUNT", count) == "ERR COUNT must be > 0"
    refused = "ERR Insufficient memory, failed allocating transient memory, COUNT too high."
    assert r.run("XAUTOCLAIM", "s", "g", "bob", 0, 0, "COUNT", COUNT_MAX // 16) in {
        refused,
        "ERR COUNT must be > 0",
    }


def test_rule_53_xpending_checks_its_arguments_before_the_group(r: R) -> None:
    assert r.line("XPENDING none g - + x") == NOT_AN_INTEGER
    assert r.line("XPENDING none g x + 10") == INVALID_ID
    assert r.line("XPENDING none g - + 10") == no_group("none", "g")
    assert r.line("XPENDING none g") == no_group("none", "g")


@pytest.mark.parametrize("words", ["-", "- +", "IDLE 5", "IDLE 5 - +", "IDLE 0 - + 10 alice x"])
def test_rule_53_xpending_takes_three_words_or_six_to_nine(r: R, words: str) -> None:
    assert delivered(r).line(f"XPENDING s g {words}") == SYNTAX
    assert r.line("XPENDING s") == arity("xpending")


def test_rule_53_the_idle_filter_spares_nacked_entries_and_nobody_has_nothing(r: R) -> None:
    delivered(r).line("XNACK s g FAIL IDS 1 2")
    assert r.line("XPENDING s g IDLE 999999 - + 10") == [["2-0", "", -1, 1]]
    assert r.line("XPENDING s g - + 10 nobody") == []
    assert r.line("XPENDING s g - + 0") == []
    assert r.line("XPENDING s g - + -3") == []


def test_rule_53_the_summary_counts_by_consumer_and_is_nil_when_empty(r: R) -> None:
    delivered(r).line("XCLAIM s g bob 0 2 JUSTID")
    assert r.line("XPENDING s g") == [4, "1-0", "4-0", [["alice", "3"], ["bob", "1"]]]
    r.line("XACK s g 1 2 3 4")
    assert r.line("XPENDING s g") == [0, None, None, None]


def test_rule_54_a_nacked_entry_has_no_owner_and_stands_at_the_head(r: R) -> None:
    delivered(r)
    assert r.line("XNACK s g FAIL IDS 2 3 1") == 2
    assert r.line("XNACK s g FAIL IDS 1 3") == 1, "nacked again, it moves to the tail of its zone"
    assert r.pending("s", "g")[2] == ["3-0", "", -1, 1]
    assert r.consumer("s", "g", "alice")["pending"] == 2
    assert ids_of(r.line("XREADGROUP GROUP g alice STREAMS s 0")[0][1]) == ["2-0", "4-0"]
    assert ids_of(r.line("XREADGROUP GROUP g bob CLAIM 0 COUNT 3 STREAMS s >")[0][1])[:2] == ["1-0", "3-0"]


@pytest.mark.parametrize(
    ("mode", "count"),
    [("SILENT", 2), ("FAIL", 3), ("FATAL", COUNT_MAX), ("FAIL RETRYCOUNT 9", 9), ("FATAL RETRYCOUNT 0", 0)],
)
def test_rule_54_the_mode_sets_the_count_and_retrycount_overrides_it(r: R, mode: str, count: int) -> None:
    delivered(r, 1).line("XCLAIM s g alice 0 1 RETRYCOUNT 3")
    kind, *options = mode.split()
    assert r.run("XNACK", "s", "g", kind, *options, "IDS", 1, 1) == 1
    assert r.pending("s", "g") == [["1-0", "", -1, count]]


@pytest.mark.parametrize("words", ["WHAT IDS 1 1", "FAIL IDS 0 1", "FAIL IDS 1 x", "FAIL FORCE FORCE FORCE"])
def test_rule_54_xnack_looks_for_the_group_before_it_reads_its_options(r: R, words: str) -> None:
    assert r.line(f"XNACK s g {words}") == no_group("s", "g")
    delivered(r)
    assert r.line(f"XNACK s other {words}") == no_group("s", "other")
    assert r.line(f"XNACK s g {words}").startswith("ERR ")


def test_rule_54_a_retrycount_that_is_no_number_has_the_general_line(r: R) -> None:
    delivered(r)
    assert r.line("XNACK s g FAIL IDS 1 1 RETRYCOUNT abc") == NOT_AN_INTEGER
    assert r.line("XNACK s g FAIL IDS 1 1 RETRYCOUNT -1") == "ERR Invalid RETRYCOUNT value, must be >= 0"


def test_rule_54_silent_does_not_count_below_zero(r: R) -> None:
    delivered(r, 1).line("XCLAIM s g alice 0 1 RETRYCOUNT 0")
    r.line("XNACK s g SILENT IDS 1 1")
    assert r.pending("s", "g") == [["1-0", "", -1, 0]]


def test_rule_54_force_adds_what_is_absent_but_exists_with_count_zero(r: R) -> None:
    delivered(r, 2).line("XACK s g 1")
    assert r.line("XNACK s g FAIL IDS 2 1 7") == 0
    assert r.line("XNACK s g FAIL IDS 2 1 7 FORCE") == 1
    assert r.pending("s", "g") == [["1-0", "", -1, 0], ["2-0", "alice", 100, 1]]


def test_rule_54_nacked_entries_survive_their_consumer(r: R) -> None:
    delivered(r).line("XNACK s g FAIL IDS 1 2")
    assert r.line("XGROUP DELCONSUMER s g alice") == 3
    assert r.pending("s", "g") == [["2-0", "", -1, 1]]


def test_rule_54_the_full_view_counts_the_nacked(r: R) -> None:
    delivered(r, 2).line("XNACK s g FAIL IDS 1 2")
    group = r.full("s")["groups"][0]
    assert (group["pel-count"], group["nacked-count"]) == (2, 1)
    assert group["pending"][1] == ["2-0", "", 0, 1]


def test_rule_55_a_deleted_consumers_entries_are_neither_pending_nor_new_again(r: R) -> None:
    delivered(r)
    assert r.line("XGROUP DELCONSUMER s g alice") == 4
    assert r.pending("s", "g") == []
    assert r.line("XREADGROUP GROUP g bob STREAMS s >") is None
    assert r.line("XGROUP DELCONSUMER s g nobody") == 0


def test_rule_55_destroying_a_missing_group_is_nothing_and_a_missing_key_an_error(r: R) -> None:
    delivered(r)
    assert r.line("XGROUP DESTROY s nogroup") == 0
    assert r.line("XGROUP DESTROY s g") == 1
    assert r.line("XGROUP DESTROY none g").startswith("ERR The XGROUP subcommand requires the key to exist.")


@pytest.mark.parametrize(
    "command",
    ["XACK s g", "XDEL s", "XDELEX s IDS 2", "XACKDEL s g IDS 2", "XNACK s g FAIL IDS 2"],
)
def test_rule_66_one_bad_id_refuses_them_all(r: R, command: str) -> None:
    delivered(r)
    before = r.full("s")
    assert r.line(f"{command} 1 x") == INVALID_ID
    assert r.full("s") == before


def test_rule_66_a_claim_with_a_bad_word_among_its_ids_does_nothing(r: R) -> None:
    delivered(r)
    before = r.full("s")
    assert r.line("XCLAIM s g bob 0 1 2x 3") == "ERR Unrecognized XCLAIM option '2x'"
    assert r.line("XCLAIM s g bob 0 1 LASTID x") == INVALID_ID
    assert r.full("s") == before
