"""A gateway before a Sentinel, and before a Cluster without all slots: the start, and /readyz."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import httpx

from tailrace.app.remote.opening import opened
from tailrace.app.settings import Settings
from tests.remote.link.test_sentinel import Watched, watched
from tests.support.links import run, settle
from tests.support.redis_cluster import SLOTS, RedisCluster
from tests.support.redis_node import RedisNode
from tests.support.server_process import running_server, tailrace
from tests.support.waiting_readers import until

__all__ = ["watched"]

SAID = "1 of the 16384 slots of the Cluster have no node"
ENTRY = {"fields": {"rider": "Castilla"}}


def refused_start(store: str) -> str:
    """Return what `tailrace serve` prints before it exits with status 1."""
    ended = tailrace("serve", "--port", "0", "--store", store)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    return " ".join(ended.stderr.replace("│", " ").split())


def test_a_gateway_finds_the_master_of_a_sentinel_and_names_a_wrong_name_or_a_lost_master(
    watched: Watched,
    tmp_path: Path,
) -> None:
    store = f"redis+sentinel://{watched.sentinel.address}"
    said = refused_start(f"{store}/other")
    assert f"the Sentinel {watched.sentinel.address} knows no master named 'other'" in said
    with running_server(tmp_path, "--store", f"{store}/main") as gateway:
        assert httpx.post(f"{gateway.base_url}/v1/streams/s/entries", json=ENTRY).status_code == 201
        watched.replica.kill()
        watched.master.kill()
        until(lambda: httpx.get(f"{gateway.base_url}/readyz").status_code == 503, 60)
        said = httpx.get(f"{gateway.base_url}/readyz").json()["detail"]
        assert watched.master.address in said
        assert "Traceback" not in gateway.log_text


def test_a_cluster_with_slots_that_no_node_serves_is_refused_at_the_start_and_not_ready(
    executable: str, tmp_path: Path
) -> None:
    with RedisCluster(executable, replicas=0) as cluster:
        store = f"redis+cluster://{cluster.nodes[0].address}"
        with running_server(tmp_path, "--store", store) as gateway:
            ready = f"{gateway.base_url}/readyz"
            assert httpx.get(ready).status_code == 200
            for node in cluster.nodes:
                node.run("CLUSTER", "DELSLOTS", SLOTS - 1)
            # A request that the Cluster refuses makes the gateway ask for the slots; its answer takes longer.
            with suppress(httpx.TimeoutException):
                httpx.post(f"{gateway.base_url}/v1/streams/s/entries", json=ENTRY, timeout=0.5)
            until(lambda: httpx.get(ready).status_code == 503, 60)
            assert SAID in httpx.get(ready).json()["detail"]
            assert SAID in refused_start(store)
            assert "Traceback" not in gateway.log_text


def test_a_start_waits_for_the_replicas_that_the_engine_needs_for_a_write(own_engine: RedisNode) -> None:
    def refusals() -> str:
        return own_engine.info("errorstats").get("errorstat_NOREPLICAS", "")

    async def main() -> None:
        own_engine.run("FUNCTION", "FLUSH")
        own_engine.run("CONFIG", "SET", "min-replicas-to-write", 1)
        opening = asyncio.ensure_future(_write_once(f"redis://{own_engine.address}"))
        await settle(lambda: opening.done() or bool(refusals()), "a refused write")
        assert not opening.done()
        own_engine.run("CONFIG", "SET", "min-replicas-to-write", 0)
        await opening

    run(main)


async def _write_once(url: str) -> None:
    async with opened(Settings(store=url)) as (link, _):
        await link.call([b"XADD", b"s", b"*", b"f", b"v"], key=b"s", is_write=True)
