"""A link to a master that Sentinel watches: it finds the master, and the next one after a failover."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tailrace.app.remote.link.port import LinkDown
from tests.support.links import linked, run, settle
from tests.support.redis_node import RedisNode, wait_until


class SentinelNode(RedisNode):
    """A Sentinel that watches one master, and decides alone."""

    def watch(self, master: RedisNode) -> None:
        self._config = self._directory / "sentinel.conf"
        self._config.write_text(
            f"port {self.port}\ndir {self._directory}\nunixsocket s\n"
            f"sentinel monitor main 127.0.0.1 {master.port} 1\n"
            "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n"
        )

    def _words(self) -> list[str]:
        return [str(self._config), "--sentinel"]


class Watched(NamedTuple):
    master: RedisNode
    replica: RedisNode
    sentinel: SentinelNode


@pytest.fixture
def watched(executable: str) -> Iterator[Watched]:
    with tempfile.TemporaryDirectory(prefix="tr-") as name:
        places = [Path(name) / each for each in "mrs"]
        for place in places:
            place.mkdir()
        master = RedisNode(executable, places[0])
        replica = RedisNode(executable, places[1], "--replicaof", f"127.0.0.1 {master.port}")
        sentinel = SentinelNode(executable, places[2])
        sentinel.watch(master)
        try:
            for node in (master, replica, sentinel):
                node.start()
            wait_until(lambda: "state=online" in master.info("replication").get("slave0", ""), "it follows")
            wait_until(lambda: "slaves=1" in sentinel.info("sentinel")["master0"], "the Sentinel knows it")
            yield Watched(master, replica, sentinel)
        finally:
            for node in (sentinel, replica, master):
                node.stop()


def test_the_master_of_a_sentinel_is_found_again_after_a_failover(watched: Watched) -> None:
    async def main() -> None:
        async with linked(f"redis+sentinel://127.0.0.1:1,{watched.sentinel.address}/main") as link:
            assert [state.address for state in link.masters()] == [watched.master.address]
            key = b"s"
            await link.call([b"XADD", key, b"1-1", b"a", b"b"], key=key, is_write=True, min_replicas=1)
            watched.master.kill()
            await settle(lambda: not link.masters()[0].is_up, "the loss is noticed")
            assert await link.call([b"XADD", key, b"2-1", b"a", b"b"], key=key, is_write=True) == b"2-1"
            await settle(
                lambda: link.masters()[0].address == watched.replica.address, "the new master is shown"
            )
            assert await link.call([b"XLEN", key], key=key, is_write=False) == 2

    run(main)


def test_a_sentinel_that_does_not_know_the_name_is_named(watched: Watched) -> None:
    async def main() -> None:
        with pytest.raises(LinkDown, match=f"{watched.sentinel.address} knows no master named 'other'"):
            async with linked(f"redis+sentinel://{watched.sentinel.address}/other"):
                pass

    run(main)
