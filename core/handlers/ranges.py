"""XRANGE, XREVRANGE, XLEN, and what plans with the block index: split and seek."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.bounds.reply_room import entries_bytes
from tailrace.core.commands import SOME_INCARNATION, Range, ReadFrom, SeekRange, SplitRange, StreamLength
from tailrace.core.errors import ErrorCode, StreamError, position_lost
from tailrace.core.execution import Execution
from tailrace.core.log.id_sequence import as_run
from tailrace.core.replies import Boundary, Entries, RangeReply, SeekReply, SplitReply
from tailrace.core.stream import Stream
from tailrace.core.stream_id import ZERO_ID, StreamId, format_id


def read_range(execution: Execution, command: Range) -> RangeReply:
    """Live entries between two ids, both included. O(log n + m)."""
    stream = execution.stream(command.key)
    if stream is None:
        return RangeReply(Entries((), ()), exists=False)
    if command.strict:
        require_untrimmed(stream, command.start)
    incarnation = execution.incarnation(stream)
    if command.max_bytes is None:
        return RangeReply(*exact_entries(execution, stream, command), incarnation=incarnation)
    entries, more = _entries(stream, command, command.count, command.max_bytes)
    more = more or _are_followed(stream, command, entries.ids)
    return RangeReply(entries, more, incarnation=incarnation)


def exact_entries(execution: Execution, stream: Stream, command: Range) -> tuple[Entries, bool]:
    """Return the entries of a range, and whether the range has more entries than `count`.

    Raises REPLY_TOO_LARGE if they do not fit. It stops reading as soon as this is certain, and reads nothing
    if the sizes of the blocks show it.
    """
    room = execution.room()
    most = smaller(command.count, room.items_left + 1)
    is_more = command.count is None or command.count > room.items_left
    if is_more and stream.log.has_more_than(room.items_left, command.start, command.end):
        raise room.refusal()
    bounds = (command.start, command.end, most)
    if stream.log.surely_exceeds(room.left_bytes, *bounds, reverse=command.reverse):
        room.charge(max(room.left_bytes, 0) + 1)
    entries, more = _entries(stream, command, most, room.left_bytes + 1)
    size_bytes = entries_bytes(entries.fragments)
    is_cut = len(entries) == 1 != command.count and size_bytes > room.left_bytes
    if is_cut and _are_followed(stream, command, entries.ids):
        room.charge(size_bytes)
    room.charge_measured(len(entries), size_bytes)
    return entries, more


def _entries(stream: Stream, command: Range, count: int | None, max_bytes: int) -> tuple[Entries, bool]:
    wanted = None if count is None else count + 1
    ids: Sequence[StreamId]
    ids, fragments = stream.log.range(
        command.start, command.end, wanted, reverse=command.reverse, max_bytes=max_bytes
    )
    if not command.reverse:
        ids = as_run(ids)
    if count is not None and len(ids) > count:
        return Entries(ids[:count], fragments[:count]), True
    return Entries(ids, fragments), False


def smaller(one: int | None, other: int | None) -> int | None:
    """Return the smaller of two bounds. None means no bound."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _are_followed(stream: Stream, command: Range, ids: Sequence[StreamId]) -> bool:
    """Return whether the range has entries after `ids`, the page that a limit on bytes may have ended."""
    if not ids:
        return False
    if command.reverse:
        rest = stream.log.range(command.start, ids[-1] - 1, 1)
    else:
        rest = stream.log.range(ids[-1] + 1, command.end, 1)
    return bool(rest[0])


def require_untrimmed(stream: Stream, start: StreamId) -> None:
    """Raise POSITION_TRIMMED where an entry at or after `start` was trimmed away; deleted ones are no
    loss to a reader. The details say where the stream begins now."""
    if not stream.max_trimmed_id or start > stream.max_trimmed_id:
        return
    first_id = stream.first_id or stream.last_id + 1
    raise StreamError(
        ErrorCode.POSITION_TRIMMED,
        f"ERR entries from {format_id(start)} on were trimmed, the first is {format_id(first_id)}",
        first_id=format_id(first_id),
        last_id=format_id(stream.last_id),
    )


def require_own_position(execution: Execution, source: ReadFrom, after: StreamId) -> None:
    """Raise POSITION_TRIMMED where `after` was reached in another stream than the one under the key now: see
    `ReadFrom.incarnation`. The beginning belongs to every stream. O(1)."""
    known, stream = source.incarnation, execution.stream(source.key)
    if known is None or not after:
        return
    if stream is None:
        raise position_lost(format_id(after), format_id(ZERO_ID), format_id(ZERO_ID), None)
    incarnation = execution.incarnation(stream)
    if known != incarnation and (known != SOME_INCARNATION or after > stream.last_id):
        before_all = format_id(max(stream.first_id - 1, ZERO_ID) if stream.first_id else ZERO_ID)
        raise position_lost(format_id(after), before_all, format_id(stream.last_id), incarnation)


def stream_length(execution: Execution, command: StreamLength) -> int:
    """XLEN; 0 for a missing stream. O(1)."""
    stream = execution.stream(command.key)
    return 0 if stream is None else stream.length


def split_range(execution: Execution, command: SplitRange) -> SplitReply:
    """Cut a range into parts of equal counts (they differ by one at most). O(parts log blocks), and
    O(blocks) the first time and after removals in the middle of the stream."""
    stream = execution.stream(command.key)
    incarnation = execution.incarnation(stream)
    if command.start > command.end:
        return SplitReply((), 0, incarnation)
    if stream is None:
        return SplitReply((Boundary(command.start, command.end, 0),), 0)
    low = stream.log.rank(command.start)
    count = stream.log.rank(command.end + 1) - low
    parts = max(min(command.parts, count), 1)
    cuts = [low + count * part // parts for part in range(parts)]
    starts = [command.start, *stream.log.at_ranks(cuts[1:])]
    ends = [*(start - 1 for start in starts[1:]), command.end]
    sizes = [high - low for low, high in zip(cuts, [*cuts[1:], low + count], strict=True)]
    return SplitReply(tuple(map(Boundary, starts, ends, sizes)), count, incarnation)


def seek_range(execution: Execution, command: SeekRange) -> SeekReply:
    """The id of the last entry of a page of `count` entries from `start` on.

    O(log blocks), as in `split_range`.
    """
    stream = execution.stream(command.key)
    if stream is None:
        return SeekReply(None, 0)
    incarnation = execution.incarnation(stream)
    low = stream.log.rank(command.start)
    count = min(command.count, stream.length - low)
    if count <= 0:
        return SeekReply(None, 0, incarnation)
    return SeekReply(stream.log.at_ranks([low + count - 1])[0], count, incarnation)
