"""The state of a tail with the real engine, step by step: no event loop, socket or clock."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from tailrace.api.tails.group_tail import GroupTail, TailConsumer
from tailrace.api.tails.sse import EVENT_ENTRIES_MAX, parse_composite_id
from tailrace.api.tails.tail import EventForm, PlainTail, Tail
from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import format_id
from tests.support.engine_calls import FRAGMENT, Calls, at
from tests.support.seeds import seeds
from tests.support.sse_client import Event, parse_events

ONE = EventForm(Shape.NATURAL, labelled=False)
SEVERAL = EventForm(Shape.NATURAL, labelled=True)
ALICE = TailConsumer(b"g", b"alice", prefetch=4)


def step(calls: Calls, tail: Tail) -> list[Event]:
    """Run one step of a driver. A full tail only asks its questions."""
    events: list[bytes] = []
    if questions := tail.questions():
        replies, _ = calls.engine.execute_all(questions, calls.now_ms)
        events = tail.answered(replies)
    if not events and not tail.is_full:
        events = read(calls, tail)
    return parse_events(b"".join(events).decode()) if events else []


def read(calls: Calls, tail: Tail) -> list[bytes]:
    try:
        reply = calls.reply(tail.read(15_000))
    except StreamError as error:
        tail.refused(error)
        return []
    assert isinstance(reply, ReadReply)
    return tail.taken(reply)


def drained(calls: Calls, tail: Tail) -> list[Event]:
    """All events there are: until a read waits, or the window is full."""
    found: list[Event] = []
    for _ in range(100):
        events = step(calls, tail)
        found += [event for event in events if event.name]
        if tail.is_full or any(event.comments for event in events):
            return found
    raise AssertionError("a tail that never waits")


def ids_of(events: Sequence[Event]) -> list[str]:
    return [each for event in events if event.name == "entries" for each in event.ids]


def group_of(calls: Calls, key: bytes = b"s") -> None:
    calls.reply(c.CreateGroup(key, b"g", 0, create_stream=True))


# --- plain -------------------------------------------------------------------------------------------


def test_a_read_in_vain_gives_a_comment_and_moves_nothing() -> None:
    calls = Calls()
    tail = PlainTail({b"s": at("5-0")}, ONE)
    (comment,) = step(calls, tail)
    assert comment.comments
    command = tail.read(15_000)
    assert command.streams == (c.ReadFrom(b"s", at("5-0")),)
    assert (command.block_ms, command.strict) == (15_000, True)


def test_a_busy_stream_does_not_starve_the_others() -> None:
    calls = Calls()
    fragments = [FRAGMENT] * (3 * EVENT_ENTRIES_MAX)
    calls.reply(c.Append(b"busy", fragments))
    calls.add(b"calm", "1-0")
    tail = PlainTail({b"busy": 0, b"calm": 0}, SEVERAL)
    first = step(calls, tail)
    assert [(event.data["key"], len(event.data["entries"])) for event in first] == [
        ("busy", EVENT_ENTRIES_MAX)
    ]
    assert [event.data["key"] for event in step(calls, tail)] == ["calm", "busy"]


def test_the_id_of_each_event_of_one_read_is_the_position_after_that_event() -> None:
    calls = Calls()
    calls.add(b"a", "1-0")
    calls.add(b"b", "2-0")
    first, second = step(calls, PlainTail({b"a": 0, b"b": 0}, SEVERAL))
    told = [parse_composite_id(event.id or "") for event in (first, second)]
    assert [[(key, mark.at) for key, mark in each.items()] for each in told] == [
        [(b"b", 0), (b"a", at("1-0"))],
        [(b"a", at("1-0")), (b"b", at("2-0"))],
    ]


def test_an_emptied_stream_is_a_gap_up_to_what_may_come() -> None:
    calls = Calls()
    calls.add(b"s", "1-0", "2-0")
    calls.reply(c.TrimStream(b"s", c.Trim(max_length=0)))
    tail = PlainTail({b"s": 0}, ONE)
    assert drained(calls, tail) == [Event("gap", "2-0", {"key": "s", "from": "0-0", "to": "2-1"})]
    calls.add(b"s", "3-0")
    assert ids_of(drained(calls, tail)) == ["3-0"]


def test_a_refusal_that_is_no_gap_ends_the_tail() -> None:
    tail = PlainTail({b"s": 0}, ONE)
    with pytest.raises(StreamError):
        tail.refused(StreamError(ErrorCode.INVALID_ID, "ERR"))
    tail.refused(StreamError(ErrorCode.POSITION_TRIMMED, "ERR"))
    with pytest.raises(StreamError):
        tail.answered([StreamError(ErrorCode.INVALID_ID, "ERR")])


@pytest.mark.parametrize("seed", seeds(60))
def test_whatever_is_trimmed_every_entry_that_is_left_comes_once_and_every_loss_lies_in_a_gap(
    seed: int,
) -> None:
    chance = Random(seed)
    calls = Calls()
    keys = [b"a", b"b", b"c"][: chance.randint(1, 3)]
    tail = PlainTail(dict.fromkeys(keys, 0), SEVERAL)
    for key in keys:
        group_of(calls, key)
    appended: dict[bytes, list[int]] = {key: [] for key in keys}
    events: list[Event] = []
    for _ in range(40):
        key = chance.choice(keys)
        if (act := chance.randrange(6)) < 2:
            count = chance.randint(1, 4)
            appended[key] += calls.reply(c.Append(key, [FRAGMENT] * count)).ids
            calls.now_ms += chance.randrange(3)
        elif act == 2:
            trim_somewhere(calls, key, chance)
        elif act == 3 and calls.engine.keyspace.streams[key].length:
            deliver_and_acknowledge(calls, key, chance)
        else:
            events += step(calls, tail)
    events += drained(calls, tail)
    for key in keys:
        check_story(key.decode(), appended[key], events)


def trim_somewhere(calls: Calls, key: bytes, chance: Random) -> None:
    references = chance.choice([c.References.KEEP, c.References.ACKNOWLEDGED])
    calls.reply(c.TrimStream(key, c.Trim(max_length=chance.randrange(4), references=references)))


def deliver_and_acknowledge(calls: Calls, key: bytes, chance: Random) -> None:
    """Some entries become pending and stay pending, so a trim with the reference policy keeps them."""
    limits = c.ReadLimits(count=3)
    reply = calls.reply(c.ReadGroup(b"g", b"x", (c.ReadFrom(key, c.Special.NEW),), limits))
    ids = [each for each in reply.streams[0].entries.ids if chance.random() < 0.6]
    calls.reply(c.Acknowledge(key, b"g", tuple(ids)))


def check_story(key: str, appended: Sequence[int], events: Sequence[Event]) -> None:
    of_key = [event for event in events if event.name and event.data["key"] == key]
    seen = [at(each) for each in ids_of(of_key)]
    assert seen == sorted(set(seen))
    gaps = [(at(event.data["from"]), at(event.data["to"])) for event in of_key if event.name == "gap"]
    for value in set(appended) - set(seen):
        assert any(begin < value < end for begin, end in gaps), format_id(value)


# --- as a group's consumer ---------------------------------------------------------------------------


def test_a_read_asks_for_what_the_window_has_room_for_and_no_more() -> None:
    calls = Calls()
    group_of(calls)
    calls.add(b"s", *[f"{number}-0" for number in range(1, 10)])
    tail = GroupTail(ALICE, [b"s"], {}, ONE)
    assert ids_of(drained(calls, tail)) == ["1-0", "2-0", "3-0", "4-0"]
    assert tail.is_full
    calls.reply(c.Acknowledge(b"s", b"g", (at("1-0"), at("4-0"))))
    step_events = step(calls, tail)
    assert ids_of(step_events) == ["5-0", "6-0"]


def test_while_half_of_the_window_is_free_nobody_is_asked_about_it() -> None:
    calls = Calls()
    group_of(calls)
    tail = GroupTail(ALICE, [b"s"], {}, ONE)
    calls.add(b"s", "1-0", "2-0")
    step(calls, tail)
    assert not tail.questions()
    calls.add(b"s", "3-0")
    step(calls, tail)
    assert len(tail.questions()) == 1


def test_the_consumers_own_entries_come_first_a_stream_at_a_time_and_only_those_above_the_position() -> None:
    calls = Calls()
    for key in (b"a", b"b"):
        group_of(calls, key)
        calls.add(key, "1-0", "2-0")
        calls.read_new(key, b"g", b"alice")
        calls.add(key, "3-0")
    reader = TailConsumer(b"g", b"alice", prefetch=100)
    tail = GroupTail(reader, [b"a", b"b"], {b"a": at("1-0"), b"b": 0}, SEVERAL)
    events = drained(calls, tail)
    assert [(event.data["key"], event.ids) for event in events] == [
        ("a", ["2-0"]),
        ("b", ["1-0", "2-0"]),
        ("a", ["3-0"]),
        ("b", ["3-0"]),
    ]
    assert events[-1].id == "a=3-0&b=3-0"


def test_own_entries_count_in_the_window_and_the_rest_follows_as_it_opens() -> None:
    calls = Calls()
    group_of(calls)
    calls.add(b"s", *[f"{number}-0" for number in range(1, 7)])
    calls.read_new(b"s", b"g", b"alice")
    tail = GroupTail(ALICE, [b"s"], {b"s": 0}, ONE)
    assert ids_of(drained(calls, tail)) == ["1-0", "2-0", "3-0", "4-0"]
    calls.reply(c.Acknowledge(b"s", b"g", tuple(at(f"{number}-0") for number in range(1, 5))))
    assert ids_of(drained(calls, tail)) == ["5-0", "6-0"]


def test_claimed_entries_do_not_move_the_position_back() -> None:
    calls = Calls()
    group_of(calls)
    calls.add(b"s", "1-0")
    calls.read_new(b"s", b"g", b"dead")
    calls.add(b"s", "2-0")
    tail = GroupTail(TailConsumer(b"g", b"alice", claim_min_idle_ms=1000), [b"s"], {}, ONE)
    assert [event.id for event in step(calls, tail)] == ["2-0"]
    calls.now_ms += 1000
    calls.reply(c.Acknowledge(b"s", b"g", (at("2-0"),)))
    (event,) = step(calls, tail)
    assert (event.ids, event.id) == (["1-0"], "2-0")


def test_a_group_that_is_gone_ends_the_tail_whether_it_reads_or_asks() -> None:
    calls = Calls()
    group_of(calls)
    calls.add(b"s", "1-0")
    tail = GroupTail(TailConsumer(b"g", b"alice", prefetch=1), [b"s"], {}, ONE)
    step(calls, tail)
    calls.reply(c.DestroyGroup(b"s", b"g"))
    with pytest.raises(StreamError, match="NOGROUP"):
        step(calls, tail)
    with pytest.raises(StreamError, match="NOGROUP"):
        read(calls, GroupTail(ALICE, [b"s"], {}, ONE))


class Consumer:
    """Takes the entries of a tail, and acknowledges on request."""

    def __init__(self, calls: Calls, tail: GroupTail) -> None:
        self.calls = calls
        self.tail = tail
        self.unacknowledged: list[tuple[bytes, str]] = []
        self.delivered: list[tuple[bytes, str]] = []

    def take(self) -> None:
        for event in step(self.calls, self.tail):
            if event.name:
                fresh = [(event.data["key"].encode(), each) for each in event.ids]
                self.unacknowledged += fresh
                self.delivered += fresh

    def acknowledge(self, place: int = 0) -> None:
        if self.unacknowledged:
            key, each = self.unacknowledged.pop(place % len(self.unacknowledged))
            self.calls.reply(c.Acknowledge(key, b"g", (at(each),)))


@pytest.mark.parametrize("seed", seeds(40))
def test_never_more_than_the_window_is_unacknowledged_and_everything_comes_in_the_end(seed: int) -> None:
    chance = Random(seed)
    calls = Calls()
    keys = [b"a", b"b"]
    for key in keys:
        group_of(calls, key)
    prefetch = chance.randint(1, 7)
    consumer = Consumer(calls, GroupTail(TailConsumer(b"g", b"alice", prefetch), keys, {}, SEVERAL))
    for _ in range(40):
        calls.reply(c.Append(chance.choice(keys), [FRAGMENT] * chance.randint(1, 5)))
        consumer.take()
        assert len(consumer.unacknowledged) <= prefetch
        if chance.random() < 0.8:
            consumer.acknowledge(chance.randrange(100))
    expected = sum(calls.engine.keyspace.streams[key].length for key in keys)
    while len(consumer.delivered) < expected:
        consumer.acknowledge()
        consumer.take()
        assert len(consumer.unacknowledged) <= prefetch
    assert len(set(consumer.delivered)) == expected


# --- a stream that is created again ------------------------------------------------------------------


def opened(calls: Calls, key: bytes, after: str) -> PlainTail:
    """A tail at a position that was reached in the stream that exists now."""
    incarnation = calls.engine.keyspace.incarnation_of(calls.engine.keyspace.streams[key])
    return PlainTail({key: at(after)}, ONE, incarnations={key: incarnation})


def test_a_tail_of_a_stream_that_was_created_again_tells_a_gap_and_sends_every_entry() -> None:
    calls = Calls()
    calls.add(b"s", "9-0")
    tail = opened(calls, b"s", "9-0")
    for first, *others in (["1-0", "2-0"], ["3-0", "20-0"]):
        calls.reply(c.DeleteKeys((b"s",)))
        calls.add(b"s", first, *others)
        gap, *events = drained(calls, tail)
        assert (gap.name, gap.data["to"]) == ("gap", first)
        assert ids_of(events) == [first, *others]


def test_a_tail_is_told_that_its_stream_is_missing_and_reads_the_next_one_from_its_beginning() -> None:
    calls = Calls()
    calls.add(b"s", "9-0")
    tail = opened(calls, b"s", "9-0")
    calls.reply(c.DeleteKeys((b"s",)))
    told = {"key": "s", "from": "9-0", "to": "0-1", "incarnation": None}
    assert drained(calls, tail) == [Event("gap", "0-0", told)]
    calls.add(b"s", "1-0")
    assert ids_of(drained(calls, tail)) == ["1-0"]
