"""Appends with one entry a request, sent by `wrk`, compared with webdis and Redis (rows 1, 2 and 19 of
docs/performance.md).

Both sides append one field to one stream, with the same durability, on 16 and on 64 connections, in turns.
The figures are requests per second, and processor time per request: user and system time of all processes of
a side. The processor time is the more reliable figure, because other programs on the machine change it less.
Further rows show bare Redis under `redis-benchmark` without pipelining, and one connection that pipelines 16
requests. The stream's length must match the number of successful responses. Run it with
``python -m bench.appends``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from bench import peers
from bench.load import Answered, Load, answered
from bench.rows import Effort, Row, at_least, at_most_us, command, in_turns, medians_in_turns
from bench.server import Started, busy_s, started

OURS: Final = Load("/v1/streams/bench/entries", '{"fields":{"field":"value1"}}')
PIPELINED: Final = OURS._replace(depth=16)
THEIRS: Final = Load("/XADD/bench/*/field/value1")
CONNECTIONS: Final = (16, 64)
ROUNDS: Final = 5
SECONDS: Final = 3.0
WARM_UP_S: Final = 1.0
WARM_UP_REQUESTS: Final = 10_000


class Goal(NamedTuple):
    """`ratio`: our rate to the peer's. `cpu_us`: processor time per request at most."""

    number: int
    ratio: float
    cpu_us: float


GOALS: Final = {
    ("none", 16): Goal(1, 1.5, 12),
    ("none", 64): Goal(1, 1.1, 12),
    # 20 and 12 us above what the same request without durability may take.
    ("always", 16): Goal(2, 1.2, 32),
    ("always", 64): Goal(2, 1.2, 24),
}
GOAL_BARE: Final = 0.9
GOAL_PIPELINED_PER_S: Final = 120_000
GOAL_PIPELINED_US: Final = 8


class Figures(NamedTuple):
    """What one side did in one round."""

    per_s: float
    cpu_us: float


def measure(effort: Effort) -> Iterator[Row]:
    """Yield rows 1, 2 and 19."""
    for durability in ("none", "always"):
        with started(durability) as server, peers.webdis(durability) as peer:
            for connections in effort.some(CONNECTIONS):
                yield from _beside_webdis(effort, durability, connections, server, peer)
    yield _beside_bare_redis(effort)
    yield from _pipelined(effort)


def _beside_webdis(
    effort: Effort, durability: str, connections: int, server: Started, peer: peers.Webdis
) -> Iterator[Row]:
    seconds = effort.seconds(SECONDS)
    _ours(server, OURS, connections, WARM_UP_S)
    answered(peer.url, THEIRS, connections, WARM_UP_S)
    ours, theirs = medians_in_turns(
        effort.rounds(ROUNDS),
        lambda: _ours(server, OURS, connections, seconds),
        lambda: _theirs(peer, connections, seconds),
    )
    goal = GOALS[durability, connections]
    what = f"one xadd a request, {connections} connections, beside webdis"
    yield at_least(goal.number, what, durability, (ours[0], theirs[0]), goal.ratio)
    yield at_most_us(goal.number, f"{what}: processor time", durability, (ours[1], theirs[1]), goal.cpu_us)


def _ours(server: Started, load: Load, connections: int, seconds: float) -> Figures:
    before = server.command("XLEN", "bench")
    figures, requests = _figures(
        (server.process_id,), partial(answered, server.url, load, connections, seconds)
    )
    appended = server.command("XLEN", "bench") - before
    # The server executes requests whose responses arrive after wrk has stopped counting.
    under_way = connections * load.depth
    assert requests <= appended <= requests + under_way, f"{requests} answered, {appended} appended"
    return figures


def _theirs(peer: peers.Webdis, connections: int, seconds: float) -> Figures:
    return _figures(peer.process_ids, partial(answered, peer.url, THEIRS, connections, seconds))[0]


def _figures(process_ids: tuple[int, ...], load: Callable[[], Answered]) -> tuple[Figures, int]:
    before_s = busy_s(*process_ids)
    result = load()
    return Figures(result.per_s, (busy_s(*process_ids) - before_s) * 1e6 / result.requests), result.requests


def _beside_bare_redis(effort: Effort) -> Row:
    seconds = effort.seconds(SECONDS)
    with started("none") as server, peers.redis("none") as port:
        _ours(server, OURS, 64, WARM_UP_S)
        _bare(port, WARM_UP_REQUESTS)
        ours, peer = in_turns(
            effort.rounds(ROUNDS),
            lambda: _ours(server, OURS, 64, seconds).per_s,
            lambda: _bare(port, effort.count(200_000)),
        )
    what = "one xadd a request, 64 connections, beside bare Redis"
    return at_least(1, what, "none", (ours, peer), GOAL_BARE)._replace(goal=f"then >= {GOAL_BARE} x")


def _bare(port: int, requests: int, depth: int = 1) -> float:
    load = ["-c", "64" if depth == 1 else "1", "-P", str(depth), "-n", str(requests)]
    result = subprocess.run(
        [peers.program("redis-benchmark"), "-p", str(port), *load, "--csv", *_XADD],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout.splitlines()[-1].split(",")[1].strip('"'))


_XADD: Final = ("XADD", "bench", "*", "field", "value1")


def _pipelined(effort: Effort) -> Iterator[Row]:
    seconds = effort.seconds(SECONDS)
    with started("none") as server, peers.redis("none") as port:
        _ours(server, PIPELINED, 1, WARM_UP_S)
        ours, theirs = medians_in_turns(
            effort.rounds(ROUNDS),
            lambda: _ours(server, PIPELINED, 1, seconds),
            lambda: Figures(_bare(port, effort.count(400_000), PIPELINED.depth), 0.0),
        )
    what = "one xadd a request, 1 connection, 16 pipelined, beside bare Redis"
    row = at_least(19, what, "none", (ours[0], theirs[0]), 0)
    yield row._replace(
        goal=f">= {GOAL_PIPELINED_PER_S:,}/s".replace(",", " "), is_met=ours[0] >= GOAL_PIPELINED_PER_S
    )
    yield at_most_us(19, f"{what}: processor time", "none", (ours[1], None), GOAL_PIPELINED_US)


if __name__ == "__main__":
    command(measure, __doc__)
