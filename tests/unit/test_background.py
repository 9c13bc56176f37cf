"""Work in the background ends with its context."""

from __future__ import annotations

import asyncio

import pytest

from tailrace.app.background import in_background


def test_the_work_runs_until_the_context_ends_and_has_ended_then() -> None:
    async def scene() -> None:
        began, ended = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        async with in_background(work()):
            await began.wait()
            assert not ended.is_set()
        assert ended.is_set()

    asyncio.run(scene())


def test_an_error_of_the_work_is_raised_at_the_end_of_the_context() -> None:
    async def scene() -> None:
        async def work() -> None:
            raise OSError

        with pytest.raises(OSError):  # noqa: PT011 - it has no text
            async with in_background(work()):
                await asyncio.sleep(0)

    asyncio.run(scene())
