"""A Redis or Valkey Cluster as a place: the map of slots, a connection to each master, redirections.

Everything that concerns a key runs as a transaction on the node that has the key. If the slot moves
meanwhile, the node refuses the whole transaction, and it runs at the other node: no command takes effect
twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, cast

from redis.crc import key_slot

from tailrace.app.cli.migrate.port import (
    CannotMigrate,
    Entry,
    PlaceDown,
    Reply,
    Words,
    accepted,
    items,
    number,
)
from tailrace.app.cli.migrate.redis_node import Options, Redirected, RedisNode
from tailrace.app.cli.migrate.redis_place import append_with, identified, scan
from tailrace.app.cli.migrate.without_policies import WithoutPolicies

_Address = tuple[str, int]

REDIRECTIONS_MAX: Final = 16
"""Redirections of one command, after which the map of slots is not settled: try again later."""

_SLOTS: Final = (b"CLUSTER", b"SLOTS")


class ClusterPlace(WithoutPolicies):
    """A Cluster that is known by one of its nodes."""

    def __init__(self, name: str, options: Options) -> None:
        self.name = name
        self._options = options
        self._first: _Address = (options.get("host", "localhost"), options.get("port", 6379))
        self._nodes: dict[_Address, RedisNode] = {}
        self._ranges: list[tuple[int, int, _Address]] = []
        self._owners: dict[int, _Address] = {}
        self.engine, self.abilities = identified(self._node(self._first), is_cluster=True)
        self._read_slots()
        self.engine = f"{self.engine} Cluster, {len({each[2] for each in self._ranges})} masters"

    def run(self, commands: Sequence[Words], key: bytes, *, atomic: bool = False) -> list[Reply]:
        """Run commands as a transaction on the node of `key`; see `Place`."""
        del atomic
        slot, asked = key_slot(key), None
        for _ in range(REDIRECTIONS_MAX):
            node = self._node(asked or self._owner(slot))
            try:
                return node.run(commands, atomic=True, asking=asked is not None)
            except Redirected as redirected:
                address = (redirected.host or self._first[0], redirected.port)
                asked = address if redirected.asked else None
                if not redirected.asked:
                    self._owners[slot] = address
            except PlaceDown:
                # The node may have lost its slots to a replica; the caller tries again.
                self._forget_slots()
                raise
        raise PlaceDown(f"slot {slot} of {self.name} is redirected from node to node")

    def append(self, key: bytes, entries: Sequence[Entry]) -> None:
        """Append entries in one transaction; see `Place`."""
        append_with(lambda commands: self.run(commands, key, atomic=True), key, entries)

    def keys(self, patterns: Sequence[bytes]) -> Iterator[bytes]:
        """Return the keys of matching streams of all masters; see `Place`."""
        if not self._ranges:
            self._read_slots()
        for address in sorted({each[2] for each in self._ranges}):
            yield from scan(partial(_run_one, self._node(address)), patterns)

    def close(self) -> None:
        """Close all connections."""
        for node in self._nodes.values():
            node.close()

    def _node(self, address: _Address) -> RedisNode:
        if address not in self._nodes:
            host, port = address
            self._nodes[address] = RedisNode({**self._options, "host": host, "port": port})
        return self._nodes[address]

    def _owner(self, slot: int) -> _Address:
        if slot in self._owners:
            return self._owners[slot]
        if not self._ranges:
            self._read_slots()
        for first, last, address in self._ranges:
            if first <= slot <= last:
                return address
        self._forget_slots()
        raise PlaceDown(f"no node of {self.name} has slot {slot}")

    def _forget_slots(self) -> None:
        self._ranges = []
        self._owners = {}

    def _read_slots(self) -> None:
        """Ask the known nodes, one after another, for the map of slots."""
        problem: PlaceDown | None = None
        for address in [self._first, *(each for each in self._nodes if each != self._first)]:
            try:
                reply = accepted(self._node(address).run([_SLOTS])[0], _SLOTS)
            except PlaceDown as down:
                problem = down
                continue
            self._ranges = [_range(row, address[0]) for row in items(reply)]
            if self._ranges:
                self._owners = {}
                for _, _, known in self._ranges:
                    self._node(known)
                return
        raise problem or CannotMigrate(f"{self.name} has no slots: the Cluster is not set up")


def _run_one(node: RedisNode, words: Words) -> Reply:
    return accepted(node.run([words])[0], words)


def _range(row: Reply, asked_host: str) -> tuple[int, int, _Address]:
    """Return first slot, last slot and master of a row of CLUSTER SLOTS. A node without a host is the asked
    one."""
    first, last, master, *_ = items(row)
    host, port, *_ = items(master)
    return number(first), number(last), ((cast("bytes", host) or b"").decode() or asked_host, number(port))
