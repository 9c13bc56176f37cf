"""XRANGE, XREVRANGE, XLEN and XREAD in words, and what XREADGROUP shares with XREAD: limits, and the streams
of an answer.

All streams of one plan are in one slot; `app.remote.readers` divides a read that names several. A waiting
read is never sent with BLOCK: the readers wait, and the engine only looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from tailrace.app.remote.link.port import EngineError, Resp
from tailrace.app.remote.replies.infos import stream_info
from tailrace.app.remote.replies.shapes import entries_of
from tailrace.app.remote.words.ends import require_own_position
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import Plan, Result, Words, last, number, value, values
from tailrace.app.remote.words.spelling import id_word, number_word, option
from tailrace.core.bounds.reply_room import ITEM_BYTES, ReplyRoom
from tailrace.core.commands import Malformed, Range, Read, ReadFrom, ReadLimits, Special, StreamLength
from tailrace.core.limits import READ_ENTRIES_MAX, REPLY_BYTES_MAX
from tailrace.core.replies import NO_ENTRIES, Entries, RangeReply, ReadReply, StreamRead
from tailrace.core.stream_id import ZERO_ID, StreamId

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


def limit_words(limits: ReadLimits, *, has_max_count: bool) -> Words:
    """Return COUNT, and MAXCOUNT and MAXSIZE if the engine has them. Without them COUNT bounds each
    stream."""
    bounds = [each for each in (limits.count, limits.max_count) if each is not None]
    count = min([*bounds, READ_ENTRIES_MAX])
    words = option(b"COUNT", count)
    if not has_max_count:
        return words
    words += option(b"MAXCOUNT", max(limits.max_count or READ_ENTRIES_MAX, count))
    return words + option(b"MAXSIZE", size_max(limits))


def size_max(limits: ReadLimits) -> int:
    """Return the limit on the bytes of a read; a read without one is bounded by the reply."""
    return min(each for each in (limits.max_bytes, limits.page_bytes, REPLY_BYTES_MAX) if each is not None)


def read(engine: Engine, command: Read) -> Plan:
    """XREAD without BLOCK, and a look at the stream of each position that is not an id."""
    has_max_count = engine.capabilities.read_budgets.is_native
    looks = [look for source in command.streams for look in _looks(command, source)]
    positioned = [source for source in command.streams if not isinstance(source.after, Special)]
    commands = list(looks)
    if positioned:
        commands.append(
            [
                b"XREAD",
                *limit_words(command.limits, has_max_count=has_max_count),
                b"STREAMS",
                *(source.key for source in positioned),
                *(id_word(_plain(source)) for source in positioned),
            ]
        )
    answers = _ReadAnswers(engine, command, has_read=bool(positioned))
    return Plan(commands, answers.reply, command.streams[0].key)


def _plain(source: ReadFrom) -> StreamId:
    after = source.after
    assert isinstance(after, int)
    return after


def _looks(command: Read, source: ReadFrom) -> list[Words]:
    """Return the words that resolve a position, or that tell whether entries after it were trimmed."""
    if source.after is Special.LAST_ENTRY:
        return [[b"XREVRANGE", source.key, b"+", b"-", b"COUNT", b"1"]]
    if source.after is Special.LAST_ID or command.strict or source.incarnation is not None:
        return [[b"XINFO", b"STREAM", source.key]]
    return []


class _ReadAnswers:
    """Reads the answers to the looks and to XREAD, in their order."""

    def __init__(self, engine: Engine, command: Read, *, has_read: bool) -> None:
        self._ends = engine.ends
        self._command = command
        self._has_read = has_read

    def reply(self, results: Sequence[Result]) -> ReadReply:
        """Return the reply: one result for each stream of the command."""
        rows = values(results[-1]) if self._has_read else []
        served = Served(rows)
        looks = iter(results)
        return ReadReply([self._stream(source, looks, served) for source in self._command.streams])

    def _stream(self, source: ReadFrom, looks: Iterator[Result], served: Served) -> StreamRead:
        after = source.after
        assert not isinstance(after, Malformed)
        if after is Special.LAST_ENTRY:
            newest = entries_of(values(next(looks)))
            return StreamRead(source.key, newest, next=newest.ids[0] if newest.ids else ZERO_ID)
        if after is Special.LAST_ID:
            return StreamRead(source.key, NO_ENTRIES, next=_last_id(next(looks)))
        assert isinstance(after, int)
        info = None
        if self._command.strict or source.incarnation is not None:
            look = next(looks)
            require_own_position(source, after, look)
            if self._command.strict:
                info = self._ends.require_untrimmed(source.key, after + 1, look)
        entries = served.take(source.key, after)
        if info is not None:
            self._ends.note(source.key, after, info, entries or NO_ENTRIES)
        if entries is None:
            return StreamRead(source.key, NO_ENTRIES, next=after)
        following = entries.ids[-1] if entries.ids else after
        return StreamRead(source.key, entries, next=following, cut=not entries.ids)


def _last_id(result: Result) -> StreamId:
    if isinstance(result, EngineError) and b"no such key" in result.line:
        return ZERO_ID
    return stream_info(value(result)).last_id


class Served:
    """The streams of an answer, in order; streams without entries are absent."""

    def __init__(self, rows: Sequence[Resp]) -> None:
        self._rows = list(rows)

    def take(self, key: bytes, after: StreamId = -1) -> Entries | None:
        """Return the entries of the stream if the answer has it next, else None.

        A read may name a stream twice, so entries at or before `after` belong to a later one."""
        if not self._rows:
            return None
        row = self._rows[0]
        assert isinstance(row, list)
        if row[0] != key:
            return None
        entries = entries_of(values(row[1]))
        if entries.ids and entries.ids[0] <= after:
            return None
        del self._rows[0]
        return entries
