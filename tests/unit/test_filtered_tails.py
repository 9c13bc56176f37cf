"""Tails and subscriptions with a filter: what they send, and how their position moves over the rest."""

from __future__ import annotations

import asyncio

import pytest

from tailrace.api.tails.sse import COMMENT, parse_composite_id
from tailrace.api.tails.tail import SKIPPED_MAX, EventForm, PlainTail
from tailrace.api.tails.tail_response import Silence
from tailrace.api.wire.filtering import AT_ONCE_MAX, ScanTurns
from tailrace.core import commands as c
from tailrace.core.filters import compile_filter
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import ReadReply
from tests.support.engine_calls import Calls, at
from tests.support.sse_client import Event, parse_events
from tests.support.websocket_client import Client

ODD = compile_filter("fields.n.endsWith('1')")
ONE = EventForm(Shape.NATURAL, labelled=False)
SEVERAL = EventForm(Shape.NATURAL, labelled=True)


def append(calls: Calls, first: int, last: int, key: bytes = b"s") -> None:
    numbers = range(first, last + 1)
    fragments = tuple(fragment_from_flat([b"n", b"%d" % number]) for number in numbers)
    calls.reply(c.Append(key, fragments, tuple(number << 64 for number in numbers)))


def taken(calls: Calls, tail: PlainTail) -> list[Event]:
    reply = calls.reply(tail.read(15_000))
    assert isinstance(reply, ReadReply)
    return parse_events(b"".join(tail.taken(reply)).decode())


# --- Server-Sent Events ------------------------------------------------------------------------------


def test_a_tail_sends_what_matches_with_the_position_of_all_that_it_examined() -> None:
    calls = Calls()
    append(calls, 9, 12)
    event, *more = taken(calls, PlainTail({b"s": 0}, ONE, ODD))
    assert (event.ids, event.id, more) == (["11-0"], "12-0", [])


def test_a_tail_that_skips_few_entries_sends_nothing_and_tells_its_position_with_the_next_sign_of_life() -> (
    None
):
    calls = Calls()
    append(calls, 2, 5)
    tail = PlainTail({b"s": 0}, ONE, ODD)
    reply = calls.reply(tail.read(15_000))
    assert isinstance(reply, ReadReply)
    assert tail.taken(reply) == []
    assert parse_events(tail.sign_of_life().decode()) == [Event("entries", "5-0", [])]
    assert tail.sign_of_life() == COMMENT


def test_a_tail_that_skips_many_entries_tells_its_position() -> None:
    calls = Calls()
    append(calls, 1, 3 * SKIPPED_MAX)
    tail = PlainTail({b"s": 0}, ONE, compile_filter("false"))
    assert [taken(calls, tail)[0].id for _ in range(3)] == [f"{part * SKIPPED_MAX}-0" for part in (1, 2, 3)]


def test_the_position_of_a_tail_of_several_streams_names_all_of_them() -> None:
    calls = Calls()
    append(calls, 2, 5, b"a")
    append(calls, 11, 11, b"b")
    event, *more = taken(calls, PlainTail({b"a": 0, b"b": 0}, SEVERAL, ODD))
    assert (event.data["key"], event.ids, more) == ("b", ["11-0"], [])
    assert [(key, mark.at) for key, mark in parse_composite_id(event.id or "").items()] == [
        (b"a", at("5-0")),
        (b"b", at("11-0")),
    ]


def test_silence_is_over_after_the_heartbeat_interval_and_begins_anew_with_an_event() -> None:
    silence = Silence(0)
    assert silence.is_over
    assert silence.left_ms == 1
    silence = Silence(3_600_000)
    assert not silence.is_over
    assert 0 < silence.left_ms <= 3_600_000


# --- turns -------------------------------------------------------------------------------------------


def test_filters_take_turns_one_in_each_turn_of_the_event_loop() -> None:
    async def order() -> list[str]:
        seen: list[str] = []
        turns = ScanTurns()
        for name in "abc":
            turns.later(lambda name=name: seen.append(name))  # type: ignore[misc]
        for number in range(3):
            await asyncio.sleep(0)
            seen.append(str(number))
        return seen

    assert asyncio.run(order()) == ["a", "0", "b", "1", "c", "2"]


def test_a_cancelled_turn_does_not_stop_the_others() -> None:
    async def run() -> None:
        turns = ScanTurns()
        first, second = (asyncio.create_task(turns.take(AT_ONCE_MAX + 1)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await second
        await turns.take(AT_ONCE_MAX)

    asyncio.run(run())


def test_an_error_in_one_turn_does_not_stop_the_others() -> None:
    async def run() -> list[str]:
        seen: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda *_: seen.append("error"))
        turns = ScanTurns()
        turns.later(lambda: 1 // 0)
        turns.later(lambda: seen.append("next"))
        await turns.take(AT_ONCE_MAX + 1)
        return seen

    assert asyncio.run(run()) == ["error", "next"]


# --- WebSocket ---------------------------------------------------------------------------------------


def subscribe(client: Client, text: str, credit: int = 10) -> None:
    client.ok(op="subscribe", streams=[{"key": "s", "after": "0"}], filter=text, credit=credit)


def test_a_subscription_with_a_condition_pushes_what_matches_and_uses_credit_only_for_that() -> None:
    client = Client()
    client.append("s", 1, n="10")
    client.append("s", 2, n="11")
    client.append("s", 3, n="9")
    subscribe(client, "double(fields.n) >= 10", credit=3)
    (push,) = client.taken_pushes()
    assert ([entry["id"] for entry in push["entries"]], push["next"]) == (["1-0", "2-0"], "3-0")
    client.append("s", 4, n="12")
    client.append("s", 5, n="13")
    assert client.pushed_ids() == ["4-0"]


def test_a_subscription_that_skips_many_entries_pushes_its_position_without_entries() -> None:
    client = Client()
    subscribe(client, "false")
    for number in range(1, SKIPPED_MAX + 2):
        client.append("s", number, n="x")
    [push] = client.taken_pushes()
    assert push.pop("incarnation")  # the stream did not exist before
    assert push == {"sub": 1, "key": "s", "entries": [], "next": f"{SKIPPED_MAX}-0"}


@pytest.mark.parametrize("bad", ["fields.n = 1", "fields.n > 1"])
def test_a_subscription_with_a_bad_condition_is_refused_with_its_place(bad: str) -> None:
    client = Client()
    problem = client.refused(op="subscribe", streams=[{"key": "s", "after": "0"}], filter=bad)
    assert (problem["code"], problem["offset"]) == ("INVALID_FILTER", "9")
