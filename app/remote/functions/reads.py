"""Reads of a group that need the library: CLAIM, budgets over several streams, and exact idle times.

Redis 7.0 creates no consumer when nothing was read; the library always does. All streams of a call are in
one slot.
"""

from __future__ import annotations

from msgspec import Struct

from tailrace.app.remote.functions.call import (
    Call,
    flag,
    fragment,
    id_word,
    items,
    number,
    optional,
    stream_id,
)
from tailrace.app.remote.functions.names import settings_keys
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import Malformed, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.limits import READ_ENTRIES_MAX
from tailrace.core.replies import NO_ENTRIES, Entries, ReadReply, StreamRead
from tailrace.core.stream_id import MAX_ID


def read_group(command: ReadGroup, *, has_settings: bool = False) -> Call[ReadReply]:
    """Read once, without waiting: reply `ReadReply`. Positions must be ids or `Special.NEW`.

    `has_settings`: the group of a stream may have settings, which then apply. The engine's error is NOGROUP
    or WRONGTYPE, and then nothing has changed. `page_bytes` and `max_bytes` both bound the reply as RESP2 has
    it. O(entries returned), and for a claim O(pending entries) if few are idle.
    """
    limits = command.limits
    arguments = [
        command.group,
        command.consumer,
        optional(limits.count),
        b"%d" % min(limits.max_count or READ_ENTRIES_MAX, READ_ENTRIES_MAX),
        optional(_bytes(limits)),
        optional(command.claim_min_idle_ms),
        flag(command.noack),
        flag(has_settings),
        *map(_position, command.streams),
    ]
    keys = _keys_of(command, has_settings=has_settings)
    return Call(b"read_group", keys, arguments, "change", lambda answer: _read_reply(command, answer))


def _keys_of(command: ReadGroup, *, has_settings: bool) -> tuple[bytes, ...]:
    keys = tuple(source.key for source in command.streams)
    return (*keys, *settings_keys(has_settings, *keys))


class Available(Struct, frozen=True):
    """What a read of a group could return now."""

    count: int
    """How many new entries, counted up to the number that was asked for."""
    can_claim: bool
    """Whether it could claim an entry."""


def available(command: ReadGroup, most: int, *, has_settings: bool) -> Call[Available]:
    """Ask what the read could return, up to `most` new entries: reply `Available`. Creates the consumer.

    The engine's error is NOGROUP or WRONGTYPE. O(groups); O(most) if entries were deleted.
    """
    arguments = [
        command.group,
        command.consumer,
        b"%d" % most,
        optional(command.claim_min_idle_ms),
        flag(command.noack),
        flag(has_settings),
    ]

    def read(answer: Resp) -> Available:
        count, can_claim = map(number, accepted(answer))
        return Available(count, bool(can_claim))

    return Call(b"available", _keys_of(command, has_settings=has_settings), arguments, "change", read)


def _bytes(limits: ReadLimits) -> int | None:
    given = [value for value in (limits.max_bytes, limits.page_bytes) if value is not None]
    return min(given, default=None)


def _position(source: ReadFrom) -> bytes:
    assert not isinstance(source.after, Malformed)
    # As in Redis, the greatest id asks for new entries.
    is_new = isinstance(source.after, Special) or source.after == MAX_ID
    return b">" if is_new or isinstance(source.after, Special) else id_word(source.after)


def _read_reply(command: ReadGroup, answer: Resp) -> ReadReply:
    streams = accepted(answer)
    return ReadReply(
        [
            _stream_read(source.key, *items(each))
            for source, each in zip(command.streams, streams, strict=True)
        ]
    )


def _stream_read(key: bytes, kind: Resp, cut: Resp, after: Resp, entries: Resp) -> StreamRead:
    """`kind`: ``n`` new entries, ``h`` the consumer's own, ``u`` and ``v`` the same, not read at all."""
    return StreamRead(
        key,
        _entries(entries),
        next=stream_id(after),
        new=kind in {b"n", b"u"},
        history=kind == b"h",
        cut=number(cut) == 1,
    )


def _entries(value: Resp) -> Entries:
    rows = [items(row) for row in items(value)]
    if not rows:
        return NO_ENTRIES
    return Entries(
        [stream_id(row[0]) for row in rows],
        [fragment(row[1]) for row in rows],
        [number(row[2]) for row in rows],
        [number(row[3]) for row in rows],
    )


class Oldest(Struct, frozen=True):
    """The delivery for which the timer of a waiting read waits."""

    at_ms: int | None
    """The Unix time of the oldest delivery in a group; None if nothing is pending."""
    claim_min_idle_ms: int | None
    """The setting of the group; None: not set."""


def oldest_delivery(key: bytes, group: bytes, *, has_settings: bool = False) -> Call[Oldest]:
    """Ask for the oldest delivery in a group, for the timer of a waiting read: reply `Oldest`.

    Looks at the first 1 000 pending entries only: the timer may be late for a re-claimed entry behind them,
    never early by more than one look.
    """
    keys = (key, *settings_keys(has_settings, key))
    return Call(b"oldest", keys, [group], "read", _oldest)


def _oldest(answer: Resp) -> Oldest:
    at_ms, min_idle_ms = accepted(answer)
    return Oldest(number(at_ms) if at_ms else None, number(min_idle_ms) if min_idle_ms else None)
