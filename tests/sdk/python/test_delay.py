"""Scheduled entries, delayed nacks and the backoff of a group, in both Python clients."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest

from tailrace_client import AsyncTailrace, Backoff, Stream

LATER_MS = 3_600_000
FIGURES = (
    "entries_scheduled_total",
    "scheduled_published_total",
    "scheduled_cancelled_total",
    "retries_delayed_total",
    "scheduled_entries",
)


def test_entries_are_scheduled_listed_and_cancelled(stream: Stream) -> None:
    at_ms = int(time.time() * 1000) + 2 * LATER_MS
    far = stream.schedule({"n": "2"}, deliver_at_ms=at_ms)
    near = stream.schedule([("n", "1"), ("n", b"\xff")], delay_ms=LATER_MS)
    found = list(stream.scheduled(page=1))
    assert [entry.id for entry in found] == [near, far]
    assert found[1].deliver_at_ms == at_ms
    assert found[1].fields == {"n": "2"}
    assert stream.cancel_scheduled(far)
    assert not stream.cancel_scheduled(far)
    assert [entry.id for entry in stream.scheduled()] == [near]
    assert stream.info().scheduled == 1


def test_a_delayed_entry_reaches_a_reader_that_waits(stream: Stream) -> None:
    stream.schedule({"n": "1"}, delay_ms=100)
    _, fields = next(stream.tail("0"))
    assert fields == {"n": "1"}


def test_a_key_schedules_once(stream: Stream) -> None:
    first, again = (stream.schedule({"n": "1"}, delay_ms=LATER_MS, idempotency_key="k") for _ in range(2))
    assert first == again
    assert len(list(stream.scheduled())) == 1


@pytest.mark.parametrize("times", [{}, {"delay_ms": 1, "deliver_at_ms": 1}])
def test_exactly_one_time_is_given(stream: Stream, times: Any) -> None:
    with pytest.raises(ValueError, match="either delay_ms or deliver_at_ms"):
        stream.schedule({"n": "1"}, **times)


def test_a_nack_and_a_backoff_delay_an_entry(stream: Stream) -> None:
    group = stream.group("g")
    group.create("0", create_stream=True)
    value = stream.append({"n": "1"})
    group.read("alice")
    assert group.nack(value, delay_ms=LATER_MS) == 1
    assert group.read("bob", claim_min_idle_ms=0) == []
    state = group.configure(backoff=Backoff(LATER_MS, factor=1.5))
    assert state.backoff is not None
    assert group.nack(value, delay_ms=0) == 1
    assert [entry.id for entry in group.read("bob", claim_min_idle_ms=0)] == [value]
    assert group.nack(value) == 1
    assert group.read("bob", claim_min_idle_ms=0) == []
    assert not group.configure(backoff=None).to_dict().get("backoff")


def test_the_metrics_count_what_waits(stream: Stream, base_url: str) -> None:
    def figures() -> list[float]:
        lines = httpx.get(f"{base_url}/metrics", timeout=30).text.splitlines()
        values = dict(line.split(" ") for line in lines if line.startswith("tailrace_") and "{" not in line)
        return [float(values[f"tailrace_{name}"]) for name in FIGURES]

    before = figures()
    stream.cancel_scheduled(stream.schedule({"n": "1"}, delay_ms=LATER_MS))
    stream.schedule({"n": "1"}, delay_ms=LATER_MS)
    group = stream.group("g")
    group.create("0")
    value = stream.append({"n": "1"})
    group.read("alice")
    group.nack(value, delay_ms=LATER_MS)
    stream.schedule({"n": "1"}, delay_ms=0)
    next(stream.tail(value))
    assert [now - old for now, old in zip(figures(), before, strict=True)] == [3, 1, 1, 1, 1]


def test_the_asyncio_client_does_the_same(base_url: str, stream: Stream) -> None:
    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            own = client.stream(stream.key)
            scheduled_id = await own.schedule({"n": "1"}, delay_ms=LATER_MS)
            assert [entry.id async for entry in own.scheduled()] == [scheduled_id]
            assert await own.cancel_scheduled(scheduled_id)
            assert not await own.cancel_scheduled(scheduled_id)
            group = own.group("g")
            await group.create("0")
            value = await own.append({"n": "2"})
            await group.read("alice")
            assert await group.nack(value, delay_ms=LATER_MS) == 1
            assert (await group.configure(backoff=Backoff(LATER_MS))).backoff is not None

    asyncio.run(program())
