from __future__ import annotations

import pytest

from tailrace.core.commands import (
    CreateConsumer,
    CreateGroup,
    DeleteConsumer,
    DestroyGroup,
    SetGroupPosition,
    Special,
)
from tailrace.core.stream_id import MAX_ID, ZERO_ID
from tests.support.grammar import at, command, late_refusal, refusal, request

INVALID_ID = "ERR Invalid stream ID specified as stream command argument"


def wrong_options(typed: str) -> str:
    return f"ERR unknown subcommand or wrong number of arguments for '{typed}'. Try XGROUP HELP."


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("0", CreateGroup(b"k", b"g", ZERO_ID)),
        ("5-1", CreateGroup(b"k", b"g", at("5-1"))),
        ("$ mkstream", CreateGroup(b"k", b"g", Special.LAST_ID, create_stream=True)),
        ("$ EntriesRead 3", CreateGroup(b"k", b"g", Special.LAST_ID, entries_read=3)),
        ("0 ENTRIESREAD 0 MKSTREAM", CreateGroup(b"k", b"g", ZERO_ID, create_stream=True, entries_read=0)),
        ("0 MKSTREAM ENTRIESREAD -1", CreateGroup(b"k", b"g", ZERO_ID, create_stream=True)),
        ("0 MKSTREAM MKSTREAM MKSTREAM", CreateGroup(b"k", b"g", ZERO_ID, create_stream=True)),
    ],
)
def test_xgroup_create_takes_a_position_and_its_options(words: str, expected: CreateGroup) -> None:
    assert command(f"XGROUP CREATE k g {words}", CreateGroup) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("$", SetGroupPosition(b"k", b"g", Special.LAST_ID)),
        ("5", SetGroupPosition(b"k", b"g", at("5-0"))),
        ("-", SetGroupPosition(b"k", b"g", ZERO_ID)),
        ("+", SetGroupPosition(b"k", b"g", MAX_ID)),
        ("0 entriesread 4", SetGroupPosition(b"k", b"g", ZERO_ID, 4)),
    ],
)
def test_xgroup_setid_takes_a_position_even_the_ends_of_a_range(
    words: str, expected: SetGroupPosition
) -> None:
    assert command(f"XGROUP SETID k g {words}", SetGroupPosition) == expected


@pytest.mark.parametrize("position", ["-", "+", "(1", ">", "*", "x"])
def test_xgroup_create_tells_a_malformed_id_after_the_key_was_looked_for(position: str) -> None:
    assert late_refusal(command(f"XGROUP CREATE k g {position}", CreateGroup).after) == INVALID_ID


@pytest.mark.parametrize("position", ["(1", ">", "*", "x"])
def test_xgroup_setid_tells_a_malformed_id_after_the_group_was_looked_for(position: str) -> None:
    assert late_refusal(command(f"XGROUP SETID k g {position}", SetGroupPosition).after) == INVALID_ID


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("XGROUP create k g $ FOO", wrong_options("create")),
        ("XGROUP CREATE k g $ ENTRIESREAD", wrong_options("CREATE")),
        ("XGROUP Setid k g $ MKSTREAM", wrong_options("Setid")),
        ("XGROUP CREATE k g $ ENTRIESREAD x", "ERR value is not an integer or out of range"),
        ("XGROUP CREATE k g $ ENTRIESREAD -2", "ERR value for ENTRIESREAD must be positive or -1"),
        ("XGROUP SETID k g $ ENTRIESREAD -2", "ERR value for ENTRIESREAD must be positive or -1"),
    ],
)
def test_options_of_xgroup_are_refused_at_once(line: str, error: str) -> None:
    assert refusal(line) == error


def test_too_many_good_options_are_told_after_the_key_was_looked_for() -> None:
    create = command("XGROUP create k g x ENTRIESREAD 1 ENTRIESREAD 2", CreateGroup)
    assert late_refusal(create.after) == wrong_options("create")
    setid = command("XGROUP SETID k g x ENTRIESREAD 1 ENTRIESREAD 2", SetGroupPosition)
    assert late_refusal(setid.after) == wrong_options("SETID")


def test_xgroup_manages_groups_and_consumers_by_name() -> None:
    assert command("XGROUP DESTROY k g", DestroyGroup) == DestroyGroup(b"k", b"g")
    assert command("XGROUP CREATECONSUMER k g c", CreateConsumer) == CreateConsumer(b"k", b"g", b"c")
    assert command("XGROUP DELCONSUMER k g c", DeleteConsumer) == DeleteConsumer(b"k", b"g", b"c")


def test_xgroup_answers_ok_or_an_integer() -> None:
    assert request("XGROUP CREATE k g 0").to_resp(None) == "OK"
    assert request("XGROUP SETID k g 0").to_resp(None) == "OK"
    for line in ("XGROUP DESTROY k g", "XGROUP CREATECONSUMER k g c"):
        answer = request(line).to_resp(True)  # noqa: FBT003
        assert answer == 1
        assert type(answer) is int
    assert request("XGROUP DELCONSUMER k g c").to_resp(7) == 7
