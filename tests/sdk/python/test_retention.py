"""The retention of streams with the Python SDK."""

from __future__ import annotations

import asyncio

import pytest

from tailrace_client import AsyncTailrace, Retention, Tailrace, TailraceError


def test_the_rules_of_a_stream_are_set_kept_replaced_and_removed(tailrace: Tailrace, key: str) -> None:
    stream = tailrace.stream(key)
    assert stream.create(retention=Retention(max_age_ms=60_000, protect_unread=True))
    stream.configure(idmp_maxsize=7)
    state = stream.info()
    assert state.retention
    assert (state.retention.max_age_ms, state.retention.protect_unread) == (60_000, True)
    assert state.idempotency.maxsize == 7
    stream.configure(retention=Retention(max_length=5, acknowledged=True))
    state = stream.info()
    assert state.retention
    assert not state.retention.max_age_ms
    assert state.retention.max_length == 5
    stream.configure(retention=None)
    assert not stream.info().retention


def test_rules_that_remove_nothing_are_refused(tailrace: Tailrace, key: str) -> None:
    with pytest.raises(TailraceError, match="max_age_ms"):
        tailrace.stream(key).create(retention=Retention(protect_unread=True))


def test_the_asyncio_client_sets_rules(base_url: str, key: str) -> None:
    async def program() -> None:
        async with AsyncTailrace(base_url) as client:
            stream = client.stream(key)
            await stream.create(retention=Retention(max_bytes=1_000))
            await stream.configure(retention=Retention(max_length=3))
            state = await stream.info()
            assert state.retention
            assert state.retention.max_length == 3

    asyncio.run(program())
