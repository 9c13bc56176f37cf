"""Pending entries: XNACK for engines without it, and claims that report deleted entries.

On an engine without XNACK, a nacked entry belongs to the consumer `names.NACKED`, and its delivery time
is the number of its nack, so that CLAIM takes nacked entries first and in order. `hidden` shows such an
entry as one without a consumer.
"""

from __future__ import annotations

from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.names import state_key
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.functions.values import (
    flag,
    fragment,
    id_words,
    items,
    number,
    optional,
    stream_id,
)
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import Claim, ClaimOptions, Malformed, NegativeAcknowledge
from tailrace.core.replies import ClaimReply, Entries


def nack(command: NegativeAcknowledge) -> Call[int]:
    """Take entries from their consumers: reply an int. The ids must be well formed.

    The engine's error is NOGROUP or WRONGTYPE. A pending entry whose message was deleted counts, and
    keeps its consumer, because the engine assigns a deleted entry to no other consumer. O(log n) an id.
    """
    assert not isinstance(command.ids, Malformed)
    arguments = [
        command.group,
        command.mode.value.upper().encode(),
        optional(command.retry_count),
        flag(command.force),
        *id_words(command.ids),
    ]
    return Call(b"nack", (command.key, state_key(command.key)), arguments, "change", _count)


def _count(answer: Resp) -> int:
    return number(accepted(answer)[0])


def claim(command: Claim) -> Call[ClaimReply]:
    """XCLAIM: reply `ClaimReply`, whose `deleted_ids` plain XCLAIM does not tell. The options must be
    well formed.

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
        *_options(options),
    ]
    return Call(b"claim", (command.key,), arguments, "change", lambda answer: _claimed(answer, options))


def _options(options: ClaimOptions) -> list[bytes]:
    """The options of XCLAIM after the ids."""
    words = []
    for name, value in (
        (b"IDLE", options.idle_ms),
        (b"TIME", options.delivered_at_ms),
        (b"RETRYCOUNT", options.retry_count),
    ):
        if value is not None:
            words += [name, b"%d" % value]
    if options.force:
        words.append(b"FORCE")
    if options.last_id is not None:
        words += [b"LASTID", *id_words([options.last_id])]
    return [*words, b"JUSTID"] if options.just_id else words


def _claimed(answer: Resp, options: ClaimOptions) -> ClaimReply:
    found, deleted = (items(value) for value in accepted(answer))
    if options.just_id:
        entries = Entries(list(map(stream_id, found)), ())
    else:
        rows = [items(row) for row in found]
        entries = Entries([stream_id(row[0]) for row in rows], [fragment(row[1]) for row in rows])
    return ClaimReply(entries, options.just_id, 0, list(map(stream_id, deleted)))
