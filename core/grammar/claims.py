"""XCLAIM, XAUTOCLAIM and XPENDING: claim pending entries, and show them (rules 47 to 53).

XCLAIM looks for the group before it reads min-idle and the words after it, so the command carries an error in
them as `Malformed`. The other two commands read all arguments first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.commands import AutoClaim, Claim, ClaimOptions, PendingRange, PendingSummary
from tailrace.core.errors import StreamError, printable, syntax_error
from tailrace.core.grammar.refusals import invalid_argument
from tailrace.core.grammar.request import Parsed, Resp
from tailrace.core.grammar.shapes import entry_list, id_bulk, id_list, optional_id_bulk, row_list
from tailrace.core.grammar.words import I64_MAX, Words, check_id_count, deferred
from tailrace.core.replies import ClaimReply, PendingEntry, PendingSummaryReply
from tailrace.core.stream_id import StreamId, parse_id, parse_range_end, parse_range_start

_AUTOCLAIM_COUNT_MAX: Final = I64_MAX // 16
"""Redis allocates 16 bytes for each id, and the total must fit into its signed 64-bit integer."""

# --- XCLAIM ----------------------------------------------------------------------------------------


def parse_xclaim(words: Words) -> Parsed:
    """``XCLAIM key group consumer min-idle id [id ...] [options]``."""
    key, group, consumer = words.take_key(), words.take_group(), words.take_consumer()
    command = Claim(key, group, consumer, deferred(lambda: _take_claim(words)))
    return command, _claimed


def _take_claim(words: Words) -> ClaimOptions:
    min_idle_ms = max(words.take_integer("Invalid min-idle-time argument for XCLAIM"), 0)
    ids = _take_leading_ids(words)
    check_id_count(len(ids))
    options = _ClaimOptionReader()
    while words.left:
        options.take(words)
    return options.result(min_idle_ms, ids)


def _take_leading_ids(words: Words) -> tuple[StreamId, ...]:
    """Read the ids before the first word that is not an id; that word starts the options (rule 47)."""
    ids: list[StreamId] = []
    while words.left:
        try:
            ids.append(parse_id(words.peek()))
        except StreamError:
            break
        words.take()
    return tuple(ids)


class _ClaimOptionReader:
    """XCLAIM's options. IDLE and TIME set the same value, and the last one counts (rule 50)."""

    def __init__(self) -> None:
        self._idle_ms: int | None = None
        self._delivered_at_ms: int | None = None
        self._retry_count = -1
        self._force = False
        self._just_id = False
        self._last_id: StreamId | None = None

    def take(self, words: Words) -> None:
        """Read one option. Raises `StreamError` if the next word is not an option."""
        if words.take_option(b"force"):
            self._force = True
        elif words.take_option(b"justid"):
            self._just_id = True
        elif words.take_option(b"lastid", 1):
            self._last_id = parse_id(words.take())
        else:
            self._take_number(words)

    def _take_number(self, words: Words) -> None:
        if words.take_option(b"idle", 1):
            self._idle_ms = _take_value(words, "IDLE")
            self._delivered_at_ms = None
        elif words.take_option(b"time", 1):
            self._delivered_at_ms = _take_value(words, "TIME")
            self._idle_ms = None
        elif words.take_option(b"retrycount", 1):
            self._retry_count = _take_value(words, "RETRYCOUNT")
        else:
            raise invalid_argument(f"Unrecognized XCLAIM option '{printable(words.peek())}'")

    def result(self, min_idle_ms: int, ids: tuple[StreamId, ...]) -> ClaimOptions:
        """Return the options as the engine takes them. A negative RETRYCOUNT is ignored (rule 49)."""
        return ClaimOptions(
            min_idle_ms,
            ids,
            self._idle_ms,
            self._delivered_at_ms,
            self._retry_count if self._retry_count >= 0 else None,
            self._force,
            self._just_id,
            self._last_id,
        )


def _take_value(words: Words, option: str) -> int:
    return words.take_integer(f"Invalid {option} option argument for XCLAIM")


def _claimed(reply: ClaimReply) -> Resp:
    return id_list(reply.entries.ids) if reply.just_id else entry_list(reply.entries)


# --- XAUTOCLAIM ------------------------------------------------------------------------------------


def parse_xautoclaim(words: Words) -> Parsed:
    """``XAUTOCLAIM key group consumer min-idle start [COUNT n] [JUSTID]``."""
    key, group, consumer = words.take_key(), words.take_group(), words.take_consumer()
    min_idle_ms = max(words.take_integer("Invalid min-idle-time argument for XAUTOCLAIM"), 0)
    start = parse_range_start(words.take())
    count = 100
    just_id = False
    while words.left:
        if words.take_option(b"count", 1):
            count = words.take_bounded(1, _AUTOCLAIM_COUNT_MAX, "COUNT must be > 0")
        elif words.take_option(b"justid"):
            just_id = True
        else:
            raise syntax_error()
    command = AutoClaim(key, group, consumer, min_idle_ms, start, count, just_id)
    return command, _autoclaimed


def _autoclaimed(reply: ClaimReply) -> Resp:
    return [id_bulk(reply.cursor), _claimed(reply), id_list(reply.deleted_ids)]


# --- XPENDING --------------------------------------------------------------------------------------

_RANGE_WORDS: Final = range(3, 7)
"""How many words may follow key and group: start, end and count, optionally IDLE min-idle and a consumer."""


def parse_xpending(words: Words) -> Parsed:
    """``XPENDING key group [[IDLE min-idle] start end count [consumer]]`` (rule 53)."""
    key, group = words.take_key(), words.take_group()
    if not words.left:
        return PendingSummary(key, group), _summary
    if words.left not in _RANGE_WORDS:
        raise syntax_error()
    min_idle_ms = _take_pending_idle(words)
    start, end = words.take(), words.take()
    count = max(words.take_integer(), 0)
    command = PendingRange(
        key,
        group,
        parse_range_start(start),
        parse_range_end(end),
        count,
        min_idle_ms,
        words.take_consumer() if words.left else None,
    )
    return command, _pending


def _take_pending_idle(words: Words) -> int:
    if not words.take_option(b"idle"):
        return 0
    min_idle_ms = words.take_integer()
    if words.left < _RANGE_WORDS.start:
        raise syntax_error()
    return min_idle_ms


def _summary(reply: PendingSummaryReply) -> Resp:
    consumers: list[Resp] = [[name, b"%d" % count] for name, count in reply.consumers]
    return [
        reply.count,
        optional_id_bulk(reply.min_id),
        optional_id_bulk(reply.max_id),
        consumers if reply.count else None,
    ]


def _pending(reply: Sequence[PendingEntry]) -> Resp:
    """Return the rows of XPENDING. An unowned entry has an empty consumer name, and its idle time is -1."""
    return row_list(reply, _pending_row)


def _pending_row(entry: PendingEntry) -> Resp:
    return [id_bulk(entry.id), entry.consumer or b"", entry.idle_ms, entry.deliveries]
