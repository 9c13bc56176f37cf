"""Delayed appends: stored at once, visible at their time, with rising ids; listed, cancelled, moved with
keys."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core import commands as c
from tailrace.core.agenda import OF_SCHEDULE
from tailrace.core.effects import DuplicateCounted, EntriesScheduled, ScheduledPublished
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.handlers import due, schedule
from tailrace.core.invariants import check
from tailrace.core.limits import DELAY_MS_MAX
from tailrace.core.outcome import Outcome, Signal, WakeUp
from tailrace.core.replies import ScheduledPage, ScheduleReply
from tailrace.core.retention import RetentionRules
from tailrace.core.schedule import deliver_at_ms, format_scheduled_id, parse_scheduled_id
from tailrace.core.stream_id import MAX_ID, SEQ_BITS
from tests.support.redis_like import START_MS, R

KEY = b"race"


def fragment(number: int = 1) -> bytes:
    return b'{"n":"%d"}' % number


def run(r: R, command: c.Command) -> Outcome:
    outcome = r.engine.execute(command, r.now_ms)
    check(r.engine.keyspace)
    return outcome


def later(r: R, delay_ms: int, *numbers: int, key: bytes = KEY, **options: Any) -> ScheduleReply:
    """Schedule entries with these numbers."""
    fragments = [fragment(number) for number in numbers or (1,)]
    reply = run(r, c.ScheduleEntries(key, fragments, delay_ms=delay_ms, **options)).reply
    assert isinstance(reply, ScheduleReply)
    return reply


def publish(r: R) -> int:
    reply = run(r, c.DoDue()).reply
    assert isinstance(reply, int)
    return reply


def values(r: R, key: bytes = KEY) -> list[str]:
    """The numbers of the visible entries, in order."""
    return [entry[1][1] for entry in r.run("XRANGE", key.decode(), "-", "+")]


def waiting(r: R, key: bytes = KEY, **options: Any) -> ScheduledPage:
    reply = run(r, c.ListScheduled(key, **options)).reply
    assert isinstance(reply, ScheduledPage)
    return reply


def refusal(r: R, command: c.Command) -> StreamError:
    with pytest.raises(StreamError) as caught:
        run(r, command)
    return caught.value


# --- when entries are visible ----------------------------------------------------------------


def test_an_entry_is_stored_at_once_and_visible_at_its_time() -> None:
    r = R()
    later(r, 100)
    assert (r.run("EXISTS", "race"), r.run("XLEN", "race")) == (1, 0)
    r.now_ms += 99
    publish(r)
    assert values(r) == []
    r.now_ms += 1
    outcome = run(r, c.DoDue())
    assert outcome.wake_ups == [WakeUp(KEY, Signal.DATA)]
    assert values(r) == ["1"]
    assert not waiting(r).scheduled_ids


def test_entries_are_published_by_time_and_in_the_order_of_requests_with_rising_ids() -> None:
    r = R()
    later(r, 100, 3)
    later(r, 50, 1, 2)
    later(r, 100, 4)
    r.run("XADD", "race", "*", "n", "0")
    r.now_ms += 100
    publish(r)
    assert values(r) == ["0", "1", "2", "3", "4"]
    ids = [entry[0] for entry in r.run("XRANGE", "race", "-", "+")]
    assert ids[1] == f"{r.now_ms}-0", "an entry gets its id when it becomes visible"
    assert r.run("XINFO", "STREAM", "race")[r.run("XINFO", "STREAM", "race").index("entries-added") + 1] == 5


def test_an_id_rises_even_if_the_clock_stepped_back_or_the_stream_has_an_id_from_the_future() -> None:
    r = R()
    later(r, 0)
    future = f"{r.now_ms + 5_000}-7"
    r.run("XADD", "race", future, "n", "0")
    publish(r)
    assert [entry[0] for entry in r.run("XRANGE", "race", "-", "+")] == [future, f"{r.now_ms + 5_000}-8"]
    r.now_ms -= 1_000
    assert values(r) == ["0", "1"], "what is visible stays"


def test_a_clock_that_steps_back_delays_what_is_not_visible_yet() -> None:
    r = R()
    later(r, 100)
    r.now_ms -= 1_000
    publish(r)
    r.now_ms += 1_099
    publish(r)
    assert values(r) == []
    r.now_ms += 1
    publish(r)
    assert values(r) == ["1"]


def test_a_time_in_the_past_is_due_at_once() -> None:
    r = R()
    reply = run(r, c.ScheduleEntries(KEY, [fragment()], deliver_at_ms=5)).reply
    assert isinstance(reply, ScheduleReply)
    assert deliver_at_ms(reply.scheduled_ids[0]) == START_MS == r.now_ms
    publish(r)
    assert values(r) == ["1"]


def test_a_step_publishes_a_bounded_number_and_says_that_more_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "DUE_ENTRIES_PER_STEP", 3)
    r = R()
    later(r, 5, 1, 2, key=b"a")
    later(r, 5, 1, 2, key=b"b")
    r.now_ms += 5
    assert publish(r) == 1
    assert (values(r, b"a"), values(r, b"b")) == (["1", "2"], ["1"])
    assert publish(r) == 0
    assert values(r, b"b") == ["1", "2"]


def test_a_step_publishes_bounded_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due, "DUE_BYTES_PER_STEP", len(fragment()) + 1)
    r = R()
    later(r, 5, 1, 2, 3)
    r.now_ms += 5
    outcome = run(r, c.DoDue())
    assert [len(effect.ids) for effect in outcome.effects if isinstance(effect, ScheduledPublished)] == [2]
    assert (outcome.reply, values(r)) == (1, ["1", "2"])
    publish(r)
    assert values(r) == ["1", "2", "3"]


def test_publishing_applies_the_retention_of_the_stream() -> None:
    r = R()
    run(r, c.SetConfig((("stream-node-max-entries", 1),)))
    run(r, c.CreateStream(KEY, retention=RetentionRules(max_length=2)))
    later(r, 5, 1, 2, 3, 4)
    r.now_ms += 5
    publish(r)
    assert values(r) == ["3", "4"]


def test_entries_wait_while_the_stream_has_no_ids_left_and_are_not_lost() -> None:
    r = R()
    later(r, 5)
    run(r, c.SetStreamPosition(KEY, MAX_ID))
    r.now_ms += 5
    assert publish(r) == 0
    assert len(waiting(r).scheduled_ids) == 1
    run(r, c.SetStreamPosition(KEY, 1))
    publish(r)
    assert values(r) == ["1"]


def test_the_alarm_rings_when_an_earlier_time_is_scheduled() -> None:
    r = R()
    rung: list[int] = []
    r.engine.keyspace.agenda.alarm = rung.append
    later(r, 100)
    later(r, 200)
    later(r, 50)
    assert rung == [START_MS + 100, START_MS + 50]


# --- list and cancel -------------------------------------------------------------------------


def test_the_list_has_pages_in_the_order_of_publication() -> None:
    r = R()
    [last] = later(r, 200, 3).scheduled_ids
    first, second = later(r, 100, 1, 2).scheduled_ids
    page = waiting(r, count=2)
    assert (list(page.scheduled_ids), list(page.fragments)) == ([first, second], [fragment(1), fragment(2)])
    assert page.has_more
    page = waiting(r, after=second)
    assert (list(page.scheduled_ids), page.has_more) == ([last], False)


def test_a_page_ends_where_the_reply_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "PAGE_BYTES_MAX", 1)
    r = R()
    later(r, 100, 1, 2)
    page = waiting(r)
    assert (len(page.scheduled_ids), page.has_more) == (1, True)


def test_a_cancelled_entry_is_never_published() -> None:
    r = R()
    first, second = later(r, 100, 1, 2).scheduled_ids
    assert run(r, c.CancelScheduled(KEY, (first, first, 77))).reply == 1
    assert run(r, c.CancelScheduled(KEY, (first,))).effects == []
    r.now_ms += 100
    publish(r)
    assert values(r) == ["2"]
    assert run(r, c.CancelScheduled(KEY, (second,))).reply == 0, "it is published"


def test_the_agenda_continues_after_the_first_entry_is_cancelled() -> None:
    r = R()
    [first] = later(r, 50, 1).scheduled_ids
    later(r, 100, 2)
    run(r, c.CancelScheduled(KEY, (first,)))
    r.now_ms += 50
    assert run(r, c.DoDue()).effects == []
    r.now_ms += 50
    publish(r)
    assert values(r) == ["2"]


def test_a_stream_without_a_schedule_has_nothing_to_list_or_cancel() -> None:
    r = R()
    r.run("XADD", "race", "*", "n", "1")
    assert waiting(r) == ScheduledPage((), (), has_more=False)
    assert run(r, c.CancelScheduled(KEY, (1,))).reply == 0
    for command in (c.ListScheduled(b"none"), c.CancelScheduled(b"none", (1,))):
        assert refusal(r, command).code is ErrorCode.NO_SUCH_STREAM


@pytest.mark.parametrize("text", ["", "1-1", "s1", "s1-", "s-1-1", "s1-1 ", "s1-18446744073709551616"])
def test_a_text_that_is_no_scheduled_id_is_none(text: str) -> None:
    assert parse_scheduled_id(text) is None


def test_a_scheduled_id_has_one_text() -> None:
    value = 17 << SEQ_BITS | 4
    assert format_scheduled_id(value) == "s17-4"
    assert parse_scheduled_id("s17-4") == value


# --- idempotency, conditions, limits ---------------------------------------------------------


def test_a_repeated_key_returns_the_first_ids_and_schedules_nothing() -> None:
    r = R()
    key = c.Idempotency(b"p", b"k", b"body")
    first = later(r, 100, 1, 2, idempotency=key)
    outcome = run(r, c.ScheduleEntries(KEY, [fragment()], delay_ms=100, idempotency=key))
    assert outcome.effects == [DuplicateCounted(KEY, b"p")]
    again = outcome.reply
    assert isinstance(again, ScheduleReply)
    assert (list(again.scheduled_ids), again.replayed) == (list(first.scheduled_ids), True)
    r.now_ms += 100
    publish(r)
    again = later(r, 100, 1, 2, idempotency=key)
    assert again.replayed, "the key is remembered after the entries are published"
    assert values(r) == ["1", "2"]


def test_a_key_of_a_delayed_append_fits_no_other_append_and_the_other_way_round() -> None:
    r = R()
    later(r, 100, idempotency=c.Idempotency(b"p", b"k", b"body"))
    r.run("XADD", "race", "IDMP", "p", "plain", "*", "n", "0")
    for command in (
        c.Append(KEY, [fragment()], idempotency=c.Idempotency(b"p", b"k")),
        c.Append(KEY, [fragment()], idempotency=c.Idempotency(b"p", b"k", b"body")),
        c.ScheduleEntries(KEY, [fragment()], delay_ms=1, idempotency=c.Idempotency(b"p", b"k", b"other")),
        c.ScheduleEntries(KEY, [fragment()], delay_ms=1, idempotency=c.Idempotency(b"p", b"plain")),
    ):
        assert refusal(r, command).code is ErrorCode.IDEMPOTENCY_MISMATCH


def test_a_key_of_a_delayed_append_expires_by_the_time_of_the_request() -> None:
    r = R()
    key = c.Idempotency(b"p", b"k", b"body")
    later(r, 1_000_000, idempotency=key)
    r.now_ms += 100_001
    run(r, c.ExpireIdempotencyKeys())
    assert not later(r, 1_000_000, idempotency=key).replayed


def test_an_epoch_is_refused() -> None:
    command = c.ScheduleEntries(KEY, [fragment()], delay_ms=1, idempotency=c.Idempotency(b"p", b"k", epoch=1))
    assert refusal(R(), command).code is ErrorCode.INVALID_ARGUMENT


def test_a_missing_stream_is_created_only_if_that_is_allowed() -> None:
    r = R()
    assert run(r, c.ScheduleEntries(KEY, [fragment()], delay_ms=1, create=False)).reply is None
    assert r.run("EXISTS", "race") == 0
    later(r, 1)
    effects = run(r, c.ScheduleEntries(KEY, [fragment()], delay_ms=1, create=False)).effects
    assert [type(effect) for effect in effects] == [EntriesScheduled]


def test_a_time_that_is_too_far_away_is_refused_with_the_limit() -> None:
    r = R()
    far = c.ScheduleEntries(KEY, [fragment()], delay_ms=DELAY_MS_MAX + 1)
    absolute = c.ScheduleEntries(KEY, [fragment()], deliver_at_ms=r.now_ms + DELAY_MS_MAX + 1)
    for command, name in ((far, "delay_ms"), (absolute, "deliver_at_ms")):
        error = refusal(r, command)
        assert error.code is ErrorCode.INVALID_ARGUMENT
        assert name in error.line
        assert str(DELAY_MS_MAX) in error.line
    assert r.run("EXISTS", "race") == 0
    later(r, DELAY_MS_MAX)


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ("SCHEDULED_ENTRIES_MAX", 3),
        ("SCHEDULED_BYTES_MAX", 3 * len(fragment())),
        ("SCHEDULED_ENTRIES_TOTAL_MAX", 3),
        ("SCHEDULED_BYTES_TOTAL_MAX", 3 * len(fragment())),
    ],
)
def test_the_number_and_bytes_of_scheduled_entries_are_limited(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(schedule, limit, most)
    r = R()
    first, *_ = later(r, 10, 1, 2).scheduled_ids
    key = b"other" if "TOTAL" in limit else KEY
    error = refusal(r, c.ScheduleEntries(key, [fragment()] * 2, delay_ms=1))
    assert error.code is ErrorCode.LIMIT_EXCEEDED
    assert str(most) in error.line
    run(r, c.CancelScheduled(KEY, (first,)))
    later(r, 1, 1, 2, key=key)


# --- keys ------------------------------------------------------------------------------------


def test_a_renamed_stream_takes_its_scheduled_entries_along_and_those_of_the_replaced_one_go() -> None:
    r = R()
    later(r, 100, 1)
    later(r, 100, 9, key=b"new")
    r.run("RENAME", "race", "new")
    check(r.engine.keyspace)
    r.now_ms += 100
    publish(r)
    assert values(r, b"new") == ["1"]


def test_a_copy_has_no_scheduled_entries() -> None:
    r = R()
    later(r, 100, 1)
    r.run("COPY", "race", "copy")
    check(r.engine.keyspace)
    assert waiting(r, b"copy").scheduled_ids == ()
    r.now_ms += 100
    publish(r)
    assert (values(r), values(r, b"copy")) == (["1"], [])


@pytest.mark.parametrize("words", [("DEL", "race"), ("FLUSHALL",)])
def test_a_deleted_stream_publishes_nothing_and_its_ids_are_not_used_again(words: tuple[str, ...]) -> None:
    r = R()
    at_ms = r.now_ms + 100
    [old] = later(r, 100, 1).scheduled_ids
    r.run(*words)
    check(r.engine.keyspace)
    assert not r.engine.keyspace.agenda.due
    r.now_ms += 1
    reply = run(r, c.ScheduleEntries(KEY, [fragment(2)], deliver_at_ms=at_ms)).reply
    assert isinstance(reply, ScheduleReply)
    assert reply.scheduled_ids[0] != old
    assert run(r, c.CancelScheduled(KEY, (old,))).reply == 0
    r.now_ms = at_ms
    publish(r)
    assert values(r) == ["2"]


def test_the_agenda_names_a_schedule_by_the_serial_of_its_stream() -> None:
    r = R()
    later(r, 100)
    serial = r.engine.keyspace.streams[KEY].serial
    assert r.engine.keyspace.agenda.due.of((serial, OF_SCHEDULE)) == START_MS + 100


def test_the_state_of_a_stream_counts_its_scheduled_entries() -> None:
    r = R()
    later(r, 100, 1, 2)
    assert run(r, c.InfoStream(KEY)).reply.scheduled_count == 2  # type: ignore[union-attr]
