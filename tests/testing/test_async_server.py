"""`tailrace.testing.async_server`, and the fixture `async_tailrace` under each plugin for asyncio."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tailrace.testing import AsyncTestServer, async_server

HOUR_MS = 3_600_000
PROGRAM = """
import asyncio

import pytest

pytestmark = pytest.mark.{mark}


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_first(async_tailrace):
    async with async_tailrace.client() as client:
        await client.stream("orders").append({{"total": "5"}})
        reading = asyncio.create_task(client.stream("mails").read_after("0-0", wait_ms=60_000))
        await async_tailrace.until_waiting()
        await async_tailrace.clock.advance(61_000)
        assert (await reading).entries == []


async def test_second(async_tailrace, tailrace):
    assert async_tailrace.url == tailrace.url
    async with async_tailrace.client() as client:
        assert not await client.stream("orders").exists()
"""


def test_a_task_claims_an_entry_after_the_clock_has_moved() -> None:
    async def work() -> None:
        async with async_server() as server, server.client() as client:
            group = client.stream("orders").group("mail")
            await group.create("0", create_stream=True)
            order = await client.stream("orders").append({"total": "5"})
            assert [entry.id for entry in await group.read("first")] == [order]
            before_ms = server.clock.now_ms()
            await server.clock.advance(HOUR_MS)
            assert server.clock.now_ms() >= before_ms + HOUR_MS
            claimed = await group.claim("second", order, min_idle_ms=HOUR_MS)
            assert claimed == [(order, {"total": "5"})]

    asyncio.run(work())


def test_a_server_stops_when_a_test_fails() -> None:
    async def work() -> None:
        async with async_server() as server:
            started.append(server)
            raise LookupError

    started: list[AsyncTestServer] = []
    with pytest.raises(LookupError):
        asyncio.run(work())
    with pytest.raises(RuntimeError, match="has stopped"):
        asyncio.run(started[0].clock.advance(1))


@pytest.mark.parametrize(
    ("mark", "plugins"),
    [("anyio", ("-p", "no:asyncio")), ("asyncio", ("-p", "no:anyio"))],
    ids=["anyio", "pytest-asyncio"],
)
def test_the_fixture_works_with_a_plugin_for_asyncio(
    mark: str, plugins: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "test_orders.py").write_text(PROGRAM.format(mark=mark))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugins, str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout
