"""What a tail sends, with the real engine and without a connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest

from tailrace.api.follow import tails
from tailrace.api.follow.followers import Start
from tailrace.api.follow.sse import parse_composite_id
from tailrace.api.follow.tails import EventForm, GroupTail, PlainTail, TailConsumer
from tailrace.api.websocket_limits import PUSH_ENTRIES_MAX
from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry_json import Shape
from tailrace.core.stream_id import format_id
from tests.support.engine_calls import FRAGMENT, at
from tests.support.seeds import seeds
from tests.support.sse_client import Event
from tests.support.tail_output import Tailing, ids_of, in_loop
from tests.support.watching_store import WatchingStore

ONE = EventForm(Shape.NATURAL, labelled=False)
SEVERAL = EventForm(Shape.NATURAL, labelled=True)
ALICE = TailConsumer(b"g", b"alice", prefetch=4)


@pytest.fixture
def store() -> WatchingStore:
    return WatchingStore()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full window is checked again on the next turn of the loop."""
    monkeypatch.setattr(tails, "PAUSE_MS_MIN", 0)


def add(store: WatchingStore, key: bytes, *ids: str) -> None:
    for each in ids:
        store.run(c.Append(key, (FRAGMENT,), (at(each),)))


def plain(store: WatchingStore, *keys: bytes, after: str = "0-0") -> Tailing:
    starts = [Start(key, at(after), None) for key in keys or (b"s",)]
    return Tailing(store, PlainTail(store, starts, SEVERAL if len(keys) > 1 else ONE))


def consuming(
    store: WatchingStore, reader: TailConsumer = ALICE, keys: Sequence[bytes] = (b"s",), **history: str
) -> Tailing:
    form = SEVERAL if len(keys) > 1 else ONE
    own = {key.encode(): at(after) for key, after in history.items()}
    return Tailing(store, GroupTail(store, reader, keys, own, form))


def group_of(store: WatchingStore, key: bytes = b"s") -> None:
    store.run(c.CreateGroup(key, b"g", 0, create_stream=True))


def acknowledge(store: WatchingStore, key: bytes, *ids: str) -> None:
    store.run(c.Acknowledge(key, b"g", tuple(map(at, ids))))


def read_new(store: WatchingStore, key: bytes, consumer: bytes) -> None:
    store.run(c.ReadGroup(b"g", consumer, (c.ReadFrom(key, c.Special.NEW),)))


# --- plain -------------------------------------------------------------------------------------------


@in_loop
async def test_a_tail_waits_without_a_limit_and_notices_every_gap(store: WatchingStore) -> None:
    tailing = plain(store, after="5-0")
    assert await tailing.blocks() == []
    [command] = store.watched
    assert isinstance(command, c.Read)
    assert command.streams == (c.ReadFrom(b"s", at("5-0")),)
    assert (command.block_ms, command.strict) == (0, True)


@in_loop
async def test_a_busy_stream_does_not_starve_the_others(store: WatchingStore) -> None:
    store.run(c.Append(b"busy", [FRAGMENT] * (3 * PUSH_ENTRIES_MAX)))
    add(store, b"calm", "1-0")
    events = await plain(store, b"busy", b"calm").blocks()
    assert [event.data["key"] for event in events] == ["busy", "calm", "busy", "busy"]


@in_loop
async def test_the_id_of_each_event_is_the_position_after_that_event(store: WatchingStore) -> None:
    add(store, b"a", "1-0")
    add(store, b"b", "2-0")
    first, second = await plain(store, b"a", b"b").blocks()
    told = [parse_composite_id(event.id or "") for event in (first, second)]
    assert [[(key, mark.at) for key, mark in each.items()] for each in told] == [
        [(b"b", 0), (b"a", at("1-0"))],
        [(b"a", at("1-0")), (b"b", at("2-0"))],
    ]


@in_loop
async def test_an_emptied_stream_is_a_gap_up_to_what_may_come(store: WatchingStore) -> None:
    add(store, b"s", "1-0", "2-0")
    store.run(c.TrimStream(b"s", c.Trim(max_length=0)))
    tailing = plain(store)
    assert await tailing.blocks() == [Event("gap", "2-0", {"key": "s", "from": "0-0", "to": "2-1"})]
    add(store, b"s", "3-0")
    assert await tailing.ids() == ["3-0"]


@in_loop
async def test_a_client_that_does_not_read_is_sent_nothing_and_misses_nothing(store: WatchingStore) -> None:
    tailing = plain(store)
    await tailing.blocks()
    tailing.can_push = False
    add(store, b"s", "1-0")
    assert await tailing.blocks() == []
    assert len(store.queue) == 0
    add(store, b"s", "2-0")
    tailing.relieve()
    assert await tailing.ids() == ["1-0", "2-0"]


@in_loop
async def test_a_refusal_that_is_no_gap_ends_the_tail(store: WatchingStore) -> None:
    tailing = plain(store)
    tailing.tail.end(StreamError(ErrorCode.INVALID_ID, "ERR"))
    [end] = await tailing.blocks()
    assert (end.name, end.data["code"]) == ("end", "INVALID_ID")
    assert tailing.tail.ended.result() is None
    assert len(store.queue) == 0


@pytest.mark.parametrize("seed", seeds(60))
@in_loop
async def test_whatever_is_trimmed_every_entry_that_is_left_comes_once_and_every_loss_lies_in_a_gap(
    seed: int,
) -> None:
    chance = Random(seed)
    store = WatchingStore()
    keys = [b"a", b"b", b"c"][: chance.randint(1, 3)]
    for key in keys:
        group_of(store, key)
    starts = [Start(key, 0, None) for key in keys]
    tailing = Tailing(store, PlainTail(store, starts, SEVERAL))
    appended: dict[bytes, list[int]] = {key: [] for key in keys}
    events: list[Event] = []
    for _ in range(40):
        key = chance.choice(keys)
        tailing.can_push = chance.random() < 0.5
        if (act := chance.randrange(6)) < 2:
            reply: Any = store.run(c.Append(key, [FRAGMENT] * chance.randint(1, 4)))
            appended[key] += reply.ids
            store.now_ms += chance.randrange(3)
        elif act == 2:
            trim_somewhere(store, key, chance)
        elif act == 3 and store.engine.keyspace.streams[key].length:
            deliver_and_acknowledge(store, key, chance)
        else:
            tailing.relieve()
            events += await tailing.blocks()
    tailing.relieve()
    events += await tailing.blocks()
    for key in keys:
        check_story(key.decode(), appended[key], events)


def trim_somewhere(store: WatchingStore, key: bytes, chance: Random) -> None:
    references = chance.choice([c.References.KEEP, c.References.ACKNOWLEDGED])
    store.run(c.TrimStream(key, c.Trim(max_length=chance.randrange(4), references=references)))


def deliver_and_acknowledge(store: WatchingStore, key: bytes, chance: Random) -> None:
    """Some entries become pending and stay pending, so a trim with the reference policy keeps them."""
    limits = c.ReadLimits(count=3)
    reply: Any = store.run(c.ReadGroup(b"g", b"x", (c.ReadFrom(key, c.Special.NEW),), limits))
    ids = [each for each in reply.streams[0].entries.ids if chance.random() < 0.6]
    store.run(c.Acknowledge(key, b"g", tuple(ids)))


def check_story(key: str, appended: Sequence[int], events: Sequence[Event]) -> None:
    of_key = [event for event in events if event.name and event.data["key"] == key]
    seen = [at(each) for each in ids_of(of_key)]
    assert seen == sorted(set(seen))
    gaps = [(at(event.data["from"]), at(event.data["to"])) for event in of_key if event.name == "gap"]
    for value in set(appended) - set(seen):
        assert any(begin < value < end for begin, end in gaps), format_id(value)


# --- as a group's consumer ---------------------------------------------------------------------------


@in_loop
async def test_a_read_asks_for_what_the_window_has_room_for_and_no_more(store: WatchingStore) -> None:
    group_of(store)
    add(store, b"s", *[f"{number}-0" for number in range(1, 10)])
    tailing = consuming(store)
    assert await tailing.ids() == ["1-0", "2-0", "3-0", "4-0"]
    assert await tailing.ids() == []
    acknowledge(store, b"s", "1-0", "4-0")
    assert await tailing.ids() == ["5-0", "6-0"]


@in_loop
async def test_while_half_of_the_window_is_free_nobody_is_asked_about_it(store: WatchingStore) -> None:
    group_of(store)
    tailing = consuming(store)
    add(store, b"s", "1-0", "2-0")
    await tailing.blocks()
    acknowledge(store, b"s", "1-0", "2-0")
    window = tailing.tail._window  # type: ignore[attr-defined]
    assert (window.room, window.questions()) == (2, [])
    add(store, b"s", "3-0")
    await tailing.blocks()
    assert window.room == 3


@in_loop
async def test_the_consumers_own_entries_come_first_a_stream_at_a_time_and_only_those_above_the_position(
    store: WatchingStore,
) -> None:
    for key in (b"a", b"b"):
        group_of(store, key)
        add(store, key, "1-0", "2-0")
        read_new(store, key, b"alice")
        add(store, key, "3-0")
    reader = TailConsumer(b"g", b"alice", prefetch=100)
    events = await consuming(store, reader, [b"a", b"b"], a="1-0", b="0-0").blocks()
    assert [(event.data["key"], event.ids) for event in events] == [
        ("a", ["2-0"]),
        ("b", ["1-0", "2-0"]),
        ("a", ["3-0"]),
        ("b", ["3-0"]),
    ]
    assert events[-1].id == "a=3-0&b=3-0"


@in_loop
async def test_own_entries_count_in_the_window_and_the_rest_follows_as_it_opens(
    store: WatchingStore,
) -> None:
    group_of(store)
    add(store, b"s", *[f"{number}-0" for number in range(1, 7)])
    read_new(store, b"s", b"alice")
    tailing = consuming(store, s="0-0")
    assert await tailing.ids() == ["1-0", "2-0", "3-0", "4-0"]
    acknowledge(store, b"s", *[f"{number}-0" for number in range(1, 5)])
    assert await tailing.ids() == ["5-0", "6-0"]


@in_loop
async def test_claimed_entries_do_not_move_the_position_back(store: WatchingStore) -> None:
    group_of(store)
    add(store, b"s", "1-0")
    read_new(store, b"s", b"dead")
    add(store, b"s", "2-0")
    tailing = consuming(store, TailConsumer(b"g", b"alice", claim_min_idle_ms=1000))
    assert [event.id for event in await tailing.blocks()] == ["2-0"]
    store.advance(1000)
    claimed = {event.ids[0]: event.id for event in await tailing.blocks()}
    assert claimed["1-0"] == "2-0"


@pytest.mark.parametrize("is_full", [True, False])
@in_loop
async def test_a_group_that_is_gone_ends_the_tail_whether_it_reads_or_asks(*, is_full: bool) -> None:
    store = WatchingStore()
    group_of(store)
    add(store, b"s", "1-0")
    tailing = consuming(store, TailConsumer(b"g", b"alice", prefetch=1 if is_full else 9))
    assert await tailing.ids() == ["1-0"]
    store.run(c.DestroyGroup(b"s", b"g"))
    [end] = await tailing.blocks()
    assert (end.name, end.data["code"]) == ("end", "NOGROUP")


class Consumer:
    """Takes the entries of a tail, and acknowledges on request."""

    def __init__(self, store: WatchingStore, tailing: Tailing) -> None:
        self.store = store
        self.tailing = tailing
        self.unacknowledged: list[tuple[bytes, str]] = []
        self.delivered: list[tuple[bytes, str]] = []

    async def take(self) -> None:
        for event in await self.tailing.blocks():
            fresh = [(event.data["key"].encode(), each) for each in event.ids]
            self.unacknowledged += fresh
            self.delivered += fresh

    def acknowledge(self, place: int = 0) -> None:
        if self.unacknowledged:
            key, each = self.unacknowledged.pop(place % len(self.unacknowledged))
            acknowledge(self.store, key, each)


@pytest.mark.parametrize("seed", seeds(40))
@in_loop
async def test_never_more_than_the_window_is_unacknowledged_and_everything_comes_in_the_end(
    seed: int,
) -> None:
    chance = Random(seed)
    store = WatchingStore()
    keys = [b"a", b"b"]
    for key in keys:
        group_of(store, key)
    prefetch = chance.randint(1, 7)
    tailing = consuming(store, TailConsumer(b"g", b"alice", prefetch), keys)
    consumer = Consumer(store, tailing)
    for _ in range(40):
        store.run(c.Append(chance.choice(keys), [FRAGMENT] * chance.randint(1, 5)))
        await consumer.take()
        assert len(consumer.unacknowledged) <= prefetch
        if chance.random() < 0.8:
            consumer.acknowledge(chance.randrange(100))
    expected = sum(store.engine.keyspace.streams[key].length for key in keys)
    while len(consumer.delivered) < expected:
        consumer.acknowledge()
        await consumer.take()
        assert len(consumer.unacknowledged) <= prefetch
    assert len(set(consumer.delivered)) == expected


# --- a stream that is created again ------------------------------------------------------------------


def reached(store: WatchingStore, after: str) -> Start:
    """A position that was reached in the stream that exists now."""
    incarnation = store.engine.keyspace.incarnation_of(store.engine.keyspace.streams[b"s"])
    return Start(b"s", at(after), incarnation)


@in_loop
async def test_a_tail_of_a_stream_that_was_created_again_tells_a_gap_and_sends_every_entry(
    store: WatchingStore,
) -> None:
    add(store, b"s", "9-0")
    tailing = Tailing(store, PlainTail(store, [reached(store, "9-0")], ONE))
    for ids in (["1-0", "2-0"], ["3-0", "20-0"]):
        again(store, ids)
        gap, *events = await tailing.blocks()
        assert (gap.name, gap.data["to"]) == ("gap", ids[0])
        assert ids_of(events) == ids


def again(store: WatchingStore, ids: Iterable[str]) -> None:
    appends = [c.Append(b"s", (FRAGMENT,), (at(each),)) for each in ids]
    store.run_all([c.DeleteKeys((b"s",)), *appends])


@in_loop
async def test_a_tail_is_told_that_its_stream_is_missing_and_reads_the_next_one_from_its_beginning(
    store: WatchingStore,
) -> None:
    add(store, b"s", "9-0")
    start = reached(store, "9-0")
    store.run(c.DeleteKeys((b"s",)))
    tailing = Tailing(store, PlainTail(store, [start], ONE))
    told = {"key": "s", "from": "9-0", "to": "0-1", "incarnation": None}
    assert await tailing.blocks() == [Event("gap", "0-0", told)]
    add(store, b"s", "1-0")
    assert await tailing.ids() == ["1-0"]
