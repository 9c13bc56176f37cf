"""FLUSHDB, CONFIG, TIME and INFO: commands on the whole engine."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from tailrace.app.remote.functions.hidden import visible_groups
from tailrace.app.remote.keys.listing import stream_keys
from tailrace.app.remote.link.port import EngineError, Link
from tailrace.app.remote.replies.infos import group_infos
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import number, text, values
from tailrace.core.commands import Flush, GetConfig, ServerInfo, ServerTime, SetConfig
from tailrace.core.errors import engine_lacks
from tailrace.core.glob import compile_glob
from tailrace.core.replies import ServerStats

_SETTINGS: Final = (
    b"stream-node-max-bytes",
    b"stream-node-max-entries",
    b"stream-idmp-duration",
    b"stream-idmp-maxsize",
)

_NEEDS: Final[Mapping[str, str]] = {
    "stream-idmp-duration": "Redis 8.6",
    "stream-idmp-maxsize": "Redis 8.6",
}


async def flush(link: Link, _engine: Engine, _command: Flush) -> None:
    """Delete all keys of the database, on every master."""
    await link.call_masters([b"FLUSHDB"], is_write=True)


async def server_time(link: Link, _engine: Engine, _command: ServerTime) -> int:
    """Return the time of the engine in Unix milliseconds."""
    seconds, microseconds = map(text, values(await link.call([b"TIME"], key=None, is_write=False)))
    return int(seconds) * 1000 + int(microseconds) // 1000


async def get_config(link: Link, _engine: Engine, command: GetConfig) -> dict[str, int]:
    """Return the settings of streams whose names match; those that the engine lacks are left out."""
    found: dict[str, int] = {}
    globs = [compile_glob(pattern) for pattern in command.patterns]
    for name in _SETTINGS:
        if not any(glob.matches(name) for glob in globs):
            continue
        answer = values(await link.call([b"CONFIG", b"GET", name], key=None, is_write=False))
        if answer:
            found[name.decode()] = int(text(answer[1]))
    return found


async def set_config(link: Link, _engine: Engine, command: SetConfig) -> None:
    """Change settings on every master."""
    words = [b"CONFIG", b"SET"]
    for name, value in command.values:
        words += [name.encode(), b"%d" % value]
    try:
        await link.call_masters(words, is_write=True)
    except EngineError as error:
        if b"Unknown option" not in error.line:
            raise
        newest = next((name for name, _ in command.values if name in _NEEDS), command.values[0][0])
        raise engine_lacks(f"CONFIG SET of {newest}", _NEEDS.get(newest, "Redis 7")) from None


async def server_info(link: Link, _engine: Engine, _command: ServerInfo) -> ServerStats:
    """Return totals over all streams. O(streams + groups), and two commands for each stream."""
    streams = entries = groups = pending = 0
    async for key in stream_keys(link, b"*"):
        words = [[b"XLEN", key], [b"XINFO", b"GROUPS", key]]
        length, infos = await link.call_together(words, key=key, is_write=False)
        if isinstance(length, EngineError) or isinstance(infos, EngineError):
            continue
        streams += 1
        entries += number(length)
        found = visible_groups(group_infos(values(infos)))
        groups += len(found)
        pending += sum(group.pending_count for group in found)
    return ServerStats(streams, entries, groups, pending, now_ms=time.time_ns() // 1_000_000)
