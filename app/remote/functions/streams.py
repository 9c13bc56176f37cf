"""Calls on a whole stream: its incarnation, its idempotency keys, and keys that move together.

A stream's state (`names.state_key`) must go where the stream goes: rename, copy and delete streams only
with these.
"""

from __future__ import annotations

from msgspec import Struct

from tailrace.app.remote.functions.appends import new_incarnation
from tailrace.app.remote.functions.call import Call
from tailrace.app.remote.functions.names import settings_key, state_key
from tailrace.app.remote.functions.refusals import accepted
from tailrace.app.remote.functions.values import flag, number, optional, text
from tailrace.app.remote.link.port import Resp
from tailrace.core.commands import ConfigureStream, CopyKey, Malformed, RecordIdempotencyKey, RenameKey
from tailrace.core.limits import IDMP_DURATION_S_DEFAULT, IDMP_MAXSIZE_DEFAULT


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
