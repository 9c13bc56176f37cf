"""How long the figures of streams and groups in `/metrics` are used again."""

from __future__ import annotations

import asyncio

from tailrace.app.metrics.census import REUSE_FACTOR, REUSE_NS_MAX, REUSED_FROM, CensusReuse
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import CreateGroup
from tailrace.core.engine import Engine


class Clock:
    """A clock that advances by `step_ns` at each reading."""

    def __init__(self, step_ns: int) -> None:
        self.now_ns = 0
        self._step_ns = step_ns

    def __call__(self) -> int:
        self.now_ns += self._step_ns
        return self.now_ns


def with_streams(number: int) -> Engine:
    """Return an engine with this many streams and groups: half are streams, each with one group."""
    engine = Engine()
    for each in range(number // 2):
        add_stream(engine, f"stream:{each}")
    return engine


def add_stream(engine: Engine, key: str) -> None:
    engine.execute(CreateGroup(key.encode(), b"crew", 0, create_stream=True), 1)


def streams(reuse: CensusReuse, engine: Engine, named_max: int = 10) -> int:
    return asyncio.run(reuse.census(EngineStore(engine), named_max)).streams


def test_a_small_server_counts_at_every_scrape() -> None:
    engine, reuse = with_streams(REUSED_FROM - 2), CensusReuse(Clock(10**9))
    before = streams(reuse, engine)
    add_stream(engine, "one more")
    assert streams(reuse, engine) == before + 1


def test_a_large_server_uses_its_figures_again_for_a_multiple_of_what_they_took() -> None:
    clock = Clock(1)
    engine, reuse = with_streams(REUSED_FROM), CensusReuse(clock)
    before = streams(reuse, engine)
    add_stream(engine, "one more")
    assert streams(reuse, engine) == before
    clock.now_ns += REUSE_FACTOR
    assert streams(reuse, engine) == before + 1


def test_figures_are_never_used_longer_than_the_maximum() -> None:
    clock = Clock(REUSE_NS_MAX)
    engine, reuse = with_streams(REUSED_FROM), CensusReuse(clock)
    before = streams(reuse, engine)
    add_stream(engine, "one more")
    assert streams(reuse, engine) == before + 1


def test_a_token_that_may_not_see_names_never_gets_the_figures_with_names() -> None:
    engine, reuse = with_streams(REUSED_FROM), CensusReuse(Clock(1))
    store = EngineStore(engine)
    assert len(asyncio.run(reuse.census(store, 10)).named) == 10
    assert asyncio.run(reuse.census(store, 0)).named == []


def test_scrapes_at_the_same_time_share_one_walk() -> None:
    engine, reuse = with_streams(REUSED_FROM), CensusReuse(Clock(1))
    store = EngineStore(engine)

    async def both() -> tuple[object, object]:
        return await asyncio.gather(reuse.census(store, 10), reuse.census(store, 10))

    first, second = asyncio.run(both())
    assert first is second
