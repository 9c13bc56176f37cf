"""The sweep of retention runs in steps, and never twice at once."""

from __future__ import annotations

import asyncio

import pytest

from tailrace.app.store.upkeep import RetentionSweep


def test_a_sweep_runs_step_by_step_until_the_end() -> None:
    async def scenario() -> None:
        ended = asyncio.Event()
        starts: list[int] = []

        def step(start: int) -> int:
            starts.append(start)
            if start == 7:
                ended.set()
                return 0
            return 7

        sweep = RetentionSweep(step)
        sweep.begin()
        sweep.begin()
        assert starts == [0], "the next step waits, and a second sweep does not start"
        await asyncio.wait_for(ended.wait(), 60)
        assert starts == [0, 7]
        sweep.begin()
        assert starts == [0, 7, 0]

    asyncio.run(scenario())


def test_a_step_that_fails_ends_the_sweep_and_the_next_one_starts_again() -> None:
    async def scenario() -> None:
        starts: list[int] = []

        def step(start: int) -> int:
            starts.append(start)
            raise OSError

        sweep = RetentionSweep(step)
        for _ in range(2):
            with pytest.raises(OSError):  # noqa: PT011 - it has no text
                sweep.begin()
        assert starts == [0, 0]

    asyncio.run(scenario())
