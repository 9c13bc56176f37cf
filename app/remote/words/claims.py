"""XCLAIM and XAUTOCLAIM in words.

A claim creates its consumer also if it claims nothing, as the embedded engine does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tailrace.app.remote.replies.shapes import entries_of, id_of, ids_of
from tailrace.app.remote.words.pending import group_look, refused_in_group
from tailrace.app.remote.words.plan import Plan, Result, Words, last, value, values
from tailrace.app.remote.words.spelling import id_word, id_words, number_word, option
from tailrace.core.commands import AutoClaim, Claim, ClaimOptions, Malformed
from tailrace.core.replies import ClaimReply, Entries


def claim(command: Claim) -> Plan:
    """XCLAIM."""
    key, group, options = command.key, command.group, command.options
    if isinstance(options, Malformed):
        return refused_in_group(key, group, options, None, must_exist=True)
    if not options.ids:
        look = Plan([group_look(key, group)], last(lambda result: _nothing_claimed(options, result)), key)
        return creating_consumer(command, look)
    words = [
        b"XCLAIM",
        key,
        group,
        command.consumer,
        number_word(options.min_idle_ms),
        *id_words(options.ids),
    ]
    words += _claim_options(options)
    return Plan([words], last(_claimed(just_id=options.just_id)), key, is_write=True, wakes=True)


def _nothing_claimed(options: ClaimOptions, result: Result) -> ClaimReply:
    value(result)
    return ClaimReply(Entries((), ()), options.just_id)


def _claim_options(options: ClaimOptions) -> Words:
    words = [
        *option(b"IDLE", options.idle_ms),
        *option(b"TIME", options.delivered_at_ms),
        *option(b"RETRYCOUNT", options.retry_count),
    ]
    if options.force:
        words.append(b"FORCE")
    if options.just_id:
        words.append(b"JUSTID")
    if options.last_id is not None:
        words += [b"LASTID", id_word(options.last_id)]
    return words


def _claimed(*, just_id: bool) -> Callable[[Result], ClaimReply]:
    return lambda result: ClaimReply(_claimed_entries(values(result), just_id=just_id), just_id)


def _claimed_entries(rows: Sequence[Result], *, just_id: bool) -> Entries:
    # Engines before Redis 7 wrote nil for an entry that was deleted.
    present = [value(row) for row in rows if row is not None]
    return Entries(ids_of(present), ()) if just_id else entries_of(present)


def auto_claim(command: AutoClaim, *, creates_consumer: bool) -> Plan:
    """XAUTOCLAIM. `creates_consumer`: whether the engine creates the consumer also if nothing is claimed."""
    key, group = command.key, command.group
    words = [
        b"XAUTOCLAIM",
        key,
        group,
        command.consumer,
        number_word(command.min_idle_ms),
        id_word(command.start),
    ]
    words += option(b"COUNT", command.count)
    if command.just_id:
        words.append(b"JUSTID")

    def read(result: Result) -> ClaimReply:
        cursor, rows, *deleted = values(result)
        entries = _claimed_entries(values(rows), just_id=command.just_id)
        return ClaimReply(
            entries, command.just_id, id_of(cursor), ids_of(values(deleted[0])) if deleted else ()
        )

    plan = Plan([words], last(read), key, is_write=True, wakes=True)
    return plan if creates_consumer else creating_consumer(command, plan)


def creating_consumer(command: Claim | AutoClaim, plan: Plan) -> Plan:
    """Return the plan of a claim that creates its consumer first.

    Without the group, both commands fail, and the error of the claim counts.
    """
    words = [b"XGROUP", b"CREATECONSUMER", command.key, command.group, command.consumer]
    return Plan(
        [words, *plan.commands],
        lambda results: plan.read(results[1:]),
        command.key,
        is_write=True,
        is_atomic=True,
        wakes=True,
    )
