"""XRANGE, XREVRANGE and XLEN.

The bounds are checked before COUNT, and both are checked before the key.
"""

from __future__ import annotations

from tailrace.core.commands import Range, StreamLength
from tailrace.core.errors import syntax_error
from tailrace.core.grammar.request import Parsed, Resp, as_count
from tailrace.core.grammar.shapes import entry_list
from tailrace.core.grammar.words import Words
from tailrace.core.replies import RangeReply
from tailrace.core.stream_id import parse_range_end, parse_range_start


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
