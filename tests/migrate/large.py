"""Moves one large stream from Redis to Tailrace and on to a Cluster, and compares what arrives with what was
there.

The stream has three groups, and pending entries with many owners and times. The report shows entries, speed
and processor time of each step, and a digest of source and Cluster that this program makes on its own. Run it
with ``python -m tests.migrate.large``, or ``make migration``.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.migrate.places import End, Word, cluster_end, migrated, redis_end, tailrace_end
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_server import RedisServer, find_redis_8_10, find_redis_server
from tests.support.server_process import running_server

KEY: Final = "race:large"
GROUPS: Final = ("scoring", "archive", "alerts")
ENTRIES_PER_READ: Final = 50
PAGE: Final = 5_000
PENDING_MAX: Final = 10_000_000


def fill(end: End, entries: int, pending: int) -> None:
    """Append the entries, and deliver `pending` of them, a third to each group."""
    for first in range(1, entries + 1, PAGE):
        end.fill([_append(number) for number in range(first, min(first + PAGE, entries + 1))])
    for number, group in enumerate(GROUPS):
        end.fill([["XGROUP", "CREATE", KEY, group, "0"]])
        count = pending // len(GROUPS) + (number < pending % len(GROUPS))
        end.fill([_read(group, first, count) for first in range(0, count, ENTRIES_PER_READ)])


def _append(number: int) -> list[Word]:
    rider = ("Castilla", "Norem", "Prickett")[number % 3]
    return ["XADD", KEY, f"{number}-0", "rider", rider, "speed", number % 977, "km", number]


def _read(group: str, first: int, count: int) -> list[Word]:
    reader, size = f"reader-{first % 7}", min(ENTRIES_PER_READ, count - first)
    return ["XREADGROUP", "GROUP", group, reader, "COUNT", size, "STREAMS", KEY, ">"]


def digest(end: End) -> str:
    """Return a digest of all entries, of the groups, and of owner and count of each pending entry."""
    hashed = sha256()
    start: Word = "-"
    while page := end.run("XRANGE", KEY, start, "+", "COUNT", PAGE):
        hashed.update(repr(page).encode())
        start = b"(" + page[-1][0]
    for row in sorted(end.run("XINFO", "GROUPS", KEY), key=repr):
        hashed.update(repr(row).encode())
        pending = end.run("XPENDING", KEY, row[1], "-", "+", PENDING_MAX)
        hashed.update(repr([(value, owner, count) for value, owner, _, count in pending]).encode())
    return hashed.hexdigest()[:16]


def move(source: End, target: End, directory: Path) -> str:
    """Migrate, and return the report's line."""
    began_s, busy_s = time.monotonic(), _children_s()
    lines = migrated(source, target, "--keys", KEY, directory=directory, within_s=3600).splitlines()
    took = f"{time.monotonic() - began_s:.0f} s, {_children_s() - busy_s:.0f} s of processor time"
    return "\n  ".join((f"{lines[0]} {lines[1]}", *lines[-2:], f"with the comparison {took}"))


def _children_s() -> float:
    """Return the processor time of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _report(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - what the command prints


def main(arguments: Sequence[str]) -> int:
    """Run the steps; return 0 if source and Cluster are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--pending", type=int, default=50_000)
    given = parser.parse_args(arguments)
    old, new = find_redis_server(), find_redis_8_10()
    if old is None or new is None:
        _report("redis-server and Redis 8.10.2 are needed: run make setup")
        return 1
    with (
        tempfile.TemporaryDirectory(prefix="tr-") as name,
        RedisServer(old, Path(name)) as redis,
        running_server(Path(name)) as server,
        RedisCluster(new, masters=3, replicas=1) as cluster,
    ):
        source, between, target = redis_end(redis), tailrace_end(server.base_url), cluster_end(cluster)
        fill(source, given.entries, given.pending)
        _report(move(source, between, Path(name)))
        _report(move(between, target, Path(name)))
        digests = digest(source), digest(target)
    _report(f"digest of the source {digests[0]}, of the Cluster {digests[1]}")
    return int(digests[0] != digests[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
