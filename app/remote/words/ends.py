"""What a gateway knows of entries that an engine no longer has: whether a reader has missed some.

An engine records how many entries a stream ever got, and not which of them were trimmed. So the gateway notes
how many there were up to the position where a strict read ended. A reader that continues there has missed
none if the stream still has all that came since. Owns these notes; they are lost with the process.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from typing import Final

from tailrace.app.remote.link.port import EngineError
from tailrace.app.remote.replies.infos import stream_info
from tailrace.app.remote.words.plan import Result, value
from tailrace.core.commands import ReadFrom
from tailrace.core.errors import ErrorCode, StreamError, position_lost
from tailrace.core.replies import Entries, StreamInfo
from tailrace.core.stream_id import ZERO_ID, StreamId, format_id

NOTES_MAX: Final = 20_000
"""Notes of all streams; the oldest ones are forgotten."""


class Ends:
    """How many entries were ever added up to a position of a stream, for the last positions of readers.

    The number may be too small, so that no loss stays unnoticed. It is too large only if the stream was
    deleted and created again since; then it mostly exceeds what the new stream ever had, and does not count.
    """

    def __init__(self) -> None:
        self._added: OrderedDict[tuple[bytes, StreamId], int] = OrderedDict()

    def note(self, key: bytes, after: StreamId, info: StreamInfo, entries: Entries) -> None:
        """Note where a read from `after` ended, which has missed nothing. `info` is older than `entries`.
        O(log entries)."""
        ids = entries.ids
        end = ids[-1] if ids else after
        if end >= info.last_id:
            added = info.entries_added + len(ids) - bisect_right(ids, info.last_id)
        elif info.entries_added == info.length and after < info.first_id:
            added = len(ids)
        elif (key, after) in self._added:
            added = self._added[key, after] + len(ids)
        else:
            return
        self._keep(key, end, added)

    def _keep(self, key: bytes, end: StreamId, added: int) -> None:
        self._added[key, end] = added
        self._added.move_to_end((key, end))
        if len(self._added) > NOTES_MAX:
            self._added.popitem(last=False)

    def require_untrimmed(self, key: bytes, start: StreamId, result: Result) -> StreamInfo | None:
        """Raise POSITION_TRIMMED if entries at or after `start` are gone from the beginning of the stream, or
        may be. `result`: the answer of XINFO STREAM, which is returned; None without the stream. O(1)."""
        if isinstance(result, EngineError) and b"no such key" in result.line:
            return None
        info = stream_info(value(result))
        first_id = info.first_id if info.length else info.last_id + 1
        if start >= first_id:
            return info
        added_before = self._added.get((key, start - 1))
        gone = info.entries_added - (added_before or 0) - info.length
        is_known = added_before is not None and gone >= 0  # a stream that was created again counts from 0
        if not is_known:
            gone = info.entries_added - info.length
        # The greatest deleted id is one of those that are gone.
        is_inner = info.max_deleted_id >= first_id or (not is_known and 0 < info.max_deleted_id < start)
        if gone <= is_inner:
            return info
        self._keep(key, first_id - 1, info.entries_added - info.length)  # where the reader may continue
        raise _trimmed(start, first_id, info, is_sure=is_known and info.max_deleted_id < start)


def require_own_position(source: ReadFrom, after: StreamId, result: Result) -> None:
    """Raise POSITION_TRIMMED where the stream is missing, or its last id is before a position that a reader
    has reached. `result`: the answer of XINFO STREAM. O(1).

    An engine does not tell a stream that was created again from one whose newest entries were lost in a
    failover. So reading continues after the last id, not from the beginning.
    """
    if source.incarnation is None or not after:
        return
    is_missing = isinstance(result, EngineError) and b"no such key" in result.line
    last_id = ZERO_ID if is_missing else stream_info(value(result)).last_id
    if after > last_id:
        raise position_lost(format_id(after), format_id(last_id), format_id(last_id), None)


def _trimmed(start: StreamId, first_id: StreamId, info: StreamInfo, *, is_sure: bool) -> StreamError:
    verb = "were" if is_sure else "may have been"
    details = {} if is_sure else {"certainty": "unknown"}
    return StreamError(
        ErrorCode.POSITION_TRIMMED,
        f"ERR entries from {format_id(start)} on {verb} trimmed, the first is {format_id(first_id)}",
        None,
        first_id=format_id(first_id),
        last_id=format_id(info.last_id),
        **details,
    )
