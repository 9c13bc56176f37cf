from __future__ import annotations

import pytest

from tailrace.core.commands import FULL_COUNT_DEFAULT, InfoConsumers, InfoGroups, InfoStream
from tailrace.core.replies import (
    ConsumerFullInfo,
    ConsumerInfo,
    Entries,
    GroupFullInfo,
    GroupInfo,
    PendingEntry,
    StreamFullInfo,
    StreamInfo,
)
from tests.support.grammar import at, command, entries, late_refusal, request


def stream_info(first: Entries, last: Entries) -> StreamInfo:
    return StreamInfo(
        length=2,
        block_count=3,
        last_id=at("9-1"),
        max_deleted_id=at("4-0"),
        entries_added=12,
        first_id=at("1-0"),
        idmp_duration_s=100,
        idmp_maxsize=50,
        producer_count=4,
        idmp_key_count=5,
        idmp_keys_added=6,
        idmp_duplicates=7,
        group_count=8,
        first_entry=first,
        last_entry=last,
    )


TOTALS = [
    *(b"length", 2),
    *(b"radix-tree-keys", 3),
    *(b"radix-tree-nodes", 4),
    *(b"last-generated-id", b"9-1"),
    *(b"max-deleted-entry-id", b"4-0"),
    *(b"entries-added", 12),
    *(b"recorded-first-entry-id", b"1-0"),
    *(b"idmp-duration", 100),
    *(b"idmp-maxsize", 50),
    *(b"pids-tracked", 4),
    *(b"iids-tracked", 5),
    *(b"iids-added", 6),
    *(b"iids-duplicates", 7),
]


@pytest.mark.parametrize(
    ("options", "full_count"),
    [
        ("", None),
        ("full", FULL_COUNT_DEFAULT),
        ("FULL Count 3", 3),
        ("FULL COUNT 0", 0),
        ("FULL COUNT -5", FULL_COUNT_DEFAULT),
    ],
)
def test_xinfo_stream_takes_full_and_a_count(options: str, full_count: int | None) -> None:
    assert command(f"XINFO STREAM k {options}", InfoStream) == InfoStream(b"k", full_count)


@pytest.mark.parametrize("options", ["FOO", "FULL COUNT", "FULL FOO 5", "COUNT 5 FULL", "FULL COUNT 5 6"])
def test_xinfo_stream_tells_wrong_options_after_the_key_was_looked_for(options: str) -> None:
    assert late_refusal(command(f"XINFO Stream k {options}", InfoStream).full_count) == (
        "ERR unknown subcommand or wrong number of arguments for 'Stream'. Try XINFO HELP."
    )


def test_xinfo_stream_tells_a_malformed_count_after_the_key_was_looked_for() -> None:
    full_count = command("XINFO STREAM k FULL COUNT x", InfoStream).full_count
    assert late_refusal(full_count) == "ERR value is not an integer or out of range"


def test_xinfo_names_a_stream_or_a_group() -> None:
    assert command("XINFO GROUPS k", InfoGroups) == InfoGroups(b"k")
    assert command("XINFO CONSUMERS k g", InfoConsumers) == InfoConsumers(b"k", b"g")


def test_xinfo_stream_answers_its_members_in_order() -> None:
    info = stream_info(entries(1), entries(9))
    expected = [
        *TOTALS,
        *(b"groups", 8),
        *(b"first-entry", [b"1-0", [b"f", b"1"]]),
        *(b"last-entry", [b"9-0", [b"f", b"9"]]),
    ]
    assert request("XINFO STREAM k").to_resp(info) == expected


def test_xinfo_stream_of_an_empty_stream_has_nil_for_its_entries() -> None:
    answer = request("XINFO STREAM k").to_resp(stream_info(entries(), entries()))
    assert isinstance(answer, list)
    assert answer[-4:] == [b"first-entry", None, b"last-entry", None]


def test_xinfo_stream_full_answers_entries_groups_and_consumers() -> None:
    owned = PendingEntry(at("1-0"), b"c", 5, 1_000, 2)
    unowned = PendingEntry(at("2-0"), None, -1, 0, 1)
    consumer = ConsumerFullInfo(b"c", 1_500, -1, 1, [owned])
    group = GroupFullInfo(b"g", at("2-0"), None, 3, 2, 1, [unowned, owned], [consumer])
    full = StreamFullInfo(stream_info(entries(), entries()), entries(1), [group])
    expected_consumer = [
        *(b"name", b"c"),
        *(b"seen-time", 1_500),
        *(b"active-time", -1),
        *(b"pel-count", 1),
        *(b"pending", [[b"1-0", 1_000, 2]]),
    ]
    expected_group = [
        *(b"name", b"g"),
        *(b"last-delivered-id", b"2-0"),
        *(b"entries-read", None),
        *(b"lag", 3),
        *(b"pel-count", 2),
        *(b"nacked-count", 1),
        *(b"pending", [[b"2-0", b"", 0, 1], [b"1-0", b"c", 1_000, 2]]),
        *(b"consumers", [expected_consumer]),
    ]
    expected = [*TOTALS, *(b"entries", [[b"1-0", [b"f", b"1"]]]), *(b"groups", [expected_group])]
    assert request("XINFO STREAM k FULL").to_resp(full) == expected


def test_xinfo_groups_answers_a_map_for_each_group() -> None:
    groups = [GroupInfo(b"g", 1, 2, at("3-0"), None, None), GroupInfo(b"h", 0, 0, 0, 4, 5)]
    assert request("XINFO GROUPS k").to_resp(groups) == [
        [
            *(b"name", b"g"),
            *(b"consumers", 1),
            *(b"pending", 2),
            *(b"last-delivered-id", b"3-0"),
            *(b"entries-read", None),
            *(b"lag", None),
        ],
        [
            *(b"name", b"h"),
            *(b"consumers", 0),
            *(b"pending", 0),
            *(b"last-delivered-id", b"0-0"),
            *(b"entries-read", 4),
            *(b"lag", 5),
        ],
    ]


def test_xinfo_consumers_answers_a_map_for_each_consumer() -> None:
    consumers = [ConsumerInfo(b"c", 1, 700, -1)]
    expected = [[*(b"name", b"c"), *(b"pending", 1), *(b"idle", 700), *(b"inactive", -1)]]
    assert request("XINFO CONSUMERS k g").to_resp(consumers) == expected


@pytest.mark.parametrize("container", ["XGROUP", "XINFO", "CONFIG"])
def test_help_names_every_subcommand(container: str) -> None:
    parsed = request(f"{container} help")
    assert parsed.command is None
    lines = parsed.to_resp(None)
    assert isinstance(lines, list)
    text = "\n".join(str(line) for line in lines)
    assert container in text
    assert "HELP" in text
