"""The peer of the gateways: redis-py's asyncio cluster client, 64 tasks that append to one stream.

A program of its own, so that its processor time can be read: ``python -m bench.cluster_peer HOST PORT
SECONDS`` prints the appends and the processor time in seconds as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Final

import uvloop
from redis.asyncio.cluster import RedisCluster

TASKS: Final = 64
KEY: Final = "bench"


async def appends(host: str, port: int, seconds: float) -> int:
    """Return how many entries were appended."""
    done = 0
    until = time.monotonic() + seconds

    async def task() -> None:
        nonlocal done
        while time.monotonic() < until:
            await client.xadd(KEY, {"field": "value1"})
            done += 1

    async with RedisCluster(host=host, port=port) as client:
        await asyncio.gather(*(task() for _ in range(TASKS)))
    return done


def main() -> None:
    """Append, and print what it took. The time before the first append does not count."""
    host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    began_s = time.process_time()
    done = uvloop.run(appends(host, port, seconds))
    print(json.dumps({"appends": done, "busy_s": time.process_time() - began_s}))


if __name__ == "__main__":
    main()
