"""Rules 1 to 10: ids, their forms, and the choice of the next id."""

from __future__ import annotations

import pytest

from tailrace.core.limits import ENTRY_BYTES_MAX
from tests.rules.lines import (
    EXHAUSTED,
    INVALID_END,
    INVALID_ID,
    INVALID_START,
    MAX_ID,
    MAX_U64,
    NOT_GREATER,
    SYNTAX,
    ZERO_ID,
    arity,
)
from tests.support.redis_like import R, ids_of


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "x",
        "1-",
        "-1",
        "+1",
        "1-+1",
        "1-2-3",
        "1--2",
        "1.0",
        "0x1",
        "1 ",
        f"{MAX_U64 + 1}",
        f"1-{MAX_U64 + 1}",
    ],
)
def test_rule_01_an_id_is_two_unsigned_64_bit_decimals_without_sign_or_second_dash(r: R, bad: str) -> None:
    assert r.run("XADD", "s", bad, "f", "v") == INVALID_ID
    assert r.run("EXISTS", "s") == 0


def test_rule_01_an_id_argument_longer_than_127_bytes_is_invalid(r: R) -> None:
    assert r.run("XADD", "s", "1".zfill(127), "f", "v") == "1-0"
    assert r.run("XADD", "s", "2".zfill(128), "f", "v") == INVALID_ID
    assert r.run("XADD", "s", MAX_ID, "f", "v") == MAX_ID


@pytest.mark.parametrize("sign", ["-", "+"])
def test_rule_02_minus_and_plus_are_positions_for_ranges_and_group_setid_only(r: R, sign: str) -> None:
    r.lines("XADD s 1 f v\nXGROUP CREATE s g 0")
    assert r.run("XGROUP", "SETID", "s", "g", sign) == "OK"
    for words in (
        ["XGROUP", "CREATE", "s", "h", sign],
        ["XADD", "s", sign, "f", "v"],
        ["XDEL", "s", sign],
        ["XACK", "s", "g", sign],
        ["XSETID", "s", sign],
        ["XCLAIM", "s", "g", "alice", "0", sign],
    ):
        assert r.run(*words) in {INVALID_ID, f"ERR Unrecognized XCLAIM option '{sign}'"}
    assert r.run("XREAD", "STREAMS", "s", "-") == INVALID_ID
    assert ids_of(r.run("XRANGE", "s", "-", "+")) == ["1-0"]


def test_rule_03_a_missing_sequence_is_the_greatest_for_range_ends_and_zero_elsewhere(r: R) -> None:
    r.lines("XADD s 1 f v\nXADD s 1-1 f v\nXADD s 2-0 f v\nXADD s 2-7 f v\nXGROUP CREATE s g 0")
    assert ids_of(r.run("XRANGE", "s", "1", "1")) == ["1-0", "1-1"]
    assert ids_of(r.run("XREVRANGE", "s", "2", "2")) == ["2-7", "2-0"]
    assert ids_of(r.run("XREAD", "STREAMS", "s", "1")[0][1]) == ["1-1", "2-0", "2-7"]
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", ">")
    assert ids_of(r.run("XPENDING", "s", "g", "2", "2", "10")) == ["2-0", "2-7"]
    assert ids_of(r.run("XCLAIM", "s", "g", "bob", "0", "1")) == ["1-0"]
    assert r.run("XACK", "s", "g", "1") == 1
    assert r.run("XDEL", "s", "2") == 1
    assert r.ids("s") == ["1-0", "1-1", "2-7"]


def test_rule_04_a_bracket_excludes_one_id_from_a_range(r: R) -> None:
    r.lines("XADD s 1-0 f v\nXADD s 1-1 f v\nXADD s 2-0 f v")
    assert ids_of(r.run("XRANGE", "s", "(1", "+")) == ["1-1", "2-0"]
    assert ids_of(r.run("XRANGE", "s", "-", "(2-0")) == ["1-0", "1-1"]
    assert ids_of(r.run("XREVRANGE", "s", "(2-0", "(1-0")) == ["1-1"]


def test_rule_04_a_bracket_that_steps_over_the_edge_is_refused_and_names_the_side(r: R) -> None:
    assert r.run("XRANGE", "s", f"({MAX_ID}", "+") == INVALID_START
    assert r.run("XRANGE", "s", "-", "(0-0") == INVALID_END
    for bad in ("(-", "(+", "("):
        assert r.run("XRANGE", "s", bad, "+") == INVALID_ID
        assert r.run("XRANGE", "s", "-", bad) == INVALID_ID


def test_rule_05_an_automatic_id_is_the_greater_of_now_and_last_and_carries(r: R) -> None:
    r.now_ms = 1000
    assert r.line("XADD s * f v") == "1000-0"
    assert r.line("XADD s * f v") == "1000-1"
    r.now_ms = 900
    assert r.line("XADD s * f v") == "1000-2"
    r.run("XADD", "s", f"2000-{MAX_U64}", "f", "v")
    assert r.line("XADD s * f v") == "2001-0"
    r.now_ms = 3000
    assert r.line("XADD s * f v") == "3000-0"


def test_rule_05_now_is_frozen_for_a_whole_transaction(r: R) -> None:
    r.now_ms = 1000
    replies = r.transaction(
        ["XADD", "s", "*", "f", "v"], ["XADD", "t", "*", "f", "v"], ["XADD", "s", "*", "f", "v"]
    )
    assert replies == ["1000-0", "1000-0", "1000-1"]


def test_rule_06_a_given_time_with_a_star_continues_its_sequence_and_never_carries(r: R) -> None:
    assert r.line("XADD s 0-* f v") == "0-1"
    assert r.line("XADD s 5-* f v") == "5-0"
    assert r.line("XADD s 5-* f v") == "5-1"
    assert r.line("XADD s 4-* f v") == NOT_GREATER
    r.run("XADD", "s", f"5-{MAX_U64}", "f", "v")
    assert r.line("XADD s 5-* f v") == NOT_GREATER
    assert r.line("XADD s 6-* f v") == "6-0"


def test_rule_07_ids_are_compared_with_the_last_one_generated_not_with_the_last_alive(r: R) -> None:
    r.lines("XADD s 1 f v\nXADD s 5 f v\nXDEL s 5")
    assert r.line("XADD s 3 f v") == NOT_GREATER
    assert r.line("XADD s 5 f v") == NOT_GREATER
    assert r.line("XADD s 5-1 f v") == "5-1"


def test_rule_08_xadd_checks_options_then_arity_then_zero_then_the_key_then_the_top(r: R) -> None:
    assert r.line("XADD s MAXLEN x 0-0 f") == "ERR value is not an integer or out of range"
    assert r.line("XADD s NOMKSTREAM 0-0 f v x") == arity("xadd")
    assert r.line("XADD s NOMKSTREAM 0-0 f v") == ZERO_ID
    assert r.line("XADD s NOMKSTREAM 1-0 f v") is None
    r.run("XADD", "s", MAX_ID, "f", "v")
    assert r.line("XADD s 1-0 f v") == EXHAUSTED
    assert r.line("XADD s * f v") == EXHAUSTED


def test_rule_08_a_key_already_seen_answers_before_the_stream_is_found_exhausted(r: R) -> None:
    first = r.line("XADD s IDMP p i * f v")
    r.run("XADD", "s", MAX_ID, "f", "v")
    assert r.line("XADD s IDMP p i * f v") == first
    assert r.line("XADD s IDMP p j * f v") == EXHAUSTED


@pytest.mark.parametrize("id_text", ["0-0", "0", "x", "1-"])
def test_rule_08_a_failing_append_to_a_new_key_leaves_no_key(r: R, id_text: str) -> None:
    r.run("XADD", "s", id_text, "f", "v")
    assert r.run("EXISTS", "s") == 0


def test_rule_08_an_entry_that_is_too_large_is_refused_and_changes_nothing(r: R) -> None:
    # Redis allows 1 GiB; here the bound is that of one entry in the limits, which any request meets first.
    assert r.run("XADD", "s", "1-0", "f", "v" * (ENTRY_BYTES_MAX + 1)).startswith("ERR ")
    assert r.run("EXISTS", "s") == 0


@pytest.mark.parametrize("word", ["NOSUCH", "COUNT", "KEEPREF KEEPREF", "NOMKSTREAM LIMITS", "MAXLENX"])
def test_rule_09_an_unknown_word_before_the_id_is_parsed_as_the_id(r: R, word: str) -> None:
    assert r.run("XADD", "s", *word.split(), "1-0", "f", "v") == INVALID_ID


def test_rule_09_options_after_the_id_are_fields(r: R) -> None:
    r.line("XADD s 1-0 MAXLEN 0 NOMKSTREAM 1")
    assert r.line("XRANGE s - +") == [["1-0", ["MAXLEN", "0", "NOMKSTREAM", "1"]]]


def test_rule_10_options_stand_in_any_order_and_maxlen_zero_leaves_an_empty_stream(r: R) -> None:
    assert r.line("XADD s MAXLEN 0 NOMKSTREAM 1-0 f v") is None
    assert r.line("XADD s MAXLEN 0 1-0 f v") == "1-0"
    assert r.line("XLEN s") == 0
    assert r.line("XADD s MAXLEN 0 NOMKSTREAM 2-0 f v") == "2-0"
    assert r.line("XADD s NOMKSTREAM MAXLEN 5 3-0 f v") == "3-0"
    assert r.line("XADD s MAXLEN 5") == arity("xadd")
    assert r.line("XTRIM s MAXLEN 5 COUNT") == SYNTAX
