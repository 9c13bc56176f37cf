"""A Redis or Valkey server, or a Cluster of them, as a place: over the link that gateways use.

The link finds the nodes, follows slots that move, and sends a command again only if it was certainly not
executed. In a Cluster everything that concerns a key runs as a transaction on the node that has the key: if
the slot moves meanwhile, the node refuses the whole transaction, and no command takes effect twice.

It requires Redis 7.0 or later: older versions cannot set the counters of a stream and of a group.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from functools import partial
from threading import Thread
from typing import Any, Final, TypeVar, cast

from tailrace.app.cli.migrate.policies import WithoutPolicies
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
    scan,
)
from tailrace.app.remote.link.caller import Caller
from tailrace.app.remote.link.port import EngineError, LinkDown, LinkRefused
from tailrace.app.remote.link.timing import Timing
from tailrace.app.remote.link.url import StoreUrl
from tailrace.core.stream_id import format_id

TIMING: Final = Timing(connect_s=5.0, answer_s=60.0, retry_for_s=2.0)
"""A step of a migration can take long, and the migration itself repeats what failed."""

_OLDEST: Final = (7, 0)
_INFO_SERVER: Final = (b"INFO", b"server")
_LATER_COMMANDS: Final = (b"COMMAND", b"INFO", b"XNACK", b"XCFGSET")

ResultT = TypeVar("ResultT")


class EnginePlace(WithoutPolicies):
    """The engine at `url`. `name`: its address without a password. Raises `PlaceDown` or `CannotMigrate`."""

    def __init__(self, name: str, url: StoreUrl) -> None:
        self.name = name
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._caller: Caller | None = None
        try:
            self._caller = self._result(_opened(url))
            self.engine, self.abilities = self._identified()
        except BaseException:
            self.close()
            raise

    def run(self, commands: Sequence[Words], key: bytes, *, atomic: bool = False) -> list[Reply]:
        """Run commands that concern `key`; see `Place`. In a Cluster they always run as a transaction."""
        caller = self._caller
        assert caller is not None
        is_atomic = atomic or caller.is_cluster
        try:
            replies = self._result(caller.call_together(commands, key=key, is_write=True, atomic=is_atomic))
        except EngineError as error:
            raise CannotMigrate(f"{self.name} refused a transaction: {error}") from None
        return [_settled(reply) for reply in replies]

    def append(self, key: bytes, entries: Sequence[Entry]) -> None:
        """Append entries in one transaction; see `Place`."""
        commands: list[Words] = [
            (b"XADD", key, format_id(each.id).encode(), *each.fields) for each in entries
        ]
        for reply, words in zip(self.run(commands, key, atomic=True), commands, strict=True):
            accepted(reply, words)

    def keys(self, patterns: Sequence[bytes]) -> Iterator[bytes]:
        """Return the keys of matching streams of all masters; see `Place`."""
        assert self._caller is not None
        for master in sorted(node.address for node in self._caller.masters()):
            yield from scan(partial(self._run_at, master), patterns)

    def close(self) -> None:
        """Close all connections."""
        caller, self._caller = self._caller, None
        if caller is not None:
            asyncio.run_coroutine_threadsafe(caller.close(), self._loop).result()
        if self._loop.is_running():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run_at(self, address: str, words: Words) -> Reply:
        assert self._caller is not None
        try:
            return _settled(self._result(self._caller.call_node(address, words, is_write=False)))
        except EngineError as error:
            return accepted(_settled(error), words)

    def _identified(self) -> tuple[str, Abilities]:
        """Return name and version of the engine, and its abilities. Raises `CannotMigrate` if it is too
        old."""
        caller = self._caller
        assert caller is not None
        commands = [_INFO_SERVER, _LATER_COMMANDS]
        replies = self._result(caller.call_together(commands, key=None, is_write=False))
        server, later = (_settled(reply) for reply in replies)
        facts = _info(accepted(server, _INFO_SERVER))
        program = "Valkey" if "valkey_version" in facts else "Redis"
        version = facts.get("valkey_version") or facts.get("redis_version", "?")
        if tuple(int(part) for part in facts.get("redis_version", "0").split(".")[:2]) < _OLDEST:
            raise CannotMigrate(
                f"{program} {version} is too old: a migration needs Redis 7.0 or later, or Valkey; "
                "upgrade it first"
            )
        unowned, settings = (bool(each) for each in items(accepted(later, _LATER_COMMANDS)))
        masters = f" Cluster, {len(caller.masters())} masters" if caller.is_cluster else ""
        abilities = Abilities(unowned, settings, expiry=True, name_bytes_max=None)
        return f"{program} {version}{masters}", abilities

    def _result(self, running: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Run a coroutine in the loop's thread. Raises `PlaceDown`, `CannotMigrate` or `EngineError`."""
        future = asyncio.run_coroutine_threadsafe(running, self._loop)
        try:
            return future.result()
        except LinkRefused as refused:
            raise CannotMigrate(f"{self.name}: {refused.reason}") from None
        except LinkDown as down:
            raise PlaceDown(f"cannot reach {self.name}: {down.reason}") from None
        except BaseException:
            future.cancel()
            raise


async def _opened(url: StoreUrl) -> Caller:
    caller = Caller(url, TIMING)
    await caller.open()
    return caller


def _settled(reply: Any) -> Reply:
    """Return a reply whose errors are refusals. Raises for errors that concern no single command."""
    if isinstance(reply, EngineError):
        if reply.code == b"NOPERM":
            raise CannotMigrate(f"the user lacks a permission: {reply}")
        return Refusal(str(reply))
    return cast("Reply", reply)


def _info(reply: Reply) -> dict[str, str]:
    lines = cast("bytes", reply).decode("utf-8", "replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)
