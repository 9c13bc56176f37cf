"""A link to a Cluster: commands find their node while slots move, keep their order, and are confirmed by
replicas."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from tailrace.app.remote.link.discovery import slot_of
from tailrace.app.remote.link.exchange import Way
from tailrace.app.remote.link.port import LinkDown
from tests.support.links import QUICK, linked, run, settle
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_cluster_node import ClusterNode
from tests.support.redis_node import RedisNode


def url_of(cluster: RedisCluster) -> str:
    return f"redis+cluster://127.0.0.1:1,{cluster.running[-1].address}"


def another_master(cluster: RedisCluster, key: str) -> ClusterNode:
    return next(node for node in cluster.masters if node is not cluster.master_of(key))


def test_a_slot_is_computed_as_the_engine_does(cluster: RedisCluster) -> None:
    names = ["", "a", "race:{france}:1", "{}", "{}a", "a{b", "a}b{c}d{e}", "{a}{b}", "ab{{c}}", "x" * 512]
    for name in [name.encode() for name in names] + [b"\xff{\xfe}\xfd"]:
        assert slot_of(name) == cluster.slot_of(name)


def test_all_masters_are_shown_with_their_slots_and_replicas_after_them(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(cluster)) as link:
            masters = link.masters()
            assert {state.address for state in masters} == {node.address for node in cluster.masters}
            assert sum(state.slots for state in masters) == 16384
            assert all(state.is_up and state.role == "master" for state in masters)
            assert link.nodes()[:3] == masters
            sizes = await link.call_masters([b"DBSIZE"], is_write=False)
            assert len(sizes) == 3

    run(main)


def test_a_url_of_the_wrong_kind_is_refused_with_the_right_one(
    cluster: RedisCluster, engine: RedisNode
) -> None:
    async def main() -> None:
        with pytest.raises(LinkDown, match=r"must start with redis\+cluster://"):
            async with linked(f"redis://{cluster.running[0].address}"):
                pass
        with pytest.raises(LinkDown, match="cluster support disabled"):
            async with linked(f"redis+cluster://{engine.address}"):
                pass

    run(main)


def in_steps(cluster: RedisCluster, key: str, act: Callable[[str], None]) -> None:
    """Move the slot of a key to another master, and act before each step."""
    for step in cluster.migrate_slot(cluster.slot_of(key), another_master(cluster, key)):
        act(step)


def test_commands_follow_a_slot_through_each_step_of_its_move(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(cluster)) as link:
            loop, key = asyncio.get_running_loop(), b"moving"
            steps = []

            async def act(step: str) -> None:
                for name in (key, b"{moving}:%b" % step.encode()):
                    await link.call([b"XADD", name, b"*", b"a", b"b"], key=name, is_write=True)
                add = [b"XADD", key, b"*", b"a", b"b"]
                await link.call_together([add, add], key=key, is_write=True)
                await link.call_together([add, add], key=key, is_write=True, atomic=True)
                steps.append(step)
                assert await link.call([b"XLEN", key], key=key, is_write=False) == 5 * len(steps)

            for _ in range(2):
                await asyncio.to_thread(
                    in_steps,
                    cluster,
                    "moving",
                    lambda step: asyncio.run_coroutine_threadsafe(act(step), loop).result(30),
                )
            assert steps == ["marked", "moved", "done"] * 2

    run(main)


def test_calls_on_one_key_keep_their_order_while_its_slot_moves(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(cluster)) as link:
            key, pushed, stop = b"ordered", 0, asyncio.Event()
            answers: list[asyncio.Task[object]] = []

            async def push() -> None:
                nonlocal pushed
                while not stop.is_set():
                    for _ in range(20):
                        words = [b"RPUSH", key, b"%d" % pushed]
                        answers.append(asyncio.create_task(link.call(words, key=key, is_write=True)))
                        pushed += 1
                    await asyncio.sleep(0.0005)

            pushing = asyncio.create_task(push())
            for _ in range(6):
                before = pushed
                await settle(lambda before=before: pushed > before + 100, "calls are made")  # type: ignore[misc]
                await asyncio.to_thread(
                    cluster.move_slot, cluster.slot_of("ordered"), another_master(cluster, "ordered")
                )
            stop.set()
            await pushing
            assert await asyncio.gather(*answers) == list(range(1, pushed + 1))
            stored = await link.call([b"LRANGE", key, b"0", b"-1"], key=key, is_write=False)
            assert stored == [b"%d" % number for number in range(pushed)]

    run(main)


def test_a_command_on_keys_on_both_sides_of_a_move_waits_until_it_is_over(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(cluster)) as link:
            names = [b"{both}:%d" % number for number in range(2)]
            for name in names:
                await link.call([b"SET", name, b"1"], key=name, is_write=True)
            source, target = cluster.master_of("{both}"), another_master(cluster, "{both}")
            steps = cluster.migrate_slot(cluster.slot_of("{both}"), target)
            next(steps)
            source.run("MIGRATE", "127.0.0.1", target.port, names[0], 0, 5000)
            call = asyncio.create_task(link.call([b"DEL", *names], key=names[0], is_write=True))
            both, refused = (source, target), "errorstat_TRYAGAIN"
            await settle(lambda: any(refused in node.info("errorstats") for node in both), "it was refused")
            for _ in steps:
                pass
            assert await call == 2

    run(main)


def test_a_confirmed_write_is_answered_when_a_replica_has_it(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(cluster), min_replicas=1) as link:
            keys = [b"sure:%d" % number for number in range(5)]
            adds = [(key, [b"XADD", key, b"*", b"n", b"%d" % n]) for key in keys for n in range(60)]
            await asyncio.gather(*(link.call(words, key=key, is_write=True) for key, words in adds))
            for key in keys:
                assert await link.call([b"XLEN", key], key=key, is_write=False) == 60
            add = [b"XADD", b"sure:0", b"*", b"a", b"b"]
            for atomic in (False, True):
                assert (
                    len(await link.call_together([add, add], key=b"sure:0", is_write=True, atomic=atomic))
                    == 2
                )

    run(main)


def test_a_write_that_more_replicas_must_confirm_than_there_are_is_not_sent(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(cluster)) as link:
            with pytest.raises(LinkDown) as refused:
                await link.call(
                    [b"XADD", b"few", b"*", b"a", b"b"], key=b"few", is_write=True, min_replicas=2
                )
            assert not refused.value.outcome_unknown
            assert "has 1 replicas, and 2 must confirm" in refused.value.reason
            assert await link.call([b"XLEN", b"few"], key=b"few", is_write=False) == 0

    run(main)


def test_a_write_that_no_replica_confirms_in_time_is_unknown_and_other_commands_do_not_wait(
    cluster: RedisCluster,
) -> None:
    async def main() -> None:
        async with linked(url_of(cluster), min_replicas=1) as link:
            key = b"unconfirmed"
            (replica,) = cluster.replicas_of(cluster.master_of(key))
            replica.hang()
            try:
                write = asyncio.create_task(
                    link.call([b"XADD", key, b"*", b"a", b"b"], key=key, is_write=True)
                )
                length: object = 0
                while not length:
                    length = await link.call([b"XLEN", key], key=key, is_write=False)
                assert not write.done()
                with pytest.raises(LinkDown) as unsure:
                    await write
            finally:
                replica.resume()
            assert unsure.value.outcome_unknown
            assert "0 of 1 replicas confirmed it within 1000 ms" in unsure.value.reason
            await asyncio.to_thread(cluster.wait_ready)

    run(main)


def test_reads_that_may_be_stale_go_to_a_replica(hasty_cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(hasty_cluster), replace(QUICK, refresh_every_s=0.1)) as link:
            key = b"stale"
            await link.call([b"XADD", key, b"*", b"a", b"b"], key=key, is_write=True, min_replicas=1)
            (replica,) = hasty_cluster.replicas_of(hasty_cluster.master_of(key))
            # A cluster shows replicas when it has heard of their first data.
            up = [node.role == "replica" and node.is_up for node in link.nodes()]
            while sum(up) < 3:
                await asyncio.sleep(0.01)
                up = [node.role == "replica" and node.is_up for node in link.nodes()]
            replica.run("CONFIG", "RESETSTAT")
            for _ in range(10):
                assert await link.call([b"XLEN", key], key=key, is_write=False, consistency="eventual") == 1
            assert "calls=10," in replica.info("commandstats")["cmdstat_xlen"]

    run(main)


def test_no_confirmed_write_is_forgotten_when_its_connection_is_lost(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with linked(url_of(cluster), min_replicas=1) as link:
            key = b"forgotten"
            words = [b"SET", key, b"v"]
            master = cluster.master_of(key)
            (replica,) = cluster.replicas_of(master)
            node = link.router.node_of_slot(link.slot_of(key))
            assert node is not None
            channel = node.channel(Way.CONFIRMED)
            await link.call(words, key=key, is_write=True)
            replica.hang()
            written = asyncio.create_task(link.call(words, key=key, is_write=True))
            await settle(lambda: channel.is_busy and not channel._unsent, "it waits for the replica")
            behind = asyncio.create_task(link.call(words, key=key, is_write=True))
            await settle(lambda: bool(channel._unsent), "another one waits for its turn")
            cluster.kill_connections(master)
            replica.resume()
            with pytest.raises(LinkDown) as lost:
                await written
            assert lost.value.outcome_unknown
            assert await behind == b"OK"

    run(main)
