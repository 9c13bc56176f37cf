"""Reuses the census of a large server, so that frequent scrapes do not count again each time.

It owns how long a census is used again. It never counts anything itself (`census` does).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from tailrace.app.metrics.census import Census
from tailrace.app.store.service import EngineStore

REUSED_FROM: Final = 5_000
"""The number of streams and groups from which a census is used again. A smaller one takes less than 20 ms."""

REUSE_FACTOR: Final = 20
"""A census is used again for this many times its duration: walks take 5 % of it up to `REUSE_NS_MAX`."""

REUSE_NS_MAX: Final = 15 * 10**9
"""The longest reuse, whatever the walk took: the usual time between two scrapes."""


class _Kept(NamedTuple):
    """A census, and the reading of the clock up to which it is used again."""

    census: Census
    until_ns: int


class CensusReuse:
    """The censuses of one store, one for each number of groups to name. `clock_ns` never goes back."""

    def __init__(self, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock_ns = clock_ns
        self._kept: dict[int, _Kept] = {}
        self._one_at_a_time = asyncio.Lock()

    async def census(self, store: EngineStore, named_max: int) -> Census:
        """Return a census of the store: a kept one, or a new one. O(streams + groups) in slices if new.

        Scrapes that arrive during a walk wait for it and may use its result.
        """
        async with self._one_at_a_time:
            kept = self._kept.get(named_max)
            if kept is not None and self._clock_ns() < kept.until_ns:
                return kept.census
            return await self._walk(store, named_max)

    async def _walk(self, store: EngineStore, named_max: int) -> Census:
        self._kept.pop(named_max, None)
        began_ns = self._clock_ns()
        census = Census(store.keyspace, store.now_ms(), named_max, store.lag_alerts.is_behind)
        for _ in census.steps():
            await asyncio.sleep(0)
        now_ns = self._clock_ns()
        if census.streams + census.groups >= REUSED_FROM:
            reuse_ns = min((now_ns - began_ns) * REUSE_FACTOR, REUSE_NS_MAX)
            self._kept[named_max] = _Kept(census, now_ns + reuse_ns)
        return census
