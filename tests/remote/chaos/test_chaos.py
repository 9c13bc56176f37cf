"""Chaos: 64 tasks append unique values with `min_replicas` 1 while masters, connections and slots are taken
away.

Nothing acknowledged is lost, nothing is stored twice, each task's order is kept, and only errors that allow
another try are raised. `make cluster-chaos` runs more rounds and prints the figures.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from tailrace.app.remote.link.timing import Timing
from tests.support.chaos_load import Outcome, Producers
from tests.support.links import linked, run
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_node import wait_until

pytestmark = pytest.mark.long

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "1"))
KEY = "chaos:0"
Hurt: TypeAlias = Callable[[RedisCluster, Producers], Awaitable[None]]


def survive(cluster: RedisCluster, hurt: Hurt, retry_for_s: float = 30.0) -> Outcome:
    """Hurt the cluster under load; return the answers to the producers and the stored entries."""
    outcomes = []

    async def main() -> None:
        url = ",".join(node.address for node in cluster.nodes)
        timing = Timing(retry_for_s=retry_for_s)
        async with linked(f"redis+cluster://{url}", timing, min_replicas=1) as link:
            await link.call_masters([b"FLUSHALL"], is_write=True)
            producers = Producers(link)
            await producers.count(500)
            for _ in range(ROUNDS):
                await hurt(cluster, producers)
                await asyncio.to_thread(cluster.wait_ready)
                await producers.recovered()
            outcomes.append(await producers.stop())

    run(main)
    print(f"{hurt.__name__.replace('_', ' ')}, {ROUNDS} times: {outcomes[0]}")  # noqa: T201 - the figures
    return outcomes[0]


def check(outcome: Outcome) -> None:
    """What must hold whatever happens."""
    assert not outcome.surprises
    assert (outcome.lost, outcome.doubled, outcome.disordered) == (0, 0, 0)
    assert outcome.acknowledged <= outcome.stored <= outcome.acknowledged + outcome.unknown


async def kill_a_master(cluster: RedisCluster, _producers: Producers) -> None:
    master = cluster.master_of(KEY)
    await asyncio.to_thread(cluster.kill_master, master)
    await asyncio.to_thread(master.start)  # now a replica


async def hang_a_master(cluster: RedisCluster, producers: Producers) -> None:
    master = cluster.master_of(KEY)
    (replica,) = cluster.replicas_of(master)
    await asyncio.to_thread(master.hang)
    await asyncio.to_thread(
        wait_until, lambda: replica.info("replication")["role"] == "master", "a promotion"
    )
    await producers.count(100)
    master.resume()


async def kill_connections(cluster: RedisCluster, producers: Producers) -> None:
    for _ in range(10):
        for master in cluster.masters:
            await asyncio.to_thread(cluster.kill_connections, master)
        await producers.count(100)


async def move_a_slot(cluster: RedisCluster, producers: Producers) -> None:
    for _ in range(4):
        source = cluster.master_of(KEY)
        target = next(node for node in cluster.masters if node is not source)
        for _step in cluster.migrate_slot(cluster.slot_of(KEY), target):
            await producers.count(100)


@pytest.mark.parametrize("hurt", [kill_a_master, hang_a_master])
def test_a_master_that_is_replaced_costs_nothing_acknowledged(
    hasty_cluster: RedisCluster, hurt: Hurt
) -> None:
    check(survive(hasty_cluster, hurt))


def test_without_time_to_wait_for_the_new_master_writes_are_refused_and_may_be_sent_again(
    hasty_cluster: RedisCluster,
) -> None:
    outcome = survive(hasty_cluster, kill_a_master, retry_for_s=0.1)
    check(outcome)
    assert outcome.refused > 0


def test_killed_connections_cost_nothing_acknowledged(cluster: RedisCluster) -> None:
    check(survive(cluster, kill_connections))


def test_a_moved_slot_costs_no_error(cluster: RedisCluster) -> None:
    outcome = survive(cluster, move_a_slot)
    check(outcome)
    assert (outcome.unknown, outcome.refused) == (0, 0), outcome.reasons
