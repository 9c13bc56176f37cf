"""XACK, XACKDEL, XNACK, XPENDING, XDEL, XDELEX and XTRIM in words.

XACK and XACKDEL reply 0 for a missing group. The API reports a missing group, so such a command also checks
the group.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tailrace.app.remote.functions.hidden import visible_entry, visible_summary
from tailrace.app.remote.link.port import EngineError, Resp
from tailrace.app.remote.replies.infos import pending_entries, pending_summary
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
    DeleteEntries,
    DeleteEntriesByPolicy,
    Malformed,
    NegativeAcknowledge,
    PendingRange,
    PendingSummary,
    TrimStream,
)
from tailrace.core.replies import DeleteResult, PendingEntry, Reply


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
