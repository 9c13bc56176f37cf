"""Lists of streams: SCAN over all masters, with the type filtered by the engine.

An engine keeps its keys in no order, so a page of streams in byte order needs a SCAN over all keys: O(keys) a
page. Keys that the gateway keeps for itself are left out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from heapq import nsmallest
from typing import Final

from tailrace.app.remote.functions.names import is_reserved
from tailrace.app.remote.link.port import EngineError, Link, Resp
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import text, value, values
from tailrace.app.remote.words.table import plan_of
from tailrace.core.commands import InfoStream, KeyspaceSize, Listing, ListStreams, MatchKeys, ScanKeys
from tailrace.core.glob import compile_glob
from tailrace.core.limits import SCAN_COUNT_MAX
from tailrace.core.replies import KeyScan, StreamInfo, StreamList, StreamSummary
from tailrace.core.scan_order import first_of, in_order, joined, scan_position

_STEP: Final = b"1000"
"""Keys that one SCAN of a list examines."""

_NODES: Final = 1_024
"""A cursor of SCAN has the number of the node in its lowest part, so that a scan of a Cluster needs no
state."""


async def list_streams(link: Link, engine: Engine, command: ListStreams) -> StreamList:
    """Return a page of streams in byte order of their keys."""
    after = command.start_after
    is_visible = _visible(command)
    found = [
        key
        async for key in stream_keys(link, _escaped(command.prefix) + b"*")
        if (after is None or key > after) and is_visible(key)
    ]
    if command.limit is None:
        page, more = sorted(found), False
    else:
        page = nsmallest(command.limit, found)
        more = len(found) > command.limit
    summaries = [await _summary(link, engine, key) for key in page]
    return StreamList([each for each in summaries if each is not None], more)


async def _summary(link: Link, engine: Engine, key: bytes) -> StreamSummary | None:
    """Return the row of a stream; None if it was deleted meanwhile."""
    plan = plan_of(engine, InfoStream(key))
    assert plan is not None
    try:
        info = plan.read(await link.call_together(plan.commands, key=key, is_write=False))
    except EngineError:
        return None
    assert isinstance(info, StreamInfo)
    return StreamSummary(key, info.length, info.last_id, info.entries_added, info.group_count)


async def count_streams(link: Link, _engine: Engine, command: KeyspaceSize) -> int:
    """Return how many streams there are."""
    is_visible = _visible(command)
    return sum([1 async for key in stream_keys(link, b"*") if is_visible(key)])


async def match_keys(link: Link, _engine: Engine, command: MatchKeys) -> list[bytes]:
    """Return the streams that a pattern matches, in byte order."""
    is_visible = _visible(command)
    return sorted([key async for key in stream_keys(link, command.pattern) if is_visible(key)])


async def scan_keys(link: Link, _engine: Engine, command: ScanKeys) -> KeyScan:
    """Run one step of SCAN, on one node; for a token that may not see all keys, over all of them."""
    if command.visible is not None:
        return await _scan_visible(link, command)
    masters = link.masters()
    cursor, number = divmod(command.cursor, _NODES)
    if number >= len(masters):
        return KeyScan(0, [])
    count = min(max(command.count, 1), SCAN_COUNT_MAX)
    address = masters[number].address
    following, keys = await _scan(link, address, b"%d" % cursor, command.pattern or b"*", b"%d" % count)
    if following != b"0":
        return KeyScan(int(following) * _NODES + number, list(keys))
    return KeyScan(number + 1 if number + 1 < len(masters) else 0, list(keys))


async def _scan_visible(link: Link, command: ScanKeys) -> KeyScan:
    """Run one step of SCAN as `core` does, in the order of a hash of the key: the engine's own cursor depends
    on keys that the token may not see. O(keys of the engine)."""
    is_visible, glob = _visible(command), compile_glob(command.pattern or b"*")
    visible = [key async for key in stream_keys(link, b"*") if is_visible(key)]
    positions = {key: at for key in visible if (at := scan_position(key)) >= command.cursor}
    runs, cursor = first_of([positions], min(max(command.count, 1), SCAN_COUNT_MAX))
    return KeyScan(cursor, [key for key in in_order(positions, joined(runs)) if glob.matches(key)])


async def stream_keys(link: Link, pattern: bytes) -> AsyncIterator[bytes]:
    """Yield each stream that the pattern matches, once."""
    seen: set[bytes] = set()
    for master in link.masters():
        cursor = b"0"
        while True:
            cursor, keys = await _scan(link, master.address, cursor, pattern, _STEP)
            for key in keys:
                if key not in seen:
                    seen.add(key)
                    yield key
            if cursor == b"0":
                break


async def _scan(
    link: Link, address: str, cursor: bytes, pattern: bytes, count: bytes
) -> tuple[bytes, Sequence[bytes]]:
    words = [b"SCAN", cursor, b"MATCH", pattern, b"COUNT", count, b"TYPE", b"stream"]
    answer = values(await link.call_node(address, words, is_write=False))
    return text(answer[0]), [key for key in map(_name, values(answer[1])) if not is_reserved(key)]


def _name(answer: Resp) -> bytes:
    return text(value(answer))


def _visible(command: Listing) -> Callable[[bytes], bool]:
    if command.visible is None:
        return lambda _: True
    globs = [compile_glob(pattern) for pattern in command.visible]
    return lambda key: any(glob.matches(key) for glob in globs)


def _escaped(prefix: bytes) -> bytes:
    r"""Return the prefix as a pattern that matches it alone."""
    return b"".join(b"\\" + bytes([each]) if each in b"*?[]\\^-" else bytes([each]) for each in prefix)
