"""Dead letters: an entry that a group may not deliver once more is moved, whichever command would do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec import UNSET

from tailrace.core import commands as c
from tailrace.core.effects import Claimed, DeadLettered, Nacked
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.invariants import check
from tailrace.core.limits import DEAD_LETTER_BYTES_MAX, DEAD_LETTERS_MAX
from tailrace.core.outcome import Signal, WakeUp
from tailrace.core.replies import RangeReply, ReadReply, RedriveReply
from tailrace.core.stream_id import MAX_ID, parse_id
from tests.support.redis_like import R

DEAD: Final = "race:dead"


def configure(r: R, most: Any = UNSET, stream: Any = UNSET, key: bytes = b"race", group: bytes = b"g") -> Any:
    return r.engine.execute(c.ConfigureGroup(key, group, most, stream), r.now_ms)


def redrive(r: R, *ids: str, start: str = "0-0", limit: int = 100) -> RedriveReply:
    wanted = tuple(parse_id(value.encode()) for value in ids) or None
    command = c.Redrive(b"race", b"g", limit, wanted, parse_id(start.encode()))
    reply = r.engine.execute(command, r.now_ms).reply
    assert isinstance(reply, RedriveReply)
    check(r.engine.keyspace)
    return reply


def delivered(r: R, *ids: str, most: int = 1, times: int = 1) -> None:
    """A stream of these entries, delivered `times` to alice of a group that delivers each `most` times."""
    for value in ids:
        r.run("XADD", "race", value, "n", value)
    r.run("XGROUP", "CREATE", "race", "g", 0)
    configure(r, most, DEAD.encode())
    r.run("XREADGROUP", "GROUP", "g", "alice", "STREAMS", "race", ">")
    for _ in range(times - 1):
        r.run("XCLAIM", "race", "g", "alice", 0, *ids)


def words(line: str) -> list[str]:
    return line.split()


def letters(r: R) -> list[list[str]]:
    """The fields of each dead letter."""
    return [fields for _, fields in r.run("XRANGE", DEAD, "-", "+")]


def letter(
    value: str, *, deliveries: int = 1, consumer: str = "alice", reason: str = "max_deliveries"
) -> Any:
    origin = ["_source_stream", "race", "_source_id", value, "_group", "g", "_deliveries", str(deliveries)]
    return ["n", value, *origin, "_last_consumer", consumer, "_reason", reason]


def pending(r: R) -> list[str]:
    return [value for value, *_ in r.run("XPENDING", "race", "g", "-", "+", 10_000)]


DELIVERIES: Final[dict[str, Callable[[R], Any]]] = {
    "CLAIM of XREADGROUP": lambda r: r.line("XREADGROUP GROUP g bob COUNT 2 CLAIM 0 STREAMS race >"),
    "history": lambda r: r.line("XREADGROUP GROUP g alice STREAMS race 0"),
    "XCLAIM": lambda r: r.line("XCLAIM race g bob 0 1-1"),
    "XAUTOCLAIM": lambda r: r.line("XAUTOCLAIM race g bob 0 0"),
    "XNACK FAIL": lambda r: r.line("XNACK race g FAIL IDS 1 1-1"),
}


@pytest.mark.parametrize("name", DELIVERIES)
def test_an_entry_is_moved_instead_of_one_delivery_too_many(r: R, name: str) -> None:
    delivered(r, "1-1")
    reply = DELIVERIES[name](r)
    assert letters(r) == [letter("1-1")]
    assert pending(r) == []
    assert "1-1" not in str(reply)
    assert r.line("XRANGE race - +") == [["1-1", ["n", "1-1"]]]
    check(r.engine.keyspace)


@pytest.mark.parametrize("name", DELIVERIES)
def test_an_entry_is_delivered_as_often_as_the_group_allows(r: R, name: str) -> None:
    delivered(r, "1-1", most=3, times=2)
    DELIVERIES[name](r)
    assert pending(r) == ["1-1"]
    assert r.line(f"EXISTS {DEAD}") == 0


@pytest.mark.parametrize("name", DELIVERIES)
def test_a_group_without_settings_delivers_for_ever(r: R, name: str) -> None:
    delivered(r, "1-1")
    configure(r, None, None)
    for _ in range(3):
        DELIVERIES[name](r)
    assert pending(r) == ["1-1"]
    assert r.line(f"EXISTS {DEAD}") == 0


@pytest.mark.parametrize("name", DELIVERIES)
def test_a_deleted_entry_is_not_moved(r: R, name: str) -> None:
    delivered(r, "1-1", "2-1")
    r.line("XDEL race 1-1")
    DELIVERIES[name](r)
    assert all("1-1" not in fields for fields in letters(r)) if r.line(f"EXISTS {DEAD}") else True
    check(r.engine.keyspace)


def test_the_move_is_one_effect(r: R) -> None:
    delivered(r, "1-1", "2-1")
    r.run("XADD", DEAD, "*", "a", "b")
    effects = r.outcome(*words("XCLAIM race g bob 0 1-1 2-1")).effects
    assert [type(each) for each in effects if not type(each).__name__.startswith("Consumer")] == [
        DeadLettered
    ]


def test_a_claim_of_ids_only_is_no_delivery(r: R) -> None:
    delivered(r, "1-1")
    assert r.line("XCLAIM race g bob 0 1-1 JUSTID") == ["1-1"]
    assert r.line("XAUTOCLAIM race g bob 0 0 JUSTID") == ["0-0", ["1-1"], []]
    assert pending(r) == ["1-1"]


def test_a_claim_that_forces_an_entry_to_be_pending_delivers_it(r: R) -> None:
    delivered(r, "1-1")
    r.line("XACK race g 1-1")
    assert r.line("XCLAIM race g bob 0 1-1 FORCE") == [["1-1", ["n", "1-1"]]]
    assert pending(r) == ["1-1"]
    r.line("XCLAIM race g bob 0 1-1 FORCE")
    assert letters(r) == [letter("1-1", deliveries=2, consumer="bob")]


def test_a_claim_that_sets_the_count_too_high_moves_the_entry(r: R) -> None:
    delivered(r, "1-1", most=5)
    assert r.line("XCLAIM race g bob 0 1-1 RETRYCOUNT 5") == [["1-1", ["n", "1-1"]]]
    assert r.line("XCLAIM race g bob 0 1-1 RETRYCOUNT 6") == []
    assert letters(r) == [letter("1-1", deliveries=5, consumer="bob")]


def test_an_id_that_is_claimed_twice_in_one_command_is_moved_once(r: R) -> None:
    delivered(r, "1-1", most=2)
    assert r.line("XCLAIM race g bob 0 1-1 1-1 1-1") == []
    assert letters(r) == [letter("1-1", deliveries=2, consumer="bob")]
    check(r.engine.keyspace)


def test_a_silent_nack_gives_a_delivery_back(r: R) -> None:
    delivered(r, "1-1")
    assert r.line("XNACK race g SILENT IDS 1 1-1") == 1
    assert pending(r) == ["1-1"]


def test_a_fatal_nack_moves_the_entry_at_its_first_delivery(r: R) -> None:
    delivered(r, "1-1", most=5)
    assert r.line("XNACK race g FATAL IDS 1 1-1") == 1
    assert letters(r) == [letter("1-1", reason="fatal")]


def test_an_id_that_is_nacked_twice_is_moved_once(r: R) -> None:
    delivered(r, "1-1", "2-1")
    assert r.line("XNACK race g FAIL IDS 3 1-1 2-1 1-1") == 2
    assert letters(r) == [letter("1-1"), letter("2-1")]


def test_an_entry_without_an_owner_has_no_last_consumer(r: R) -> None:
    delivered(r, "1-1", most=2)
    r.line("XNACK race g FAIL IDS 1 1-1")
    configure(r, 1)
    r.line("XREADGROUP GROUP g bob CLAIM 0 STREAMS race >")
    assert letters(r) == [letter("1-1", consumer="")]


def test_entries_behind_the_moved_ones_are_delivered_in_the_same_read(r: R) -> None:
    delivered(r, *(f"{n}-1" for n in range(1, 200)))
    r.line("XADD race 500-1 n 500-1")
    r.line("XREADGROUP GROUP g bob STREAMS race >")
    r.line("XCLAIM race g bob 0 500-1 RETRYCOUNT 0")
    reply = r.line("XREADGROUP GROUP g carol COUNT 1 CLAIM 0 STREAMS race >")
    assert [value for value, *_ in reply[0][1]] == ["500-1"]
    assert len(letters(r)) == 199


def test_a_history_shows_what_lies_behind_the_moved_entries(r: R) -> None:
    delivered(r, *(f"{n}-1" for n in range(1, 200)))
    r.line("XCLAIM race g alice 0 150-1 RETRYCOUNT 0")
    r.line("XCLAIM race g alice 0 199-1 RETRYCOUNT 0")
    [[_, entries]] = r.line("XREADGROUP GROUP g alice COUNT 1 STREAMS race 0")
    assert [value for value, *_ in entries] == ["150-1"]
    assert len(letters(r)) == 149
    [[_, entries]] = r.line("XREADGROUP GROUP g alice COUNT 1 STREAMS race 150-1")
    assert [value for value, *_ in entries] == ["199-1"]


@pytest.mark.parametrize("name", ["CLAIM of XREADGROUP", "history", "XAUTOCLAIM"])
def test_one_command_moves_a_bounded_number_and_delivers_none_of_the_others(r: R, name: str) -> None:
    count = DEAD_LETTERS_MAX + 50
    for n in range(1, count + 1):
        r.run("XADD", "race", f"{n}-1", "n", n)
    delivered(r)
    if name == "XAUTOCLAIM":
        r.line(f"XAUTOCLAIM race g bob 0 0 COUNT {count}")
    else:
        DELIVERIES[name](r)
    assert len(letters(r)) == DEAD_LETTERS_MAX
    left = r.line("XPENDING race g - + 100")
    assert [(owner, deliveries) for _, owner, _, deliveries in left] == [("alice", 1)] * 50
    DELIVERIES[name](r)
    check(r.engine.keyspace)
    assert len(letters(r)) == count
    assert pending(r) == []


def test_a_claim_by_id_moves_a_bounded_number_and_leaves_the_others(r: R) -> None:
    ids = [f"{n}-1" for n in range(1, DEAD_LETTERS_MAX + 51)]
    delivered(r, *ids)
    assert r.run("XCLAIM", "race", "g", "bob", 0, *ids) == []
    assert len(letters(r)) == DEAD_LETTERS_MAX
    assert pending(r) == ids[DEAD_LETTERS_MAX:]


def test_a_nack_moves_a_bounded_number_and_nacks_the_others(r: R) -> None:
    ids = [f"{n}-1" for n in range(1, DEAD_LETTERS_MAX + 51)]
    delivered(r, *ids)
    effects = r.outcome("XNACK", "race", "g", "FAIL", "IDS", len(ids), *ids).effects
    assert [len(each.ids) for each in effects if isinstance(each, DeadLettered | Nacked)] == [1000, 50]


def test_one_command_moves_a_bounded_number_of_bytes(r: R) -> None:
    ids = [f"{n}-1" for n in range(1, 5)]
    for value in ids:
        r.run("XADD", "race", value, "n", b"x" * (DEAD_LETTER_BYTES_MAX // 2))
    delivered(r)
    r.line("XREADGROUP GROUP g bob CLAIM 0 STREAMS race >")
    assert r.line(f"XLEN {DEAD}") == 2
    [[_, entries]] = r.line("XREADGROUP GROUP g alice STREAMS race 0") or [[None, []]]
    assert entries == []
    assert r.line(f"XLEN {DEAD}") == 4


@pytest.mark.parametrize("name", ["CLAIM of XREADGROUP", "history"])
def test_a_read_that_moves_all_it_may_and_returns_nothing_continues_by_itself(r: R, name: str) -> None:
    for n in range(1, DEAD_LETTERS_MAX + 51):
        r.run("XADD", "race", f"{n}-1", "n", n)
    delivered(r)
    configure(r, 3)
    ids = [f"{n}-1" for n in range(1, DEAD_LETTERS_MAX + 51)]
    exhausted, others = ids[: DEAD_LETTERS_MAX + 10], ids[DEAD_LETTERS_MAX + 10 :]
    for some in (exhausted, exhausted, others):
        r.now_ms += 1
        r.run("XCLAIM", "race", "g", "alice", 0, *some)
    words = "CLAIM 0 STREAMS race >" if name.startswith("CLAIM") else "STREAMS race 0"
    first = r.outcome(*f"XREADGROUP GROUP g alice COUNT 1 {words}".split())
    assert isinstance(first.reply, ReadReply)
    assert first.wait is not None
    assert first.wait.is_behind
    assert first.retry is not None
    assert len(letters(r)) == DEAD_LETTERS_MAX
    second = r.engine.execute(first.retry, r.now_ms)
    assert second.wait is None
    assert isinstance(second.reply, ReadReply)
    assert second.reply.streams[0].entries.ids == [parse_id(others[0].encode())]
    assert len(letters(r)) == DEAD_LETTERS_MAX + 10


@pytest.mark.parametrize("name", ["CLAIM", "history"])
def test_a_read_of_many_streams_moves_no_more_than_a_read_of_one(r: R, name: str) -> None:
    keys = ["race", "race:2", "race:3"]
    for n in range(1, DEAD_LETTERS_MAX // 2 + 1):
        r.run("XADD", "race", f"{n}-1", "n", n)
    delivered(r)
    for key in keys[1:]:
        r.run("COPY", "race", key)
    claims, after = (("CLAIM", 0), ">") if name == "CLAIM" else ((), "0")
    moves = 3 * DEAD_LETTERS_MAX // 2
    for expected in (DEAD_LETTERS_MAX, moves):
        reply = r.run("XREADGROUP", "GROUP", "g", "alice", *claims, "STREAMS", *keys, *[after] * len(keys))
        assert all(entries == [] for _, entries in reply or ())
        check(r.engine.keyspace)
        assert r.line(f"XLEN {DEAD}") == expected


def test_the_readers_of_the_dead_letter_stream_wake_up(r: R) -> None:
    delivered(r, "1-1")
    outcome = r.outcome(*words("XREADGROUP GROUP g bob BLOCK 0 CLAIM 0 STREAMS race >"))
    assert outcome.wake_ups == [WakeUp(DEAD.encode(), Signal.DATA)]
    assert outcome.wait is not None


def test_a_blocked_read_that_has_more_to_move_looks_again_at_once(r: R) -> None:
    for n in range(1, DEAD_LETTERS_MAX + 2):
        r.run("XADD", "race", f"{n}-1", "n", n)
    delivered(r)
    r.now_ms += 100
    outcome = r.outcome(*words("XREADGROUP GROUP g bob BLOCK 0 CLAIM 50 STREAMS race >"))
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms is not None
    assert outcome.wait.claim_at_ms <= r.now_ms


# --- the dead-letter stream ------------------------------------------------------------------------


def test_a_deleted_dead_letter_stream_is_created_again(r: R) -> None:
    delivered(r, "1-1", "2-1")
    r.line("XCLAIM race g bob 0 1-1")
    r.line(f"DEL {DEAD}")
    r.line("XCLAIM race g bob 0 2-1")
    assert letters(r) == [letter("2-1")]


def test_after_a_rename_to_the_dead_letter_stream_the_group_delivers_as_before(r: R) -> None:
    delivered(r, "1-1")
    r.line(f"RENAME race {DEAD}")
    assert r.line(f"XCLAIM {DEAD} g bob 0 1-1") == [["1-1", ["n", "1-1"]]]
    with pytest.raises(StreamError, match="own stream"):
        r.engine.execute(c.Redrive(DEAD.encode(), b"g", 1), r.now_ms)


def test_where_the_dead_letter_stream_has_no_ids_left_the_group_delivers(r: R) -> None:
    delivered(r, "1-1")
    r.run("XADD", DEAD, f"{(1 << 64) - 1}-{(1 << 64) - 500}", "a", "b")
    assert r.line("XCLAIM race g bob 0 1-1") == [["1-1", ["n", "1-1"]]]


def test_a_dead_letter_becomes_a_dead_letter_of_the_next_group_and_comes_back_step_by_step(r: R) -> None:
    delivered(r, "1-1")
    r.line("XCLAIM race g bob 0 1-1")
    r.line(f"XGROUP CREATE {DEAD} h 0")
    configure(r, 1, b"race:lost", DEAD.encode(), b"h")
    [[_, [[value, _]]]] = r.line(f"XREADGROUP GROUP h carol STREAMS {DEAD} >")
    r.run("XCLAIM", DEAD, "h", "carol", 0, value)
    [[_, fields]] = r.line("XRANGE race:lost - +")
    assert fields[: len(letter("1-1"))] == letter("1-1")
    r.line(f"DEL {DEAD}")
    r.line(f"XGROUP CREATE {DEAD} h 0 MKSTREAM")
    configure(r, 1, b"race:lost", DEAD.encode(), b"h")
    r.engine.execute(c.Redrive(DEAD.encode(), b"h", 10), r.now_ms)
    assert letters(r) == [letter("1-1")]
    assert len(redrive(r).ids) == 1
    assert [fields for _, fields in r.line("XRANGE race - +")] == [["n", "1-1"], ["n", "1-1"]]


def test_a_copied_group_has_the_settings_and_its_own_dead_letters(r: R) -> None:
    delivered(r, "1-1")
    r.line("COPY race copy")
    assert r.line("XCLAIM copy g bob 0 1-1") == []
    assert letters(r)[0][3] == "copy"


def test_a_transaction_sees_the_dead_letters_that_it_moves(r: R) -> None:
    delivered(r, "1-1", "2-1")
    reads = [c.Range(DEAD.encode()), c.Range(b"race")]
    claim = r.request(*words("XCLAIM race g bob 0 1-1")).command
    assert claim is not None
    replies, _ = r.engine.execute_all([claim, *reads], r.now_ms)
    assert isinstance(replies[1], RangeReply)
    assert len(replies[1].entries) == 1
    rename = c.RenameKey(b"race", b"again")
    claim = r.request(*words("XCLAIM again g bob 0 2-1")).command
    assert claim is not None
    replies, _ = r.engine.execute_all([rename, claim, reads[0]], r.now_ms)
    assert isinstance(replies[2], RangeReply)
    assert len(replies[2].entries) == 2


# --- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "stream", "text"),
    [
        (5, UNSET, "max_deliveries without dead_letter_stream"),
        (UNSET, b"dead", "dead_letter_stream without max_deliveries"),
        (5, b"race", "the group's own stream"),
    ],
)
def test_settings_that_do_not_fit_together_change_nothing(r: R, most: Any, stream: Any, text: str) -> None:
    r.line("XGROUP CREATE race g 0 MKSTREAM")
    with pytest.raises(StreamError, match=text) as refused:
        configure(r, most, stream)
    assert refused.value.code is ErrorCode.INVALID_ARGUMENT
    assert r.engine.keyspace.streams[b"race"].groups[b"g"].settings is None


def test_a_setting_that_is_not_named_stays(r: R) -> None:
    delivered(r, "1-1", most=1)
    configure(r, 2)
    assert not configure(r, 2).effects
    [info] = r.engine.execute(c.InfoGroups(b"race"), r.now_ms).reply  # type: ignore[misc]
    assert (info.settings.max_deliveries, info.settings.dead_letter_stream) == (2, DEAD.encode())  # type: ignore[union-attr]
    with pytest.raises(StreamError, match="without max_deliveries"):
        configure(r, None)
    configure(r, None, None)
    assert r.engine.keyspace.streams[b"race"].groups[b"g"].settings is None


def test_a_redrive_that_names_another_dead_letter_stream_than_the_group_has_changes_nothing(r: R) -> None:
    delivered(r, "1-1")
    r.run("XCLAIM", "race", "g", "alice", 0, "1-1")
    for other in (b"race:other", None):
        with pytest.raises(StreamError, match="has just changed"):
            r.engine.execute(c.Redrive(b"race", b"g", 10, dead_letter_stream=other), r.now_ms)
    named = c.Redrive(b"race", b"g", 10, dead_letter_stream=DEAD.encode())
    reply = r.engine.execute(named, r.now_ms).reply
    assert isinstance(reply, RedriveReply)
    assert len(reply.new_ids) == 1


@pytest.mark.parametrize("command", [c.ConfigureGroup(b"race", b"g"), c.Redrive(b"race", b"g", 1)])
def test_a_missing_stream_or_group_is_an_error(r: R, command: c.Command) -> None:
    with pytest.raises(StreamError) as refused:
        r.engine.execute(command, r.now_ms)
    assert refused.value.code is ErrorCode.NO_SUCH_STREAM
    r.line("XADD race 1-1 a b")
    with pytest.raises(StreamError) as refused:
        r.engine.execute(command, r.now_ms)
    assert refused.value.code is ErrorCode.NOGROUP


# --- redrive ---------------------------------------------------------------------------------------


def moved(r: R, *ids: str) -> list[str]:
    """Make dead letters of these entries, and return the ids of the dead letters."""
    delivered(r, *ids)
    r.run("XCLAIM", "race", "g", "bob", 0, *ids)
    return [value for value, _ in r.run("XRANGE", DEAD, "-", "+")]


def test_a_redrive_sends_each_dead_letter_back_once(r: R) -> None:
    moved(r, "1-1", "2-1", "3-1")
    reply = redrive(r)
    assert (len(reply.ids), len(reply.new_ids), reply.skipped, reply.next) == (3, 3, 0, None)
    assert [fields for _, fields in r.line("XRANGE race - +")][3:] == [["n", f"{n}-1"] for n in (1, 2, 3)]
    assert letters(r) == []
    assert redrive(r).ids == []


def test_a_redriven_entry_is_no_longer_held_by_an_ordered_group_of_the_dead_letters(r: R) -> None:
    moved(r, "1-1", "2-1", "3-1")
    r.run("XGROUP", "CREATE", DEAD, "h", 0)
    r.engine.execute(c.ConfigureGroup(DEAD.encode(), b"h", order_by="_source_stream"), r.now_ms)
    [[_, [[first, _]]]] = r.line(f"XREADGROUP GROUP h carol STREAMS {DEAD} >")
    redrive(r)
    r.run("XACK", DEAD, "h", first)
    assert r.line(f"XREADGROUP GROUP h carol STREAMS {DEAD} >") is None


def test_a_redriven_entry_is_new_for_the_group(r: R) -> None:
    moved(r, "1-1")
    outcome = r.engine.execute(c.Redrive(b"race", b"g", 1), r.now_ms)
    assert outcome.wake_ups == [WakeUp(b"race", Signal.DATA)]
    [[_, [[_, fields]]]] = r.line("XREADGROUP GROUP g bob STREAMS race >")
    assert fields == ["n", "1-1"]


def test_a_redrive_is_done_page_by_page(r: R) -> None:
    dead = moved(r, "1-1", "2-1", "3-1")
    first = redrive(r, limit=2)
    assert (len(first.ids), first.next) == (2, parse_id(dead[2].encode()))
    assert redrive(r, start=dead[2], limit=2).next is None
    assert letters(r) == []


def test_a_redrive_of_some_ids_leaves_the_others(r: R) -> None:
    dead = moved(r, "1-1", "2-1", "3-1")
    reply = redrive(r, dead[2], dead[0], dead[0], "9-9", limit=3)
    assert (len(reply.ids), reply.skipped, reply.next) == (2, 1, None)
    assert [fields[1] for fields in letters(r)] == ["2-1"]
    assert redrive(r, dead[1], dead[0], limit=1).next == parse_id(dead[1].encode())


def test_a_redrive_skips_what_is_not_a_dead_letter_of_the_group(r: R) -> None:
    moved(r, "1-1")
    r.run("XADD", DEAD, "*", "a", "b")
    r.run("XADD", DEAD, "*", *letter("5-1")[:-4], "_last_consumer", "x", "_reason", "y")
    r.run("XADD", DEAD, "*", *[("other" if word == "g" else word) for word in letter("6-1")])
    reply = redrive(r)
    assert (len(reply.ids), reply.skipped) == (2, 2)
    assert r.line(f"XLEN {DEAD}") == 2


def test_a_redrive_without_a_dead_letter_stream_is_an_error(r: R) -> None:
    r.line("XGROUP CREATE race g 0 MKSTREAM")
    with pytest.raises(StreamError, match="has no dead_letter_stream"):
        redrive(r)


def test_a_redrive_from_a_missing_stream_moves_nothing(r: R) -> None:
    delivered(r, "1-1")
    assert redrive(r).ids == ()
    assert redrive(r, "1-1", "2-1").skipped == 2


def test_a_redrive_into_a_stream_without_ids_changes_nothing(r: R) -> None:
    moved(r, "1-1")
    r.engine.execute(c.SetStreamPosition(b"race", MAX_ID), r.now_ms)
    with pytest.raises(StreamError) as refused:
        redrive(r)
    assert refused.value.code is ErrorCode.ID_EXHAUSTED
    assert r.line(f"XLEN {DEAD}") == 1


def test_the_fields_come_back_byte_for_byte(r: R) -> None:
    entries: list[list[str | bytes]] = [
        ["a", "1", "a", "2"],
        ["_group", "mine", "_reason", "none"],
        [b"\xff", b"\x00"],
        ["", ""],
    ]
    for n, fields in enumerate(entries, 1):
        r.run("XADD", "race", f"{n}-1", *fields)
    delivered(r)
    before = r.engine.keyspace.streams[b"race"].log.range()[1]
    r.line("XAUTOCLAIM race g bob 0 0")
    assert len(redrive(r).ids) == 4
    assert r.engine.keyspace.streams[b"race"].log.range()[1] == before * 2


def test_a_claim_moves_and_claims_in_one_command(r: R) -> None:
    delivered(r, "1-1", "2-1", most=2)
    r.line("XCLAIM race g bob 0 1-1")
    outcome = r.outcome(*words("XCLAIM race g carol 0 1-1 2-1"))
    assert [each.ids for each in outcome.effects if isinstance(each, Claimed)] == [[parse_id(b"2-1")]]
    assert letters(r) == [letter("1-1", deliveries=2, consumer="bob")]
