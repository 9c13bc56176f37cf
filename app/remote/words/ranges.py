"""XRANGE, XREVRANGE and XLEN in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from tailrace.app.remote.replies.shapes import entries_of
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan, Result, Words, last, number, values
from tailrace.app.remote.words.spelling import id_word, number_word
from tailrace.core.bounds.reply_room import ITEM_BYTES, ReplyRoom
from tailrace.core.commands import Range, StreamLength
from tailrace.core.limits import REPLY_BYTES_MAX
from tailrace.core.replies import Entries, RangeReply
from tailrace.core.stream_id import StreamId

ENTRIES_MAX: Final = REPLY_BYTES_MAX // ITEM_BYTES
"""More entries fit into no reply."""


def length(command: StreamLength) -> Plan:
    """XLEN."""
    return Plan([[b"XLEN", command.key]], last(number), command.key)


def read_range(engine: Engine, command: Range) -> Plan:
    """XRANGE or XREVRANGE. One entry more than wanted shows whether the range continues."""
    key = command.key
    most = ENTRIES_MAX if command.count is None else min(max(command.count, 0), ENTRIES_MAX)
    commands = [[b"EXISTS", key], range_words(command, command.start, command.end, most + 1)]
    if command.strict:
        commands.append([b"XINFO", b"STREAM", key])
    return Plan(commands, partial(_range_reply, engine, command, most), key)


def range_words(command: Range, start: StreamId, end: StreamId, count: int) -> Words:
    """Return the words of one page of the range."""
    low, high = id_word(start), id_word(end)
    if command.reverse:
        return [b"XREVRANGE", command.key, high, low, b"COUNT", number_word(count)]
    return [b"XRANGE", command.key, low, high, b"COUNT", number_word(count)]


def _range_reply(engine: Engine, command: Range, most: int, results: Sequence[Result]) -> RangeReply:
    if command.strict:
        engine.ends.require_untrimmed(command.key, command.start, results[2])
    rows = values(results[1])
    more = len(rows) > most
    entries = entries_of(rows[:most])
    exists = bool(rows) or bool(number(results[0]))
    if command.max_bytes is None:
        ReplyRoom().charge_entries(entries.fragments)
        if more and command.count is None:
            raise ReplyRoom().refusal()
        return RangeReply(entries, more, exists)
    kept = fitting(entries, command.max_bytes)
    return RangeReply(kept, more or len(kept) < len(entries), exists)


def fitting(entries: Entries, max_bytes: int) -> Entries:
    """Return the first entries, up to the one whose stored bytes reach the sum `max_bytes`. O(entries)."""
    left_bytes = max_bytes
    for count, fragment in enumerate(entries.fragments, 1):
        left_bytes -= len(fragment or b"")
        if left_bytes <= 0:
            return entries.first(count)
    return entries
