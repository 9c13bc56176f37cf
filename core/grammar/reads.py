"""XRANGE, XREVRANGE, XLEN, XREAD and XREADGROUP: ranges of entries, and reads after a position.

The bounds of a range are checked before COUNT, and both are checked before the key. XREAD and XREADGROUP have
the same options and the same STREAMS list. XREADGROUP looks for each stream and group before it parses that
stream's id (rule 27), so the command carries a malformed id as `Malformed`. XREAD raises at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.commands import (
    Malformed,
    Range,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    Special,
    StreamLength,
)
from tailrace.core.errors import ErrorCode, StreamError, syntax_error
from tailrace.core.grammar.refusals import invalid_argument, limit_exceeded
from tailrace.core.grammar.request import Parsed, Resp, as_count
from tailrace.core.grammar.shapes import delivered_list, entry_list
from tailrace.core.grammar.words import I64_MAX, Words, checked_name, deferred
from tailrace.core.limits import READ_STREAMS_MAX
from tailrace.core.replies import Entries, RangeReply, ReadReply
from tailrace.core.stream_id import StreamId, parse_id, parse_range_end, parse_range_start


def parse_xrange(words: Words) -> Parsed:
    """``XRANGE key start end [COUNT n]``."""
    key, start, end = words.take_key(), words.take(), words.take()
    return _range(words, key, start, end, reverse=False)


def parse_xrevrange(words: Words) -> Parsed:
    """``XREVRANGE key end start [COUNT n]``."""
    key, end, start = words.take_key(), words.take(), words.take()
    return _range(words, key, start, end, reverse=True)


def _range(words: Words, key: bytes, start: bytes, end: bytes, *, reverse: bool) -> Parsed:
    first = parse_range_start(start)
    last = parse_range_end(end)
    count = _take_count(words)
    command = Range(key, first, last, count, reverse)
    to_resp = _nothing if count == 0 else _entries
    return command, to_resp


def _take_count(words: Words) -> int | None:
    """Read the last COUNT, with 0 for a negative one; None if there is no COUNT."""
    count: int | None = None
    while words.left:
        if not words.take_option(b"count", 1):
            raise syntax_error()
        count = max(words.take_integer(), 0)
    return count


def _entries(reply: RangeReply) -> Resp:
    return entry_list(reply.entries)


def _nothing(reply: RangeReply) -> Resp:
    """Return the reply for COUNT 0: the null array if the stream exists, else an empty array."""
    return None if reply.exists else []


def parse_xlen(words: Words) -> Parsed:
    """``XLEN key``."""
    key = words.take_key()
    return StreamLength(key), as_count


_BLOCK_MS_MAX: Final = I64_MAX - (1 << 42)
"""Redis refuses a deadline that exceeds its signed 64-bit clock. The grammar has no clock: it assumes a
current time up to the year 2109."""


class _ReadOptions:
    """The options before STREAMS. If an option is repeated, the last one counts (rule 23)."""

    def __init__(self, *, grouped: bool) -> None:
        self.count: int | None = None
        self.max_count: int | None = None
        self.max_bytes: int | None = None
        self.block_ms: int | None = None
        self.group: tuple[bytes, bytes] | None = None
        self.claim_min_idle_ms: int | None = None
        self.noack = False
        self._grouped = grouped

    def take(self, words: Words) -> None:
        """Read one option. Raises a syntax error if the next word is not an option."""
        if not (self._take_common(words) or self._take_grouped(words)):
            raise syntax_error()

    def _take_common(self, words: Words) -> bool:
        if words.take_option(b"block", 1):
            self.block_ms = _take_timeout(words)
        elif words.take_option(b"count", 1):
            # 0 or a negative COUNT is no bound here; in XRANGE it returns no entries (rule 23).
            self.count = max(words.take_integer(), 0) or None
        elif words.take_option(b"maxcount", 1):
            self.max_count = _take_positive(words, "MAXCOUNT")
        elif words.take_option(b"maxsize", 1):
            self.max_bytes = _take_positive(words, "MAXSIZE")
        else:
            return False
        return True

    def _take_grouped(self, words: Words) -> bool:
        if words.take_option(b"group", 2):
            self._refuse_in_xread("GROUP")
            self.group = words.take_group(), words.take_consumer()
        elif words.take_option(b"noack"):
            self._refuse_in_xread("NOACK")
            self.noack = True
        elif words.take_option(b"claim", 1):
            self._refuse_in_xread("CLAIM")
            self.claim_min_idle_ms = _take_min_idle(words)
        else:
            return False
        return True

    def _refuse_in_xread(self, option: str) -> None:
        if not self._grouped:
            raise invalid_argument(
                f"The {option} option is only supported by XREADGROUP. You called XREAD instead."
            )

    def limits(self) -> ReadLimits:
        """Return COUNT, MAXCOUNT and MAXSIZE. Raises `StreamError` if they contradict each other (rule
        26)."""
        if self.max_count is not None and self.max_count < (self.count or 0):
            raise invalid_argument("MAXCOUNT must be greater than or equal to COUNT")
        return ReadLimits(self.count, self.max_count, self.max_bytes)


def _take_timeout(words: Words) -> int:
    timeout_ms = words.take_integer("timeout is not an integer or out of range")
    if timeout_ms < 0:
        raise invalid_argument("timeout is negative")
    if timeout_ms > _BLOCK_MS_MAX:
        raise invalid_argument("timeout is out of range")
    return timeout_ms


def _take_positive(words: Words, option: str) -> int:
    value = words.take_integer()
    if value <= 0:
        raise invalid_argument(f"{option} must be a positive integer")
    return value


def _take_min_idle(words: Words) -> int:
    min_idle_ms = words.take_integer("min-idle-time is not an integer or out of range")
    if min_idle_ms < 0:
        raise invalid_argument("min-idle-time must be a positive integer")
    return min_idle_ms


def _take_options(words: Words, *, grouped: bool) -> _ReadOptions:
    options = _ReadOptions(grouped=grouped)
    while not words.take_option(b"streams", 1):
        options.take(words)
    return options


def _take_streams(words: Words, position: str) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Read the keys, and one position for each. `position`: the valid positions, for the error line."""
    keys_and_positions = words.take_rest()
    if len(keys_and_positions) % 2:
        raise StreamError(
            ErrorCode.SYNTAX,
            f"ERR Unbalanced '{words.name}' list of streams: "
            f"for each stream key an {position} must be specified.",
        )
    count = len(keys_and_positions) // 2
    return keys_and_positions[:count], keys_and_positions[count:]


def _checked_keys(keys: Sequence[bytes]) -> tuple[bytes, ...]:
    if len(keys) > READ_STREAMS_MAX:
        raise limit_exceeded(f"a read may name {READ_STREAMS_MAX} streams at most")
    return tuple(checked_name(key, "key") for key in keys)


# --- XREAD -----------------------------------------------------------------------------------------


def parse_xread(words: Words) -> Parsed:
    """``XREAD [COUNT n] [MAXCOUNT n] [MAXSIZE bytes] [BLOCK ms] STREAMS key [key ...] id [id ...]``."""
    options = _take_options(words, grouped=False)
    named, positions = _take_streams(words, "ID, '+', or '$'")
    limits = options.limits()
    keys = _checked_keys(named)
    streams = tuple(map(ReadFrom, keys, map(_read_position, positions)))
    return Read(streams, limits, options.block_ms), _read


def _read_position(raw: bytes) -> StreamId | Special:
    if raw == b"$":
        return Special.LAST_ID
    if raw == b"+":
        return Special.LAST_ENTRY
    if raw == b">":
        raise invalid_argument(
            "The > ID can be specified only when calling XREADGROUP "
            "using the GROUP <group> <consumer> option."
        )
    return parse_id(raw)


def _read(reply: ReadReply) -> Resp:
    """Return the streams that have entries; nil if no stream has any."""
    if reply.is_empty:
        return None
    return [[stream.key, entry_list(stream.entries)] for stream in reply.streams if stream.is_served]


# --- XREADGROUP ------------------------------------------------------------------------------------


def parse_xreadgroup(words: Words) -> Parsed:
    """``XREADGROUP GROUP group consumer [options] STREAMS key [key ...] id [id ...]``.

    Options: COUNT, MAXCOUNT, MAXSIZE, BLOCK as in XREAD, ``CLAIM min-idle-ms`` and NOACK.
    """
    options = _take_options(words, grouped=True)
    named, positions = _take_streams(words, "ID or '>'")
    if options.group is None:
        raise StreamError(ErrorCode.SYNTAX, "ERR Missing GROUP option for XREADGROUP")
    limits = options.limits()
    keys = _checked_keys(named)
    command = ReadGroup(
        *options.group,
        tuple(map(ReadFrom, keys, map(_group_position, positions))),
        limits,
        options.block_ms,
        options.claim_min_idle_ms,
        options.noack,
    )
    to_resp = _read if options.claim_min_idle_ms is None else _read_claiming
    return command, to_resp


def _group_position(raw: bytes) -> StreamId | Special | Malformed:
    if raw == b">":
        return Special.NEW
    if raw in (b"$", b"+"):
        return Malformed(_meaningless(raw.decode()))
    return deferred(lambda: parse_id(raw))


def _meaningless(sign: str) -> StreamError:
    return StreamError(
        ErrorCode.INVALID_ID,
        f"ERR The {sign} ID is meaningless in the context of XREADGROUP: you want to read the history of "
        "this consumer by specifying a proper ID, or use the > ID to get new messages. "
        f"The {sign} ID would just return an empty result set.",
        given=sign,
    )


def _read_claiming(reply: ReadReply) -> Resp:
    """Return the streams as `_read` does, with idle times and delivery counts up to the first history read,
    which ends claiming (rule 39)."""
    if reply.is_empty:
        return None
    streams: list[Resp] = []
    claiming = True
    for stream in reply.streams:
        claiming = claiming and not stream.history
        if stream.is_served:
            streams.append([stream.key, _claimed(stream.entries, claiming=claiming)])
    return streams


def _claimed(entries: Entries, *, claiming: bool) -> Resp:
    return delivered_list(entries) if claiming else entry_list(entries)
