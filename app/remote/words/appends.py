"""XADD, alone and in batches, in words.

A batch whose ids the engine chooses is a transaction of XADDs: none of them can fail alone. Conditions,
explicit ids of a batch and idempotency keys of the API need the function library (`app.remote.functions`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.app.remote.replies.shapes import id_of
from tailrace.app.remote.words.plan import Plan, Result, Words, last, nothing, value
from tailrace.app.remote.words.spelling import (
    id_word,
    option,
    policy_words,
    requested_id_word,
    trim_words,
)
from tailrace.core.commands import (
    Append,
    ConfigureStream,
    Idempotency,
    Malformed,
    RecordIdempotencyKey,
    SetStreamPosition,
    Trim,
)
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import AppendReply
from tailrace.core.stream_id import ZERO_ID


def needs_function(command: Append) -> bool:
    """Whether the append has a condition that XADD lacks."""
    idempotency = command.idempotency
    if command.if_last_id is not None or (command.ids is not None and len(command.ids) > 1):
        return True
    if idempotency is None:
        return False
    return len(command.fragments) > 1 or idempotency.epoch is not None or idempotency.fingerprint is not None


def append(command: Append) -> Plan:
    """One XADD for each entry; the last one trims."""
    require_positive_ids(command)
    key, count = command.key, len(command.fragments)
    commands = [
        xadd_words(command, number, command.trim if number == count - 1 else None) for number in range(count)
    ]
    return Plan(commands, _appended, key, is_write=True, is_atomic=count > 1)


def require_positive_ids(command: Append) -> None:
    """Raise ID_NOT_GREATER for the id 0-0, which no engine accepts."""
    if command.ids is not None and ZERO_ID in command.ids:
        raise StreamError(
            ErrorCode.ID_NOT_GREATER,
            "ERR The ID specified in XADD must be greater than 0-0",
            last_id="0-0",
            given="0-0",
        )


def xadd_words(command: Append, number: int, trim: Trim | None) -> Words:
    """Return the XADD of one entry of the append."""
    words = [b"XADD", command.key]
    if not command.create:
        words.append(b"NOMKSTREAM")
    if trim is not None:
        words += policy_words(trim.references)
    words += _idempotency_words(command.idempotency)
    words += trim_words(trim)
    words.append(requested_id_word(None if command.ids is None else command.ids[number]))
    words += flat_of(command.fragments[number])
    return words


def _idempotency_words(idempotency: Idempotency | None) -> Words:
    return [] if idempotency is None else [b"IDMP", idempotency.producer, idempotency.key]


def _appended(results: Sequence[Result]) -> AppendReply | None:
    found = [value(result) for result in results]
    return None if found[0] is None else AppendReply([id_of(each) for each in found])


def set_position(command: SetStreamPosition) -> Plan:
    """XSETID."""
    words = [
        b"XSETID",
        command.key,
        id_word(command.last_id),
        *option(b"ENTRIESADDED", command.entries_added),
    ]
    if command.max_deleted_id is not None:
        words += [b"MAXDELETEDID", id_word(command.max_deleted_id)]
    return Plan([words], last(nothing), command.key, is_write=True, wakes=True)


def configure(command: ConfigureStream) -> Plan:
    """XCFGSET; the key comes before an error in the settings."""
    key, duration_s = command.key, command.idmp_duration_s
    if isinstance(duration_s, Malformed):
        return refused_if_exists(key, duration_s)
    words = settings_words(key, duration_s, command.idmp_maxsize)
    if not words:
        return Plan([[b"XINFO", b"STREAM", key]], last(nothing), key)
    return Plan([words], last(nothing), key, is_write=True)


def settings_words(key: bytes, duration_s: int | None, maxsize: int | None) -> Words:
    """Return XCFGSET with the settings that are given; no words without any."""
    given = [*option(b"IDMP-DURATION", duration_s), *option(b"IDMP-MAXSIZE", maxsize)]
    return [b"XCFGSET", key, *given] if given else []


def refused_if_exists(key: bytes, malformed: Malformed) -> Plan:
    """Return the plan of a command with a malformed argument: a missing key is the first error."""

    def refuse(result: Result) -> None:
        value(result)
        raise malformed.error

    return Plan([[b"XINFO", b"STREAM", key]], last(refuse), key)


def record(command: RecordIdempotencyKey) -> Plan:
    """XIDMPRECORD."""
    words = [b"XIDMPRECORD", command.key, command.producer, command.idempotency_key, id_word(command.id)]
    return Plan([words], last(nothing), command.key, is_write=True)
