"""The statements of the article about CLAIM, and the example of the reference: 20 idle and 200 new
entries."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tailrace.core.outcome import Signal
from tests.support.api_client import ApiClient
from tests.support.redis_like import R, Word, entry_count, read_ids

IDLE, NEW = 20, 200
MIN_IDLE_MS = 30_000
GROUP = "XREADGROUP GROUP mygroup consumer1"


def prepare(r: R, keys: str) -> None:
    """In all streams together 20 entries idle for different times, the youngest id longest, and 200 new."""
    for key in keys:
        r.run("XGROUP", "CREATE", key, "mygroup", "0", "MKSTREAM")
        ids = range(1, IDLE // len(keys) + 1)
        for number in ids:
            r.run("XADD", key, number, "n", number)
        r.run("XREADGROUP", "GROUP", "mygroup", "crashed", "STREAMS", key, ">")
        for number in ids:
            idle: list[Word] = ["IDLE", MIN_IDLE_MS + number, "RETRYCOUNT", 1]
            r.run("XCLAIM", key, "mygroup", "crashed", 0, number, *idle)
        for number in range(100, 100 + NEW // len(keys)):
            r.run("XADD", key, number, "n", number)


@pytest.fixture
def r() -> R:
    return R()


def idle_and_new(reply: Any) -> tuple[int, int]:
    """How many entries of the reply were claimed, and how many are new."""
    rows = [entry for _, entries in reply for entry in entries]
    return sum(row[3] > 0 for row in rows), sum(row[3] == 0 for row in rows)


def test_20_idle_and_200_new_entries_are_220(r: R) -> None:
    prepare(r, "s")
    assert idle_and_new(r.line(f"{GROUP} CLAIM {MIN_IDLE_MS} STREAMS s >")) == (20, 200)


def test_under_count_100_they_are_20_and_80_the_longest_idle_first_and_then_the_oldest_new(r: R) -> None:
    prepare(r, "s")
    reply = r.line(f"{GROUP} COUNT 100 CLAIM {MIN_IDLE_MS} STREAMS s >")
    assert idle_and_new(reply) == (20, 80)
    ids = read_ids(reply)["s"]
    assert ids == [f"{number}-0" for number in (*range(20, 0, -1), *range(100, 180))]
    idle_times = [entry[2] for entry in reply[0][1]]
    assert idle_times == sorted(idle_times, reverse=True)


def test_over_two_streams_count_is_for_each_and_maxcount_for_both(r: R) -> None:
    # The article and the reference mention one budget "in all the specified streams together": the server
    # gives COUNT to each stream, and MAXCOUNT, which came later, is the budget over all.
    prepare(r, "st")
    assert idle_and_new(r.line(f"{GROUP} COUNT 100 CLAIM {MIN_IDLE_MS} STREAMS s t > >")) == (20, 180)


def test_maxcount_100_over_two_streams_is_filled_in_the_order_they_are_named(r: R) -> None:
    prepare(r, "st")
    reply = r.line(f"{GROUP} MAXCOUNT 100 CLAIM {MIN_IDLE_MS} STREAMS s t > >")
    assert {key: len(ids) for key, ids in read_ids(reply).items()} == {"s": 100}
    reply = r.line(f"{GROUP} COUNT 60 MAXCOUNT 100 CLAIM {MIN_IDLE_MS} STREAMS t s > >")
    assert {key: len(ids) for key, ids in read_ids(reply).items()} == {"t": 60, "s": 10}


def test_over_rest_max_count_is_the_one_budget_of_the_article() -> None:
    api = ApiClient()
    r = R()
    r.engine, r.now_ms = api.store.engine, api.store.now_ms
    prepare(r, "st")
    body = {
        "group": "mygroup",
        "consumer": "consumer1",
        "streams": [{"key": "s"}, {"key": "t"}],
        "claim_min_idle_ms": MIN_IDLE_MS,
        "max_count": 100,
    }
    first, second = api.post("/v1/read-group", body).json()["streams"]
    assert (len(first["entries"]), len(second["entries"])) == (100, 0)
    assert sum(entry["deliveries"] > 0 for entry in first["entries"]) == 10
    assert {entry["idle_ms"] for entry in first["entries"] if not entry["deliveries"]} == {0}


def test_of_20000_pending_entries_exactly_the_1000_idle_ones_are_claimed_round_after_round(r: R) -> None:
    pending, idle = 20_000, 1_000
    random = Random(8_4)
    r.run("XGROUP", "CREATE", "s", "mygroup", "0", "MKSTREAM")
    for _ in range(pending):
        r.run("XADD", "s", "*", "field", "value")
    ids = read_ids(r.line("XREADGROUP GROUP mygroup worker STREAMS s >"))["s"]
    for _ in range(3):
        stragglers = set(random.sample(ids, idle))
        r.run("XCLAIM", "s", "mygroup", "worker", 0, *ids, "IDLE", 50, "JUSTID")
        r.run("XCLAIM", "s", "mygroup", "worker", 0, *stragglers, "IDLE", 1100, "JUSTID")
        claimed = read_ids(r.line(f"{GROUP} COUNT {idle} CLAIM 1000 STREAMS s >"))["s"]
        assert (len(claimed), set(claimed)) == (idle, stragglers)
        assert r.line(f"{GROUP} COUNT {idle} CLAIM 1000 STREAMS s >") is None


def test_a_pending_entry_nobody_acknowledges_never_goes_away(r: R) -> None:
    prepare(r, "s")
    for _ in range(5):
        r.now_ms += 10 * MIN_IDLE_MS
        r.line(f"{GROUP} CLAIM {MIN_IDLE_MS} STREAMS s >")
    assert r.line("XPENDING s mygroup")[0] == IDLE + NEW
    assert {row[3] for row in r.pending("s", "mygroup")} == {5, 6}


def test_a_waiting_consumer_wakes_when_an_entry_becomes_old_enough_or_a_new_one_comes(r: R) -> None:
    r.lines("XGROUP CREATE s mygroup 0 MKSTREAM\nXADD s 1 f v\nXREADGROUP GROUP mygroup crashed STREAMS s >")
    r.now_ms += 10_000
    waiting = r.outcome(*f"{GROUP} COUNT 100 BLOCK 60000 CLAIM {MIN_IDLE_MS} STREAMS s >".split())
    assert waiting.wait is not None
    assert waiting.wait.claim_at_ms == r.now_ms + MIN_IDLE_MS - 10_000
    assert {wake_up.signal for wake_up in r.outcome("XADD", "s", "2", "f", "v").wake_ups} == {Signal.DATA}
    r.now_ms = waiting.wait.claim_at_ms
    served = r.again(waiting)
    assert served.wait is None
    assert entry_count(served) == 2


def test_a_consumer_sets_messages_aside_by_their_count_of_deliveries(r: R) -> None:
    r.lines("XGROUP CREATE s mygroup 0 MKSTREAM\nXADD s 1 poison yes\nXREADGROUP GROUP mygroup w STREAMS s >")
    set_aside: list[str] = []
    while not set_aside:
        r.now_ms += MIN_IDLE_MS
        ((_, entries),) = r.line(f"{GROUP} CLAIM {MIN_IDLE_MS} STREAMS s >")
        for value, fields, _, deliveries in entries:
            if deliveries > 3:
                set_aside.append(r.run("XADD", "dead-letters", value, *fields))
                assert r.run("XACK", "s", "mygroup", value) == 1
    assert r.line("XRANGE dead-letters - +") == [["1-0", ["poison", "yes"]]]
    assert r.line("XPENDING s mygroup")[0] == 0
