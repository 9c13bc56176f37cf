"""Reads that gather entries (`min_count`, `linger_ms`) at a gateway, on each engine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import pytest

from tailrace.app.remote.store import RemoteStore
from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import ReadReply, StreamInfo
from tests.support.remote_stores import gateways, new_key, on_one, reached

G: Final = b"g"
LONG_MS: Final = 60_000
FRAGMENT: Final = fragment_from_flat([b"n", b"1"])
KINDS: Final = ["plain", "group"]


@pytest.fixture
def key() -> bytes:
    return new_key()


async def prepared(store: RemoteStore, *keys: bytes, count: int = 2) -> None:
    for key in keys:
        await store.execute(c.CreateGroup(key, G, 0, create_stream=True))
        for _ in range(count):
            await append(store, key)


async def append(store: RemoteStore, key: bytes) -> None:
    await store.execute(c.Append(key, (FRAGMENT,)))


def reading(kind: str, *keys: bytes, **options: Any) -> c.Read | c.ReadGroup:
    options = {"block_ms": LONG_MS} | options
    if kind == "plain":
        after = options.pop("after", 0)
        return c.Read(tuple(c.ReadFrom(key, after) for key in keys), **options)
    return c.ReadGroup(G, b"alice", tuple(c.ReadFrom(key, c.Special.NEW) for key in keys), **options)


def counts(reply: Any) -> list[int]:
    assert isinstance(reply, ReadReply)
    return [len(read.entries.ids) for read in reply.streams]


async def waits(store: RemoteStore) -> None:
    """Wait until a read waits."""
    await reached(lambda: store.waiting_count > 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_read_waits_until_enough_entries_of_all_its_streams_are_there(
    store_url: str, key: bytes, kind: str
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key, key + b"t", count=1)
        command = reading(kind, key, key + b"t", batch=c.Batch(4, None))
        found = asyncio.ensure_future(store.execute(command))
        await waits(store)
        await append(store, key)
        assert not found.done()
        await append(store, key + b"t")
        assert counts(await found) == [2, 2]

    on_one(store_url, scenario)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("linger_ms", "block_ms"), [(10, LONG_MS), (None, 10), (LONG_MS, 10), (0, LONG_MS)])
def test_a_read_returns_what_is_there_when_it_has_lingered_and_at_the_end_of_its_wait(
    store_url: str, key: bytes, kind: str, linger_ms: int | None, block_ms: int
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key)
        command = reading(kind, key, block_ms=block_ms, batch=c.Batch(3, linger_ms))
        assert counts(await store.execute(command)) == [2]

    on_one(store_url, scenario)


@pytest.mark.parametrize("kind", KINDS)
def test_a_read_of_nothing_ends_with_its_wait_and_an_unlimited_one_with_the_linger_of_a_later_entry(
    store_url: str, key: bytes, kind: str
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key, count=0)
        assert counts(await store.execute(reading(kind, key, block_ms=10, batch=c.Batch(3, 1)))) == [0]
        found = asyncio.ensure_future(store.execute(reading(kind, key, block_ms=0, batch=c.Batch(3, 1))))
        await waits(store)
        await append(store, key)
        assert counts(await found) == [1]

    on_one(store_url, scenario)


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_wait_a_read_returns_what_is_there(store_url: str, key: bytes, kind: str) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key)
        command = reading(kind, key, block_ms=None, batch=c.Batch(3, LONG_MS))
        assert counts(await store.execute(command)) == [2]

    on_one(store_url, scenario)


@pytest.mark.parametrize(
    ("after", "expected"), [(c.Special.LAST_ID, [2]), (c.Special.LAST_ENTRY, [2]), (0, [3])]
)
def test_entries_count_from_where_the_read_began(
    store_url: str, key: bytes, after: Any, expected: Sequence[int]
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key, count=1 if after == 0 else 5)
        most = 3 if after == 0 else 2
        command = reading("plain", key, after=after, batch=c.Batch(most, None))
        found = asyncio.ensure_future(store.execute(command))
        await waits(store)
        await append(store, key)
        if after is not c.Special.LAST_ENTRY:
            await append(store, key)
        assert counts(await found) == expected

    on_one(store_url, scenario)


def test_a_read_that_gathers_takes_nothing_meanwhile_and_begins_again(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key)
        command = reading("group", key, batch=c.Batch(3, None))
        found = asyncio.ensure_future(store.execute(command))
        await waits(store)
        others = c.ReadGroup(G, b"bob", (c.ReadFrom(key, c.Special.NEW),), block_ms=LONG_MS)
        assert counts(await store.execute(others)) == [2]
        for number in range(3):
            assert not found.done(), number
            await append(store, key)
        assert counts(await found) == [3]

    on_one(store_url, scenario)


def test_an_entry_that_can_be_claimed_ends_the_wait(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key)
        await store.execute(reading("group", key, limits=c.ReadLimits(1), block_ms=None))
        command = reading("group", key, batch=c.Batch(9, None), claim_min_idle_ms=100)
        assert counts(await store.execute(command)) == [2]

    on_one(store_url, scenario)


def test_entries_are_counted_after_a_deletion_too(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key, count=0)
        for value in (1, 2, 3):
            await store.execute(c.Append(key, (FRAGMENT,), (value << 64,)))
        await store.execute(c.DeleteEntries(key, (2 << 64,)))
        command = reading("group", key, batch=c.Batch(2, None))
        assert counts(await store.execute(command)) == [2]

    on_one(store_url, scenario)


def test_a_missing_group_and_a_trimmed_position_are_refused(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key, count=3)
        missing = c.ReadGroup(
            b"none", b"alice", (c.ReadFrom(key, c.Special.NEW),), block_ms=LONG_MS, batch=c.Batch(9, None)
        )
        await store.execute(c.TrimStream(key, c.Trim(max_length=1)))
        strict = reading("plain", key, after=1, batch=c.Batch(9, None), strict=True)
        for command, code in ((missing, ErrorCode.NOGROUP), (strict, ErrorCode.POSITION_TRIMMED)):
            with pytest.raises(StreamError) as refused:
                await store.execute(command)
            assert refused.value.code is code

    on_one(store_url, scenario)


def test_a_group_that_is_destroyed_ends_the_wait(store_url: str, key: bytes) -> None:
    async def run() -> None:
        async with gateways(store_url, 2) as [first, second]:
            await prepared(first, key, count=1)
            command = reading("group", key, batch=c.Batch(9, None))
            found = asyncio.ensure_future(second.execute(command))
            await waits(second)
            await first.execute(c.DestroyGroup(key, G))
            with pytest.raises(StreamError) as refused:
                await found
            assert refused.value.code is ErrorCode.NOGROUP

    asyncio.run(run())


def test_a_read_that_is_cancelled_takes_nothing(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await prepared(store, key)
        found = asyncio.ensure_future(store.execute(reading("group", key, batch=c.Batch(3, None))))
        await waits(store)
        found.cancel()
        with pytest.raises(asyncio.CancelledError):
            await found
        await append(store, key)
        assert counts(await store.execute(reading("group", key))) == [3]

    on_one(store_url, scenario)


@pytest.mark.parametrize("block_ms", [None, LONG_MS])
def test_each_stream_of_a_read_whose_limit_is_reached_shows_its_position(
    store_url: str, key: bytes, block_ms: int | None
) -> None:
    """On a Cluster, the streams are in several slots."""

    async def scenario(store: RemoteStore) -> None:
        keys = [key, *(b"%d:%s" % (number, key.strip(b"{}")) for number in range(3))]
        await prepared(store, *keys, count=2)
        last = [(await ends(store, each)) for each in keys]
        await store.execute(c.SetGroupPosition(keys[3], G, last[3]))
        limits = c.ReadLimits(max_count=1, page_bytes=1 << 20)
        group = await store.execute(reading("group", *keys, block_ms=block_ms, limits=limits))
        assert isinstance(group, ReadReply)
        assert [read.next for read in group.streams] == [group.streams[0].entries.ids[0], 0, 0, last[3]]
        assert counts(group) == [1, 0, 0, 0]
        options: dict[str, Any] = {"block_ms": None, "limits": limits}
        for after, expected in (c.Special.LAST_ID, last), (c.Special.LAST_ENTRY, [last[0]]):
            plain = await store.execute(reading("plain", *keys, after=after, **options))
            assert isinstance(plain, ReadReply)
            assert [read.next for read in plain.streams][: len(expected)] == expected
            assert 0 not in [read.next for read in plain.streams]

    on_one(store_url, scenario)


async def ends(store: RemoteStore, key: bytes) -> int:
    """Return the id of the last entry."""
    found = await store.execute(c.InfoStream(key))
    assert isinstance(found, StreamInfo)
    return found.last_id
