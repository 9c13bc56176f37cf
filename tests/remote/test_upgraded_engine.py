"""An engine that is upgraded on its data: what gateways emulated keeps its effect, at a gateway that runs
across the upgrade and at one that starts after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tailrace.app.remote.store import RemoteStore
from tailrace.core.parser import parse_request
from tests.support.engines import RedisOnPort, executable_of
from tests.support.redis_server import required
from tests.support.remote_stores import gateways
from tests.support.store_commands import plain


@pytest.fixture
def upgradable() -> Iterator[tuple[RedisOnPort, str]]:
    """A running Redis 7.0.15 with an append-only file, and the executable of Redis 8.10.2."""
    old, new = executable_of("redis-7.0.15"), executable_of("redis-8.10.2")
    if (old is None or new is None) and not required():
        pytest.skip("Redis 7.0.15 or 8.10.2 is missing")
    assert old is not None
    assert new is not None
    with RedisOnPort(old, "--appendonly", "yes") as engine:
        yield engine, new


async def run(store: RemoteStore, line: str) -> Any:
    """Return the reply to one command in words."""
    request = parse_request([word.encode() for word in line.split()])
    assert request.command is not None
    return plain(request.to_resp(await store.execute(request.command)))


def members(flat: Any) -> dict[bytes, Any]:
    """Return a reply of XINFO as a map."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def test_what_a_gateway_emulated_keeps_its_effect_after_the_engine_is_upgraded(
    upgradable: tuple[RedisOnPort, str],
) -> None:
    engine, newer = upgradable

    async def main() -> None:
        async with gateways(engine.url) as [across]:
            first = await run(across, "XADD s IDMP p k1 * rider Castilla")
            await run(across, "XCFGSET s IDMP-DURATION 200 IDMP-MAXSIZE 50")
            before = await run(across, "XADD s IDMP p k2 * rider Castilla")
            await run(across, "XGROUP CREATE s g 0")
            await run(across, "XREADGROUP GROUP g alice STREAMS s >")
            await run(across, f"XNACK s g FAIL IDS 1 {first.decode()}")

            engine.kill()
            engine.executable = newer
            engine.start()

            async with gateways(engine.url) as [fresh]:
                assert fresh.engine.capabilities.idmp.is_native
                assert not across.engine.capabilities.idmp.is_native
                for store in (fresh, across):
                    assert await run(store, "XADD s IDMP p k2 * rider Castilla") == before
                    assert members((await run(store, "XINFO GROUPS s"))[0])[b"consumers"] == 1
                    assert members(await run(store, "XINFO STREAM s"))[b"idmp-duration"] == 200
                for key, one, other in (("k3", fresh, across), ("k4", across, fresh)):
                    added = await run(one, f"XADD s IDMP p {key} * rider Castilla")
                    assert await run(other, f"XADD s IDMP p {key} * rider Castilla") == added
                assert await run(fresh, "XLEN s") == 4
                await run(fresh, "XCFGSET s IDMP-MAXSIZE 60")
                shown = members(engine.run("XINFO", "STREAM", "s"))
                assert (shown[b"idmp-duration"], shown[b"idmp-maxsize"]) == (200, 60)
                claimed = await run(fresh, "XREADGROUP GROUP g bob CLAIM 60000 COUNT 1 STREAMS s >")
                assert claimed[0][1][0][0] == first

    asyncio.run(main())
