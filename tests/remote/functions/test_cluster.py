"""In a Cluster each call runs on the stream's own node, also for keys whose slot is hard to name.

Each operation gets its keys declared and in one slot: a Cluster refuses a script that touches another slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from tailrace.app.remote.functions import appends, pending, plans, reads, streams
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.opening import EngineLink
from tailrace.core import commands as c
from tests.remote.functions.conftest import VERSIONS, executable_of
from tests.support.links import linked, run
from tests.support.redis_cluster import RedisCluster

KEYS: Final = (b"", b"s", b"race:france", b"{tag}s", b"a}b", b"}{", b"{}s", b"{", b"{}", b"}", b"\xff{x")
FIELDS: Final = b'{"f":"v"}'


def each_operation(key: bytes) -> Sequence[Call[Any]]:
    """One call of each operation, in an order in which none is refused."""
    keyed = c.Idempotency(b"p", b"k", None, 7, b"one")
    find = appends.find_append(c.FindAppend(key, keyed))
    assert find is not None
    new = (c.ReadFrom(key, c.Special.NEW),)
    dropping = c.Trim(max_length=1, references=c.References.DELETE)
    keeping = c.Trim(max_length=1, references=c.References.ACKNOWLEDGED)
    one = range(1 << 64, (1 << 64) + 1)
    return (
        appends.append(
            c.Append(key, [FIELDS] * 3, [one[0], None, None], idempotency=keyed), native_policies=False
        ),
        appends.append(c.Append(key, [FIELDS], idempotency=c.Idempotency(b"p", b"k")), native_policies=False),
        find,
        appends.info_producer(c.InfoProducer(key, b"p")),
        appends.take_over_epoch(c.TakeOverEpoch(key, b"p", 7, b"one", b"two", 1)),
        streams.mark(key),
        streams.state(key),
        streams.configure(c.ConfigureStream(key, 50, None)),
        streams.record(c.RecordIdempotencyKey(key, b"p", b"r", one[0])),
        reads.read_group(c.ReadGroup(b"g", b"alice", new, claim_min_idle_ms=0)),
        reads.oldest_delivery(key, b"g"),
        pending.nack(c.NegativeAcknowledge(key, b"g", c.NackMode.FAIL, one)),
        pending.claim(c.Claim(key, b"g", b"bob", c.ClaimOptions(0, one))),
        plans.walk(key, 0, 1 << 127),
        appends.delete_by_policy(c.DeleteEntriesByPolicy(key, one, 1, c.References.ACKNOWLEDGED)),
        appends.acknowledge_and_delete(c.AcknowledgeAndDelete(key, b"g", one, 1, c.References.DELETE)),
        appends.trim(c.TrimStream(key, keeping), native_policies=False),
        appends.trim(c.TrimStream(key, dropping), native_policies=False),
        streams.rename(c.RenameKey(key, key)),
        streams.delete(key),
    )


@pytest.fixture(scope="module", params=VERSIONS, ids=[version.name for version in VERSIONS])
def cluster(request: pytest.FixtureRequest) -> Any:
    with RedisCluster(executable_of(request.param), masters=3, replicas=0) as cluster:
        yield cluster


@pytest.mark.parametrize("how", ["functions", "scripts"])
def test_each_operation_keeps_to_the_slot_of_its_stream(cluster: RedisCluster, how: Any) -> None:
    async def main() -> None:
        async with linked(f"redis+cluster://127.0.0.1:{cluster.nodes[0].port}") as link:
            library = Library(how)
            for key in KEYS:
                await _run_each(link, library, key)
            assert await link.call_masters([b"DBSIZE"], is_write=False) == [0, 0, 0]

    run(main)


async def _run_each(link: EngineLink, library: Library, key: bytes) -> None:
    await link.call([b"XGROUP", b"CREATE", key, b"g", b"0", b"MKSTREAM"], key=key, is_write=True)
    for call in each_operation(key):
        await library.run(link, call)


def test_streams_of_one_slot_are_read_copied_and_renamed_with_their_states(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(f"redis+cluster://127.0.0.1:{cluster.nodes[0].port}") as link:
            library = Library("functions")
            for key in (b"{a}1", b"{a}2"):
                request = c.Append(key, [FIELDS], idempotency=c.Idempotency(b"p", b"k"))
                await library.run(link, appends.append(request, native_policies=False))
                await link.call([b"XGROUP", b"CREATE", key, b"g", b"0"], key=key, is_write=True)
            sources = tuple(c.ReadFrom(key, c.Special.NEW) for key in (b"{a}1", b"{a}2"))
            found = await library.run(link, reads.read_group(c.ReadGroup(b"g", b"alice", sources)))
            assert [len(each.entries) for each in found.streams] == [1, 1]
            await library.run(link, streams.copy(c.CopyKey(b"{a}1", b"{a}2", replace=True)))
            await library.run(link, streams.rename(c.RenameKey(b"{a}1", b"{a}3")))
            replayed = c.Append(b"{a}3", [FIELDS], idempotency=c.Idempotency(b"p", b"k"))
            reply = await library.run(link, appends.append(replayed, native_policies=False))
            assert reply is not None
            assert reply.replayed
            for key in (b"{a}2", b"{a}3"):
                await library.run(link, streams.delete(key))

    run(main)
