"""Calls on a whole stream: its incarnation, its idempotency keys, keys that move together, and its retention.

A stream's state (`names.state_key`) must go where the stream goes: rename, copy and delete streams only
with these. No engine has a retention: its rules are in the hash of the stream's settings, and are applied by
trims. An append is followed by `retire`, and the gateways run it again and again (`keys.sweeping`).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tailrace.app.remote.functions.appends import new_incarnation
from tailrace.app.remote.functions.call import Call, flag, number, optional, text
from tailrace.app.remote.functions.names import settings_key, state_key
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import (
    ConfigureStream,
    CopyKey,
    Malformed,
    RecordIdempotencyKey,
    RenameKey,
    RetentionRules,
)
from tailrace.core.limits import IDMP_DURATION_S_DEFAULT, IDMP_MAXSIZE_DEFAULT
from tailrace.core.replies import RetentionInfo


class StreamState(Struct, frozen=True):
    """What the library remembers of a stream; the members are those of `core.replies.StreamInfo`."""

    incarnation: str
    idmp_duration_s: int
    idmp_maxsize: int
    producer_count: int
    idmp_key_count: int
    idmp_keys_added: int
    idmp_duplicates: int


def mark(key: bytes) -> Call[str | None]:
    """Give the stream an incarnation, unless it has one: reply the incarnation, None without a stream.

    A mark is a consumer group of a reserved name at the greatest id, so that it keeps no entry. O(groups).
    """
    keys = (key, state_key(key))
    return Call(b"mark", keys, [new_incarnation()], "grow", _incarnation)


def _incarnation(answer: Resp) -> str | None:
    values = accepted(answer)
    return text(values[0]).decode() if values else None


def _state(answer: Resp) -> StreamState | None:
    values = accepted(answer)
    if not values:
        return None
    return StreamState(text(values[0]).decode(), *map(number, values[1:]))


def state(key: bytes) -> Call[StreamState | None]:
    """Ask for the `StreamState` without changing anything. None without a stream; the incarnation
    is empty if the stream has none yet. O(groups)."""
    keys = (key, state_key(key))
    return Call(b"state", keys, _defaults(), "read", _state)


def _defaults() -> list[bytes]:
    return [b"%d" % IDMP_DURATION_S_DEFAULT, b"%d" % IDMP_MAXSIZE_DEFAULT]


def configure(command: ConfigureStream) -> Call[None]:
    """XCFGSET of an engine without it: reply None. Another value forgets all keys without an epoch."""
    assert not isinstance(command.idmp_duration_s, Malformed)
    arguments = [
        new_incarnation(),
        optional(command.idmp_duration_s),
        optional(command.idmp_maxsize),
        *_defaults(),
    ]
    return Call(b"configure", (command.key, state_key(command.key)), arguments, "grow", _nothing)


def record(command: RecordIdempotencyKey) -> Call[None]:
    """XIDMPRECORD: reply None."""
    arguments = [
        new_incarnation(),
        command.producer,
        command.idempotency_key,
        b"%d-%d" % (command.id >> 64, command.id & ((1 << 64) - 1)),
        *_defaults(),
    ]
    return Call(b"record", (command.key, state_key(command.key)), arguments, "grow", _nothing)


def _keys_of(key: bytes) -> tuple[bytes, bytes, bytes]:
    return key, state_key(key), settings_key(key)


def rename(command: RenameKey) -> Call[None]:
    """RENAME within one slot, with state and settings: reply None. Raises NO_SUCH_STREAM."""
    keys = (*_keys_of(command.key), *_keys_of(command.new_key))
    return Call(b"rename", keys, [], "change", _nothing)


def copy(command: CopyKey) -> Call[int]:
    """COPY within one slot, with state and settings, under a new incarnation: reply 1 or 0."""
    keys = (*_keys_of(command.key), *_keys_of(command.new_key))
    return Call(b"copy", keys, [new_incarnation(), flag(command.replace)], "grow", _first_number)


def delete(key: bytes) -> Call[int]:
    """Delete one stream with its state and settings: reply 1 or 0. Memory is freed later."""
    return Call(b"drop", _keys_of(key), [], "change", _first_number)


def sweep(key: bytes, beside: bytes) -> Call[int]:
    """Free the hash `beside` of the stream (its state or its settings) if the stream is gone or was created
    again: reply 1 if it was freed. O(1)."""
    return Call(b"sweep", (key, beside), [], "change", _first_number)


def _first_number(answer: Resp) -> int:
    return number(accepted(answer)[0])


def _nothing(answer: Resp) -> None:
    accepted(answer)


EMULATED: Final = ("max_age_ms", "max_length", "acknowledged", "protect_unread")
"""The rules that the library applies, in the order of its answers."""

_REMOVING: Final = ("max_age_ms", "max_length", "acknowledged")


def configure_retention(key: bytes, rules: RetentionRules | None) -> Call[None]:
    """Replace the rules of the stream: reply None. Raises NO_SUCH_STREAM."""
    words = [new_incarnation()]
    for name in EMULATED if rules is not None else ():
        value = getattr(rules, name)
        if value:
            words += [name.encode(), b"%d" % value]
    return Call(b"configure_retention", _keys(key), words, "grow", _nothing)


def _keys(key: bytes) -> tuple[bytes, bytes]:
    return key, settings_key(key)


def retire(key: bytes, *, exact: bool) -> Call[tuple[int, bool]]:
    """Apply the rules of the stream: reply how many entries went, and whether more pending entries may have
    to go.

    Without `exact`, whole nodes go, which costs little. O(groups + entries removed)."""
    return Call(b"retire", _keys(key), [b"=" if exact else b"~"], "change", _retired)


def _retired(answer: Resp) -> tuple[int, bool]:
    count, is_more = accepted(answer)
    return number(count), bool(number(is_more))


def show_retention(key: bytes) -> Call[RetentionInfo | None]:
    """Ask for the rules and for what they did: reply `RetentionInfo`, None without rules. Examines up to
    10 000 entries that would be gone without protection."""
    return Call(b"retention", _keys(key), [], "read", _info)


def _info(answer: Resp) -> RetentionInfo | None:
    values = accepted(answer)
    if not values:
        return None
    age, length, acknowledged, protect, *removed, removed_at, count, size = values
    rules = RetentionRules(
        max_age_ms=_optional(age),
        max_length=_optional(length),
        acknowledged=bool(acknowledged),
        protect_unread=bool(protect),
    )
    counts = {name: number(value) for name, value in zip(_REMOVING, removed, strict=True)}
    return RetentionInfo(
        rules,
        removed={name: value for name, value in counts.items() if value},
        removed_at_ms=_optional(removed_at),
        protected_count=number(count),
        protected_bytes=number(size),
    )


def _optional(value: Resp) -> int | None:
    return number(value) if value else None
