"""Gateways before a six-node Redis Cluster, compared with redis-py straight to the Cluster (row 17 of
docs/performance.md).

All sides append one field to one stream with 64 in flight. What counts is processor time per append, of the
gateways or the client and of all nodes together, because two cores cannot show the throughput of nine
processes: each figure says how much of the machine was idle meanwhile. If two gateways take the same time per
append as one, they carry twice as much where there are cores for them. Wake-ups are measured from an append
at one gateway to a reader that waits at the other. Run it with ``python -m bench.cluster``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import uvloop

from bench.latencies import Latencies
from bench.load import Load, answered
from bench.rows import Effort, Row, command, spaced
from bench.server import Started, busy_s, gateway, started
from bench.wakeups import RATE_PER_S, by_websocket, wake_ups
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_server import find_redis_8_10, find_redis_server

CONNECTIONS: Final = 64
ROUNDS: Final = 5
SECONDS: Final = 3.0
GOAL: Final = 0.5
GOAL_TWO: Final = 1.8
GOAL_WAKE_UP_MS: Final = 5
APPEND: Final = Load("/v1/streams/bench/entries", '{"fields":{"field":"value1"}}')


class Cost(NamedTuple):
    """Processor time per append, in microseconds: of the gateways or the client, and of all nodes.

    `idle`: the share of the machine's processor time that was not used meanwhile.
    """

    front_us: float
    nodes_us: float
    per_s: float
    idle: float

    @property
    def total_us(self) -> float:
        """Of all processes of a side."""
        return self.front_us + self.nodes_us

    def __str__(self) -> str:
        return (
            f"{self.front_us:.1f} + {self.nodes_us:.1f} us of CPU, {spaced(self.per_s)}/s,"
            f" machine {self.idle:.0%} idle"
        )


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 17."""
    executable = find_redis_8_10() or find_redis_server()
    if executable is None:
        raise SystemExit("redis-server is needed for this measurement: apt-get install redis-server")
    with RedisCluster(executable) as cluster:
        store = "redis+cluster://" + ",".join(node.address for node in cluster.nodes)
        with gateway(store) as first, gateway(store) as second:
            yield from _appends(effort, cluster, first, second)
            yield _wake_up(effort, first, second)
        with gateway(store, "--min-replicas", "1") as confirmed:
            yield _confirmed(effort, cluster, confirmed)


def _appends(effort: Effort, cluster: RedisCluster, first: Started, second: Started) -> Iterator[Row]:
    seconds = max(effort.seconds(SECONDS), 1.0)  # wrk knows no less
    one, two, peer = _medians(
        effort.rounds(ROUNDS),
        lambda: _gateways(cluster, [first], seconds),
        lambda: _gateways(cluster, [first, second], seconds),
        lambda: _client(cluster, seconds),
    )
    ratio = peer.total_us / one.total_us
    what = f"one gateway before a Cluster, {CONNECTIONS} appends in flight; beside redis-py's cluster client"
    yield Row(17, what, "none", str(one), str(peer), ratio, f">= {GOAL:g} x", ratio >= GOAL)
    ratio = 2 * one.front_us / two.front_us
    what = "two gateways, with as many appends in flight each: what they can carry by their CPU; beside one"
    yield Row(17, what, "none", str(two), str(one), ratio, f">= {GOAL_TWO:g} x", ratio >= GOAL_TWO)
    what = f"the same by throughput: gateways, nodes and load share {os.cpu_count()} cores; beside one"
    yield Row(
        17, what, "none", f"{spaced(two.per_s)}/s", f"{spaced(one.per_s)}/s", two.per_s / one.per_s, "", None
    )


def _medians(rounds: int, *measures: Callable[[], Cost]) -> list[Cost]:
    """Return the median of each measure by its total. The measures alternate."""
    taken: list[list[Cost]] = [[] for _ in measures]
    for _ in range(rounds):
        for measured, costs in zip(measures, taken, strict=True):
            costs.append(measured())
    return [sorted(costs, key=lambda cost: cost.total_us)[len(costs) // 2] for costs in taken]


def _gateways(cluster: RedisCluster, servers: Sequence[Started], seconds: float) -> Cost:
    """Load all gateways at the same time."""
    before_front = sum(server.busy_s() for server in servers)
    before_nodes = _nodes_busy_s(cluster)
    before = _machine_ticks()
    with ThreadPoolExecutor(len(servers)) as pool:  # wrk runs in processes of its own
        answers = list(pool.map(lambda server: answered(server.url, APPEND, CONNECTIONS, seconds), servers))
    appends = sum(answer.requests for answer in answers)
    return Cost(
        (sum(server.busy_s() for server in servers) - before_front) / appends * 1e6,
        (_nodes_busy_s(cluster) - before_nodes) / appends * 1e6,
        sum(answer.per_s for answer in answers),
        _idle_since(before),
    )


def _client(cluster: RedisCluster, seconds: float) -> Cost:
    node = cluster.nodes[0]
    before, ticks = _nodes_busy_s(cluster), _machine_ticks()
    words = [sys.executable, "-m", "bench.cluster_peer", "127.0.0.1", str(node.port), str(seconds)]
    result = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    appends = result["appends"]
    return Cost(
        result["busy_s"] / appends * 1e6,
        (_nodes_busy_s(cluster) - before) / appends * 1e6,
        appends / seconds,
        _idle_since(ticks),
    )


def _nodes_busy_s(cluster: RedisCluster) -> float:
    return sum(busy_s(node.pid) for node in cluster.nodes)


def _machine_ticks() -> list[int]:
    """Return the ticks of all processors together by kind; the fourth kind is idle, the fifth waits for a
    disk."""
    return [int(ticks) for ticks in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]


def _idle_since(before: Sequence[int]) -> float:
    spent = [now - then for now, then in zip(_machine_ticks(), before, strict=True)]
    return sum(spent[3:5]) / max(sum(spent), 1)


def _wake_up(effort: Effort, waiting: Started, appending: Started) -> Row:
    """Measure wake-ups through both gateways and in one embedded server, in turns; the median p99 counts."""

    def measured(reader: Started, appender: Started) -> Latencies:
        seconds = effort.seconds(2 * SECONDS)
        return uvloop.run(wake_ups(reader.url, by_websocket, seconds, append_url=appender.url))

    with started() as embedded:
        rounds = range(effort.rounds(3))
        taken = [(measured(waiting, appending), measured(embedded, embedded)) for _ in rounds]
    through, alone = (sorted(side, key=_p99_ms)[len(side) // 2] for side in zip(*taken, strict=True))
    what = f"wake-up through two gateways over WebSocket, {RATE_PER_S} appends/s; beside a server alone"
    goal = f"p99 <= {GOAL_WAKE_UP_MS} ms"
    ratio = _p99_ms(through) / _p99_ms(alone)
    is_met = _p99_ms(through) <= GOAL_WAKE_UP_MS
    return Row(17, what, "none", through.summary(), alone.summary(), ratio, goal, is_met)


def _p99_ms(latencies: Latencies) -> float:
    return latencies.percentile_ms(99)


def _confirmed(effort: Effort, cluster: RedisCluster, server: Started) -> Row:
    """Show what it costs that a replica confirms each write. It has no goal."""
    seconds = effort.seconds(SECONDS)
    (cost,) = _medians(effort.rounds(3), lambda: _gateways(cluster, [server], seconds))
    what = "xadd through one gateway that a replica confirms (min_replicas 1)"
    return Row(17, what, "none", str(cost), "", None, "", None)


if __name__ == "__main__":
    command(measure, __doc__)
