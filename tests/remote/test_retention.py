"""The retention of streams at a gateway, on each engine: on append, by the sweep, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from tailrace.app.remote.keys.sweeping import retire_one, retiring
from tailrace.app.remote.store import RemoteStore
from tailrace.core import commands as c
from tailrace.core.commands import RetentionRules
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import RangeReply, RetentionInfo, StreamInfo
from tests.support.remote_stores import new_key, on_one, reached

G: Final = b"g"
FRAGMENT: Final = fragment_from_flat([b"n", b"1"])


@pytest.fixture
def key() -> bytes:
    return new_key()


async def append(store: RemoteStore, key: bytes, *places: int) -> None:
    for place in places:
        await store.execute(c.Append(key, (FRAGMENT,), (place << 64,)))


async def places_of(store: RemoteStore, key: bytes) -> list[int]:
    reply = await store.execute(c.Range(key, 0, (1 << 128) - 1))
    assert isinstance(reply, RangeReply)
    return [value >> 64 for value in reply.entries.ids]


async def retire(store: RemoteStore, key: bytes) -> int:
    assert store.engine.library is not None
    return await retire_one(store.link, store.engine.library, key)


async def retention(store: RemoteStore, key: bytes) -> RetentionInfo | None:
    info = await store.execute(c.InfoStream(key))
    assert isinstance(info, StreamInfo)
    return info.retention


@pytest.mark.parametrize("rules", [RetentionRules(max_length=3), RetentionRules(max_age_ms=60_000)])
def test_the_sweep_removes_exactly_what_a_rule_lets_go(
    store_url: str, key: bytes, rules: RetentionRules
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateStream(key, retention=rules))
        await append(store, key, 1, 2, 3, 4)
        await store.execute(c.Append(key, (FRAGMENT,)))
        await store.execute(c.Append(key, (FRAGMENT,)))
        by_length = rules.max_length is not None
        await retire(store, key)
        assert len(await places_of(store, key)) == (3 if by_length else 2)
        info = await retention(store, key)
        assert info is not None
        assert info.rules == rules
        assert info.removed == ({"max_length": 3} if by_length else {"max_age_ms": 4})
        assert info.removed_at_ms is not None
        assert await retire(store, key) == 0

    on_one(store_url, scenario)


def test_an_append_removes_whole_nodes_at_once(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateStream(key, retention=RetentionRules(max_length=10)))
        ids = tuple(place << 64 for place in range(1, 1_001))
        await store.execute(c.Append(key, (FRAGMENT,) * 1_000, ids))
        await append(store, key, 1_001)
        assert 10 <= len(await places_of(store, key)) <= 210
        info = await retention(store, key)
        assert info is not None
        assert info.removed["max_length"] >= 791

    on_one(store_url, scenario)


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        (RetentionRules(acknowledged=True), [3, 4, 5, 6]),
        (RetentionRules(max_length=1, protect_unread=True), [5, 6]),
        (RetentionRules(max_age_ms=60_000, protect_unread=True), [5, 6]),
        (RetentionRules(max_length=5, acknowledged=True, protect_unread=True), [3, 4, 5, 6]),
    ],
)
def test_what_groups_need_decides(
    store_url: str, key: bytes, rules: RetentionRules, kept: Sequence[int]
) -> None:
    """Of six entries, the slowest group has read four, and acknowledged the first two."""

    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateGroup(key, G, 0, create_stream=True))
        await store.execute(c.CreateGroup(key, b"h", 6 << 64))
        await append(store, key, 1, 2, 3, 4, 5, 6)
        source = c.ReadFrom(key, c.Special.NEW)
        await store.execute(c.ReadGroup(G, b"alice", (source,), c.ReadLimits(4)))
        await store.execute(c.Acknowledge(key, G, (1 << 64, 2 << 64)))
        await store.execute(c.ConfigureStream(key, retention=rules))
        await retire(store, key)
        assert await places_of(store, key) == list(kept)
        info = await retention(store, key)
        assert info is not None
        assert info.protected_count == (0 if rules.acknowledged else 1 if rules.max_length else 2)
        assert bool(info.protected_bytes) == bool(info.protected_count)

    on_one(store_url, scenario)


@pytest.mark.parametrize("left", [0, 2])
def test_the_sweep_removes_what_is_pending_before_the_first_entry(
    store_url: str, key: bytes, left: int
) -> None:
    rules = RetentionRules(max_length=left) if left else RetentionRules(max_age_ms=60_000)

    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateGroup(key, G, 0, create_stream=True))
        await store.execute(c.Append(key, (FRAGMENT,) * 1_205, tuple(at << 64 for at in range(1, 1_206))))
        source = c.ReadFrom(key, c.Special.NEW)
        await store.execute(c.ReadGroup(G, b"alice", (source,), c.ReadLimits(1_204)))
        await store.execute(c.NegativeAcknowledge(key, G, c.NackMode.FAIL, (1 << 64,)))
        await store.execute(c.ConfigureStream(key, retention=rules))
        assert await retire(store, key) == 1_205 - left
        rows: Any = await store.execute(c.PendingRange(key, G))
        assert [row.id for row in rows] == ([1_204 << 64] if left else [])

    on_one(store_url, scenario)


def test_a_stream_whose_rules_are_removed_or_that_is_new_keeps_all(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateStream(key, retention=RetentionRules(max_length=1)))
        await store.execute(c.ConfigureStream(key, retention=None))
        await append(store, key, 1, 2)
        assert await retire(store, key) == 0
        assert await retention(store, key) is None
        await store.execute(c.ConfigureStream(key, retention=RetentionRules(max_length=1)))
        await store.link.call([b"DEL", key], key=key, is_write=True)
        await append(store, key, 1, 2)
        assert await retire(store, key) == 0
        assert await places_of(store, key) == [1, 2]

    on_one(store_url, scenario)


def test_rules_go_where_the_stream_goes(store_url: str, key: bytes) -> None:
    moved = key + b"m"

    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateStream(key, retention=RetentionRules(max_length=1)))
        await append(store, key, 1, 2)
        await store.execute(c.RenameKey(key, moved))
        assert await retire(store, moved) == 1
        info = await retention(store, moved)
        assert info is not None
        assert info.rules == RetentionRules(max_length=1)

    on_one(store_url, scenario)


def test_gateways_sweep_without_an_append(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await append(store, key, 1, 2, 3)
        await store.execute(c.ConfigureStream(key, retention=RetentionRules(max_length=1)))
        connection: list[Any] = []

        async def look() -> None:
            connection.append(await places_of(store, key))

        async with retiring(store.link, store.engine):
            while not connection or connection[-1] != [3]:
                await look()

    on_one(store_url, scenario)


def test_an_append_whose_engine_lost_the_library_is_stored_once(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateStream(key, retention=RetentionRules(max_length=9)))
        for words in ([b"FUNCTION", b"FLUSH"], [b"SCRIPT", b"FLUSH"]):
            await store.link.call_masters(words, is_write=True)
        await store.execute(c.Append(key, (FRAGMENT,)))
        answers: list[Any] = []
        store.submit(c.Append(key, (FRAGMENT,)), answers.append)
        await reached(lambda: bool(answers))
        [transacted] = (await store.execute_all([c.Append(key, (FRAGMENT,)), c.StreamLength(key)]))[1:]
        assert transacted == 3
        assert len(await places_of(store, key)) == 3

    on_one(store_url, scenario)


@pytest.mark.parametrize("kind", ["create", "configure"])
def test_a_rule_on_bytes_is_refused_with_the_store_that_has_it(store_url: str, key: bytes, kind: str) -> None:
    async def scenario(store: RemoteStore) -> None:
        rules = RetentionRules(max_length=5, max_bytes=5)
        if kind == "configure":
            await append(store, key, 1)
        command = (
            c.CreateStream(key, retention=rules)
            if kind == "create"
            else c.ConfigureStream(key, retention=rules)
        )
        with pytest.raises(StreamError) as refused:
            await store.execute(command)
        assert refused.value.code is ErrorCode.ENGINE_LACKS_FEATURE
        assert "`max_bytes`" in refused.value.line
        assert refused.value.details["needs"] == "a server with its own storage"
        assert await store.execute(c.CountKeys((key,))) == (1 if kind == "configure" else 0)

    on_one(store_url, scenario)
