"""Settings of the group that a consumer sets, and reads that gather, against a real server."""

from __future__ import annotations

import asyncio
import time
from threading import Thread
from typing import Any

import pytest

from tailrace_client import (
    AsyncConsumer,
    AsyncItem,
    AsyncTailrace,
    Backoff,
    Consumer,
    GroupSettings,
    Item,
    Stream,
    Tailrace,
    TailraceError,
)
from tests.support.waiting_readers import until

SETTINGS = GroupSettings(max_deliveries=1, filter='fields.n != "0"', claim_min_idle_ms=50, max_lag_ms=60_000)


def test_the_group_has_the_settings_on_each_stream_and_the_server_stores_the_dead_letters(
    tailrace: Tailrace, stream: Stream
) -> None:
    other = tailrace.stream(f"{stream.key}:other")
    stream.append_many([{"n": "0"}, {"n": "1"}])
    keys = (stream.key, other.key)
    consumer = Consumer(tailrace, keys, "g", "alice", wait_ms=100, on_failure="nack", settings=SETTINGS)

    def handle(item: Item) -> None:
        assert item.fields == {"n": "1"}
        consumer.stop()
        raise ValueError("poison")

    consumer.run(handle)
    for each in (stream, other):
        state = each.group("g").info()
        assert (state.max_deliveries, state.dead_letter_stream) == (1, f"{each.key}:dead")
        assert (state.filter_, state.claim_min_idle_ms) == (SETTINGS.filter, 50)
    [(_, letter)] = tailrace.stream(f"{stream.key}:dead").read()
    assert (letter["n"], letter["_last_consumer"], letter["_reason"]) == ("1", "alice", "max_deliveries")


def test_settings_are_set_again_with_the_group_and_leave_others_as_they_are(
    tailrace: Tailrace, stream: Stream
) -> None:
    group = stream.group("g")
    group.create("0", create_stream=True)
    group.configure(consumer_expiry_ms=600_000)
    settings = GroupSettings(max_lag_ms=1_000)
    consumer = Consumer(tailrace, stream.key, "g", "alice", wait_ms=100, settings=settings)
    stream.append({"n": "1"})
    items = iter(consumer)
    next(items).ack()
    assert (group.info().max_lag_ms, group.info().consumer_expiry_ms) == (1_000, 600_000)
    group.destroy()
    stream.append({"n": "2"})
    next(items).ack()
    assert group.info().max_lag_ms == 1_000
    consumer.stop()
    assert list(items) == []


def test_settings_that_the_server_refuses_end_the_consumer(tailrace: Tailrace, stream: Stream) -> None:
    entry = stream.append({"n": "1"})
    stream.group("g").create("0")
    consumer = Consumer(tailrace, stream.key, "g", "alice", settings=GroupSettings(filter="fields.n ="))
    with pytest.raises(TailraceError) as refused:
        next(iter(consumer))
    assert refused.value.code == "INVALID_FILTER"
    assert [each.id for each in stream.group("g").read("bob")] == [entry]


def test_an_asyncio_consumer_sets_the_settings_too(base_url: str, stream: Stream) -> None:
    stream.append({"n": "1"})

    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(client, stream.key, "g", "alice", wait_ms=100, settings=SETTINGS)

            async def handle(_: AsyncItem) -> None:
                consumer.stop()

            await consumer.run(handle)

    asyncio.run(program())
    assert stream.group("g").info().max_deliveries == 1


def test_a_consumer_takes_over_entries_after_the_time_of_the_settings(tailrace: Tailrace) -> None:
    def consumer(**options: int) -> Consumer:
        return Consumer(tailrace, "s", "g", "alice", settings=SETTINGS, **options)  # type: ignore[arg-type]

    assert consumer().options.claim_min_idle_ms == 50
    assert consumer(claim_min_idle_ms=50).options.claim_min_idle_ms == 50
    with pytest.raises(ValueError, match="claim_min_idle_ms=70 differs from 50 in the settings"):
        consumer(claim_min_idle_ms=70)


def test_a_consumer_refuses_to_store_dead_letters_in_a_stream_that_it_reads(tailrace: Tailrace) -> None:
    settings = GroupSettings(max_deliveries=1, dead_letter_stream="b")
    with pytest.raises(ValueError, match="dead_letter_stream='b' is one of the streams"):
        Consumer(tailrace, ["a", "b"], "g", "alice", settings=settings)


def test_a_consumer_gathers_entries_before_it_begins(tailrace: Tailrace, stream: Stream) -> None:
    stream.append({"n": "1"})
    consumer = Consumer(tailrace, stream.key, "g", "alice", wait_ms=60_000, min_count=3)
    batches = consumer.batches(10)
    group, sizes = stream.group("g"), list[int]()
    reading = Thread(target=lambda: sizes.append(len(next(batches))))
    group.create("0")
    reading.start()
    until(lambda: [each.name for each in group.consumers()] == ["alice"])
    stream.append_many([{"n": "2"}, {"n": "3"}])
    reading.join()
    assert sizes == [3]
    batches.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_count": 0}, "min_count=0 is out of range; it must be from 1 to 100"),
        ({"min_count": 101}, "min_count=101 is out of range; it must be from 1 to 100"),
        ({"linger_ms": 5}, "linger_ms=5 needs min_count; pass both"),
        ({"min_count": 2, "linger_ms": -1}, "linger_ms=-1 is out of range; it must be at least 0"),
        ({"retry_delay_ms": 5}, "retry_delay_ms=5 needs on_failure='nack'; pass both"),
    ],
)
def test_a_wrong_option_is_refused(tailrace: Tailrace, options: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Consumer(tailrace, "s", "g", "alice", **options)  # type: ignore[arg-type]


HOUR_MS = 3_600_000


def delayed_for_an_hour(stream: Stream) -> bool:
    """Whether the only pending entry can be claimed in an hour, and not before."""
    group = stream.group("g")
    [pending] = group.pending()
    left_ms = (pending.claimable_at_ms or 0) - time.time() * 1_000
    return not group.read("bob", claim_min_idle_ms=0) and HOUR_MS / 2 < left_ms <= HOUR_MS


@pytest.mark.parametrize(
    "options",
    [{"retry_delay_ms": HOUR_MS}, {"settings": GroupSettings(backoff=Backoff(HOUR_MS, 2, 2 * HOUR_MS))}],
    ids=["of the consumer", "of the group"],
)
def test_a_failed_entry_comes_back_after_its_delay(
    tailrace: Tailrace, stream: Stream, options: dict[str, Any]
) -> None:
    stream.append({"n": "1"})
    consumer = Consumer(tailrace, stream.key, "g", "alice", wait_ms=100, on_failure="nack", **options)

    def handle(_: Item) -> None:
        consumer.stop()
        raise ValueError("later")

    consumer.run(handle)
    assert delayed_for_an_hour(stream)


def test_an_item_is_returned_for_later(tailrace: Tailrace, stream: Stream, base_url: str) -> None:
    stream.append({"n": "1"})
    consumer = Consumer(tailrace, stream.key, "g", "alice", wait_ms=100)
    for item in consumer:
        item.nack(delay_ms=HOUR_MS)
        consumer.stop()
    assert delayed_for_an_hour(stream)
    other = tailrace.stream(f"{stream.key}:other")
    other.append({"n": "1"})

    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(client, other.key, "g", "alice", wait_ms=100)
            async for item in consumer:
                await item.nack(delay_ms=HOUR_MS)
                consumer.stop()

    asyncio.run(program())
    assert delayed_for_an_hour(other)
