"""Appends with one entry a request, sent by `wrk`, compared with webdis and Redis (rows 1 and 2 of
docs/performance.md).

Both sides append one field to one stream, with the same durability, on 16 and on 64 connections, in turns. A
further row shows bare Redis under `redis-benchmark` without pipelining. The stream's length must match the
number of successful responses. Run it with ``python -m bench.appends``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Final

from bench import peers
from bench.load import Load, answered
from bench.rows import Effort, Row, at_least, command, in_turns
from bench.server import Started, started

OURS: Final = Load("/v1/streams/bench/entries", '{"fields":{"field":"value1"}}')
THEIRS: Final = Load("/XADD/bench/*/field/value1")
CONNECTIONS: Final = (16, 64)
ROUNDS: Final = 5
SECONDS: Final = 3.0
WARM_UP_S: Final = 1.0
WARM_UP_REQUESTS: Final = 10_000
GOALS: Final = {
    ("none", 16): (1, 1.5),
    ("none", 64): (1, 1.0),
    ("always", 16): (2, 1.2),
    ("always", 64): (2, 1.2),
}
GOAL_BARE: Final = 0.9


def measure(effort: Effort) -> Iterator[Row]:
    """Yield rows 1 and 2."""
    for durability in ("none", "always"):
        with started(durability) as server, peers.webdis(durability) as peer_url:
            for connections in effort.some(CONNECTIONS):
                yield _beside_webdis(effort, durability, connections, server, peer_url)
    yield _beside_bare_redis(effort)


def _beside_webdis(effort: Effort, durability: str, connections: int, server: Started, peer_url: str) -> Row:
    seconds = effort.seconds(SECONDS)
    _ours(server, connections, WARM_UP_S)
    answered(peer_url, THEIRS, connections, WARM_UP_S)
    ours, peer = in_turns(
        effort.rounds(ROUNDS),
        lambda: _ours(server, connections, seconds),
        lambda: answered(peer_url, THEIRS, connections, seconds).per_s,
    )
    number, goal = GOALS[durability, connections]
    what = f"one xadd a request, {connections} connections, beside webdis"
    return at_least(number, what, durability, (ours, peer), goal)


def _ours(server: Started, connections: int, seconds: float) -> float:
    before = server.command("XLEN", "bench")
    load = answered(server.url, OURS, connections, seconds)
    appended = server.command("XLEN", "bench") - before
    # The server executes requests whose responses arrive after wrk has stopped counting.
    assert load.requests <= appended <= load.requests + connections, (
        f"{load.requests} answered, {appended} appended"
    )
    return load.per_s


def _beside_bare_redis(effort: Effort) -> Row:
    seconds = effort.seconds(SECONDS)
    with started("none") as server, peers.redis("none") as port:
        _ours(server, 64, WARM_UP_S)
        _bare(port, WARM_UP_REQUESTS)
        ours, peer = in_turns(
            effort.rounds(ROUNDS),
            lambda: _ours(server, 64, seconds),
            lambda: _bare(port, effort.count(200_000)),
        )
    what = "one xadd a request, 64 connections, beside bare Redis"
    return at_least(1, what, "none", (ours, peer), GOAL_BARE)._replace(goal=f"then >= {GOAL_BARE} x")


def _bare(port: int, requests: int) -> float:
    load = ["-c", "64", "-n", str(requests), "--csv", "XADD", "bench", "*", "field", "value1"]
    result = subprocess.run(
        [peers.program("redis-benchmark"), "-p", str(port), *load], capture_output=True, text=True, check=True
    )
    return float(result.stdout.splitlines()[-1].split(",")[1].strip('"'))


if __name__ == "__main__":
    command(measure, __doc__)
