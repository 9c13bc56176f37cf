"""The room that replies take in their request, and the result if a reply does not fit."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tailrace.core import commands as c
from tailrace.core.bounds.reply_room import ITEM_BYTES, ReplyRoom, entries_bytes
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.limits import MIB, REPLY_BYTES_MAX
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.outcome import Outcome
from tests.support.engine_calls import Calls, at, texts

LARGE = fragment_from_flat([b"v", b"x" * MIB])
LARGE_BYTES = entries_bytes([LARGE])
NULS = fragment_from_flat([b"\xff", b"\0" * 3000])


@pytest.fixture
def calls() -> Calls:
    return with_three_large_entries()


def with_three_large_entries() -> Calls:
    """Three large entries in `s`, pending for `alice` in `g`; nothing delivered in `new`."""
    calls = Calls()
    calls.reply(c.Append(b"s", [LARGE] * 3, [at("1-1"), at("2-1"), at("3-1")]))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.reply(c.CreateGroup(b"s", b"new", 0))
    calls.read_new(b"s", b"g", b"alice")
    return calls


def with_room(calls: Calls, command: c.Command, size_bytes: int) -> tuple[Any, Outcome]:
    """Return the reply and the changes of a command with this much room left."""
    [reply], outcome = calls.engine.execute_some([[command]], [ReplyRoom(size_bytes)], calls.now_ms)
    return reply, outcome


def is_refused(reply: object) -> bool:
    return isinstance(reply, StreamError) and reply.code is ErrorCode.REPLY_TOO_LARGE


# --- sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fragment", [LARGE, NULS, fragment_from_flat([b"a", b"1", b"a", b"\n" * 50])])
def test_an_entry_takes_as_much_as_its_json_text(fragment: bytes) -> None:
    calls = Calls()
    calls.reply(c.Append(b"s", [fragment]))
    from tailrace.api.wire.redis_words import result_parts  # noqa: PLC0415 - only here, to measure
    from tailrace.core.parser import parse_request  # noqa: PLC0415

    request = parse_request([b"XRANGE", b"s", b"-", b"+"])
    assert request.command is not None
    text = b"".join(result_parts(request.to_resp(calls.reply(request.command)), all_base64=False))
    assert json.loads(text)
    assert abs(entries_bytes([fragment]) - len(text)) <= ITEM_BYTES


def test_a_deleted_entry_takes_the_room_of_an_item() -> None:
    assert entries_bytes([None, None]) == 2 * ITEM_BYTES


def test_names_take_their_json_text() -> None:
    room = ReplyRoom(2 * ITEM_BYTES + 2 * 12 + 2)
    room.charge_names([b"\0\0", b"\n\n\n\n\n\n"])
    assert room.left_bytes == 0
    room = ReplyRoom(1000)
    room.charge_names([b"\xff", b"a"])
    assert room.left_bytes == 1000 - 2 * ITEM_BYTES - len('{"base64":"/w=="}"a"')


def test_one_entry_always_fits_where_any_room_is_left_and_two_must_fit() -> None:
    assert ReplyRoom(1).take_fitting([LARGE, LARGE]) == 1
    room = ReplyRoom(1)
    with pytest.raises(StreamError, match="1 bytes"):
        room.charge_entries([LARGE, LARGE])
    room.charge_entries([LARGE])
    assert (room.take_fitting([LARGE]), room.items_left) == (0, 0)
    with pytest.raises(StreamError, match="does not fit"):
        room.charge_entries([LARGE])
    room.charge_entries([])


def test_what_is_given_back_can_be_taken_again() -> None:
    room = ReplyRoom(2 * LARGE_BYTES)
    assert room.take_fitting([LARGE, LARGE, LARGE]) == 2
    room.give_back([LARGE])
    assert room.take_fitting([LARGE, LARGE]) == 1


def test_a_request_has_one_room_of_its_own(calls: Calls) -> None:
    run = Execution(calls.engine.keyspace, 1)
    assert run.room() is run.room()
    assert run.room().left_bytes == REPLY_BYTES_MAX


# --- exact replies -----------------------------------------------------------------------------------

EXACT = [
    c.Range(b"s"),
    c.Range(b"s", count=2, reverse=True),
    c.InfoStream(b"s"),
    c.InfoStream(b"s", full_count=0),
    c.PendingRange(b"s", b"g"),
    c.PendingSummary(b"s", b"g"),
    c.InfoGroups(b"s"),
    c.InfoConsumers(b"s", b"g"),
    c.MatchKeys(pattern=b"*"),
    c.ScanKeys(cursor=0),
    c.ListStreams(),
    c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, (at("1-1"), at("2-1")))),
    c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, (at("1-1"), at("2-1")), just_id=True)),
]


@pytest.mark.parametrize("command", EXACT, ids=lambda each: type(each).__name__)
def test_an_exact_reply_that_does_not_fit_is_refused_and_changes_nothing(
    calls: Calls, command: c.Command
) -> None:
    reply, outcome = with_room(calls, command, ITEM_BYTES)
    assert is_refused(reply)
    assert not outcome.effects
    assert not is_refused(with_room(calls, command, REPLY_BYTES_MAX)[0])


def test_a_range_is_refused_at_the_entry_beyond_and_not_before(calls: Calls) -> None:
    assert is_refused(with_room(calls, c.Range(b"s", count=2), 2 * LARGE_BYTES - 1)[0])
    for command in (c.Range(b"s", count=2), c.Range(b"s", end=at("2-1"))):
        reply, _ = with_room(calls, command, 2 * LARGE_BYTES)
        assert texts(reply.entries.ids) == ["1-1", "2-1"]


IN_BASE64 = fragment_from_flat([b"\xff", b"x" * 3_000])


@pytest.mark.parametrize("size_bytes", range(3_000, 25_000, 500))
@pytest.mark.parametrize(
    "command",
    [
        c.Range(b"b"),
        c.Range(b"b", reverse=True),
        c.Range(b"b", count=5),
        c.Range(b"b", max_bytes=13_000),
        c.InfoStream(b"b", full_count=0),
        c.Claim(b"b", b"g", b"bob", c.ClaimOptions(0, tuple(at(f"{ms}-1") for ms in range(1, 6)))),
    ],
    ids=lambda each: type(each).__name__,
)
def test_an_exact_reply_of_entries_in_base64_is_complete_or_refused(
    command: c.Command, size_bytes: int
) -> None:
    calls = Calls()
    calls.reply(c.Append(b"b", [IN_BASE64] * 5, [at(f"{ms}-1") for ms in range(1, 6)]))
    calls.reply(c.CreateGroup(b"b", b"g", 0))
    calls.read_new(b"b", b"g", b"alice")
    reply, _ = with_room(calls, command, size_bytes)
    assert is_refused(reply) or len(reply.entries) == 5 or reply.more


def test_a_read_of_entries_in_base64_goes_on_where_it_ended() -> None:
    calls = Calls()
    calls.reply(c.Append(b"b", [IN_BASE64] * 5))
    calls.reply(c.CreateGroup(b"b", b"g", 0))
    found: list[int] = []
    for _ in range(2):
        command = c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"b", c.Special.NEW),))
        reply, _ = with_room(calls, command, 16_500)
        found += reply.streams[0].entries.ids
    assert found == list(calls.reply(c.Range(b"b")).entries.ids)


@pytest.mark.parametrize("fragment", [IN_BASE64, NULS, LARGE])
def test_an_entry_takes_no_less_than_it_is_stored_in(fragment: bytes) -> None:
    assert entries_bytes([fragment] * 2) >= 2 * len(fragment)


def test_a_page_is_cut_by_its_own_bytes_and_takes_no_room(calls: Calls) -> None:
    reply, _ = with_room(calls, c.Range(b"s", max_bytes=1), 1)
    assert (len(reply.entries), reply.more) == (1, True)


def test_a_claim_counts_only_what_is_idle_enough(calls: Calls) -> None:
    calls.now_ms += 100
    calls.read_new(b"s", b"new", b"bob", 1)
    calls.now_ms += 50
    calls.read_new(b"s", b"new", b"bob")
    ids = (at("1-1"), at("2-1"), at("3-1"))
    command = c.Claim(b"s", b"new", b"eve", c.ClaimOptions(10, ids))
    reply, _ = with_room(calls, command, LARGE_BYTES)
    assert texts(reply.entries.ids) == ["1-1"]
    calls.now_ms += 50
    reply, outcome = with_room(calls, c.Claim(b"s", b"new", b"zoe", c.ClaimOptions(10, ids)), LARGE_BYTES)
    assert is_refused(reply)
    assert not outcome.effects


# --- replies that are cut ----------------------------------------------------------------------------


def test_a_claim_of_small_entries_ends_with_the_one_that_uses_up_the_room() -> None:
    calls = Calls()
    calls.reply(c.Append(b"s", [fragment_from_flat([b"v", b"x"])] * 3, [at("1-1"), at("2-1"), at("3-1")]))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.read_new(b"s", b"g", b"bob")
    reply, _ = with_room(calls, group_read(b"g", c.Special.NEW, claim_min_idle_ms=0), 2 * ITEM_BYTES)
    assert texts(reply.streams[0].entries.ids) == ["1-1", "2-1"]
    consumers = calls.engine.keyspace.streams[b"s"].groups[b"g"].consumers.values()
    assert {each.name: each.pending_count for each in consumers} == {b"alice": 2, b"bob": 1}


def group_read(group: bytes, after: c.Special | int, **options: Any) -> c.ReadGroup:
    return c.ReadGroup(group, b"alice", (c.ReadFrom(b"s", after),), **options)


CUT = [
    (c.Read((c.ReadFrom(b"s", 0),)), 2),
    (group_read(b"new", c.Special.NEW), 2),
    (group_read(b"g", 0), 2),
    (group_read(b"g", c.Special.NEW, claim_min_idle_ms=0), 2),
]


@pytest.mark.parametrize(("command", "count"), CUT)
def test_a_read_ends_with_the_entry_that_uses_up_the_room(
    calls: Calls, command: c.Command, count: int
) -> None:
    reply, _ = with_room(calls, command, LARGE_BYTES + 1)
    assert len(reply.streams[0].entries) == count
    assert len(with_room(calls, command, 1)[0].streams[0].entries) == 1


def test_what_a_cut_read_left_out_comes_with_the_next_read(calls: Calls) -> None:
    command = group_read(b"new", c.Special.NEW)
    for expected in (["1-1"], ["2-1"], ["3-1"], []):
        assert texts(with_room(calls, command, 1)[0].streams[0].entries.ids) == expected
    assert calls.reply(c.PendingSummary(b"s", b"new")).count == 3


@pytest.mark.parametrize("settings", [{}, {"filter": "has(fields.v)"}, {"order_by": "k"}], ids=str)
def test_new_entries_stay_where_claimed_ones_have_used_up_the_room(settings: dict[str, Any]) -> None:
    calls = with_three_large_entries()
    calls.reply(c.ConfigureGroup(b"s", b"g", **settings))
    calls.reply(c.Append(b"s", [LARGE], [at("4-1")]))
    command = group_read(b"g", c.Special.NEW, claim_min_idle_ms=0)
    reply, _ = with_room(calls, command, 2 * LARGE_BYTES + 1)
    assert texts(reply.streams[0].entries.ids) == ["1-1", "2-1", "3-1"]
    assert calls.engine.keyspace.streams[b"s"].groups[b"g"].last_delivered_id == at("3-1")
    assert calls.read_new(b"s", b"g", b"alice") == ["4-1"]


def test_a_read_of_several_streams_is_cut_over_all_of_them(calls: Calls) -> None:
    calls.reply(c.Append(b"t", [LARGE]))
    calls.reply(c.CreateGroup(b"t", b"new", 0))
    calls.reply(c.CreateGroup(b"t", b"g", 0))
    calls.read_new(b"t", b"g", b"alice")
    plain = c.Read((c.ReadFrom(b"s", 0), c.ReadFrom(b"t", 0)))
    of_group = [
        c.ReadGroup(group, b"alice", (c.ReadFrom(b"s", after), c.ReadFrom(b"t", after)), claim_min_idle_ms=0)
        for group, after in ((b"new", c.Special.NEW), (b"g", 0), (b"g", c.Special.NEW))
    ]
    for command in (plain, *of_group):
        reply, _ = with_room(calls, command, 1)
        assert [len(read.entries) for read in reply.streams] == [1, 0]
    assert calls.reply(c.PendingSummary(b"t", b"new")).count == 0


@pytest.mark.parametrize("just_id", [False, True])
def test_an_autoclaim_that_is_cut_goes_on_at_its_cursor(calls: Calls, *, just_id: bool) -> None:
    room = ITEM_BYTES if just_id else LARGE_BYTES
    claimed: list[str] = []
    cursor = 0
    while True:
        command = c.AutoClaim(b"s", b"g", b"bob", 0, cursor, just_id=just_id)
        reply, _ = with_room(calls, command, room)
        assert len(reply.entries) == 1
        claimed += texts(reply.entries.ids)
        cursor = reply.cursor
        if not cursor:
            break
    assert claimed == ["1-1", "2-1", "3-1"]


@pytest.mark.parametrize(
    "command",
    [
        *(command for command, _ in CUT),
        c.AutoClaim(b"s", b"g", b"bob", 0, 0),
        c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, (at("1-1"),))),
    ],
)
def test_where_no_room_is_left_a_read_is_refused_and_changes_nothing(
    calls: Calls, command: c.Command
) -> None:
    reply, outcome = with_room(calls, command, 0)
    assert is_refused(reply)
    assert not outcome.effects


# --- transactions ------------------------------------------------------------------------------------


@pytest.fixture
def small_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A room for four large entries and a half."""
    size_bytes = LARGE_BYTES * 9 // 2
    monkeypatch.setattr(ReplyRoom.__init__, "__defaults__", (size_bytes,))


ALL = c.Range(b"s")
ADD = c.Append(b"s", [LARGE])
ADD_LATER = c.Append(b"s", [LARGE], [at("5000-1")])
FITTING: list[list[c.Command]] = [
    [ALL, c.Range(b"s", count=1)],
    [ADD, ALL],
    [ALL, ADD],
    [ADD, ADD, c.Range(b"s", count=4)],
    [ADD, ADD, c.Range(b"s", count=1, reverse=True), c.Range(b"s", count=3, reverse=True)],
    [ADD, ADD, c.Range(b"s", end=at("3-1"))],
    [ADD, ADD, c.Range(b"s", start=at("2-1"))],
    [ADD_LATER, ADD_LATER, ALL],
    [c.Append(b"s", [LARGE, LARGE], [c.AutoSeq(0), None]), ALL],
    [c.Append(b"s", [LARGE], [c.AutoSeq(3)]), c.Append(b"s", [LARGE], [c.AutoSeq(2)]), ALL],
    [c.TrimStream(b"s", c.Trim(max_length=1)), ALL, ALL, ALL, ALL],
    [c.DeleteKeys((b"s",)), ALL, ALL],
    [c.Flush(), ALL, ALL],
    [c.RenameKey(b"s", b"t"), ALL, ALL, c.Range(b"t")],
    [c.Append(b"n", [b'{"f":"v"}']), c.CopyKey(b"n", b"s", replace=True), ALL, ALL],
    [c.Append(b"s", [LARGE], trim=c.Trim(max_length=1)), ALL, ALL, ALL],
    [c.Range(b"none"), c.InfoStream(b"none"), ALL],
    [c.CreateGroup(b"s", b"h", 0), c.PendingSummary(b"s", b"h"), ALL],
    [group_read(b"new", c.Special.NEW), c.PendingRange(b"s", b"new"), c.InfoConsumers(b"s", b"g")],
    [c.Append(b"n", [LARGE]), c.InfoStream(b"n"), c.Range(b"n")],
]


@pytest.mark.usefixtures("small_room")
@pytest.mark.parametrize("commands", FITTING)
def test_a_transaction_whose_replies_fit_is_carried_out(calls: Calls, commands: list[c.Command]) -> None:
    replies, _ = calls.engine.execute_all(commands, calls.now_ms)
    assert not any(map(is_refused, replies))


READ_ALL = c.Read((c.ReadFrom(b"s", 0),))
ONE = c.Range(b"s", count=1)


@pytest.mark.usefixtures("small_room")
@pytest.mark.parametrize(
    "commands",
    [*FITTING, [READ_ALL, ONE, ONE, ONE, READ_ALL], [ONE, READ_ALL, c.Range(b"none"), ONE, ADD, ONE]],
)
def test_the_replies_of_a_transaction_are_those_of_its_commands_one_by_one(
    calls: Calls, commands: list[c.Command]
) -> None:
    twin = with_three_large_entries()
    replies, outcome = calls.engine.execute_all(commands, calls.now_ms)
    expected, expected_outcome = twin.engine.execute_some([commands], [ReplyRoom()], calls.now_ms)
    assert list(map(readable, replies)) == list(map(readable, expected))
    assert list(map(type, outcome.effects)) == list(map(type, expected_outcome.effects))


def readable(reply: object) -> object:
    return reply.line if isinstance(reply, StreamError) else msgspec.to_builtins(reply)


@pytest.mark.usefixtures("small_room")
def test_a_reply_of_a_transaction_that_does_not_fit_is_refused_by_itself(calls: Calls) -> None:
    commands = [c.DeleteEntries(b"s", (at("9-9"),)), ALL, ALL, c.StreamLength(b"s")]
    replies, _ = calls.engine.execute_all(commands, calls.now_ms)
    assert [is_refused(reply) for reply in replies] == [False, False, True, False]


# --- turns -------------------------------------------------------------------------------------------


def test_a_turn_ends_with_the_request_that_has_enough_replies(calls: Calls) -> None:
    first, second = [ALL, c.StreamLength(b"s")], [c.StreamLength(b"s")]
    rooms = [ReplyRoom(), ReplyRoom()]
    replies, _ = calls.engine.execute_some([first, second], rooms, calls.now_ms)
    assert len(replies) == 2
    replies, _ = calls.engine.execute_some([second, second], rooms, calls.now_ms)
    assert replies == [3, 3]


def test_a_range_whose_first_entry_alone_takes_the_room_is_refused_if_others_follow(calls: Calls) -> None:
    reply, _ = with_room(calls, c.Range(b"s"), 1_000)
    assert is_refused(reply)


def test_the_pending_entries_of_a_full_view_are_counted_before_they_are_described() -> None:
    calls = Calls()
    calls.add(b"s", *(f"{number}-0" for number in range(1, 101)))
    calls.reply(c.CreateGroup(b"s", b"g", 0))
    calls.read_new(b"s", b"g", b"alice")
    full = c.InfoStream(b"s", full_count=50)
    entries_only = 60 * ITEM_BYTES + 50 * len(calls.engine.keyspace.streams[b"s"].log.range()[1][0])
    reply, outcome = with_room(calls, full, entries_only)
    assert is_refused(reply)
    assert not outcome.effects
