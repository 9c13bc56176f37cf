from __future__ import annotations

from itertools import permutations

import pytest

from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    DeleteEntries,
    DeleteEntriesByPolicy,
    NackMode,
    NegativeAcknowledge,
    References,
)
from tailrace.core.errors import StreamError
from tailrace.core.grammar.deletion import parse_xdelex
from tailrace.core.grammar.words import Words
from tailrace.core.replies import DeleteResult
from tests.support.grammar import at, command, late_refusal, refusal, request

SYNTAX = "ERR syntax error"
INVALID_ID = "ERR Invalid stream ID specified as stream command argument"
TWO_IDS = (at("1-0"), at("2-3"))


def test_xdel_and_xack_take_ids() -> None:
    assert command("XDEL k 1 2-3", DeleteEntries) == DeleteEntries(b"k", TWO_IDS)
    assert command("XACK k g 1 2-3", Acknowledge) == Acknowledge(b"k", b"g", TWO_IDS)


@pytest.mark.parametrize("raw", ["x", "-", "+", "$", "*", "1-*", "''"])
def test_a_malformed_id_is_told_after_the_key_and_the_group_were_looked_for(raw: str) -> None:
    assert late_refusal(command(f"XDEL k 1-1 {raw}", DeleteEntries).ids) == INVALID_ID
    assert late_refusal(command(f"XACK k g 1-1 {raw}", Acknowledge).ids) == INVALID_ID
    assert late_refusal(command(f"XDELEX k IDS 2 1-1 {raw}", DeleteEntriesByPolicy).ids) == INVALID_ID
    assert late_refusal(command(f"XACKDEL k g IDS 2 1-1 {raw}", AcknowledgeAndDelete).ids) == INVALID_ID
    assert late_refusal(command(f"XNACK k g FAIL IDS 2 1-1 {raw}", NegativeAcknowledge).ids) == INVALID_ID


def test_the_count_of_ids_is_known_even_where_one_is_malformed() -> None:
    assert command("XDELEX k IDS 2 1-1 x", DeleteEntriesByPolicy).ids_count == 2
    assert command("XACKDEL k g IDS 2 1-1 x", AcknowledgeAndDelete).ids_count == 2


@pytest.mark.parametrize(
    ("words", "references"),
    [
        ("IDS 2 1 2-3", References.KEEP),
        ("KEEPREF IDS 2 1 2-3", References.KEEP),
        ("ids 2 1 2-3 delref", References.DELETE),
        ("ACKED IDS 2 1 2-3", References.ACKNOWLEDGED),
    ],
)
def test_the_block_of_ids_stands_before_or_after_the_policy(words: str, references: References) -> None:
    delete = command(f"XDELEX k {words}", DeleteEntriesByPolicy)
    assert delete == DeleteEntriesByPolicy(b"k", TWO_IDS, 2, references)
    acknowledge = command(f"XACKDEL k g {words}", AcknowledgeAndDelete)
    assert acknowledge == AcknowledgeAndDelete(b"k", b"g", TWO_IDS, 2, references)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("IDS 0 1", "ERR Number of IDs must be a positive integer"),
        ("IDS -5 1", "ERR Number of IDs must be a positive integer"),
        ("IDS abc 1", "ERR Number of IDs must be a positive integer"),
        ("IDS 3 1 2", "ERR The `numids` parameter must match the number of arguments"),
        ("IDS 1 1 2", SYNTAX),
        ("DELREF ACKED IDS 1 1", SYNTAX),
        ("KEEPREF KEEPREF IDS 1 1", SYNTAX),
        ("FOO IDS 1 1", SYNTAX),
        ("IDS 1 1 IDS", SYNTAX),
    ],
)
def test_a_block_of_ids_that_does_not_add_up_is_refused(words: str, error: str) -> None:
    assert refusal(f"XDELEX k {words}") == error
    assert refusal(f"XACKDEL k g {words}") == error


def test_a_word_where_the_block_of_ids_should_be_is_a_syntax_error() -> None:
    assert refusal("XDELEX k KEEPREF x y") == SYNTAX
    assert refusal("XDELEX k 1-1 2-2 3-3") == SYNTAX


def test_the_block_of_ids_is_required_where_arity_does_not_say_so_already() -> None:
    with pytest.raises(StreamError, match=r"^ERR IDS option is required$"):
        parse_xdelex(Words("xdelex", b"XDELEX", [b"k", b"ACKED"]))


def test_replies_of_deletions_are_integers() -> None:
    results = [DeleteResult.DELETED, DeleteResult.REFERENCED, DeleteResult.NOT_FOUND]
    for line in ("XDELEX k IDS 1 1", "XACKDEL k g IDS 1 1"):
        answer = request(line).to_resp(results)
        assert answer == [1, 2, -1]
        assert isinstance(answer, list)
        assert all(type(item) is int for item in answer)
    for line in ("XDEL k 1", "XACK k g 1", "XNACK k g FAIL IDS 1 1"):
        assert request(line).to_resp(2) == 2


# --- XNACK -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(NackMode))
def test_xnack_takes_a_mode_in_any_case(mode: NackMode) -> None:
    nack = command(f"XNACK k g {mode.value.title()} IDS 2 1 2-3", NegativeAcknowledge)
    assert nack == NegativeAcknowledge(b"k", b"g", mode, TWO_IDS)


def test_xnack_takes_its_options_before_and_after_the_ids() -> None:
    expected = NegativeAcknowledge(b"k", b"g", NackMode.FAIL, TWO_IDS, 5, force=True)
    for words in permutations(["IDS 2 1 2-3", "retrycount 5", "Force"]):
        assert command(f"XNACK k g FAIL {' '.join(words)}", NegativeAcknowledge) == expected


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("MAYBE IDS 1 1", "ERR mode must be SILENT, FAIL, or FATAL"),
        ("FAIL IDS 0 1", "ERR numids must be a positive integer"),
        ("FAIL IDS x 1", "ERR numids must be a positive integer"),
        ("FAIL IDS 2147483648 1", "ERR numids must be a positive integer"),
        ("FAIL IDS 2147483647 1", "ERR number of IDs doesn't match numids"),
        ("FAIL IDS 3 1", "ERR number of IDs doesn't match numids"),
        ("FAIL IDS 1 1 2", "ERR Unrecognized XNACK option '2'"),
        ("FAIL IDS 1 1 bogus", "ERR Unrecognized XNACK option 'bogus'"),
        ("FAIL IDS 1 1 RETRYCOUNT", "ERR Unrecognized XNACK option 'RETRYCOUNT'"),
        ("FAIL IDS 1 1 RETRYCOUNT -1", "ERR Invalid RETRYCOUNT value, must be >= 0"),
        ("FAIL IDS 1 1 RETRYCOUNT x", "ERR value is not an integer or out of range"),
        ("FAIL FORCE RETRYCOUNT 1", "ERR syntax error, expected IDS keyword"),
    ],
)
def test_xnack_carries_the_error_of_its_options_to_the_engine(words: str, error: str) -> None:
    assert late_refusal(command(f"XNACK k g {words}", NegativeAcknowledge).ids) == error
