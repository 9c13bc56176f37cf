"""Batches of a consumer: their size and time, how they are settled, and errors of single entries."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from tailrace_client import AsyncBatch, AsyncConsumer, AsyncTailrace, Batch, Consumer, Stream, Tailrace

Make = Callable[..., Consumer]


@pytest.fixture
def make(tailrace: Tailrace, key: str) -> Make:
    """A consumer of the test's stream that stops without delay."""

    def consumer(name: str = "alice", **options: object) -> Consumer:
        return Consumer(tailrace, key, "g", name, **{"wait_ms": 100, **options})  # type: ignore[arg-type]

    return consumer


def fill(stream: Stream, count: int) -> list[str]:
    stream.append_many({"n": str(number)} for number in range(count))
    return [entry_id for entry_id, _ in stream.read()]


def pending(stream: Stream) -> list[tuple[str, str | None, int]]:
    return [(each.id, each.consumer, each.deliveries) for each in stream.group("g").pending(count=1_000)]


def test_batches_have_at_most_the_size_and_their_acknowledgment_settles_all(
    stream: Stream, make: Make
) -> None:
    fill(stream, 25)
    consumer = make()
    seen: list[list[str]] = []
    for batch in consumer.batches(10):
        seen.append([item.fields["n"] for item in batch])
        batch.ack()
        assert not {item.id for item in batch} & {entry_id for entry_id, _, _ in pending(stream)}
        if sum(map(len, seen)) == 25:
            consumer.stop()
    assert seen == [[str(n) for n in part] for part in (range(10), range(10, 20), range(20, 25))]
    assert pending(stream) == []


def test_an_item_of_a_batch_can_be_settled_alone_and_the_others_together(stream: Stream, make: Make) -> None:
    ids = fill(stream, 3)
    consumer = make()
    for batch in consumer.batches(3):
        batch[1].nack()
        assert batch[1].is_settled
        batch.ack()
        batch.ack()
        assert [item.is_settled for item in batch] == [True] * 3
        assert repr(batch) == f"<Batch of 3 {ids[0]} .. {ids[2]}>"
        consumer.stop()
    assert pending(stream) == [(ids[1], None, 1)]


def test_a_batch_that_is_not_settled_stays_pending_and_the_rest_is_returned(
    stream: Stream, make: Make
) -> None:
    ids = fill(stream, 5)
    for _batch in make().batches(2):
        break
    held = [(entry_id, "alice", 1) for entry_id in ids[:2]]
    assert pending(stream) == [*held, *((entry_id, None, 0) for entry_id in ids[2:])]


def test_a_batch_waits_for_more_entries_until_it_is_full(stream: Stream, make: Make) -> None:
    consumer = make()
    appended = threading.Thread(target=lambda: [stream.append({"n": str(n)}) for n in range(3)])
    stream.create()
    appended.start()
    # The batch would wait a minute: it ends early because it is full.
    for batch in consumer.batches(3, fill_ms=60_000):
        assert [item.fields["n"] for item in batch] == ["0", "1", "2"]
        batch.ack()
        consumer.stop()
    appended.join()
    assert pending(stream) == []


def test_a_batch_that_does_not_fill_ends_after_its_time(stream: Stream, make: Make) -> None:
    fill(stream, 2)
    consumer = make()
    for batch in consumer.batches(3, fill_ms=50):
        assert len(batch) == 2
        batch.ack()
        consumer.stop()


def test_a_stop_while_a_batch_fills_passes_on_the_items_that_it_has(stream: Stream, make: Make) -> None:
    fill(stream, 2)
    consumer = make()
    sizes: list[int] = []
    stream.group("g").create("0")
    stopping = threading.Timer(0.2, consumer.stop)
    stopping.start()
    for batch in consumer.batches(3, fill_ms=60_000):
        sizes.append(len(batch))
        batch.ack()
    stopping.join()
    assert sum(sizes) + len(pending(stream)) == 2


def test_run_batches_acknowledges_each_batch_whose_handler_returned(stream: Stream, make: Make) -> None:
    fill(stream, 250)
    consumer = make()
    done: list[str] = []

    def handle(batch: Batch) -> None:
        assert {entry_id for entry_id, _, _ in pending(stream)} >= {item.id for item in batch}
        done.extend(item.fields["n"] for item in batch)
        if len(done) == 250:
            consumer.stop()

    consumer.run_batches(handle, 40)
    assert done == [str(n) for n in range(250)]
    assert pending(stream) == []


def test_a_batch_whose_handler_raises_fails_as_a_whole_except_for_its_settled_items(
    stream: Stream, make: Make, tailrace: Tailrace
) -> None:
    ids = fill(stream, 3)
    consumer = make(max_deliveries=1)

    def handle(batch: Batch) -> None:
        batch[0].ack()
        consumer.stop()
        raise ValueError("after the first")

    consumer.run_batches(handle)
    assert pending(stream) == []
    letters = [letter for _, letter in tailrace.stream(f"{stream.key}:dead").read()]
    assert [(letter["origin_id"], letter["last_error"]) for letter in letters] == [
        (entry_id, "ValueError: after the first") for entry_id in ids[1:]
    ]


def test_an_item_that_fails_in_a_batch_does_not_fail_the_others(
    stream: Stream, make: Make, tailrace: Tailrace
) -> None:
    ids = fill(stream, 3)
    consumer = make(max_deliveries=1)

    def handle(batch: Batch) -> None:
        batch[1].fail(ValueError("cannot be done"))
        consumer.stop()

    consumer.run_batches(handle)
    assert pending(stream) == []
    [(_, letter)] = tailrace.stream(f"{stream.key}:dead").read()
    assert (letter["origin_id"], letter["last_error"]) == (ids[1], "ValueError: cannot be done")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size=0 is out of range; it must be at least 1"),
        ({"size": -1}, "size=-1"),
        ({"fill_ms": -1}, "fill_ms=-1"),
    ],
)
def test_sizes_and_times_that_make_no_sense_are_refused_at_once(
    make: Make, arguments: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make().batches(**arguments)
    with pytest.raises(ValueError, match=message):
        make().run_batches(print, **arguments)


@pytest.mark.parametrize("size", [True, 1.5, "10"])
def test_sizes_of_another_type_are_refused(make: Make, size: object) -> None:
    with pytest.raises(TypeError, match="it must be an int"):
        make().batches(size)  # type: ignore[arg-type]


def test_asyncio_consumers_process_the_same_batches(base_url: str, key: str, stream: Stream) -> None:
    ids = fill(stream, 6)

    async def program() -> list[int]:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(client, key, "g", "alice", wait_ms=100)
            sizes: list[int] = []
            async for batch in consumer.batches(2):
                sizes.append(len(batch))
                await batch[0].nack()
                await batch.ack()
                await batch.ack()
                consumer.stop()

            async def handle(batch: AsyncBatch) -> None:
                sizes.append(len(batch))
                await batch[0].fail(ValueError("first"))
                consumer.stop()

            await consumer.run_batches(handle, 3)
            return sizes

    assert asyncio.run(program()) == [2, 3]
    # The second run begins with the entry that was nacked in the first one, and fails it.
    assert [(each[0], each[1]) for each in pending(stream)] == [
        (ids[0], "alice"),
        (ids[4], None),
        (ids[5], None),
    ]
