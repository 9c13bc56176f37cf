"""Tails and subscriptions with a filter: what they send, and how their position moves over the rest."""

from __future__ import annotations

import asyncio

import pytest

from tailrace.api.follow.followers import SKIPPED_MAX, Start
from tailrace.api.follow.sse import parse_composite_id
from tailrace.api.follow.tails import EventForm, PlainTail
from tailrace.api.wire.filtering import AT_ONCE_MAX, ScanTurns
from tailrace.core import commands as c
from tailrace.core.filters import Filter, compile_filter
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.log.entry_json import Shape
from tests.support.engine_calls import at
from tests.support.sse_client import Event
from tests.support.tail_output import Tailing, in_loop
from tests.support.watching_store import WatchingStore
from tests.support.websocket_client import Client

ODD = compile_filter("fields.n.endsWith('1')")
ONE = EventForm(Shape.NATURAL, labelled=False)
SEVERAL = EventForm(Shape.NATURAL, labelled=True)


def append(store: WatchingStore, first: int, last: int, key: bytes = b"s") -> None:
    numbers = range(first, last + 1)
    fragments = tuple(fragment_from_flat([b"n", b"%d" % number]) for number in numbers)
    store.run(c.Append(key, fragments, tuple(number << 64 for number in numbers)))


def tailing(store: WatchingStore, wanted: Filter, *keys: bytes, heartbeat_ms: int = 15_000) -> Tailing:
    starts = [Start(key, 0, None) for key in keys or (b"s",)]
    form = SEVERAL if len(keys) > 1 else ONE
    return Tailing(store, PlainTail(store, starts, form, wanted, heartbeat_ms=heartbeat_ms))


# --- Server-Sent Events ------------------------------------------------------------------------------


@in_loop
async def test_a_tail_sends_what_matches_with_the_position_of_all_that_it_examined() -> None:
    store = WatchingStore()
    append(store, 9, 12)
    event, *more = await tailing(store, ODD).blocks()
    assert (event.ids, event.id, more) == (["11-0"], "12-0", [])


@in_loop
async def test_a_tail_that_skips_few_entries_tells_its_position_once_with_the_next_sign_of_life() -> None:
    store = WatchingStore()
    append(store, 2, 5)
    following = tailing(store, ODD, heartbeat_ms=20)
    assert await following.blocks() == []
    blocks: list[Event] = []
    while len(blocks) < 2:
        await asyncio.sleep(0.005)
        blocks += await following.blocks()
    assert blocks[0] == Event("entries", "5-0", [])
    assert blocks[1].comments


@in_loop
async def test_a_tail_that_skips_many_entries_tells_its_position() -> None:
    store = WatchingStore()
    append(store, 1, 3 * SKIPPED_MAX)
    told = await tailing(store, compile_filter("false")).blocks()
    assert [event.id for event in told] == [f"{part * SKIPPED_MAX}-0" for part in (1, 2, 3)]


@in_loop
async def test_the_position_of_a_tail_of_several_streams_names_all_of_them() -> None:
    store = WatchingStore()
    append(store, 2, 5, b"a")
    append(store, 11, 11, b"b")
    event, *more = await tailing(store, ODD, b"a", b"b").blocks()
    assert (event.data["key"], event.ids, more) == ("b", ["11-0"], [])
    assert {key: mark.at for key, mark in parse_composite_id(event.id or "").items()} == {
        b"a": at("5-0"),
        b"b": at("11-0"),
    }


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
