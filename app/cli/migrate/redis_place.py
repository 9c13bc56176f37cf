"""A single Redis or Valkey server as a place; and how any of their nodes tells what it is.

It requires Redis 7.0 or later: older versions cannot set the counters of a stream and of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from tailrace.app.cli.migrate.port import (
    Abilities,
    CannotMigrate,
    Entry,
    PlaceDown,
    Refusal,
    Reply,
    Words,
    accepted,
    items,
    scan_step,
    scanned,
)
from tailrace.app.cli.migrate.redis_node import Options, Redirected, RedisNode
from tailrace.app.cli.migrate.without_policies import WithoutPolicies
from tailrace.core.stream_id import format_id

_OLDEST: Final = (7, 0)
_INFO_SERVER: Final = (b"INFO", b"server")
_INFO_CLUSTER: Final = (b"INFO", b"cluster")
_LATER_COMMANDS: Final = (b"COMMAND", b"INFO", b"XNACK", b"XCFGSET")


class RedisPlace(WithoutPolicies):
    """One server. `name`: its address without a password."""

    def __init__(self, name: str, options: Options) -> None:
        self.name = name
        self._node = RedisNode(options)
        self.engine, self.abilities = identified(self._node, is_cluster=False)

    def run(self, commands: Sequence[Words], key: bytes, *, atomic: bool = False) -> list[Reply]:
        """Run commands; see `Place`."""
        del key
        return self._run(commands, atomic=atomic)

    def _run(self, commands: Sequence[Words], *, atomic: bool = False) -> list[Reply]:
        try:
            return self._node.run(commands, atomic=atomic)
        except Redirected:
            raise PlaceDown(f"{self.name} does not have the key: it is now part of a Cluster") from None

    def append(self, key: bytes, entries: Sequence[Entry]) -> None:
        """Append entries in one transaction; see `Place`."""
        append_with(lambda commands: self._run(commands, atomic=True), key, entries)

    def keys(self, patterns: Sequence[bytes]) -> Iterator[bytes]:
        """Return the keys of matching streams; see `Place`."""
        return scan(lambda words: accepted(self._run([words])[0], words), patterns)

    def close(self) -> None:
        """Close the connection."""
        self._node.close()


def append_with(run: Callable[[list[Words]], list[Reply]], key: bytes, entries: Sequence[Entry]) -> None:
    """Append entries by one transaction of XADD, which `run` runs."""
    commands: list[Words] = [(b"XADD", key, format_id(each.id).encode(), *each.fields) for each in entries]
    for reply, words in zip(run(commands), commands, strict=True):
        accepted(reply, words)


def scan(run: Callable[[Words], Reply], patterns: Sequence[bytes]) -> Iterator[bytes]:
    """Return the keys of streams of one node that match a pattern."""
    for pattern in patterns:
        cursor = b"0"
        while True:
            cursor, keys = scanned(run(scan_step(cursor, pattern)))
            yield from keys
            if cursor == b"0":
                break


def identified(node: RedisNode, *, is_cluster: bool) -> tuple[str, Abilities]:
    """Return name and version of a node, and its abilities.

    Raises `CannotMigrate` if it is too old, or if `is_cluster` is wrong.
    """
    server, cluster, later = node.run([_INFO_SERVER, _INFO_CLUSTER, _LATER_COMMANDS])
    facts = {**_info(server, _INFO_SERVER), **_info(cluster, _INFO_CLUSTER)}
    _require_kind(is_cluster, facts.get("cluster_enabled") == "1")
    program = "Valkey" if "valkey_version" in facts else "Redis"
    version = facts.get("valkey_version") or facts.get("redis_version", "?")
    if tuple(int(part) for part in facts.get("redis_version", "0").split(".")[:2]) < _OLDEST:
        raise CannotMigrate(
            f"{program} {version} is too old: a migration needs Redis 7.0 or later, or Valkey; "
            "upgrade it first"
        )
    unowned, settings = (bool(each) for each in items(accepted(later, _LATER_COMMANDS)))
    return f"{program} {version}", Abilities(unowned, settings, expiry=True, name_bytes_max=None)


def _require_kind(expected: bool, found: bool) -> None:  # noqa: FBT001 - two answers to one question
    if found and not expected:
        raise CannotMigrate("this node is part of a Cluster: write redis+cluster:// in place of redis://")
    if expected and not found:
        raise CannotMigrate(
            "this server is not part of a Cluster: write redis:// in place of redis+cluster://"
        )


def _info(reply: Reply, words: Words) -> dict[str, str]:
    if isinstance(reply, Refusal):
        raise CannotMigrate(f"{words[0].decode()} was refused: {reply.line}")
    lines = cast("bytes", reply).decode("utf-8", "replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)
