"""The peer of `bench.claim_reads` that has CLAIM itself: Redis 8.10.2, asked by redis-py with hiredis.

XCLAIM with an IDLE in the past takes Redis 8.10.2 a time that grows with the number of pending entries: a
minute for 1 000 of 2 000 000. So the idle entries become pending first, oldest first, and all others after
them. One batch of idle entries then serves one claim.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import redis

from bench import peers
from tests.support.redis_server import find_redis_8_10

CHUNK: Final = 10_000
BATCH_MS: Final = 1_000_000
"""The difference in idle time between two batches: more than a whole measurement takes."""


@contextmanager
def redis_8_10() -> Iterator[int]:
    """Yield the port of a new Redis 8.10.2 without persistence. The measurement ends with a message if it is
    missing."""
    executable = find_redis_8_10()
    if executable is None:
        raise SystemExit("Redis 8.10.2 is needed for this measurement: make build/redis-8.10.2/redis-server")
    with peers.redis_process("none", executable) as (port, _):
        yield port


class Claimer:
    """A stream of Redis 8.10.2 whose entries are all pending, some batches of `size` entries each idle.

    There are at most `batches`, and at most as many as half of the entries make. When all of them are
    claimed, a new stream replaces the old one.
    """

    def __init__(self, port: int, pending: int, size: int, batches: int) -> None:
        self._client: Any = redis.Redis(port=port, decode_responses=True, socket_timeout=None)
        self._key = f"pending:{pending}"
        self._pending = pending
        self._size = size
        self._count = min(batches, pending // (2 * size))
        # The batches that are not claimed yet, the one that is idle longest first.
        self._batches: list[list[str]] = []

    def _fill(self, chance: random.Random) -> None:
        self._client.delete(self._key)
        ids = self._filled(self._pending)
        self._client.xgroup_create(self._key, "g", "0")
        idle = chance.sample(ids, self._count * self._size)
        self._batches = [idle[start : start + self._size] for start in range(0, len(idle), self._size)]
        for number, batch in enumerate(self._batches):
            self._make_pending(batch, (self._count - number) * BATCH_MS)
        others = set(ids).difference(idle)
        for start in range(0, self._pending, CHUNK):
            self._make_pending([each for each in ids[start : start + CHUNK] if each in others], 0)
        assert self._client.xpending(self._key, "g")["pending"] == self._pending

    def _filled(self, count: int) -> list[str]:
        ids: list[str] = []
        for start in range(0, count, CHUNK):
            with self._client.pipeline(transaction=False) as pipeline:
                for number in range(start, min(start + CHUNK, count)):
                    pipeline.xadd(self._key, {"field": f"value{number}"})
                ids += pipeline.execute()
        return ids

    def _make_pending(self, ids: Sequence[str], idle_ms: int) -> None:
        if ids:
            self._client.xclaim(self._key, "g", "silent", 0, ids, idle=idle_ms, force=True, justid=True)

    def make_idle(self, chance: random.Random) -> set[str]:
        """Return the ids of the batch that is idle longest."""
        if not self._batches:
            self._fill(chance)
        return set(self._batches[0])

    def claim(self) -> set[str]:
        """Claim the oldest batch with one group read, and return the decoded ids."""
        threshold_ms = len(self._batches) * BATCH_MS
        [[_, entries]] = self._client.xreadgroup(
            "g", "heir", {self._key: ">"}, count=self._size, claim_min_idle_time=threshold_ms
        )
        del self._batches[0]
        return {entry[0] for entry in entries}
