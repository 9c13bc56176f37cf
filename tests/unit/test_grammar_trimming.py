from __future__ import annotations

import pytest

from tailrace.core.commands import References, Trim, TrimStream
from tests.support.grammar import at, command, refusal, request

SYNTAX = "ERR syntax error"
INVALID_ID = "ERR Invalid stream ID specified as stream command argument"
NOT_AN_INTEGER = "ERR value is not an integer or out of range"


@pytest.mark.parametrize(
    ("options", "trim"),
    [
        ("MAXLEN 5", Trim(max_length=5)),
        ("MAXLEN 0", Trim(max_length=0)),
        ("maxlen = 5", Trim(max_length=5)),
        ("MAXLEN ~ 5", Trim(max_length=5, approximate=True)),
        ("MINID 5", Trim(min_id=at("5-0"))),
        ("minid = 5-1", Trim(min_id=at("5-1"))),
        ("MINID ~ 0", Trim(min_id=0, approximate=True)),
        ("MAXLEN ~ 5 LIMIT 0", Trim(max_length=5, approximate=True, limit=0)),
        ("LIMIT 3 MAXLEN ~ 5", Trim(max_length=5, approximate=True, limit=3)),
        ("MAXLEN ~ 5 LIMIT 1 LIMIT 2", Trim(max_length=5, approximate=True, limit=2)),
        ("MAXLEN 5 KEEPREF", Trim(max_length=5)),
        ("DELREF MAXLEN 5", Trim(max_length=5, references=References.DELETE)),
        ("MINID 5 acked", Trim(min_id=at("5-0"), references=References.ACKNOWLEDGED)),
    ],
)
def test_xtrim_takes_one_strategy_and_its_options_in_any_order(options: str, trim: Trim) -> None:
    assert command(f"XTRIM k {options}", TrimStream) == TrimStream(b"k", trim)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            "MAXLEN 5 MAXLEN 5",
            f"{SYNTAX}, MAXLEN and MINID options at the same time are not compatible",
        ),
        (
            "MINID 5 MAXLEN x",
            f"{SYNTAX}, MAXLEN and MINID options at the same time are not compatible",
        ),
        ("MAXLEN ~", NOT_AN_INTEGER),
        ("MAXLEN =", NOT_AN_INTEGER),
        ("MAXLEN 05", NOT_AN_INTEGER),
        ("MAXLEN -1", "ERR The MAXLEN argument must be >= 0."),
        ("MINID ~", INVALID_ID),
        ("MINID -", INVALID_ID),
        ("MINID 1-*", INVALID_ID),
        ("MAXLEN ~ 5 LIMIT x", NOT_AN_INTEGER),
        ("MAXLEN ~ 5 LIMIT -1", "ERR The LIMIT argument must be >= 0."),
        ("MAXLEN ~ 5 LIMIT", SYNTAX),
        ("LIMIT 5", f"{SYNTAX}, LIMIT cannot be used without specifying a trimming strategy"),
        ("LIMIT 0", f"{SYNTAX}, XTRIM must be called with a trimming strategy"),
        ("KEEPREF ACKED", SYNTAX),
        ("KEEPREF MAXLEN", SYNTAX),
        ("MAXLEN 5 LIMIT 0", f"{SYNTAX}, LIMIT cannot be used without the special ~ option"),
        ("MAXLEN = 5 LIMIT 5", f"{SYNTAX}, LIMIT cannot be used without the special ~ option"),
        ("MAXLEN 5 FOO", SYNTAX),
        ("MAXLEN 5 KEEPREF KEEPREF", SYNTAX),
    ],
)
def test_xtrim_refuses(options: str, error: str) -> None:
    assert refusal(f"XTRIM k {options}") == error


def test_xtrim_with_a_policy_and_no_strategy_must_have_one() -> None:
    assert refusal("XTRIM k DELREF LIMIT 0") == f"{SYNTAX}, XTRIM must be called with a trimming strategy"


def test_xtrim_answers_how_many_it_removed() -> None:
    assert request("XTRIM k MAXLEN 0").to_resp(4) == 4
