"""The engines that a gateway can be in front of, started for a test run: single servers, and clusters of six
nodes.

Owns the list of stores that the contract tests run against, and the processes of single servers with a port.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

import hiredis
import pytest

from tests.support.redis_cluster import RedisCluster
from tests.support.redis_node import free_ports
from tests.support.redis_server import find_redis_8_10, find_redis_server, find_valkey

START_TIMEOUT_S: Final = 10.0

ENGINE_FIGURES: Final = {"tailrace_engine_node_up", "tailrace_engine_may_evict"}
"""The metrics that only a gateway has."""

STORES: Final = (
    "redis-8.10.2",
    "redis-7.0.15",
    "valkey-9.1.2",
    "cluster-8.10.2",
    "cluster-7.0.15",
    "cluster-valkey-9.1.2",
)
"""The engines behind a gateway: one server, or a Cluster of three masters with a replica each."""

IN_EVERY_RUN: Final = frozenset({"redis-8.10.2", "cluster-7.0.15"})
"""The newest engine, whose own commands a gateway uses, and the oldest one, which has the fewest of them, as
a Cluster. `make test-all` runs all stores."""

STORE_PARAMS: Final = [
    store if store in IN_EVERY_RUN else pytest.param(store, marks=pytest.mark.long) for store in STORES
]
"""All stores, as parameters of a fixture."""


def executable_of(store: str) -> str | None:
    """Return the path of the server of this store, or None if it is not installed."""
    if "valkey" in store:
        return find_valkey()
    return find_redis_8_10() if "8.10" in store else find_redis_server()


class RedisOnPort:
    """A `redis-server` on a port of loopback, from construction to `close`. Use it as a context manager."""

    def __init__(self, executable: str, *options: str) -> None:
        self.executable = executable
        self.options = options
        self._directory = tempfile.TemporaryDirectory(prefix="tr-")
        (self.port,) = free_ports(1)
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server, again after `kill`, on the same port."""
        words = [
            *(self.executable, "--port", str(self.port), "--bind", "127.0.0.1"),
            *("--dir", self._directory.name, "--save", "", "--appendonly", "no", "--loglevel", "warning"),
            *self.options,
        ]
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            assert self._process.poll() is None, "redis-server has exited"
            assert time.monotonic() < deadline, "redis-server does not answer"
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            self.run("PING")
        except OSError:
            return False
        return True

    def run(self, *words: str | int | bytes) -> object:
        """Run one command on a connection of its own; an error reply is returned."""
        reader = hiredis.Reader()
        with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
            packed = hiredis.pack_command(tuple(words))  # type: ignore[arg-type] # any mix of these types
            connection.sendall(packed)
            while (reply := reader.gets()) is False:
                received = connection.recv(1 << 16)
                if not received:
                    raise ConnectionError("redis-server closed the connection")
                reader.feed(received)
        return reply

    def info(self, section: str) -> bytes:
        found = self.run("INFO", section)
        assert isinstance(found, bytes)
        return found

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        self._directory.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def engine(store: str) -> Iterator[str]:
    """Start the engine of a store; yield the URL for `--store`."""
    executable = executable_of(store)
    assert executable is not None
    scheme = "valkey" if "valkey" in store else "redis"
    if store.startswith("cluster"):
        with RedisCluster(executable) as cluster:
            yield f"{scheme}+cluster://127.0.0.1:{cluster.nodes[0].port}"
        return
    with RedisOnPort(executable) as server:
        yield server.url.replace("redis", scheme, 1)
