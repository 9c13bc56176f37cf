"""A Redis Cluster of real servers on loopback: it starts, loses masters, moves slots, and is stopped.

Owns the nodes and their directory. Nodes read their view of the cluster from files, so the cluster is ready
after about two seconds. It never stops a server that it did not start.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self

import hiredis

from tests.support.redis_cluster_node import ClusterNode, fields_of, lines_of, wait_until
from tests.support.redis_server import Value

SLOTS: Final = 16384


class RedisCluster:
    """`masters` masters with `replicas` replicas each; slots are shared evenly. Use it as a context
    manager."""

    def __init__(self, executable: str, masters: int = 3, replicas: int = 1) -> None:
        # Paths of Unix sockets must be short.
        self._directory = tempfile.TemporaryDirectory(prefix="tr-")
        self._masters = masters
        count = masters * (1 + replicas)
        self.nodes = [ClusterNode(n + 1, executable, Path(self._directory.name)) for n in range(count)]

    def __enter__(self) -> Self:
        try:
            for node in self.nodes:
                node.write_view(self._view_of(node))
                node.start()
            self.wait_ready()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for node in self.nodes:
            node.stop()
        self._directory.cleanup()

    def _view_of(self, viewer: ClusterNode) -> str:
        """Return the file of a cluster that exists: node `n` replicates master `n % masters`."""
        lines = []
        for index, node in enumerate(self.nodes):
            mine = "myself," if node is viewer else ""
            head = f"{node.id} 127.0.0.1:{node.port}@{node.bus_port} {mine}"
            if index < self._masters:
                first, last = (SLOTS * n // self._masters for n in (index, index + 1))
                lines.append(f"{head}master - 0 0 {index + 1} connected {first}-{last - 1}")
            else:
                master = index % self._masters
                lines.append(f"{head}slave {self.nodes[master].id} 0 0 {master + 1} connected")
        return "\n".join([*lines, f"vars currentEpoch {self._masters} lastVoteEpoch 0", ""])

    # --- state -----------------------------------------------------------------------------------

    @property
    def running(self) -> list[ClusterNode]:
        return [node for node in self.nodes if node.runs]

    @property
    def masters(self) -> list[ClusterNode]:
        """The running nodes that are masters in their own view, with at least one slot."""
        return [node for node in self.running if self._owns_slots(node)]

    @staticmethod
    def _owns_slots(node: ClusterNode) -> bool:
        mine = next(line for line in lines_of(node.run("CLUSTER", "NODES")) if "myself" in line)
        return "master" in mine and len(mine.split()) > 8

    def node_of_port(self, port: int) -> ClusterNode:
        return next(node for node in self.nodes if node.port == port)

    def master_of(self, key: bytes | str) -> ClusterNode:
        """Return the master that serves a key, as the running nodes see it."""
        return self.owner_of(self.slot_of(key))

    def owner_of(self, slot: int) -> ClusterNode:
        """Return the master that serves a slot, as the first running node sees it."""
        for first, last, master, *_ in self._shown_slots(self.running[0]):
            if first <= slot <= last:
                return self.node_of_port(master[1])
        raise AssertionError(f"nobody serves slot {slot}")

    def replicas_of(self, master: ClusterNode) -> list[ClusterNode]:
        """Return the running replicas of a master."""
        return [
            node for node in self.running if node.info("replication").get("master_port") == str(master.port)
        ]

    def slot_of(self, key: bytes | str) -> int:
        slot = self.running[0].run("CLUSTER", "KEYSLOT", key)
        assert isinstance(slot, int)
        return slot

    def key_on(self, master: ClusterNode, prefix: str = "s") -> str:
        """Return a name of a key that a master serves."""
        return next(key for key in (f"{prefix}{n}" for n in range(10_000)) if self.master_of(key) is master)

    @staticmethod
    def _shown_slots(node: ClusterNode) -> list[tuple[int, int, list[int]]]:
        return node.run("CLUSTER", "SLOTS")  # type: ignore[return-value]

    def wait_ready(self) -> None:
        """Return when all running nodes say that the cluster is ok and all replicas are connected."""
        wait_until(lambda: all(self._is_ready(node) for node in self.running), "the cluster is ready")

    @staticmethod
    def _is_ready(node: ClusterNode) -> bool:
        if fields_of(node.run("CLUSTER", "INFO"))["cluster_state"] != "ok":
            return False
        replication = node.info("replication")
        return replication["role"] == "master" or replication["master_link_status"] == "up"

    # --- what happens to it ----------------------------------------------------------------------

    def wait_for_promotion(self, replica: ClusterNode) -> None:
        """Return when a replica has become a master and all running nodes know it."""
        wait_until(lambda: replica in self.masters, f"{replica.address} is promoted")
        self.wait_ready()

    def kill_master(self, master: ClusterNode) -> ClusterNode:
        """Kill a master; return its replica after its promotion."""
        replica = self.replicas_of(master)[0]
        master.kill()
        self.wait_for_promotion(replica)
        return replica

    def kill_connections(self, node: ClusterNode) -> None:
        """Close the connections of all clients of a node (not of its replicas)."""
        node.run("CLIENT", "KILL", "TYPE", "normal")

    def migrate_slot(self, slot: int, to: ClusterNode) -> Iterator[str]:
        """Move a slot with its keys, as redis-cli does. Yields before each step, so that a test can act
        there: "marked" (keys are still at the source), "moved" (keys are at the target), "done".
        """
        source = self.owner_of(slot)
        _check(to.run("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id))
        _check(source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id))
        yield "marked"
        while keys := source.run("CLUSTER", "GETKEYSINSLOT", slot, 100):
            assert isinstance(keys, list)
            words = [key for key in keys if isinstance(key, bytes)]
            _check(source.run("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *words))
        yield "moved"
        for node in (to, source, *(each for each in self.masters if each not in {to, source})):
            _check(node.run("CLUSTER", "SETSLOT", slot, "NODE", to.id))
        yield "done"

    def move_slot(self, slot: int, to: ClusterNode) -> None:
        """Move a slot with its keys at once."""
        for _ in self.migrate_slot(slot, to):
            pass


def _check(reply: Value) -> None:
    assert not isinstance(reply, hiredis.ReplyError), reply
