"""The state of a stream goes soon after the stream, also if another client removed it, and never before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import pytest

from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.functions.names import state_key
from tailrace.app.remote.keys.sweeping import walk
from tailrace.app.remote.link.port import Link
from tailrace.app.remote.opening import opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tailrace.core.commands import (
    Append,
    Idempotency,
    NackMode,
    NegativeAcknowledge,
    ReadFrom,
    ReadGroup,
    Special,
)
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import AppendReply
from tests.support.links import run
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_node import RedisNode

FRAGMENT: Final = fragment_from_flat([b"rider", b"Castilla"])
NAMES: Final = (b"orphan", b"{orphan}:tagged", b"orphan}braced")


@asynccontextmanager
async def store_at(url: str) -> AsyncIterator[tuple[RemoteStore, Link, Library]]:
    async with opened(Settings(store=url)) as (link, engine):
        store = RemoteStore()
        store.use(link, engine)
        assert engine.library is not None
        yield store, link, engine.library


def keyed(key: bytes) -> Append:
    return Append(key, [FRAGMENT], idempotency=Idempotency(b"p", b"k", b"fingerprint"))


async def exists(link: Link, key: bytes) -> bool:
    return bool(await link.call([b"EXISTS", key], key=key, is_write=False))


async def deleted_by_another_client(url: str) -> None:
    async with store_at(url) as (store, link, library):
        await walk(link, library, 0)  # other tests leave states on this engine
        kept = [b"kept" + name for name in NAMES]
        for key in (*NAMES, *kept):
            await store.execute(keyed(key))
        for key in NAMES:
            await link.call([b"DEL", key], key=key, is_write=True)
        assert [await exists(link, state_key(key)) for key in NAMES] == [True, True, True]
        assert await walk(link, library, 0) == len(NAMES)
        assert [await exists(link, state_key(key)) for key in NAMES] == [False, False, False]
        for key in kept:
            again = await store.execute(keyed(key))
            assert isinstance(again, AppendReply)
            assert again.replayed, "the state of a stream that exists stays"
        assert await walk(link, library, 0) == 0
        for key in kept:
            await link.call([b"DEL", key], key=key, is_write=True)
        assert await walk(link, library, 0) == len(kept)


def test_the_states_of_streams_that_another_client_deleted_are_freed(engine: RedisNode) -> None:
    run(lambda: deleted_by_another_client(f"redis://{engine.address}"))


def test_they_are_freed_on_every_node_of_a_cluster(cluster: RedisCluster) -> None:
    run(lambda: deleted_by_another_client(f"redis+cluster://{cluster.nodes[0].address}"))


@pytest.mark.parametrize(
    "made_anew",
    [[b"XADD", b"anew", b"*", b"made", b"anew"], [b"SET", b"anew", b"text"], [b"RPUSH", b"anew", b"item"]],
)
def test_the_state_of_an_earlier_stream_is_freed(engine: RedisNode, made_anew: list[bytes]) -> None:
    async def main() -> None:
        async with store_at(f"redis://{engine.address}") as (store, link, library):
            await store.execute(keyed(b"anew"))
            for words in ([b"DEL", b"anew"], made_anew):
                await link.call(words, key=b"anew", is_write=True)
            assert await walk(link, library, 0) == 1
            assert not await exists(link, state_key(b"anew"))
            assert await exists(link, b"anew")
            await link.call([b"DEL", b"anew"], key=b"anew", is_write=True)

    run(main)


def test_the_order_of_returned_entries_stays_with_its_stream(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_at(f"redis://{engine.address}") as (store, link, library):
            await link.call([b"XADD", b"nacked", b"1-0", b"a", b"b"], key=b"nacked", is_write=True)
            await link.call([b"XGROUP", b"CREATE", b"nacked", b"g", b"0"], key=b"nacked", is_write=True)
            await store.execute(ReadGroup(b"g", b"c", (ReadFrom(b"nacked", Special.NEW),)))
            await store.execute(NegativeAcknowledge(b"nacked", b"g", NackMode.FAIL, (1 << 64,)))
            has_state = await exists(link, state_key(b"nacked"))
            assert await walk(link, library, 0) == 0
            assert await exists(link, state_key(b"nacked")) == has_state
            await link.call([b"DEL", b"nacked"], key=b"nacked", is_write=True)
            assert await walk(link, library, 0) == has_state

    run(main)


def test_a_node_that_lost_the_library_gets_it_again(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_at(f"redis://{engine.address}") as (store, link, library):
            await store.execute(keyed(b"lost"))
            for words in ([b"DEL", b"lost"], [b"FUNCTION", b"FLUSH"], [b"SCRIPT", b"FLUSH"]):
                await link.call(words, key=None, is_write=True)
            assert await walk(link, library, 0) == 1

    run(main)
