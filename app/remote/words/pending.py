"""XACK, XACKDEL, XNACK, XPENDING, XCLAIM, XAUTOCLAIM, XDEL, XDELEX and XTRIM in words.

XACK and XACKDEL reply 0 for a missing group. The API reports a missing group, so such a command also checks
the group. A claim creates its consumer also if it claims nothing, as the embedded engine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tailrace.app.remote.functions.hidden import visible_entry, visible_summary
from tailrace.app.remote.link.port import EngineError, Resp
from tailrace.app.remote.replies.infos import pending_entries, pending_summary
from tailrace.app.remote.replies.shapes import entries_of, id_of, ids_of
from tailrace.app.remote.words.plan import Plan, Result, Words, last, number, value, values
from tailrace.app.remote.words.spelling import (
    counted_ids,
    id_word,
    id_words,
    number_word,
    option,
    policy_words,
    trim_words,
)
from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    AutoClaim,
    Claim,
    ClaimOptions,
    DeleteEntries,
    DeleteEntriesByPolicy,
    Malformed,
    NegativeAcknowledge,
    PendingRange,
    PendingSummary,
    TrimStream,
)
from tailrace.core.replies import ClaimReply, DeleteResult, Entries, PendingEntry, Reply


def group_look(key: bytes, group: bytes) -> Words:
    """Return words that fail with NOGROUP without the key or the group, at little cost."""
    return [b"XPENDING", key, group, b"-", b"+", b"1"]


def acknowledge(command: Acknowledge) -> Plan:
    """XACK."""
    key, group, ids = command.key, command.group, command.ids
    if isinstance(ids, Malformed):
        return refused_in_group(key, group, ids, 0, must_exist=command.require_group)
    words = [b"XACK", key, group, *id_words(ids)]
    if command.require_group:
        return Plan([group_look(key, group), words], last(number), key, is_write=True)
    return Plan([words], last(number), key, is_write=True)


def acknowledge_and_delete(command: AcknowledgeAndDelete) -> Plan:
    """XACKDEL."""
    key, group, ids = command.key, command.group, command.ids
    if isinstance(ids, Malformed):
        missing = [DeleteResult.NOT_FOUND] * command.ids_count
        return refused_in_group(key, group, ids, missing, must_exist=command.require_group)
    words = [b"XACKDEL", key, group, *policy_words(command.references), *counted_ids(ids)]
    looks = [group_look(key, group)] if command.require_group else []
    return Plan([*looks, words], last(_results), key, is_write=True)


def refused_in_group(
    key: bytes, group: bytes, malformed: Malformed, missing: Reply, *, must_exist: bool
) -> Plan:
    """Return the plan of a command with a malformed id: without the key or the group it replies `missing`, or
    with `must_exist` fails with NOGROUP."""

    def read(result: Result) -> Reply:
        if isinstance(result, EngineError) and result.code == b"NOGROUP" and not must_exist:
            return missing
        value(result)
        raise malformed.error

    return Plan([group_look(key, group)], last(read), key)


def acknowledge_and_delete_by(
    command: AcknowledgeAndDelete, words: Words, read: Callable[[Resp], Reply]
) -> Plan:
    """Return the plan of XACKDEL by the words of the library, whose answer `read` reads."""
    key, group = command.key, command.group
    looks = [group_look(key, group)] if command.require_group else []
    return Plan([*looks, words], last(lambda result: read(value(result))), key, is_write=True)


def _results(result: Result) -> list[DeleteResult]:
    return [DeleteResult(each) for each in values(result)]  # type: ignore[arg-type] # integers


def negative_acknowledge(command: NegativeAcknowledge) -> Plan:
    """XNACK."""
    key, group, ids = command.key, command.group, command.ids
    if isinstance(ids, Malformed):
        return refused_in_group(key, group, ids, 0, must_exist=True)
    words = [b"XNACK", key, group, command.mode.name.encode(), *counted_ids(ids)]
    words += option(b"RETRYCOUNT", command.retry_count)
    if command.force:
        words.append(b"FORCE")
    return Plan([words], last(number), key, is_write=True, wakes=True)


# --- looking -------------------------------------------------------------------------------------------


def summary(command: PendingSummary) -> Plan:
    """XPENDING without a range."""
    words = [b"XPENDING", command.key, command.group]
    return Plan([words], last(lambda result: visible_summary(pending_summary(value(result)))), command.key)


def pending_range(command: PendingRange) -> Plan:
    """XPENDING with a range."""
    words = [b"XPENDING", command.key, command.group]
    if command.min_idle_ms > 0:
        words += [b"IDLE", number_word(command.min_idle_ms)]
    words += [id_word(command.start), id_word(command.end), number_word(max(command.count, 0))]
    if command.consumer is not None:
        words.append(command.consumer)
    read = last(_pending)
    return Plan([words], read, command.key)


def _pending(result: Result) -> list[PendingEntry]:
    return [visible_entry(each) for each in pending_entries(values(result), time.time_ns() // 1_000_000)]


# --- deleting ------------------------------------------------------------------------------------------


def delete_entries(command: DeleteEntries) -> Plan:
    """XDEL."""
    key, ids = command.key, command.ids
    if isinstance(ids, Malformed):
        return _refused_without_key(key, ids, 0)
    return Plan([[b"XDEL", key, *id_words(ids)]], last(number), key, is_write=True)


def delete_by_policy(command: DeleteEntriesByPolicy) -> Plan:
    """XDELEX."""
    key, ids = command.key, command.ids
    if isinstance(ids, Malformed):
        return _refused_without_key(key, ids, [DeleteResult.NOT_FOUND] * command.ids_count)
    words = [b"XDELEX", key, *policy_words(command.references), *counted_ids(ids)]
    return Plan([words], last(_results), key, is_write=True)


def _refused_without_key(key: bytes, malformed: Malformed, missing: Reply) -> Plan:
    def read(result: Result) -> Reply:
        if not number(result):
            return missing
        raise malformed.error

    return Plan([[b"EXISTS", key]], last(read), key)


def trim(command: TrimStream) -> Plan:
    """XTRIM; the reply for a missing stream is None."""
    key, rule = command.key, command.trim
    words = [b"XTRIM", key, *trim_words(rule), *policy_words(rule.references)]

    def read(results: Sequence[Result]) -> int | None:
        count = number(results[1])
        return count if number(results[0]) else None

    return Plan([[b"EXISTS", key], words], read, key, is_write=True)


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
