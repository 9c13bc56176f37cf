"""What a gateway knows of entries that an engine no longer has: whether a reader has missed some.

An engine records how many entries a stream ever got, and not which of them were trimmed. So the gateway notes
how many there were when a read reached the end of the stream. A reader that continues there has missed none
if the stream still has all that came since. Owns these notes; they are lost with the process.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tailrace.app.remote.link.port import EngineError
from tailrace.app.remote.replies.infos import stream_info
from tailrace.app.remote.words.plan import Result, value
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.replies import StreamInfo
from tailrace.core.stream_id import StreamId, format_id

STREAMS_MAX: Final = 10_000
"""Streams with a note; the ones that were read least recently are forgotten."""


class Ends:
    """For each stream the last end that a read reached, and how many entries were ever added up to it."""

    def __init__(self) -> None:
        self._ends: OrderedDict[bytes, tuple[StreamId, int]] = OrderedDict()

    def note(self, key: bytes, end: StreamId, added: int) -> None:
        """Note that `added` entries were ever added up to `end`. O(1)."""
        self._ends[key] = end, added
        self._ends.move_to_end(key)
        if len(self._ends) > STREAMS_MAX:
            self._ends.popitem(last=False)

    def require_untrimmed(self, key: bytes, start: StreamId, result: Result) -> StreamInfo | None:
        """Raise POSITION_TRIMMED if entries at or after `start` are gone from the beginning of the stream, or
        may be. `result`: the answer of XINFO STREAM, which is returned; None without the stream. O(1)."""
        if isinstance(result, EngineError) and b"no such key" in result.line:
            return None
        info = stream_info(value(result))
        first_id = info.first_id if info.length else info.last_id + 1
        if start >= first_id:
            return info
        end, added_before = self._ends.get(key, (None, 0))
        gone = info.entries_added - added_before - info.length
        is_known = end == start - 1 and gone >= 0  # a stream that was created again counts from 0
        if not is_known:
            gone = info.entries_added - info.length
        # The greatest deleted id is one of those that are gone.
        is_inner = info.max_deleted_id >= first_id or (not is_known and 0 < info.max_deleted_id < start)
        if gone <= is_inner:
            return info
        raise _trimmed(start, first_id, info, is_known=is_known)


def _trimmed(start: StreamId, first_id: StreamId, info: StreamInfo, *, is_known: bool) -> StreamError:
    verb = "were" if is_known else "may have been"
    details = {} if is_known else {"certainty": "unknown"}
    return StreamError(
        ErrorCode.POSITION_TRIMMED,
        f"ERR entries from {format_id(start)} on {verb} trimmed, the first is {format_id(first_id)}",
        None,
        first_id=format_id(first_id),
        last_id=format_id(info.last_id),
        **details,
    )
