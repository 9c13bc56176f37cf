"""A command with ids that Python hashes alike costs no more comparisons than one with other ids.

The ids count how often they are compared, with each other and with ids of the stream. In a set or a dict of
ids with one hash, each id is compared with half of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any, Final

import pytest

from tailrace.api.follow.tails import TailConsumer, Window
from tailrace.api.websocket.unsettled import Owner, Unsettled
from tailrace.core import commands as c
from tailrace.core.invariants import check
from tailrace.core.key_order import KeyOrder
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.node_size import NodeLimits
from tailrace.core.replies import PendingEntry
from tailrace.core.schedule import Schedule
from tests.support.colliding_ids import Counted, colliding_ids, counted
from tests.support.engine_calls import FRAGMENT, Calls
from tests.support.seeds import some_each_day

COUNT: Final = 2_000
COMPARISONS_PER_ID_MAX: Final = 500
"""Sorts and searches need up to 300 an id. One set of the ids would need 1 000."""


def colliding(order: str) -> list[Counted]:
    ids = colliding_ids(COUNT)
    if order == "in no order":
        Random(3).shuffle(ids)
    return counted(ids)


def few_comparisons(run: Callable[[], object]) -> None:
    Counted.comparisons = 0
    run()
    assert Counted.comparisons <= COMPARISONS_PER_ID_MAX * COUNT


def with_stream() -> Calls:
    calls = Calls()
    calls.reply(c.Append(b"s", [FRAGMENT] * COUNT, [*colliding_ids(COUNT)]))
    for key in b"s", b"dead":
        calls.reply(c.CreateGroup(key, b"g", 0, create_stream=True))
    calls.reply(c.ConfigureGroup(b"dead", b"g", max_deliveries=5, dead_letter_stream=b"s"))
    return calls


IN_THE_LOG: Final[dict[str, Callable[[Any], c.Command]]] = {
    "XDEL": lambda ids: c.DeleteEntries(b"s", ids),
    "XDELEX": lambda ids: c.DeleteEntriesByPolicy(b"s", ids, COUNT),
    "XDELEX ACKED": lambda ids: c.DeleteEntriesByPolicy(b"s", ids, COUNT, c.References.ACKNOWLEDGED),
    "redrive": lambda ids: c.Redrive(b"dead", b"g", COUNT, ids),
}


@pytest.mark.parametrize("order", ["rising", "in no order"])
@pytest.mark.parametrize("name", IN_THE_LOG)
def test_a_command_compares_its_ids_a_few_times(name: str, order: str) -> None:
    calls = with_stream()
    command = IN_THE_LOG[name](tuple(colliding(order)))
    few_comparisons(lambda: calls.reply(command))
    check(calls.engine.keyspace)


PENDING: Final[dict[str, Callable[[Any], c.Command]]] = {
    "XACK": lambda ids: c.Acknowledge(b"s", b"g", ids),
    "XACKDEL": lambda ids: c.AcknowledgeAndDelete(b"s", b"g", ids, COUNT),
    "XACKDEL ACKED": lambda ids: c.AcknowledgeAndDelete(b"s", b"g", ids, COUNT, c.References.ACKNOWLEDGED),
    "XACKDEL DELREF": lambda ids: c.AcknowledgeAndDelete(b"s", b"g", ids, COUNT, c.References.DELETE),
    "XDELEX ACKED": lambda ids: c.DeleteEntriesByPolicy(b"s", ids, COUNT, c.References.ACKNOWLEDGED),
    "XDELEX DELREF": lambda ids: c.DeleteEntriesByPolicy(b"s", ids, COUNT, c.References.DELETE),
    "XNACK": lambda ids: c.NegativeAcknowledge(b"s", b"g", c.NackMode.FAIL, ids),
    "XNACK with a delay": lambda ids: c.NegativeAcknowledge(b"s", b"g", c.NackMode.FAIL, ids, delay_ms=1_000),
    "XCLAIM": lambda ids: c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, ids)),
    "XCLAIM JUSTID": lambda ids: c.Claim(b"s", b"g", b"bob", c.ClaimOptions(0, ids, just_id=True)),
    "extend": lambda ids: c.ExtendLeases(b"s", b"g", b"alice", ids),
}


@pytest.mark.parametrize(
    ("name", "order", "delivered"),
    some_each_day(product(PENDING, ["rising", "in no order"], ["together", "alone", "before"]), 5),
)
def test_a_command_on_pending_entries_compares_its_ids_a_few_times(
    name: str, order: str, delivered: str
) -> None:
    calls = with_stream()
    calls.read_new(b"s", b"g", b"alice", count=1 if delivered == "alone" else COUNT)
    for _ in range(COUNT - 1 if delivered == "alone" else 0):
        calls.now_ms += 1
        calls.read_new(b"s", b"g", b"alice", count=1)
    if delivered == "before":
        # Claims in no order put the entries outside of runs.
        ids = colliding("in no order")
        calls.reply(c.Claim(b"s", b"g", b"alice", c.ClaimOptions(0, tuple(map(int, ids)))))
    command = PENDING[name](tuple(colliding(order)))
    few_comparisons(lambda: calls.reply(command))
    check(calls.engine.keyspace)


# --- tables that outlive a command -----------------------------------------------------------------


def test_the_order_by_key_compares_ids_a_few_times() -> None:
    ids = colliding("rising")
    keys = [b"key %d" % (at % 300) for at in range(COUNT)]

    def run() -> None:
        order = KeyOrder("f")
        order.hold(ids, keys)
        first = order.first_ready(300)
        order.take(first, [order.held[value] for value in first])
        order.release(first)
        order.copy().drain()
        assert order.remove(ids[::-1]) == ids[300]

    few_comparisons(run)


def test_a_schedule_compares_ids_a_few_times() -> None:
    ids = colliding("rising")

    def run() -> None:
        schedule = Schedule()
        for value in ids[::-1]:
            schedule.add([value], [FRAGMENT])
        assert len(schedule.after(ids[0], COUNT)) == COUNT - 1
        assert schedule.among(ids[::-1]) == ids
        assert schedule.fragments_of(ids) == [FRAGMENT] * COUNT
        assert schedule.remove(ids) == [FRAGMENT] * COUNT

    few_comparisons(run)


def test_a_log_compares_ids_a_few_times() -> None:
    log = EntryLog(BlockCache())
    log.append(colliding_ids(COUNT), [FRAGMENT] * COUNT, NodeLimits(0, 0))
    ids = colliding("in no order")

    def run() -> None:
        assert log.live_among(ids) == sorted(ids)
        assert log.get_many(ids) == [FRAGMENT] * COUNT

    few_comparisons(run)


def row(value: int) -> PendingEntry:
    return PendingEntry(value, b"alice", 5, 5, 1)


def test_a_connection_compares_its_unsettled_ids_a_few_times() -> None:
    owner, ids = Owner(b"s", b"g", b"alice"), colliding("in no order")

    def run() -> None:
        unsettled = Unsettled()
        unsettled.track(owner)
        unsettled.delivered(owner, ids, unsettled.next_mark())
        unsettled.settled(b"s", b"g", ids[:5], unsettled.next_mark())
        [question] = unsettled.questions()
        assert (question.start, question.end) == (min(ids[5:]), max(ids[5:]))
        [command] = unsettled.releases([list(map(row, ids))])
        assert command.ids == tuple(ids[5:])

    few_comparisons(run)


def test_a_tail_of_a_consumer_compares_its_ids_a_few_times() -> None:
    ids = colliding("rising")

    def run() -> None:
        window = Window(TailConsumer(b"g", b"alice", prefetch=COUNT))
        window.sent(b"s", ids)
        assert window.room == 0
        window.answered(b"s", list(map(row, ids[5:])))
        [question] = window.questions()
        assert (question.start, question.end) == (ids[5], ids[-1])

    few_comparisons(run)
