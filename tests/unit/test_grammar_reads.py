from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from tailrace.core.commands import Read, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import READ_STREAMS_MAX
from tailrace.core.replies import Entries, ReadReply, StreamRead
from tests.support.grammar import at, command, entries, keys_of, late_refusal, refusal, refused, request

SYNTAX = "ERR syntax error"
INVALID_ID = "ERR Invalid stream ID specified as stream command argument"
NOT_AN_INTEGER = "ERR value is not an integer or out of range"


def group(line: str) -> ReadGroup:
    return command(f"XREADGROUP GROUP g c {line}", ReadGroup)


def test_xread_takes_streams_with_a_position_each() -> None:
    read = command("XREAD STREAMS a b c 0 $ +", Read)
    expected = (
        ReadFrom(b"a", 0),
        ReadFrom(b"b", Special.LAST_ID),
        ReadFrom(b"c", Special.LAST_ENTRY),
    )
    assert read == Read(expected)


def test_the_same_stream_may_be_named_twice() -> None:
    read = command("XREAD STREAMS a a 1 2-2", Read)
    assert read.streams == (ReadFrom(b"a", at("1-0")), ReadFrom(b"a", at("2-2")))
    assert keys_of("XREAD STREAMS a a 1 2") == (b"a", b"a")


def test_xread_takes_its_options_in_any_order_and_any_case() -> None:
    for words in permutations(["count 2", "MaxCount 5", "MAXSIZE 100", "Block 30"]):
        read = command(f"XREAD {' '.join(words)} streams a 0", Read)
        assert read.limits == ReadLimits(2, 5, 100)
        assert read.block_ms == 30


def test_xreadgroup_takes_its_options_in_any_order_and_any_case() -> None:
    words = ["group g c", "COUNT 2", "maxcount 2", "MAXSIZE 100", "BLOCK 0", "Claim 0", "NoAck"]
    expected = ReadGroup(
        b"g",
        b"c",
        (ReadFrom(b"a", Special.NEW), ReadFrom(b"b", at("1-1"))),
        ReadLimits(2, 2, 100),
        block_ms=0,
        claim_min_idle_ms=0,
        noack=True,
    )
    for start in range(len(words)):
        turned = words[start:] + words[:start]
        assert command(f"XREADGROUP {' '.join(turned)} STREAMS a b > 1-1", ReadGroup) == expected


def test_the_last_of_a_repeated_option_counts() -> None:
    read = command(
        "XREADGROUP GROUP x y COUNT 1 COUNT 3 BLOCK 5 BLOCK 6 CLAIM 1 CLAIM 2 GROUP g c STREAMS a >",
        ReadGroup,
    )
    assert (read.group, read.consumer, read.limits.count) == (b"g", b"c", 3)
    assert (read.block_ms, read.claim_min_idle_ms) == (6, 2)


@pytest.mark.parametrize("count", ["0", "-1", "5 COUNT 0"])
def test_a_count_that_is_not_positive_is_no_bound(count: str) -> None:
    assert command(f"XREAD COUNT {count} STREAMS a 0", Read).limits.count is None


def test_words_after_streams_are_keys_whatever_they_are() -> None:
    read = command("XREAD STREAMS COUNT STREAMS 0 1", Read)
    assert [stream.key for stream in read.streams] == [b"COUNT", b"STREAMS"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("BLOCK x STREAMS a 0", "ERR timeout is not an integer or out of range"),
        ("BLOCK -1 STREAMS a 0", "ERR timeout is negative"),
        ("BLOCK 9223372036854775807 STREAMS a 0", "ERR timeout is out of range"),
        ("COUNT x STREAMS a 0", NOT_AN_INTEGER),
        ("COUNT STREAMS a 0", NOT_AN_INTEGER),
        ("MAXCOUNT x STREAMS a 0", NOT_AN_INTEGER),
        ("MAXCOUNT 0 STREAMS a 0", "ERR MAXCOUNT must be a positive integer"),
        ("MAXSIZE -1 STREAMS a 0", "ERR MAXSIZE must be a positive integer"),
        ("COUNT 5 MAXCOUNT 4 STREAMS a 0", "ERR MAXCOUNT must be greater than or equal to COUNT"),
        ("COUNT 5 BLOCK 1", SYNTAX),
        ("COUNT 5 STREAMS", SYNTAX),
        ("FOO STREAMS a 0", SYNTAX),
    ],
)
def test_both_reads_refuse(words: str, error: str) -> None:
    assert refusal(f"XREAD {words}") == error
    assert refusal(f"XREADGROUP GROUP g c {words}") == error


def test_a_list_of_streams_must_have_as_many_positions_as_keys() -> None:
    assert refusal("XREAD STREAMS a b 0") == (
        "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified."
    )
    assert refusal("XREADGROUP STREAMS a b c d 0") == (
        "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified."
    )


@pytest.mark.parametrize(
    ("option", "words"), [("GROUP", "GROUP g c"), ("NOACK", "NOACK"), ("CLAIM", "CLAIM x")]
)
def test_xread_refuses_the_options_of_xreadgroup(option: str, words: str) -> None:
    assert refusal(f"XREAD {words} STREAMS a 0") == (
        f"ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."
    )


@pytest.mark.parametrize(
    ("position", "error"),
    [
        (
            ">",
            (
                "ERR The > ID can be specified only when calling XREADGROUP "
                "using the GROUP <group> <consumer> option."
            ),
        ),
        ("-", INVALID_ID),
        ("x", INVALID_ID),
    ],
)
def test_xread_refuses_a_position_at_once(position: str, error: str) -> None:
    assert refusal(f"XREAD STREAMS a b 0 {position}") == error


def test_xreadgroup_without_a_group_is_refused() -> None:
    assert refusal("XREADGROUP STREAMS a b c 0 0 0") == "ERR Missing GROUP option for XREADGROUP"
    assert refusal("XREADGROUP COUNT 5 MAXCOUNT 1 STREAMS a 0") == "ERR Missing GROUP option for XREADGROUP"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("CLAIM x STREAMS a >", "ERR min-idle-time is not an integer or out of range"),
        ("CLAIM -1 STREAMS a >", "ERR min-idle-time must be a positive integer"),
    ],
)
def test_claim_needs_a_time_that_is_not_negative(words: str, error: str) -> None:
    assert refusal(f"XREADGROUP GROUP g c {words}") == error


@pytest.mark.parametrize("sign", ["$", "+"])
def test_a_position_without_meaning_in_a_group_is_told_after_the_group_was_looked_for(sign: str) -> None:
    assert late_refusal(group(f"STREAMS a {sign}").streams[0].after) == (
        f"ERR The {sign} ID is meaningless in the context of XREADGROUP: you want to read the history of "
        "this consumer by specifying a proper ID, or use the > ID to get new messages. "
        f"The {sign} ID would just return an empty result set."
    )


def test_a_malformed_position_in_a_group_is_told_at_its_stream() -> None:
    first, second = group("STREAMS a b 0 x").streams
    assert first.after == 0
    assert late_refusal(second.after) == INVALID_ID


def test_a_read_names_a_bounded_number_of_streams() -> None:
    count = READ_STREAMS_MAX + 1
    error = refused(b"XREAD", b"STREAMS", *[b"k"] * count, *[b"0"] * count)
    assert error.code is ErrorCode.LIMIT_EXCEEDED
    assert error.line == f"ERR a read may name {READ_STREAMS_MAX} streams at most"


# --- replies ---------------------------------------------------------------------------------------


def test_a_read_answers_the_streams_that_have_entries() -> None:
    reply = ReadReply([StreamRead(b"a", entries(), 0), StreamRead(b"b", entries(1), at("1-0"))])
    assert request("XREAD STREAMS a b 0 0").to_resp(reply) == [[b"b", [[b"1-0", [b"f", b"1"]]]]]


@pytest.mark.parametrize("options", ["", "CLAIM 0"])
def test_a_read_that_found_nothing_answers_nil(options: str) -> None:
    reply = ReadReply([StreamRead(b"a", entries(), 0, new=True)])
    assert request(f"XREADGROUP GROUP g c {options} STREAMS a >").to_resp(reply) is None


def test_a_history_read_always_answers_its_stream() -> None:
    reply = ReadReply([StreamRead(b"a", entries(), 0, history=True)])
    assert request("XREADGROUP GROUP g c STREAMS a 0").to_resp(reply) == [[b"a", []]]


def test_a_deleted_entry_of_the_history_has_nil_for_its_fields() -> None:
    reply = ReadReply([StreamRead(b"a", entries(1, deleted=True), 0, history=True)])
    assert request("XREADGROUP GROUP g c STREAMS a 0").to_resp(reply) == [[b"a", [[b"1-0", None]]]]


def test_claim_answers_idle_time_and_deliveries_with_every_entry_and_zeros_with_new_ones() -> None:
    claimed = msgspec.structs.replace(entries(1, 2), idle_ms=[700, 0], deliveries=[3, 0])
    reply = ReadReply(
        [
            StreamRead(b"a", claimed, 0, new=True),
            StreamRead(b"b", entries(3), 0, new=True),
            StreamRead(b"c", Entries([], []), 0, new=True),
        ]
    )
    assert request("XREADGROUP GROUP g c CLAIM 5 STREAMS a b c > > >").to_resp(reply) == [
        [b"a", [[b"1-0", [b"f", b"1"], 700, 3], [b"2-0", [b"f", b"2"], 0, 0]]],
        [b"b", [[b"3-0", [b"f", b"3"], 0, 0]]],
    ]


def test_a_history_read_ends_claiming_for_itself_and_for_the_streams_after_it() -> None:
    reply = ReadReply(
        [
            StreamRead(b"a", entries(1), 0, new=True),
            StreamRead(b"b", entries(2), 0, history=True),
            StreamRead(b"c", entries(3), 0, new=True),
        ]
    )
    assert request("XREADGROUP GROUP g c CLAIM 5 STREAMS a b c > 0 >").to_resp(reply) == [
        [b"a", [[b"1-0", [b"f", b"1"], 0, 0]]],
        [b"b", [[b"2-0", [b"f", b"2"]]]],
        [b"c", [[b"3-0", [b"f", b"3"]]]],
    ]
