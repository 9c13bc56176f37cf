"""Pending entries: XNACK for engines without it, claims that report deleted entries, and leases; and the
deletion of a consumer that may not drop entries, or that hands them to another consumer.

On an engine without XNACK, a nacked entry belongs to the consumer `names.NACKED`, and its delivery time
is the number of its nack, so that CLAIM takes nacked entries first and in order. `hidden` shows such an
entry as one without a consumer.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from tailrace.app.remote.functions.call import (
    Call,
    flag,
    fragment,
    id_words,
    items,
    number,
    optional,
    stream_id,
    text,
)
from tailrace.app.remote.functions.names import settings_key, settings_keys, state_key
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import (
    AutoClaim,
    Claim,
    ClaimOptions,
    DeleteConsumer,
    ExtendLeases,
    Malformed,
    NegativeAcknowledge,
)
from tailrace.core.deliveries import DELIVERIES_MAX
from tailrace.core.errors import consumer_has_pending
from tailrace.core.replies import ClaimReply, Entries, ExtendReply

_STORED_MAX: Final = 9_007_000_000_000_000
"""The number that stands for the greatest count; 199 254 740 991 deliveries can add to it."""

_DISTANCE_MAX: Final = 30_000_000_000
"""How far below the greatest a count is kept exactly. Each XNACK SILENT takes an entry one further."""

_STORED_NEAR: Final = _STORED_MAX - _DISTANCE_MAX
"""The first number that stands for a count near the greatest."""

_INEXACT: Final = 1 << 53
"""From this number on, a stored count stands for itself. Only an engine with XNACK, or another client, stores
such a count."""


def stored_deliveries(count: int) -> int:
    """Return the number that the library stores for a count that a client chose.

    A count that is neither below `_STORED_NEAR` nor near the greatest is stored as `_STORED_NEAR`.
    """
    if count < _STORED_NEAR:
        return count
    return max(_STORED_MAX - (DELIVERIES_MAX - count), _STORED_NEAR)


def visible_deliveries(stored: int) -> int:
    """Return the count that a stored number stands for."""
    if not _STORED_NEAR <= stored < _INEXACT:
        return stored
    return DELIVERIES_MAX - max(_STORED_MAX - stored, 0)


def nack(command: NegativeAcknowledge, *, native: bool = False, has_settings: bool = False) -> Call[int]:
    """Take entries from their consumers: reply an int. The ids must be well formed.

    `native`: by the engine's own XNACK. `has_settings`: the group may have dead letters.

    The engine's error is NOGROUP or WRONGTYPE. A pending entry whose message was deleted counts, and
    keeps its consumer, because the engine assigns a deleted entry to no other consumer. O(log n) an id.
    """
    assert not isinstance(command.ids, Malformed)
    arguments = [
        command.group,
        command.mode.value.upper().encode(),
        optional(_stored(command.retry_count, native=native)),
        flag(command.force),
        flag(native),
        *id_words(command.ids),
    ]
    keys = (command.key, state_key(command.key), *settings_keys(has_settings, command.key))
    return Call(b"nack", keys, arguments, "change", _count)


def nacked_groups(key: bytes) -> Call[AbstractSet[bytes]]:
    """Ask which groups have the hidden consumer: reply their names. O(1) for a stream without emulated nacks,
    else O(consumers)."""
    return Call(
        b"nacked_groups", (key, state_key(key)), [], "read", lambda answer: set(map(text, accepted(answer)))
    )


def _stored(retry_count: int | None, *, native: bool) -> int | None:
    """Return a count that the client chose as the engine gets it."""
    return retry_count if native or retry_count is None else stored_deliveries(retry_count)


def _count(answer: Resp) -> int:
    return number(accepted(answer)[0])


def claim(command: Claim, *, native: bool = False, has_settings: bool = False) -> Call[ClaimReply]:
    """XCLAIM: reply `ClaimReply`, whose `deleted_ids` plain XCLAIM does not tell. The options must be
    well formed. `native`: the engine has XNACK, so it stores counts as they are. `has_settings`: the group
    may have dead letters.

    The engine's error is NOGROUP or WRONGTYPE. The consumer is created also if nothing is claimed. O(log
    n) an id.
    """
    options = command.options
    assert not isinstance(options, Malformed)
    arguments = [
        command.group,
        command.consumer,
        b"%d" % options.min_idle_ms,
        b"%d" % len(options.ids),
        *id_words(options.ids),
        *_options(options, native=native),
    ]
    keys = (command.key, *settings_keys(has_settings, command.key))
    return Call(b"claim", keys, arguments, "change", lambda answer: _claimed(answer, options.just_id))


def _options(options: ClaimOptions, *, native: bool) -> list[bytes]:
    """The options of XCLAIM after the ids."""
    words = []
    for name, value in (
        (b"IDLE", options.idle_ms),
        (b"TIME", options.delivered_at_ms),
        (b"RETRYCOUNT", _stored(options.retry_count, native=native)),
    ):
        if value is not None:
            words += [name, b"%d" % value]
    if options.force:
        words.append(b"FORCE")
    if options.last_id is not None:
        words += [b"LASTID", *id_words([options.last_id])]
    return [*words, b"JUSTID"] if options.just_id else words


def _claimed(answer: Resp, just_id: bool) -> ClaimReply:  # noqa: FBT001 - a member of the reply
    found, deleted = (items(value) for value in accepted(answer))
    return ClaimReply(_entries(found, just_id), just_id, 0, list(map(stream_id, deleted)))


def _entries(found: list[Resp], just_id: bool) -> Entries:  # noqa: FBT001 - a member of the reply
    if just_id:
        return Entries(list(map(stream_id, found)), ())
    rows = [items(row) for row in found]
    return Entries([stream_id(row[0]) for row in rows], [fragment(row[1]) for row in rows])


def auto_claim(command: AutoClaim) -> Call[ClaimReply]:
    """XAUTOCLAIM in a group that may have dead letters: reply `ClaimReply`. The engine's error is NOGROUP or
    WRONGTYPE. O(entries examined)."""
    arguments = [
        command.group,
        command.consumer,
        b"%d" % command.min_idle_ms,
        *id_words([command.start]),
        b"%d" % command.count,
        b"JUSTID" if command.just_id else b"",
    ]

    def read(answer: Resp) -> ClaimReply:
        cursor, found, deleted = accepted(answer)
        entries = _entries(items(found), command.just_id)
        ids = list(map(stream_id, items(deleted)))
        return ClaimReply(entries, command.just_id, stream_id(cursor), ids)

    return Call(b"auto_claim", (command.key, settings_key(command.key)), arguments, "change", read)


def extend(command: ExtendLeases) -> Call[ExtendReply]:
    """Begin the idle time of the consumer's own entries again: reply `ExtendReply`.

    A pending entry whose message was deleted counts as extended and keeps its idle time. The engine's error
    is NOGROUP or WRONGTYPE. O(log n) an id.
    """
    arguments = [command.group, command.consumer, *id_words(command.ids)]
    return Call(b"extend", (command.key,), arguments, "change", _extended)


def _extended(answer: Resp) -> ExtendReply:
    kept, lost = (items(value) for value in accepted(answer))
    return ExtendReply(list(map(stream_id, kept)), list(map(stream_id, lost)))


def delete_consumer(command: DeleteConsumer) -> Call[int | None]:
    """XGROUP DELCONSUMER with the conditions that only Tailrace has: reply as `DeleteConsumer`.

    No engine gives a pending entry whose message was deleted to another consumer. A transfer drops such
    entries, and counts them as dropped: it is refused if nothing may be dropped. The engine's error is
    NO_SUCH_STREAM, NOGROUP or WRONGTYPE. O(pending log n).
    """
    group, consumer, heir = command.group, command.consumer, command.transfer_to
    arguments = [group, consumer, heir or b"", flag(command.refuse_pending)]

    def read(answer: Resp) -> int | None:
        values = accepted(answer)
        if not values:
            return None
        status, count = values
        if status == b"refused":
            are_deleted = heir not in {None, consumer}
            raise consumer_has_pending(command.key, group, consumer, number(count), are_deleted=are_deleted)
        return number(count)

    return Call(b"delete_consumer", (command.key,), arguments, "change", read)
