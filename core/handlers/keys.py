"""Commands on whole streams and on the server: create, delete, rename and configure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tailrace.core.commands import (
    ConfigureStream,
    CopyKey,
    CountKeys,
    CreateStream,
    DeleteKeys,
    ExpireIdempotencyKeys,
    Flush,
    GetConfig,
    RenameKey,
    ServerInfo,
    ServerTime,
    SetConfig,
    SetStreamPosition,
)
from tailrace.core.effects import (
    ConfigChanged,
    IdempotencyConfigured,
    IdempotencyExpired,
    KeyspaceFlushed,
    StreamCopied,
    StreamCreated,
    StreamDeleted,
    StreamPositionSet,
    StreamRenamed,
)
from tailrace.core.errors import ErrorCode, StreamError, no_such_key, same_object
from tailrace.core.execution import Execution, parsed
from tailrace.core.glob import compile_glob
from tailrace.core.handlers.retention import configure_retention
from tailrace.core.limits import COPY_PARTS_MAX, EXPIRING_STREAMS_PER_STEP
from tailrace.core.outcome import Signal
from tailrace.core.replies import ServerStats
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId, format_id

_WILDCARD: Final = re.compile(rb"[*?\[]")


def create_stream(execution: Execution, command: CreateStream) -> int:
    """Return 1 if the stream is new, 0 if it exists. The given settings are applied in both cases."""
    created = command.key not in execution.keyspace.streams
    if created:
        execution.do(StreamCreated(command.key))
    _configure(execution, command.key, command.idmp_duration_s, command.idmp_maxsize)
    configure_retention(execution, command.key, command.retention)
    return int(created)


def configure_stream(execution: Execution, command: ConfigureStream) -> None:
    """XCFGSET: a setting whose value changes makes the stream forget its idempotency keys (rule 63).

    Raises NO_SUCH_STREAM.
    """
    if execution.stream(command.key) is None:
        raise no_such_key(command.key)
    _configure(execution, command.key, parsed(command.idmp_duration_s), command.idmp_maxsize)
    configure_retention(execution, command.key, command.retention)


def _configure(execution: Execution, key: bytes, duration_s: int | None, maxsize: int | None) -> None:
    memory = execution.keyspace.streams[key].idempotency
    new = (
        memory.duration_s if duration_s is None else duration_s,
        memory.maxsize if maxsize is None else maxsize,
    )
    if new != (memory.duration_s, memory.maxsize):
        execution.do(IdempotencyConfigured(key, *new))


def set_stream_position(execution: Execution, command: SetStreamPosition) -> None:
    """XSETID: set the last id and the counters of a stream (rule 65).

    Raises NO_SUCH_STREAM, and INVALID_ARGUMENT for values that contradict the entries of the stream.
    """
    stream = execution.stream(command.key)
    if stream is None:
        raise no_such_key(command.key)
    _check_position(stream, command)
    execution.do(
        StreamPositionSet(
            command.key,
            command.last_id,
            stream.entries_added if command.entries_added is None else command.entries_added,
            command.max_deleted_id or stream.max_deleted_id,
        )
    )


def _check_position(stream: Stream, command: SetStreamPosition) -> None:
    if command.last_id < stream.max_deleted_id:
        raise _bad_position(stream, "is smaller than current max_deleted_entry_id", stream.max_deleted_id)
    if stream.length and command.last_id < stream.log.last_id:
        raise _bad_position(stream, "is smaller than the target stream top item", stream.log.last_id)
    if stream.length and command.entries_added is not None and command.entries_added < stream.length:
        raise StreamError(
            ErrorCode.INVALID_ARGUMENT,
            "ERR The entries_added specified in XSETID is smaller than the target stream length",
            argument="entries_added",
            least=str(stream.length),
        )


def _bad_position(stream: Stream, problem: str, least: StreamId) -> StreamError:
    return StreamError(
        ErrorCode.INVALID_ARGUMENT,
        f"ERR The ID specified in XSETID {problem}",
        last_id=format_id(stream.last_id),
        argument="last_id",
        least=format_id(least),
    )


def delete_keys(execution: Execution, command: DeleteKeys) -> int:
    """DEL: delete streams, and return how many existed.

    O(keys log streams), and about 1 us for each block of the streams.
    """
    existing = [key for key in dict.fromkeys(command.keys) if key in execution.keyspace.streams]
    for key in existing:
        execution.do(StreamDeleted(key))
        execution.wake(key, Signal.GONE)
    return len(existing)


def count_keys(execution: Execution, command: CountKeys) -> int:
    """EXISTS: return how many of the names are streams. A name given twice counts twice."""
    return sum(key in execution.keyspace.streams for key in command.keys)


def rename_key(execution: Execution, command: RenameKey) -> None:
    """RENAME: readers of the old name are signalled that it is gone, readers of the new name read again.

    Raises NO_SUCH_STREAM. O(log streams).
    """
    if command.key not in execution.keyspace.streams:
        raise no_such_key(command.key)
    if command.key == command.new_key:
        return
    execution.do(StreamRenamed(command.key, command.new_key))
    execution.wake(command.key, Signal.GONE)
    execution.wake(command.new_key, Signal.GONE)
    execution.wake(command.new_key)


def flush(execution: Execution, _: Flush) -> None:
    """FLUSHDB and FLUSHALL: delete every stream. O(1); memory is freed later, as in `delete_keys`."""
    if execution.keyspace.streams:
        execution.do(KeyspaceFlushed())
        execution.wake(None, Signal.GONE)


def get_config(execution: Execution, command: GetConfig) -> dict[str, int]:
    """CONFIG GET: the settings whose names equal a word or match a pattern, in any case."""
    matchers = [_setting_matcher(pattern.lower()) for pattern in command.patterns]
    config = execution.keyspace.config
    return {name: value for name, value in config.items() if any(each(name.encode()) for each in matchers)}


def _setting_matcher(pattern: bytes) -> Callable[[bytes], bool]:
    """As in Redis, a word without wildcards is compared literally: a backslash escapes only in patterns."""
    return compile_glob(pattern).matches if _WILDCARD.search(pattern) else pattern.__eq__


def set_config(execution: Execution, command: SetConfig) -> None:
    """CONFIG SET: change settings. `core.grammar.config` has checked their names and ranges."""
    for name, value in command.values:
        if execution.keyspace.config[name] != value:
            execution.do(ConfigChanged(name, value))


def server_time(execution: Execution, _: ServerTime) -> int:
    """TIME: the time of this command, in Unix milliseconds."""
    return execution.now_ms


def server_info(execution: Execution, _: ServerInfo) -> ServerStats:
    """INFO: totals over the whole keyspace. O(streams + groups)."""
    streams = execution.keyspace.streams.values()
    groups = [group for stream in streams for group in stream.groups.values()]
    return ServerStats(
        streams=len(streams),
        entries=sum(stream.length for stream in streams),
        groups=len(groups),
        pending=sum(group.pending.count for group in groups),
        now_ms=execution.now_ms,
    )


def expire_idempotency_keys(execution: Execution, _: ExpireIdempotencyKeys) -> int:
    """Remove expired idempotency keys (rule 61), and return how many streams were examined.

    At most `EXPIRING_STREAMS_PER_STEP`: then other streams may have expired keys, too. O(log n) for each
    stream whose deadline has come, and O(its producers).
    """
    keyspace, examined = execution.keyspace, 0
    for serial in list(keyspace.deadlines.take_due(execution.now_ms, EXPIRING_STREAMS_PER_STEP)):
        examined += 1
        key = keyspace.keys_by_serial[serial]
        stream = keyspace.streams[key]
        before_ms = execution.now_ms - stream.idempotency.duration_s * 1000
        if stream.idempotency.has_expired(before_ms):
            execution.do(IdempotencyExpired(key, before_ms))
        else:
            keyspace.note_deadline(stream)
    return examined


def copy_key(execution: Execution, command: CopyKey) -> int:
    """COPY: return 1 if the stream was copied, 0 if it is missing or the new name exists. O(parts).

    Raises `StreamError` LIMIT_EXCEEDED if this stream and those that the transaction copied before have more
    than `COPY_PARTS_MAX` parts together. Readers of a replaced stream are signalled that it is gone.
    """
    if command.key == command.new_key:
        raise same_object()
    stream = execution.stream(command.key)
    is_taken = command.new_key in execution.keyspace.streams
    if stream is None or (is_taken and not command.replace):
        return 0
    execution.copied_parts = _parts_within_limit(execution.copied_parts + stream.part_count)
    execution.do(StreamCopied(command.key, command.new_key))
    if is_taken:
        execution.wake(command.new_key, Signal.GONE)
    execution.wake(command.new_key)
    return 1


def _parts_within_limit(parts: int) -> int:
    if parts > COPY_PARTS_MAX:
        raise StreamError(
            ErrorCode.LIMIT_EXCEEDED,
            f"ERR too much to copy: {parts} blocks, groups, consumers, pending entries and idempotency keys; "
            f"one COPY or transaction may copy {COPY_PARTS_MAX}",
        )
    return parts
