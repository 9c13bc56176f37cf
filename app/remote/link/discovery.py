"""Discovery: asks a node, a Sentinel or a Cluster which nodes there are, and which slots they serve.

A slot is the part of a Cluster that a key belongs to. The layout is read again when something points to a
change, and from time to time. This module keeps no connection, never sends commands of users, and never
decides what a change of the layout means.
"""

from __future__ import annotations

import asyncio
import logging
import random
from binascii import crc_hqx
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tailrace.app.remote.link.exchange import Way
from tailrace.app.remote.link.handshake import Greeting, open_connection, run_once
from tailrace.app.remote.link.port import EngineError, LinkDown, LinkRefused, Words
from tailrace.app.remote.link.timing import Timing, spread
from tailrace.app.remote.link.url import Address, StoreUrl

SLOTS: Final = 16384


def slot_of(key: bytes) -> int:
    """Return the slot of a key: CRC16 of its hash tag if it has one that is not empty, else of the whole
    key."""
    start = key.find(b"{")
    if start >= 0:
        end = key.find(b"}", start + 1)
        if end > start + 1:
            key = key[start + 1 : end]
    return crc_hqx(key, 0) % SLOTS


ASK_WITHIN_S: Final = 1.0
"""A node that hangs must not keep the others from being asked."""

ALL_SLOTS: Final = ((0, SLOTS - 1),)
"""The ranges of the only master outside a Cluster."""


@dataclass(frozen=True)
class Shard:
    """A master, its replicas, and its ranges of slots, both ends included. `slots`: how many it has in a
    Cluster."""

    master: Address
    replicas: tuple[Address, ...]
    ranges: tuple[tuple[int, int], ...] = ALL_SLOTS

    @property
    def slots(self) -> int:
        """How many slots a Cluster gave it; 0 outside a Cluster."""
        return 0 if self.ranges is ALL_SLOTS else sum(last - first + 1 for first, last in self.ranges)


@dataclass(frozen=True)
class Layout:
    """All shards, in the order of their first slots. `node_timeout_s`: of a Cluster, if it tells."""

    shards: tuple[Shard, ...]
    node_timeout_s: float | None = None


async def ask(address: Address, greeting: Greeting, timing: Timing, *commands: Words) -> list[Any]:
    """Return the replies of one node over a connection of its own; errors are items. Raises `LinkDown`."""
    within_s = min(timing.connect_s, ASK_WITHIN_S)
    connection = await open_connection(
        address, Way.PLAIN, greeting, within_s, lambda _reason: None, lambda _push: None
    )
    try:
        async with asyncio.timeout(within_s):
            return await run_once(connection, list(commands))
    except TimeoutError:
        raise LinkDown(f"{address} has not answered within {within_s:g} s", outcome_unknown=False) from None
    finally:
        connection.drop("asked")


class Discovery:
    """Finds the layout behind one URL."""

    def __init__(self, url: StoreUrl, greeting: Greeting, timing: Timing) -> None:
        self._url = url
        self._greeting = greeting
        self._timing = timing

    async def find(self, known: Iterable[Address] = ()) -> Layout:
        """Return the layout. `known`: nodes to ask before those of the URL. Raises `LinkDown`."""
        if self._url.kind == "single":
            return await self._of_node(self._url.addresses[0])
        known = list(known) if self._url.kind == "cluster" else []
        random.shuffle(known)
        failures: dict[str, LinkDown] = {}
        for address in dict.fromkeys([*known, *self._url.addresses]):
            try:
                if self._url.kind == "cluster":
                    return await self._of_cluster(address)
                return await self._of_sentinel(address)
            except LinkDown as down:
                failures[down.reason] = down
        if all(isinstance(down, LinkRefused) for down in failures.values()):
            raise LinkRefused("; ".join(failures))
        raise LinkDown("; ".join(failures), outcome_unknown=False)

    async def _of_node(self, address: Address) -> Layout:
        role, info = await ask(address, self._greeting, self._timing, [b"ROLE"], [b"INFO", b"cluster"])
        if isinstance(info, bytes) and b"cluster_enabled:1" in info:
            raise LinkRefused(
                f"{address} is a node of a Cluster; its URL must start with {self._url.scheme}+cluster://"
            )
        return Layout((Shard(address, _replicas_of(role)),))

    async def _of_sentinel(self, sentinel: Address) -> Layout:
        url = self._url
        greeting = Greeting(url.sentinel_username, url.sentinel_password, tls=url.tls)
        words = [b"SENTINEL", b"GET-MASTER-ADDR-BY-NAME", url.service.encode()]
        (found,) = await ask(sentinel, greeting, self._timing, words)
        if isinstance(found, EngineError):
            raise LinkDown(
                f"{sentinel} is no Sentinel ({found}); name the Sentinels, whose usual port is 26379",
                outcome_unknown=False,
            )
        if not isinstance(found, list):
            raise LinkDown(
                f"the Sentinel {sentinel} knows no master named {url.service!r}", outcome_unknown=False
            )
        master = Address(found[0].decode(), int(found[1]))
        (role,) = await ask(master, self._greeting, self._timing, [b"ROLE"])
        if not isinstance(role, list) or role[0] != b"master":
            raise LinkDown(
                f"{master}, which the Sentinel {sentinel} calls the master, is none now",
                outcome_unknown=False,
            )
        return Layout((Shard(master, _replicas_of(role)),))

    async def _of_cluster(self, address: Address) -> Layout:
        slots, timeout = await ask(
            address,
            self._greeting,
            self._timing,
            [b"CLUSTER", b"SLOTS"],
            [b"CONFIG", b"GET", b"cluster-node-timeout"],
        )
        if isinstance(slots, EngineError):
            raise LinkRefused(
                f"{address} shows no Cluster: {slots}; the URL of a single server starts with redis://"
            )
        if not slots:
            raise LinkDown(
                f"{address} is a node of a Cluster without slots; assign them, for example with"
                " redis-cli --cluster create, or name a node of the Cluster to use",
                outcome_unknown=False,
            )
        return Layout(_shards(slots, address), _seconds(timeout))


def _seconds(reply: Any) -> float | None:
    """Return the value of CONFIG GET in milliseconds as seconds; None if the user may not ask."""
    return int(reply[1]) / 1000 if isinstance(reply, list) and len(reply) > 1 else None


def _replicas_of(role: Any) -> tuple[Address, ...]:
    """Return the replicas that ROLE shows at a master."""
    if not isinstance(role, list) or role[0] != b"master":
        return ()
    return tuple(Address(host.decode(), int(port)) for host, port, *_ in role[2])


def _shards(slots: Sequence[Any], asked: Address) -> tuple[Shard, ...]:
    """Return the shards that CLUSTER SLOTS shows. A node without a host has the host that was asked."""
    ranges: dict[Address, list[tuple[int, int]]] = {}
    replicas: dict[Address, tuple[Address, ...]] = {}
    for first, last, *nodes in sorted(slots, key=lambda row: int(row[0])):
        addresses = [_shown(node, asked) for node in nodes]
        ranges.setdefault(addresses[0], []).append((first, last))
        replicas[addresses[0]] = tuple(addresses[1:])
    return tuple(Shard(master, replicas[master], tuple(found)) for master, found in ranges.items())


def _shown(node: Sequence[Any], asked: Address) -> Address:
    host = node[0].decode() if node[0] else ""
    return Address(asked.host if host in {"", "?"} else host, int(node[1]))


_log: Final = logging.getLogger(__name__)


class Refreshing:
    """Passes each layout to `adopt`. `why_unknown`: why the last try failed; empty if it did not.

    `known` returns the nodes to ask, and `is_whole` whether all masters are connected.
    """

    def __init__(
        self,
        discovery: Discovery,
        timing: Timing,
        adopt: Callable[[Layout], None],
        known: Callable[[], Iterable[Address]],
        is_whole: Callable[[], bool],
    ) -> None:
        self.why_unknown = ""
        self._discovery = discovery
        self._timing = timing
        self._adopt = adopt
        self._known = known
        self._is_whole = is_whole
        self._asked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Refresh from now on, until `close`."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def ask(self) -> None:
        """Refresh soon."""
        self._asked.set()

    async def _run(self) -> None:
        while True:
            await self._pause()
            self._asked.clear()
            await self._once()

    async def _pause(self) -> None:
        """Wait until a refresh is asked for or due; never less than a moment."""
        most_s = self._timing.backoff_most_s
        await asyncio.sleep(spread(0.2 * most_s))
        is_calm = not self.why_unknown and self._is_whole()
        try:
            async with asyncio.timeout(self._timing.refresh_every_s if is_calm else most_s):
                await self._asked.wait()
        except TimeoutError:
            pass

    async def _once(self) -> None:
        try:
            layout = await self._discovery.find(self._known())
        except LinkDown as down:
            self.why_unknown = down.reason
            return
        except Exception as error:  # noqa: BLE001 - an answer that cannot be read must not end the refreshing
            self.why_unknown = f"the list of nodes cannot be read: {error}"
            _log.exception("the list of nodes cannot be read")
            return
        self.why_unknown = ""
        self._adopt(layout)

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
