from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.commands import (
    Append,
    AutoSeq,
    ConfigureStream,
    RecordIdempotencyKey,
    References,
    SetStreamPosition,
    Trim,
)
from tailrace.core.errors import ErrorCode
from tailrace.core.grammar.append import content_key
from tailrace.core.idempotency.compact_name import compact_name
from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import MAX_ID
from tests.support.grammar import at, command, late_refusal, refusal, refused, request

INVALID_ID = "ERR Invalid stream ID specified as stream command argument"
ARITY = "ERR wrong number of arguments for 'xadd' command"
SYNTAX = "ERR syntax error"


def test_xadd_takes_the_fields_in_order_with_their_repetitions() -> None:
    append = command("XADD k * a 1 b 2 a 3", Append)
    assert append.key == b"k"
    assert [flat_of(fragment) for fragment in append.fragments] == [[b"a", b"1", b"b", b"2", b"a", b"3"]]
    assert (append.ids, append.trim, append.create, append.idempotency) == (None, None, True, None)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("5", at("5-0")),
        ("5-3", at("5-3")),
        ("0-1", at("0-1")),
        ("5-*", AutoSeq(5)),
        ("0-*", AutoSeq(0)),
        ("18446744073709551615-18446744073709551615", MAX_ID),
    ],
)
def test_xadd_takes_an_id_or_the_time_part_of_one(text: str, asked: object) -> None:
    assert command(f"XADD k {text} f v", Append).ids == (asked,)


@pytest.mark.parametrize(
    "text",
    ["-", "+", "$", "x", "''", "1-2-3", "1-", "-*", "*-*", "1-**", "5-3-*", "18446744073709551616-*", "-1-1"],
)
def test_xadd_refuses_what_is_no_id(text: str) -> None:
    assert refusal(f"XADD k {text} f v") == INVALID_ID


@pytest.mark.parametrize("text", ["0", "0-0", "00-0"])
def test_xadd_refuses_the_id_zero(text: str) -> None:
    error = refused(b"XADD", b"k", text.encode(), b"f", b"v")
    assert error.line == "ERR The ID specified in XADD must be greater than 0-0"
    assert error.code is ErrorCode.ID_NOT_GREATER


@pytest.mark.parametrize(
    "line",
    [
        "XADD k * f v f",
        "XADD k 0-0 f v f",
        "XADD k MAXLEN ~ 5 LIMIT 7 *",
        "XADD k MAXLEN ~ 5 LIMIT 7 * f",
        "XADD k MAXLEN ~ 5 LIMIT 7",
        "XADD k NOMKSTREAM NOMKSTREAM NOMKSTREAM NOMKSTREAM",
    ],
)
def test_xadd_with_odd_or_no_fields_is_an_arity_error(line: str) -> None:
    assert refusal(line) == ARITY


def test_xadd_options_come_in_any_order_and_any_case() -> None:
    trim = Trim(max_length=5, approximate=True, limit=7, references=References.DELETE)
    for options in permutations(["nomkstream", "DelRef", "maxlen ~ 5", "Limit 7", "IDMP p i"]):
        append = command(f"XADD k {' '.join(options)} * f v", Append)
        assert append.trim == trim
        assert append.create is False
        assert append.idempotency is not None
        assert (append.idempotency.producer, append.idempotency.key) == (b"p", b"i")


def test_options_after_the_id_are_fields() -> None:
    append = command("XADD k * MAXLEN 5 NOMKSTREAM x", Append)
    assert append.trim is None
    assert flat_of(append.fragments[0]) == [b"MAXLEN", b"5", b"NOMKSTREAM", b"x"]


@pytest.mark.parametrize(
    "line",
    [
        "XADD k FOO * f v",
        "XADD k KEEPREF KEEPREF * f v",
        "XADD k KEEPREF DELREF * f v",
        "XADD k IDMP p * f v",
        "XADD k NOMKSTREAM f v MAXLEN",
    ],
)
def test_a_word_before_the_id_that_is_no_option_is_read_as_the_id(line: str) -> None:
    assert refusal(line) == INVALID_ID


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "XADD k LIMIT 5 * f v",
            f"{SYNTAX}, LIMIT cannot be used without specifying a trimming strategy",
        ),
        ("XADD k LIMIT 0 * f v", f"{SYNTAX}, LIMIT cannot be used without the special ~ option"),
        ("XADD k MAXLEN 5 LIMIT 0 * f v", f"{SYNTAX}, LIMIT cannot be used without the special ~ option"),
        ("XADD k LIMIT 5 * f", f"{SYNTAX}, LIMIT cannot be used without specifying a trimming strategy"),
        ("XADD k IDMP p i IDMP p i * f v", f"{SYNTAX}, IDMP/IDMPAUTO specified multiple times"),
        ("XADD k IDMPAUTO p IDMP p i * f v", f"{SYNTAX}, IDMP/IDMPAUTO specified multiple times"),
        ("XADD k IDMP p i IDMPAUTO p * f v", f"{SYNTAX}, IDMP/IDMPAUTO specified multiple times"),
        ("XADD k IDMP p i 1-1 f v", f"{SYNTAX}, IDMP/IDMPAUTO can be used only with auto-generated IDs"),
        ("XADD k IDMPAUTO p 1-* f v", f"{SYNTAX}, IDMP/IDMPAUTO can be used only with auto-generated IDs"),
        ("XADD k IDMP '' i * f v", f"{SYNTAX}, IDMP requires a non-empty producer ID"),
        ("XADD k IDMPAUTO '' * f v", f"{SYNTAX}, IDMPAUTO requires a non-empty producer ID"),
        ("XADD k IDMP p '' * f v", f"{SYNTAX}, IDMP requires a non-empty idempotent ID"),
    ],
)
def test_xadd_options_that_do_not_fit_together_are_refused(line: str, error: str) -> None:
    assert refusal(line) == error


def test_idmp_takes_even_words_that_look_like_ids_as_names() -> None:
    idempotency = command("XADD k IDMP * + * f v", Append).idempotency
    assert idempotency is not None
    assert (idempotency.producer, idempotency.key) == (b"*", b"+")


def test_idmpauto_takes_its_key_from_the_content() -> None:
    idempotency = command("XADD k IDMPAUTO p * a 1 b 2", Append).idempotency
    assert idempotency is not None
    assert idempotency.producer == b"p"
    assert idempotency.key == content_key([b"a", b"1", b"b", b"2"])


def test_producer_ids_and_keys_of_any_length_are_taken_and_kept_as_digests() -> None:
    long = "n" * 65_536
    idempotency = command(f"XADD k IDMP {long} {long}x * f v", Append).idempotency
    assert idempotency is not None
    assert (idempotency.producer, idempotency.key) == (
        compact_name(long.encode()),
        compact_name(long.encode() + b"x"),
    )
    automatic = command(f"XADD k IDMPAUTO {long} * f v", Append).idempotency
    assert automatic is not None
    assert automatic.producer == idempotency.producer
    record = command(f"XIDMPRECORD k {long} {long}x 1-1", RecordIdempotencyKey)
    assert (record.producer, record.idempotency_key) == (idempotency.producer, idempotency.key)


def test_xidmprecord_takes_names_and_the_id_of_an_entry() -> None:
    record = command("XIDMPRECORD k p i 5", RecordIdempotencyKey)
    assert record == RecordIdempotencyKey(b"k", b"p", b"i", at("5-0"))
    asked = request("XIDMPRECORD k p i 5")
    assert (asked.access, asked.to_resp(None)) == ("admin", "OK")


def test_an_entry_with_too_many_fields_or_bytes_is_refused() -> None:
    many = refused(b"XADD", b"k", b"*", *[b"f"] * (2 * FIELDS_PER_ENTRY_MAX + 2))
    assert many.code is ErrorCode.ENTRY_TOO_LARGE
    assert many.line == f"ERR an entry may have {FIELDS_PER_ENTRY_MAX} fields at most"
    large = refused(b"XADD", b"k", b"*", b"f", b"v" * ENTRY_BYTES_MAX)
    assert large.code is ErrorCode.ENTRY_TOO_LARGE
    assert large.line.startswith(f"ERR an entry may take {ENTRY_BYTES_MAX} bytes at most")


def test_xadd_answers_the_id_or_nil() -> None:
    to_resp = request("XADD k * f v").to_resp
    assert to_resp(AppendReply([at("7-2")])) == b"7-2"
    assert to_resp(None) is None


# --- the content key -------------------------------------------------------------------------------

PAIRS = st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=8)), min_size=1, max_size=6)


def flat(pairs: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
    return [item for pair in pairs for item in pair]


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_content_key_does_not_depend_on_the_order_of_pairs(
    pairs: list[tuple[bytes, bytes]], order: object
) -> None:
    shuffled = list(pairs)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert content_key(flat(shuffled)) == content_key(flat(pairs))


@given(PAIRS, PAIRS)
def test_the_content_key_tells_different_contents_apart(
    one: list[tuple[bytes, bytes]], other: list[tuple[bytes, bytes]]
) -> None:
    assert (content_key(flat(one)) == content_key(flat(other))) == (sorted(one) == sorted(other))


def test_the_content_key_counts_how_often_a_pair_occurs() -> None:
    pair = [b"a", b"1"]
    keys = {content_key(pair * times) for times in range(1, 6)}
    assert len(keys) == 5


def test_the_content_key_sees_where_a_name_ends() -> None:
    assert content_key([b"ab", b"c"]) != content_key([b"a", b"bc"])
    assert content_key([b"a", b"b"]) != content_key([b"b", b"a"])
    assert len(content_key([b"a", b"b"])) == 16


# --- XSETID ----------------------------------------------------------------------------------------


def test_xsetid_takes_an_id_and_its_options() -> None:
    assert command("XSETID k 5", SetStreamPosition) == SetStreamPosition(b"k", at("5-0"))
    expected = SetStreamPosition(b"k", at("5-1"), 9, at("5-1"))
    assert command("XSETID k 5-1 EntriesAdded 9 MaxDeletedId 5-1", SetStreamPosition) == expected
    assert command("XSETID k 5-1 MAXDELETEDID 5-1 ENTRIESADDED 9", SetStreamPosition) == expected


def test_xsetid_without_a_deleted_id_and_with_zero_are_the_same() -> None:
    assert command("XSETID k 5 MAXDELETEDID 0-0", SetStreamPosition).max_deleted_id is None


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("XSETID k -", INVALID_ID),
        ("XSETID k 5 ENTRIESADDED", SYNTAX),
        ("XSETID k 5 FOO 1", SYNTAX),
        ("XSETID k 5 ENTRIESADDED x", "ERR value is not an integer or out of range"),
        ("XSETID k 5 ENTRIESADDED -1", "ERR entries_added must be positive"),
        ("XSETID k 5 MAXDELETEDID x", INVALID_ID),
        (
            "XSETID k 5 MAXDELETEDID 5-1",
            "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
        ),
    ],
)
def test_xsetid_refuses(line: str, error: str) -> None:
    assert refusal(line) == error


def test_xsetid_answers_ok() -> None:
    assert request("XSETID k 5").to_resp(None) == "OK"


# --- XCFGSET ---------------------------------------------------------------------------------------


def test_xcfgset_takes_either_parameter_or_both() -> None:
    assert command("XCFGSET k IDMP-DURATION 86400", ConfigureStream) == ConfigureStream(b"k", 86400)
    assert command("XCFGSET k idmp-maxsize 1", ConfigureStream) == ConfigureStream(b"k", None, 1)
    both = command("XCFGSET k IDMP-MAXSIZE 10000 IDMP-DURATION 1", ConfigureStream)
    assert both == ConfigureStream(b"k", 1, 10000)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("XCFGSET k", "ERR At least one parameter must be specified"),
        ("XCFGSET k FOO", SYNTAX),
        ("XCFGSET k IDMP-DURATION", SYNTAX),
        ("XCFGSET k IDMP-DURATION A", "ERR value is not an integer or out of range"),
        ("XCFGSET k IDMP-DURATION 0", "ERR IDMP-DURATION must be between 1 and 86400 seconds"),
        ("XCFGSET k IDMP-DURATION 86401", "ERR IDMP-DURATION must be between 1 and 86400 seconds"),
        ("XCFGSET k IDMP-MAXSIZE -1", "ERR IDMP-MAXSIZE must be between 1 and 10000 entries"),
        ("XCFGSET k IDMP-MAXSIZE 10001", "ERR IDMP-MAXSIZE must be between 1 and 10000 entries"),
        ("XCFGSET k IDMP-DURATION 1 IDMP-DURATION 2", "ERR IDMP-DURATION specified multiple times"),
        ("XCFGSET k IDMP-MAXSIZE 1 IDMP-MAXSIZE 1", "ERR IDMP-MAXSIZE specified multiple times"),
    ],
)
def test_xcfgset_carries_the_error_of_its_settings_to_the_engine(line: str, error: str) -> None:
    assert late_refusal(command(line, ConfigureStream).idmp_duration_s) == error


def test_xcfgset_answers_ok() -> None:
    assert request("XCFGSET k IDMP-MAXSIZE 5").to_resp(None) == "OK"
