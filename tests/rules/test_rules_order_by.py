"""Order by key: at most one entry of each value of a field is in flight, and none overtakes another of its
value."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.group import Group
from tailrace.core.invariants import check
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.outcome import Outcome, Signal, WakeUp
from tailrace.core.parser import parse_request
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import format_id
from tests.support.redis_like import R, to_words


@pytest.fixture
def r() -> R:
    """A group that delivers in order by `k`."""
    r = R()
    r.run("XGROUP", "CREATE", "s", "g", 0, "MKSTREAM")
    configure(r, "k")
    return r


def append(r: R, keys: str, first: int = 1) -> None:
    """Append an entry for each letter; `-` has no field `k`."""
    flats = [[b"x", b"1"] if key == "-" else [b"k", key.encode()] for key in keys]
    ids = tuple(number << 64 for number in range(first, first + len(keys)))
    r.engine.execute(c.Append(b"s", [fragment_from_flat(flat) for flat in flats], ids), r.now_ms)


def configure(r: R, field: Any, **more: Any) -> Outcome:
    result = r.engine.execute(c.ConfigureGroup(b"s", b"g", order_by=field, **more), r.now_ms)
    check(r.engine.keyspace)
    return result


def outcome(
    r: R, consumer: bytes = b"alice", *, block_ms: int | None = None, noack: bool = False, **limits: Any
) -> Outcome:
    sources = (c.ReadFrom(b"s", c.Special.NEW),)
    command = c.ReadGroup(b"g", consumer, sources, c.ReadLimits(**limits), block_ms, noack=noack)
    result = r.engine.execute(command, r.now_ms)
    check(r.engine.keyspace)
    return result


def ids(result: Outcome) -> list[int]:
    assert isinstance(result.reply, ReadReply)
    return [value >> 64 for read in result.reply.streams for value in read.entries.ids]


def read(r: R, consumer: bytes = b"alice", **more: Any) -> list[int]:
    return ids(outcome(r, consumer, **more))


def run(r: R, *words: Any) -> Any:
    reply = r.run(*words)
    check(r.engine.keyspace)
    return reply


def ack(r: R, *numbers: int) -> Outcome:
    result = r.engine.execute(c.Acknowledge(b"s", b"g", tuple(number << 64 for number in numbers)), r.now_ms)
    check(r.engine.keyspace)
    return result


def group(r: R) -> Group:
    found: Group = r.engine.keyspace.streams[b"s"].groups[b"g"]
    return found


def held(r: R) -> list[int]:
    order = group(r).order
    return [] if order is None else [value >> 64 for value in order.held]


def lag(r: R) -> Any:
    [row] = r.run("XINFO", "GROUPS", "s")
    return dict(zip(row[::2], row[1::2], strict=True))["lag"]


# --- delivery ----------------------------------------------------------------------------------------


def test_a_read_delivers_one_entry_of_each_value_and_holds_the_others(r: R) -> None:
    append(r, "aabcb")
    assert read(r) == [1, 3, 4]
    assert held(r) == [2, 5]
    assert group(r).last_delivered_id == 5 << 64
    assert lag(r) == 2
    assert read(r) == []


def test_an_acknowledgment_frees_the_value_and_the_next_entry_is_delivered(r: R) -> None:
    append(r, "aaab")
    assert read(r) == [1, 4]
    ack(r, 1)
    assert read(r, b"bob") == [2]
    ack(r, 4)
    assert read(r) == []
    ack(r, 2)
    assert read(r) == [3]
    ack(r, 3)
    assert (read(r), held(r), lag(r)) == ([], [], 0)


def test_entries_without_the_field_are_delivered_freely(r: R) -> None:
    append(r, "--a-a")
    assert read(r) == [1, 2, 3, 4]
    assert held(r) == [5]


def test_the_empty_value_is_a_value(r: R) -> None:
    for number in (1, 2):
        entry = fragment_from_flat([b"k", b""])
        r.engine.execute(c.Append(b"s", [entry], (number << 64,)), r.now_ms)
    assert read(r) == [1]
    assert held(r) == [2]


def test_values_that_are_not_utf8_and_repeated_names_have_their_last_value(r: R) -> None:
    flats = ([b"k", b"\xff"], [b"k", b"a", b"k", b"\xff"], [b"k", b"\xff", b"k", b"b"])
    ids_ = tuple(number << 64 for number in (1, 2, 3))
    r.engine.execute(c.Append(b"s", [fragment_from_flat(flat) for flat in flats], ids_), r.now_ms)
    assert read(r) == [1, 3]


def test_long_values_are_told_apart(r: R) -> None:
    flats = [[b"k", b"x" * 5000 + tail] for tail in (b"a", b"b", b"a")]
    ids_ = tuple(number << 64 for number in (1, 2, 3))
    r.engine.execute(c.Append(b"s", [fragment_from_flat(flat) for flat in flats], ids_), r.now_ms)
    assert read(r) == [1, 2]
    order = group(r).order
    assert order is not None
    assert max(map(len, order.in_flight)) == 65


def test_a_count_is_filled_with_other_values(r: R) -> None:
    append(r, "aaaaaaaabcd")
    assert read(r, count=3) == [1, 9, 10]
    assert held(r) == [2, 3, 4, 5, 6, 7, 8]
    assert group(r).last_delivered_id == 10 << 64
    assert read(r, count=3) == [11]


def test_ready_entries_come_before_new_ones_and_the_reply_is_in_order_of_ids(r: R) -> None:
    append(r, "abab")
    assert read(r) == [1, 2]
    append(r, "c", 5)
    ack(r, 2)
    ack(r, 1)
    assert read(r, count=2) == [3, 4]
    assert read(r) == [5]


def test_a_value_with_held_entries_is_not_overtaken_by_new_ones(r: R) -> None:
    append(r, "aa")
    assert read(r) == [1]
    ack(r, 1)
    append(r, "a", 3)
    assert read(r) == [2]
    assert held(r) == [3]


@pytest.mark.parametrize("limit", [{"max_count": 1}, {"max_bytes": 1}, {"page_bytes": 1}, {"count": 1}])
def test_every_limit_of_a_read_cuts_ready_and_new_entries(r: R, limit: dict[str, Any]) -> None:
    append(r, "ababcc")
    got = []
    while found := read(r, **limit):
        assert len(found) == 1
        got += found
        assert len(got) < 10
    assert got == [1, 2, 5]
    assert held(r) == [3, 4, 6]
    ack(r, *got)
    assert [read(r, **limit) for _ in range(4)] == [[3], [4], [6], []]


def test_entries_behind_the_first_one_that_does_not_fit_are_not_passed_over(r: R) -> None:
    append(r, "abba")
    assert read(r, max_bytes=1) == [1]
    assert (held(r), group(r).last_delivered_id) == ([], 1 << 64)
    assert read(r) == [2]
    assert held(r) == [3, 4]


# --- retries -----------------------------------------------------------------------------------------


def test_a_retried_entry_holds_back_those_behind_it_and_only_those(r: R) -> None:
    append(r, "aab")
    assert read(r, count=1) == [1]
    run(r, "XNACK", "s", "g", "FAIL", "IDS", 1, "1-0")
    assert read(r, b"bob") == [3]
    reply = run(r, "XREADGROUP", "GROUP", "g", "bob", "CLAIM", 0, "STREAMS", "s", ">")
    assert [row[0] for row in reply[0][1]] == ["1-0", "3-0"]
    assert held(r) == [2]
    ack(r, 1)
    assert read(r) == [2]


@pytest.mark.parametrize(
    "words",
    [
        ("XCLAIM", "s", "g", "bob", 0, "1-0", "FORCE"),
        ("XAUTOCLAIM", "s", "g", "bob", 0, "0"),
        ("XNACK", "s", "g", "SILENT", "IDS", 1, "1-0"),
    ],
)
def test_claims_and_nacks_keep_the_entry_in_flight(r: R, words: tuple[Any, ...]) -> None:
    append(r, "aa")
    read(r)
    run(r, *words)
    assert read(r, b"carol") == []
    ack(r, 1)
    assert read(r, b"carol") == [2]


def test_force_makes_nothing_pending(r: R) -> None:
    append(r, "aa")
    read(r)
    assert run(r, "XCLAIM", "s", "g", "bob", 0, "2-0", "FORCE") == []
    assert run(r, "XNACK", "s", "g", "FAIL", "IDS", 1, "2-0", "FORCE") == 0
    assert held(r) == [2]


def test_a_dead_letter_frees_the_value(r: R) -> None:
    configure(r, "k", max_deliveries=1, dead_letter_stream=b"dead")
    append(r, "aa")
    assert read(r) == [1]
    run(r, "XNACK", "s", "g", "FAIL", "IDS", 1, "1-0")
    assert read(r) == [2]


# --- other ways to free a value ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("XACK", "s", "g", "1-0"),
        ("XACKDEL", "s", "g", "IDS", 1, "1-0"),
        ("XDEL", "s", "1-0"),
        ("XDELEX", "s", "DELREF", "IDS", 1, "1-0"),
        ("XTRIM", "s", "MINID", "2-0"),
        ("XTRIM", "s", "MINID", "2-0", "DELREF"),
        ("XGROUP", "DELCONSUMER", "s", "g", "alice"),
    ],
)
def test_the_value_is_free_once_its_entry_is_gone_and_waiting_readers_wake(
    r: R, words: tuple[Any, ...]
) -> None:
    append(r, "aa")
    assert read(r) == [1]
    waiting = outcome(r, b"bob", block_ms=0)
    assert waiting.wait is not None
    parsed = parse_request(to_words(words)).command
    assert parsed is not None
    result = r.engine.execute(parsed, r.now_ms)
    check(r.engine.keyspace)
    assert WakeUp(b"s", Signal.DATA, b"g", most=1) in result.wake_ups
    assert waiting.retry is not None
    assert ids(r.engine.execute(waiting.retry, r.now_ms)) == [2]


def test_a_transferred_entry_stays_in_flight(r: R) -> None:
    append(r, "aa")
    read(r)
    r.engine.execute(c.DeleteConsumer(b"s", b"g", b"alice", transfer_to=b"bob"), r.now_ms)
    check(r.engine.keyspace)
    assert read(r) == []


def test_a_deleted_consumer_frees_the_keys_of_entries_that_it_got_by_a_transfer(r: R) -> None:
    append(r, "a---a")
    assert read(r) == [1, 2, 3, 4]
    for owner, value in ((b"bob", 4), (b"bob", 2), (b"alice", 1), (b"bob", 3)):
        r.run("XCLAIM", "s", "g", owner, 0, f"{value}-0")
    r.engine.execute(c.DeleteConsumer(b"s", b"g", b"alice", transfer_to=b"bob"), r.now_ms)
    check(r.engine.keyspace)
    r.engine.execute(c.DeleteConsumer(b"s", b"g", b"bob"), r.now_ms)
    assert read(r) == [5]


def test_deleted_and_trimmed_entries_are_not_held_any_more(r: R) -> None:
    append(r, "aaaaa")
    read(r)
    run(r, "XDEL", "s", "3-0")
    assert held(r) == [2, 4, 5]
    run(r, "XTRIM", "s", "MINID", "5-0")
    assert held(r) == [5]
    assert lag(r) in (1, None)
    assert read(r) == [5]


def test_a_moved_group_forgets_what_it_held_and_reads_from_its_position(r: R) -> None:
    append(r, "aaab")
    assert read(r) == [1, 4]
    run(r, "XGROUP", "SETID", "s", "g", "1-0")
    assert held(r) == []
    assert read(r) == []
    assert held(r) == [2, 3, 4]
    ack(r, 1, 4)
    assert read(r) == [2, 4]
    run(r, "XGROUP", "SETID", "s", "g", "$")
    assert (held(r), lag(r)) == ([], 0)


def test_a_claim_with_lastid_keeps_what_is_held(r: R) -> None:
    append(r, "aaab")
    assert read(r, count=1) == [1]
    assert read(r) == [4]
    append(r, "c", 5)
    run(r, "XCLAIM", "s", "g", "bob", 0, "1-0", "LASTID", "5-0")
    assert held(r) == [2, 3]
    assert read(r) == []
    ack(r, 1)
    assert read(r) == [2]


# --- NOACK, copies, history --------------------------------------------------------------------------


def test_a_read_with_noack_puts_no_value_in_flight_and_respects_those_that_are(r: R) -> None:
    append(r, "aabb")
    assert read(r, count=1) == [1]
    assert read(r, noack=True) == [3, 4]
    assert held(r) == [2]
    append(r, "aa", 5)
    assert read(r, noack=True) == []
    ack(r, 1)
    assert read(r, noack=True, count=2) == [2, 5]
    assert read(r, b"bob") == [6]


def test_a_copy_and_a_renamed_stream_keep_the_order(r: R) -> None:
    append(r, "aa")
    read(r)
    run(r, "COPY", "s", "t")
    ack(r, 1)
    run(r, "RENAME", "s", "u")
    for key, expected in (("t", []), ("u", ["2-0"])):
        reply = run(r, "XREADGROUP", "GROUP", "g", "alice", "STREAMS", key, ">")
        assert [row[0] for row in (reply[0][1] if reply else [])] == expected
    run(r, "XGROUP", "DESTROY", "u", "g")
    assert r.engine.keyspace.streams[b"u"].ordered == {}


def test_history_shows_what_is_in_flight(r: R) -> None:
    append(r, "aab")
    read(r)
    reply = run(r, "XREADGROUP", "GROUP", "g", "alice", "STREAMS", "s", "0")
    assert [row[0] for row in reply[0][1]] == ["1-0", "3-0"]


def test_a_filter_drops_entries_before_they_are_held(r: R) -> None:
    configure(r, "k", filter="fields.k != 'b'")
    append(r, "aabba")
    assert read(r) == [1]
    assert held(r) == [2, 5]
    assert group(r).last_delivered_id == 5 << 64


# --- references --------------------------------------------------------------------------------------


def test_a_held_entry_is_referenced(r: R) -> None:
    append(r, "aab")
    read(r)
    ack(r, 3)
    assert run(r, "XDELEX", "s", "ACKED", "IDS", 3, "1-0", "2-0", "3-0") == [2, 2, 1]
    assert run(r, "XTRIM", "s", "MAXLEN", 0, "ACKED") == 0
    ack(r, 1)
    assert run(r, "XTRIM", "s", "MAXLEN", 0, "ACKED") == 1
    read(r)
    ack(r, 2)
    assert run(r, "XTRIM", "s", "MAXLEN", 0, "ACKED") == 1


# --- the setting -------------------------------------------------------------------------------------


def test_pending_entries_hold_back_entries_of_their_value_once_the_field_is_set(r: R) -> None:
    configure(r, None)
    append(r, "aab-")
    assert read(r) == [1, 2, 3, 4]
    run(r, "XDEL", "s", "3-0")
    configure(r, "k")
    append(r, "abc", 5)
    assert read(r) == [6, 7]
    ack(r, 1)
    assert read(r) == []
    ack(r, 2)
    assert read(r) == [5]


def test_held_entries_are_delivered_first_and_in_order_once_the_field_is_removed(r: R) -> None:
    append(r, "aaabb")
    assert read(r) == [1, 4]
    result = configure(r, None)
    assert result.wake_ups
    append(r, "c", 6)
    assert lag(r) == 4
    assert read(r, count=2) == [2, 3]
    assert read(r) == [5]
    assert group(r).order is None
    assert read(r) == [6]
    assert lag(r) == 0


def test_another_field_takes_over_what_is_held(r: R) -> None:
    flats = [[b"k", b"a", b"c", b"x"], [b"k", b"a", b"c", b"y"], [b"k", b"a", b"c", b"y"], [b"k", b"a"]]
    ids_ = tuple(number << 64 for number in range(1, 5))
    r.engine.execute(c.Append(b"s", [fragment_from_flat(flat) for flat in flats], ids_), r.now_ms)
    assert read(r) == [1]
    configure(r, "c")
    assert read(r) == [2, 4]
    assert held(r) == [3]
    ack(r, 2)
    assert read(r) == [3]


def test_a_field_that_is_set_again_while_held_entries_are_left_orders_them(r: R) -> None:
    append(r, "aaab")
    read(r)
    configure(r, None)
    configure(r, "k")
    assert read(r) == []
    ack(r, 1)
    assert read(r) == [2]


@pytest.mark.parametrize("name", ["", "x" * 513, "é" * 257])
def test_a_field_without_a_usable_name_is_refused(r: R, name: str) -> None:
    with pytest.raises(StreamError) as caught:
        configure(r, name)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    assert "must have 1 to 512" in caught.value.line
    settings = group(r).settings
    assert settings is not None
    assert settings.order_by == "k"


def test_too_many_pending_entries_refuse_the_field_and_change_nothing(
    r: R, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(r, None)
    append(r, "aab")
    read(r)
    monkeypatch.setattr("tailrace.core.handlers.group_settings.ORDERED_ENTRIES_MAX", 2)
    with pytest.raises(StreamError) as caught:
        configure(r, "k")
    assert caught.value.code is ErrorCode.LIMIT_EXCEEDED
    assert "has 3 pending and held entries, and 2 are allowed" in caught.value.line
    monkeypatch.setattr("tailrace.core.handlers.group_settings.ORDERED_ENTRIES_MAX", 3)
    monkeypatch.setattr("tailrace.core.handlers.group_settings.FILTER_SCAN_BYTES_MAX", 1)
    with pytest.raises(StreamError) as caught:
        configure(r, "k")
    assert caught.value.code is ErrorCode.LIMIT_EXCEEDED
    assert group(r).settings is None


# --- bounds ------------------------------------------------------------------------------------------


def test_a_group_that_holds_too_many_entries_reads_no_further_until_one_is_freed(
    r: R, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("key_order", "handlers.ordered_delivery"):
        monkeypatch.setattr(f"tailrace.core.{module}.HELD_ENTRIES_MAX", 2)
    append(r, "aaaabc")
    assert read(r) == [1]
    assert (held(r), lag(r)) == ([2, 3], 5)
    waiting = outcome(r, block_ms=0)
    assert waiting.wait is not None
    assert not waiting.wait.is_behind
    woken = r.engine.execute(c.DeleteEntries(b"s", (2 << 64,)), r.now_ms).wake_ups
    assert [each.group for each in woken] == [b"g"]
    assert read(r) == []
    assert held(r) == [3, 4]
    ack(r, 1)
    assert read(r) == [3, 5, 6]


def test_a_group_with_too_many_values_in_flight_delivers_no_further_until_one_is_acknowledged(
    r: R, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("key_order", "handlers.ordered_delivery"):
        monkeypatch.setattr(f"tailrace.core.{module}.KEYS_IN_FLIGHT_MAX", 2)
    append(r, "ab-ca")
    assert read(r) == [1, 2]
    assert read(r) == []
    result = ack(r, 2)
    assert [each.group for each in result.wake_ups] == [b"g"]
    assert read(r) == [3, 4]
    ack(r, 1, 4)
    assert read(r) == [5]
    append(r, "a", 6)
    read(r)
    append(r, "d", 7)
    assert read(r) == [7]
    ack(r, 5)
    assert read(r) == [6]


def test_a_read_examines_a_limited_number_of_entries_and_wants_to_run_again(r: R) -> None:
    append(r, "a" * 1500 + "b")
    assert read(r, count=1) == [1]
    first = outcome(r)
    assert first.wait is not None
    assert first.wait.is_behind
    assert first.retry is not None
    assert ids(r.engine.execute(first.retry, r.now_ms)) == [1501]


def test_a_read_examines_few_entries_that_it_does_not_pass_over(r: R) -> None:
    append(r, "abcdefgh" * 100)
    taken = []
    for _ in range(8):
        before = r.engine.keyspace.streams[b"s"].groups[b"g"].last_delivered_id
        taken += read(r, count=1)
        assert group(r).last_delivered_id == before + (1 << 64)
    assert taken == list(range(1, 9))


def test_a_read_that_gathers_counts_ready_entries(r: R) -> None:
    append(r, "aabb")
    assert read(r) == [1, 2 + 1]
    sources = (c.ReadFrom(b"s", c.Special.NEW),)
    command = c.ReadGroup(b"g", b"bob", sources, c.ReadLimits(), 0, batch=c.Batch(2, None))
    ack(r, 1)
    assert ids(r.engine.execute(command, r.now_ms)) == []
    ack(r, 3)
    assert ids(r.engine.execute(command, r.now_ms)) == [2, 4]


def test_the_age_of_the_oldest_unread_entry_is_that_of_the_first_held_one(r: R) -> None:
    append(r, "aab")
    r.now_ms = 1000
    read(r)
    reply: Any = r.engine.execute(c.InfoGroups(b"s"), r.now_ms).reply
    [described] = reply
    assert (described.lag, described.lag_ms, described.held_count, described.keys_in_flight) == (1, 998, 1, 2)
    assert format_id(described.last_delivered_id) == "3-0"
