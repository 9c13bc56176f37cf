"""The registry: a hash on the engine that names the streams that may have settings.

Every gateway keeps a copy of the names in memory, so a command on any other stream costs nothing more. The
registry is a hint: the settings themselves are next to their stream, where the engine reads them together
with the group. A gateway announces a stream before and after it stores settings; client tracking tells the
other gateways, within milliseconds. After a lost connection they read the registry again, and every 5 to 10
seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final
from uuid import uuid4

from msgspec import UNSET

from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.functions.names import REGISTRY, settings_key
from tailrace.app.remote.functions.settings import forget_announced
from tailrace.app.remote.link.port import Armed, EngineError, Link, LinkDown
from tailrace.app.remote.words.engine import Configured
from tailrace.app.remote.words.plan import Result, text, value, values
from tailrace.core.commands import Command, ConfigureGroup, ConfigureStream, CreateStream

_VERSION: Final = b"version"
"""The field whose value changes with each announcement."""
_GROUPS: Final = b"groups:"
_RETAINED: Final = b"retained:"
"""The other fields: what a stream may have, and its name."""


async def announce(link: Link, configured: Configured, fields: Sequence[bytes]) -> None:
    """Tell all gateways what some streams may have. Raises `EngineError` and `LinkDown`."""
    if not fields:
        return
    configured.announced += 1
    _add(configured, fields)
    stamp = uuid4().hex.encode()
    words = [b"HSET", REGISTRY, _VERSION, stamp]
    for field in fields:
        words += [field, stamp]
    await link.call(words, key=REGISTRY, is_write=True)


def _add(configured: Configured, fields: Iterable[bytes]) -> None:
    configured.keys = configured.keys | _names(fields, _GROUPS)
    configured.retained = configured.retained | _names(fields, _RETAINED)


def _names(fields: Iterable[bytes], kind: bytes) -> frozenset[bytes]:
    return frozenset(field.removeprefix(kind) for field in fields if field.startswith(kind))


async def announce_all(link: Link, configured: Configured, key: bytes) -> None:
    """Tell all gateways that the stream may have settings of every kind."""
    await announce(link, configured, [_GROUPS + key, _RETAINED + key])


def fields_of(command: Command) -> list[bytes]:
    """Return what the command gives to its stream, as fields of the registry."""
    if isinstance(command, ConfigureGroup):
        return [_GROUPS + command.key]
    if isinstance(command, CreateStream | ConfigureStream) and command.retention not in {UNSET, None}:
        return [_RETAINED + command.key]
    return []


@asynccontextmanager
async def announced(link: Link, configured: Configured, fields: Sequence[bytes]) -> AsyncIterator[None]:
    """Announce what commands give to streams, before and after they run."""
    await announce(link, configured, fields)
    yield
    await announce(link, configured, fields)


async def prune(link: Link, library: Library) -> int:
    """Forget the names of streams without settings; return how many fields went.

    A stream that is announced meanwhile has another stamp, and stays. Raises `EngineError` and `LinkDown`.
    """
    found = values(await link.call([b"HGETALL", REGISTRY], key=REGISTRY, is_write=False))
    answer = [text(each) for each in found]
    forgotten = 0
    for field, stamp in zip(answer[::2], answer[1::2], strict=True):
        if not field.startswith((_GROUPS, _RETAINED)):
            continue
        settings = settings_key(field.partition(b":")[2])
        if not await link.call([b"EXISTS", settings], key=settings, is_write=False):
            forgotten += await library.run(link, forget_announced(field, stamp))
    return forgotten


class Registry:
    """Keeps `configured` up to date, from `open` to `close`."""

    def __init__(self, link: Link, configured: Configured) -> None:
        self._link = link
        self._configured = configured
        self._version: Result = None
        self._armed: Armed | None = None
        self._task: asyncio.Task[None] | None = None
        self._must_read = False

    async def open(self) -> None:
        """Read the registry, and follow its changes. Raises `LinkDown`."""
        self._armed = self._link.arm(REGISTRY, self._wake)
        with suppress(EngineError):  # an engine that refuses the key lets no gateway store settings
            await self._read()

    def _wake(self) -> None:
        self._must_read = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._follow())

    async def _follow(self) -> None:
        try:
            while self._must_read:
                self._must_read = False
                with suppress(EngineError, LinkDown):  # the waiter is woken again within seconds
                    await self._read()
        finally:
            self._task = None

    async def _read(self) -> None:
        """Read the names if the version is another one. O(1), or O(streams with settings)."""
        announced = self._configured.announced
        [version] = await self._link.read_armed([[b"HGET", REGISTRY, _VERSION]], key=REGISTRY)
        if value(version) == self._version:
            return
        version, found = await self._link.read_armed(
            [[b"HGET", REGISTRY, _VERSION], [b"HKEYS", REGISTRY]], key=REGISTRY
        )
        fields = [text(each) for each in values(found)]
        if self._configured.announced != announced:
            self._must_read = True  # this gateway has announced more meanwhile
            return
        self._configured.keys = _names(fields, _GROUPS)
        self._configured.retained = _names(fields, _RETAINED)
        self._version = value(version)

    async def close(self) -> None:
        """Stop following."""
        if self._armed is not None:
            self._armed.cancel()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
