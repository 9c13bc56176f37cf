"""Plans for parallel reads, `entries:split` and `entries:seek`: where parts of about equal length begin.

An engine has no index that counts entries, so the library walks over them, a bounded number in each call.
The engine serves other clients in between. A range that is too long to walk is split by time; its counts are
estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.app.remote.functions.call import Call, id_word, number, stream_id
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.link.port import Link, Resp
from tailrace.core.commands import SeekRange, SplitRange
from tailrace.core.replies import Boundary, SeekReply, SplitReply
from tailrace.core.stream_id import MAX_ID, StreamId

STEP_ENTRIES: Final = 2_000
"""Entries that one call walks over: a few milliseconds of the engine."""

WALK_ENTRIES_MAX: Final = 200_000
"""Entries of a range that is split exactly; a longer one is split by time."""


def walk(key: bytes, start: StreamId, end: StreamId) -> Call[Sequence[StreamId]]:
    """Walk over up to `STEP_ENTRIES` entries from `start`: reply their ids."""
    arguments = [id_word(start), id_word(end), b"%d" % STEP_ENTRIES]
    return Call(b"walk", (key,), arguments, "read", _walked)


def _walked(answer: Resp) -> Sequence[StreamId]:
    return list(map(stream_id, accepted(answer)))


async def seek(link: Link, library: Library, command: SeekRange, incarnation: str | None) -> SeekReply:
    """Find the end of a page of `count` entries. O(count), in steps."""
    left, start, end = command.count, command.start, None
    while left > 0:
        ids = await _step(link, library, command.key, start, MAX_ID)
        if not ids:
            break
        taken = ids[:left]
        left, end, start = left - len(taken), taken[-1], taken[-1] + 1
        if start > MAX_ID:
            break
    return SeekReply(end, command.count - left, incarnation)


async def _step(
    link: Link, library: Library, key: bytes, start: StreamId, end: StreamId
) -> Sequence[StreamId]:
    return await library.run(link, walk(key, start, end))


async def split(link: Link, library: Library, command: SplitRange, incarnation: str | None) -> SplitReply:
    """Split a range into parts of about equal length. O(entries), in steps, up to `WALK_ENTRIES_MAX`
    entries."""
    if command.start > command.end:
        return SplitReply((), 0, incarnation)
    ids: list[StreamId] = []
    start = command.start
    while start <= command.end and len(ids) < WALK_ENTRIES_MAX:
        found = await _step(link, library, command.key, start, command.end)
        if not found:
            return _exact(command, ids, incarnation)
        ids += found
        start = found[-1] + 1
    if start > command.end:
        return _exact(command, ids, incarnation)
    total = number(await link.call([b"XLEN", command.key], key=command.key, is_write=False))
    return _by_time(command, ids, await _last_id(link, command), total, incarnation)


async def _last_id(link: Link, command: SplitRange) -> StreamId:
    words = [b"XREVRANGE", command.key, id_word(command.end), id_word(command.start), b"COUNT", b"1"]
    rows = await link.call(words, key=command.key, is_write=False)
    assert isinstance(rows, list)
    return stream_id(rows[0][0]) if rows else command.end  # type: ignore[index, arg-type]


def _exact(command: SplitRange, ids: Sequence[StreamId], incarnation: str | None) -> SplitReply:
    """Cut the known ids into parts whose counts differ by one at most."""
    count = len(ids)
    parts = max(min(command.parts, count), 1)
    cuts = [count * part // parts for part in range(parts)]
    starts = [command.start, *(ids[cut] for cut in cuts[1:])]
    sizes = [high - low for low, high in zip(cuts, [*cuts[1:], count], strict=True)]
    return SplitReply(_boundaries(starts, command.end, sizes), count, incarnation)


def _by_time(
    command: SplitRange, ids: Sequence[StreamId], last_id: StreamId, total: int, incarnation: str | None
) -> SplitReply:
    """Cut the span of ids into equal parts. The count is the stream's length, an upper bound of the
    range's."""
    first = ids[0]
    parts = command.parts
    starts = [command.start, *(first + (last_id - first) * part // parts for part in range(1, parts))]
    sizes = [total * (part + 1) // parts - total * part // parts for part in range(parts)]
    return SplitReply(_boundaries(starts, command.end, sizes), total, incarnation)


def _boundaries(starts: Sequence[StreamId], end: StreamId, sizes: Sequence[int]) -> tuple[Boundary, ...]:
    ends = [*(start - 1 for start in starts[1:]), end]
    return tuple(map(Boundary, starts, ends, sizes))
