"""The group's own dead-letter setting comes before that of the consumer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tailrace_client import AsyncConsumer, AsyncItem, AsyncTailrace, Consumer, Item, Stream, Tailrace
from tests.support.server_process import running_server
from tests.support.tokens import make_token


@pytest.fixture
def dead(tailrace: Tailrace, key: str) -> Stream:
    """The dead letters of a group that delivers each entry twice."""
    group = tailrace.stream(key).group("g")
    group.create("0", create_stream=True)
    group.configure(max_deliveries=2, dead_letter_stream=f"{key}:of the group")
    return tailrace.stream(f"{key}:of the group")


def test_the_server_moves_the_entry_after_the_last_delivery_that_the_group_allows(
    stream: Stream, dead: Stream, tailrace: Tailrace, caplog: pytest.LogCaptureFixture
) -> None:
    poison = stream.append({"n": "1"})
    consumer = Consumer(
        tailrace, stream.key, "g", "alice", wait_ms=100, claim_min_idle_ms=50, max_deliveries=1
    )
    tries = []

    def handle(item: Item) -> None:
        tries.append(item.deliveries)
        if len(tries) == 2:
            consumer.stop()
        raise ValueError("poison")

    consumer.run(handle)
    assert tries == [0, 1]
    [(_, letter)] = dead.read()
    assert (letter["_source_id"], letter["_deliveries"], letter["_reason"]) == (poison, "2", "max_deliveries")
    assert not tailrace.stream(f"{stream.key}:dead").exists()
    assert stream.group("g").pending() == []
    assert len(stream.group("g").redrive().redriven) == 1
    assert "dead letter" in caplog.text


def test_an_asyncio_consumer_leaves_dead_letters_to_the_group_too(
    stream: Stream, dead: Stream, base_url: str
) -> None:
    poison = stream.append({"n": "1"})

    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            consumer = AsyncConsumer(client, stream.key, "g", "alice", wait_ms=100, on_failure="nack")
            tries = []

            async def handle(item: AsyncItem) -> None:
                tries.append(item.deliveries)
                if len(tries) == 2:
                    consumer.stop()
                raise ValueError("poison")

            await consumer.run(handle)

    asyncio.run(program())
    [(_, letter)] = dead.read()
    assert letter["_source_id"] == poison


def test_a_failed_entry_comes_back_at_once_where_failures_are_nacked(
    stream: Stream, tailrace: Tailrace
) -> None:
    stream.append({"n": "1"})
    consumer = Consumer(tailrace, stream.key, "g", "alice", wait_ms=100, on_failure="nack")
    tries = []

    def handle(item: Item) -> None:
        tries.append(item.deliveries)
        if len(tries) < 3:
            raise ValueError("not yet")
        consumer.stop()

    consumer.run(handle)  # With `wait` the second delivery would follow after a minute.
    assert tries == [0, 1, 2]
    assert stream.group("g").pending() == []


def test_a_token_that_may_not_read_the_settings_uses_those_of_the_consumer(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.json"
    token, admin = make_token(tokens, "append", "consume"), make_token(tokens, "admin", "read")
    with (
        running_server(tmp_path, "--tokens-file", str(tokens)) as server,
        Tailrace(server.base_url, token) as client,
    ):
        client.stream("jobs").append({"n": "1"})
        with Tailrace(server.base_url, admin) as owner:
            owner.stream("jobs").group("g").create("0")
        consumer = Consumer(client, "jobs", "g", "alice", wait_ms=100, max_deliveries=1)

        def handle(_item: Item) -> None:
            consumer.stop()
            raise ValueError("poison")

        consumer.run(handle)
        with Tailrace(server.base_url, admin) as owner:
            [(_, letter)] = owner.stream("jobs:dead").read()
        assert letter["last_error"] == "ValueError: poison"


def test_a_group_delivers_the_entries_of_a_customer_one_after_another(stream: Stream) -> None:
    group = stream.group("workers")
    group.create("0", create_stream=True)
    assert group.configure(order_by="customer").held == 0
    ids = [stream.append({"customer": name}) for name in ("ann", "ann", "bob")]
    assert [item.id for item in group.read("alice", 10)] == [ids[0], ids[2]]
    state = group.info()
    assert (state.order_by, state.held, state.keys_in_flight, state.lag) == ("customer", 1, 2, 1)
    assert group.ack(ids[0]) == 1
    assert [item.id for item in group.read("bob", 10)] == [ids[1]]
    assert group.configure(order_by=None).order_by is None
