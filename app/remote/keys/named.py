"""DEL, EXISTS, RENAME and COPY: commands that name keys, which may be in several slots.

Values of other types share the keyspace of the engine. They are not streams: EXISTS does not count them, and
no command deletes, renames or replaces one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.app.remote.functions import streams
from tailrace.app.remote.functions.names import is_reserved, settings_key, state_key
from tailrace.app.remote.keys.registry import announce_all
from tailrace.app.remote.link.port import Link
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan, Result, number, text
from tailrace.core.commands import CopyKey, CountKeys, DeleteKeys, RenameKey
from tailrace.core.errors import cross_slot, no_such_key, same_object, wrong_type

_STREAM = b"stream"
_MISSING = b"none"


async def delete_keys(link: Link, engine: Engine, command: DeleteKeys) -> int:
    """Delete streams with their state, and return how many existed. Atomic for each key.

    Raises WRONGTYPE before the first deletion if a key is no stream.
    """
    keys = list(dict.fromkeys(command.keys))
    await require_streams(link, keys)
    count = 0
    for key in keys:
        if engine.library is None:
            count += number(await link.call([b"DEL", key], key=key, is_write=True))
        else:
            count += await engine.library.run(link, streams.delete(key))
        link.wake(key)
    return count


async def require_streams(link: Link, keys: Sequence[bytes]) -> list[bool]:
    """Return which of the keys exist. Raises WRONGTYPE for the first one that is no stream."""
    found = []
    for key in keys:
        kind = await link.call([b"TYPE", key], key=key, is_write=False)
        if kind not in {_STREAM, _MISSING} or is_reserved(key):
            raise wrong_type(key)
        found.append(kind == _STREAM)
    return found


async def count_keys(link: Link, _engine: Engine, command: CountKeys) -> int:
    """Return how many of the names are streams. A name given twice counts twice."""
    count = 0
    for key in command.keys:
        count += await link.call([b"TYPE", key], key=key, is_write=False) == _STREAM
    return count


def count_together(command: CountKeys) -> Plan:
    """Return the plan of EXISTS for keys in one slot."""

    def read(results: Sequence[Result]) -> int:
        return sum(text(result) == _STREAM for result in results)

    return Plan([[b"TYPE", key] for key in command.keys], read, command.keys[0])


def delete_together(command: DeleteKeys) -> Plan:
    """Return the plan of DEL for keys in one slot."""
    keys = list(dict.fromkeys(command.keys))
    states = [name for key in keys for name in (state_key(key), settings_key(key))]

    def read(results: Sequence[Result]) -> int:
        number(results[1])
        return number(results[0])

    return Plan([[b"DEL", *keys], [b"DEL", *states]], read, keys[0], is_write=True, wakes=True)


async def rename_key(link: Link, engine: Engine, command: RenameKey) -> None:
    """Rename a stream. Raises NO_SUCH_STREAM, WRONGTYPE and CROSSSLOT."""
    key, new_key = command.key, command.new_key
    exists, _ = await require_streams(link, [key, new_key])
    if not exists:
        raise no_such_key(key)
    if key == new_key:
        return
    _require_one_slot(link, key, new_key)
    if engine.library is None:
        await link.call([b"RENAME", key, new_key], key=key, is_write=True)
    else:
        await engine.library.run(link, streams.rename(command))
        await _announce_settings(link, engine, new_key)
    link.wake(key)
    link.wake(new_key)


async def copy_key(link: Link, engine: Engine, command: CopyKey) -> int:
    """Copy a stream; return 1, or 0 if nothing was copied. Raises INVALID_ARGUMENT, WRONGTYPE and
    CROSSSLOT."""
    key, new_key = command.key, command.new_key
    if key == new_key:
        raise same_object()
    exists, _ = await require_streams(link, [key, new_key])
    if not exists:
        return 0
    _require_one_slot(link, key, new_key)
    if engine.library is None:
        replace = [b"REPLACE"] if command.replace else []
        copied = number(await link.call([b"COPY", key, new_key, *replace], key=key, is_write=True))
    else:
        copied = await engine.library.run(link, streams.copy(command))
        await _announce_settings(link, engine, new_key)
    link.wake(new_key)
    return copied


async def _announce_settings(link: Link, engine: Engine, key: bytes) -> None:
    """Tell all gateways if the stream has received settings with its name."""
    settings = settings_key(key)
    if await link.call([b"EXISTS", settings], key=settings, is_write=False):
        await announce_all(link, engine.configured, key)


def _require_one_slot(link: Link, key: bytes, new_key: bytes) -> None:
    if link.is_cluster and link.slot_of(key) != link.slot_of(new_key):
        raise cross_slot()
