"""`tailrace.testing.application`: the application without a port."""

from __future__ import annotations

import asyncio

from tailrace.testing import application

IDLE_MS = 60_000


async def pending_after(advance_ms: int) -> list[object]:
    """What a second consumer can claim after the clock has moved."""
    async with application() as running, running.client() as client:
        for line in (
            "XGROUP CREATE orders mail 0 MKSTREAM",
            "XADD orders 1-1 total 5",
            "XREADGROUP GROUP mail first STREAMS orders >",
        ):
            (await client.post("/v1/command", json=line.split())).raise_for_status()
        running.clock.advance(advance_ms)
        line = f"XCLAIM orders mail second {IDLE_MS} 1-1 JUSTID"
        answer = await client.post("/v1/command", json=line.split())
        claimed: list[object] = answer.raise_for_status().json()["result"]
        return claimed


def test_an_application_serves_httpx_and_its_clock_moves() -> None:
    assert asyncio.run(pending_after(0)) == []
    assert asyncio.run(pending_after(IDLE_MS)) == ["1-1"]
