"""One node of a Redis Cluster on loopback: a server that reads its view of the cluster from a file when it
starts.

Owns that file and the options of a node.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.redis_node import RedisNode, free_ports

OPTIONS: Final = (
    *("--cluster-enabled", "yes"),
    *("--cluster-config-file", "nodes.conf"),
    *("--cluster-replica-validity-factor", "0"),  # a replica may always be elected
)


class ClusterNode(RedisNode):
    """A node. `id`: its name in the cluster. `bus_port`: where other nodes connect."""

    def __init__(self, number: int, executable: str, directory: Path, node_timeout_ms: int) -> None:
        self.id = f"{number:040x}"
        (self.bus_port,) = free_ports(1)
        own = directory / str(number)
        own.mkdir()
        bus = ["--cluster-port", str(self.bus_port), "--cluster-node-timeout", str(node_timeout_ms)]
        super().__init__(executable, own, *OPTIONS, *bus)

    def write_view(self, view: str) -> None:
        """Store what the node knows of the cluster when it starts."""
        (self._directory / "nodes.conf").write_text(view)
