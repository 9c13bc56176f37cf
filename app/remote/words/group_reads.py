"""XREADGROUP in words.

All streams of one plan are in one slot. A waiting read is never sent with BLOCK.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tailrace.app.remote.functions.hidden import visible_entry
from tailrace.app.remote.link.port import EngineError, Resp
from tailrace.app.remote.replies.infos import group_infos, pending_entries
from tailrace.app.remote.words.pending import group_look
from tailrace.app.remote.words.plan import Plan, Result, Words, value, values
from tailrace.app.remote.words.reads import Served, limit_words
from tailrace.app.remote.words.spelling import id_word, number_word, option
from tailrace.core.commands import Malformed, ReadFrom, ReadGroup, Special
from tailrace.core.id_keys import table_of
from tailrace.core.limits import READ_ENTRIES_MAX
from tailrace.core.replies import NO_ENTRIES, Entries, ReadReply, StreamRead
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId

UNKNOWN_NEXT: Final[StreamId] = -1
"""The position of a group after a read that does not show it."""


def group_words(command: ReadGroup, *, has_max_count: bool) -> Words:
    """Return XREADGROUP without BLOCK."""
    words = [b"XREADGROUP", b"GROUP", command.group, command.consumer]
    words += limit_words(command.limits, has_max_count=has_max_count)
    if command.noack:
        words.append(b"NOACK")
    words += option(b"CLAIM", command.claim_min_idle_ms)
    words += [b"STREAMS", *(source.key for source in command.streams)]
    return words + [_group_position(source) for source in command.streams]


def _group_position(source: ReadFrom) -> bytes:
    assert not isinstance(source.after, Malformed)
    return b">" if is_new(source) else id_word(source.after)  # type: ignore[arg-type] # not special


def is_new(source: ReadFrom) -> bool:
    """Whether the read asks for new entries; the greatest id does, too."""
    return source.after is Special.NEW or source.after == MAX_ID


def read_group(command: ReadGroup, *, has_max_count: bool) -> Plan:
    """XREADGROUP without BLOCK. A read of the consumer's history shows idle times and deliveries, which
    XPENDING tells before the read changes them."""
    key = command.streams[0].key
    bad = malformed(command)
    if bad is not None:
        return _refused(command, bad)
    histories = [source for source in command.streams if not is_new(source)]
    looks = [_history_words(command, source) for source in histories]
    commands = [*looks, group_words(command, has_max_count=has_max_count)]
    return Plan(
        commands,
        lambda results: group_reply(command, values(results[-1]), results[:-1]),
        key,
        is_write=True,
        is_atomic=bool(looks),
    )


def _history_words(command: ReadGroup, source: ReadFrom) -> Words:
    assert isinstance(source.after, int)
    limits = command.limits
    bounds = [each for each in (limits.count, limits.max_count) if each is not None]
    count = min([*bounds, READ_ENTRIES_MAX])
    start = id_word(source.after + 1)
    return [b"XPENDING", source.key, command.group, start, b"+", number_word(count), command.consumer]


def malformed(command: ReadGroup) -> Malformed | None:
    """Return the first malformed position of the read."""
    return next((each.after for each in command.streams if isinstance(each.after, Malformed)), None)


def _refused(command: ReadGroup, bad: Malformed) -> Plan:
    """Return the plan of a read with a malformed id: a missing group of a stream before it is the first
    error."""
    names = []
    for source in command.streams:
        names.append(group_look(source.key, command.group))
        if source.after is bad:
            break

    def refuse(results: Sequence[Result]) -> None:
        for result in results:
            value(result)
        raise bad.error

    return Plan(names, refuse, command.streams[0].key)


def group_reply(command: ReadGroup, rows: Sequence[Resp], pending: Sequence[Result] = ()) -> ReadReply:
    """Return the reply of XREADGROUP. `pending`: the rows of XPENDING for each history."""
    served = Served(rows)
    histories = iter(pending)
    return ReadReply([_group_stream(command, source, served, histories) for source in command.streams])


def _group_stream(
    command: ReadGroup, source: ReadFrom, served: Served, histories: Iterator[Result]
) -> StreamRead:
    entries = served.take(source.key)
    if is_new(source):
        if entries is None:
            return StreamRead(source.key, NO_ENTRIES, next=UNKNOWN_NEXT, new=True)
        return StreamRead(
            source.key, entries, next=_next_new(command, entries), new=True, cut=not entries.ids
        )
    after = source.after
    assert isinstance(after, int)
    shown = next(histories, None)
    if entries is None:  # the limits of the read were reached before this stream
        return StreamRead(source.key, NO_ENTRIES, next=after)
    found = _with_times(entries, values(shown)) if isinstance(shown, list) else entries
    return StreamRead(source.key, found, next=found.ids[-1] if found.ids else after, history=True)


def _next_new(command: ReadGroup, entries: Entries) -> StreamId:
    """Return the position of the group after the read. Claimed entries do not show it."""
    if not entries.ids:
        return UNKNOWN_NEXT
    if command.claim_min_idle_ms is None:
        return entries.ids[-1]
    is_last_new = entries.deliveries is None or entries.deliveries[-1] == 0
    return entries.ids[-1] if is_last_new else UNKNOWN_NEXT


def _with_times(entries: Entries, rows: Sequence[Resp]) -> Entries:
    pending = pending_entries(rows, 0)
    known = table_of([each.id for each in pending], map(visible_entry, pending))
    if any(value not in known for value in entries.ids):
        return entries
    shown = [known[value] for value in entries.ids]
    return Entries(
        entries.ids, entries.fragments, [each.idle_ms for each in shown], [each.deliveries for each in shown]
    )


def positions(command: ReadGroup, reply: ReadReply) -> Plan | None:
    """Return the plan that completes the positions that the engine's reply does not show; None if a client
    sees none of them. All streams are in one slot.

    Only a page shows the position of a stream without entries.
    """
    is_page = command.limits.page_bytes is not None
    missing = [read for read in reply.streams if read.next == UNKNOWN_NEXT]
    unknown = list(dict.fromkeys(read.key for read in missing if is_page or read.entries.ids))
    if not unknown:
        return None

    def complete(results: Sequence[Result]) -> ReadReply:
        found = dict(zip(unknown, results, strict=True))
        return ReadReply([_completed(read, command.group, found) for read in reply.streams])

    return Plan([[b"XINFO", b"GROUPS", key] for key in unknown], complete, unknown[0])


def _completed(read: StreamRead, group: bytes, found: dict[bytes, Result]) -> StreamRead:
    if read.next != UNKNOWN_NEXT or read.key not in found:
        return read
    result = found[read.key]
    infos = [] if isinstance(result, EngineError) else group_infos(values(result))
    place = next((info.last_delivered_id for info in infos if info.name == group), ZERO_ID)
    return StreamRead(read.key, read.entries, place, read.new, read.history, read.cut)
