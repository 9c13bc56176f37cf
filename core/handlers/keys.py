"""Commands on streams as a whole, and on the server: making, deleting, listing, configuring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from core.commands import (
    ConfigureStream,
    CountKeys,
    CreateStream,
    DeleteKeys,
    ExpireIdempotencyKeys,
    Flush,
    GetConfig,
    KeyspaceSize,
    Listing,
    ListStreams,
    MatchKeys,
    RenameKey,
    ScanKeys,
    ServerInfo,
    ServerTime,
    SetConfig,
    SetStreamPosition,
)
from core.effects import (
    ConfigChanged,
    IdempotencyConfigured,
    IdempotencyExpired,
    KeyspaceFlushed,
    StreamCreated,
    StreamDeleted,
    StreamPositionSet,
    StreamRenamed,
)
from core.errors import ErrorCode, StreamError, no_such_key
from core.execution import Execution, parsed
from core.glob import compile_glob
from core.outcome import Signal
from core.replies import KeyScan, ServerStats, StreamList, StreamSummary
from core.stream import Stream
from core.stream_id import StreamId, format_id


def create_stream(run: Execution, command: CreateStream) -> int:
    """1 where the stream is new, 0 where it stands already; settings that are given hold either way."""
    created = command.key not in run.keyspace.streams
    if created:
        run.do(StreamCreated(command.key))
    _configure(run, command.key, command.idmp_duration_s, command.idmp_maxsize)
    return int(created)


def configure_stream(run: Execution, command: ConfigureStream) -> None:
    """XCFGSET: settings that really change make the stream forget its keys (rule 63)."""
    if run.stream(command.key) is None:
        raise no_such_key(command.key)
    _configure(run, command.key, parsed(command.idmp_duration_s), command.idmp_maxsize)


def _configure(run: Execution, key: bytes, duration_s: int | None, maxsize: int | None) -> None:
    memory = run.keyspace.streams[key].idempotency
    new = (
        memory.duration_s if duration_s is None else duration_s,
        memory.maxsize if maxsize is None else maxsize,
    )
    if new != (memory.duration_s, memory.maxsize):
        run.do(IdempotencyConfigured(key, *new))


def set_stream_position(run: Execution, command: SetStreamPosition) -> None:
    """XSETID; what would contradict the entries is refused (rule 65)."""
    stream = run.stream(command.key)
    if stream is None:
        raise no_such_key(command.key)
    _check_position(stream, command)
    run.do(
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


def delete_keys(run: Execution, command: DeleteKeys) -> int:
    """How many streams were deleted. O(blocks + pending units)."""
    existing = [key for key in dict.fromkeys(command.keys) if key in run.keyspace.streams]
    for key in existing:
        run.do(StreamDeleted(key))
        run.wake(key, Signal.GONE)
    return len(existing)


def count_keys(run: Execution, command: CountKeys) -> int:
    """How many of the names are streams; a name given twice counts twice."""
    return sum(key in run.keyspace.streams for key in command.keys)


def rename_key(run: Execution, command: RenameKey) -> None:
    """Readers of the old name are told that it is gone, those of the new one look again."""
    if command.key not in run.keyspace.streams:
        raise no_such_key(command.key)
    if command.key == command.new_key:
        return
    run.do(StreamRenamed(command.key, command.new_key))
    run.wake(command.key, Signal.GONE)
    run.wake(command.new_key, Signal.GONE)
    run.wake(command.new_key)


def flush(run: Execution, _: Flush) -> None:
    """FLUSHDB and FLUSHALL: there is one keyspace."""
    keys = list(run.keyspace.streams)
    if keys:
        run.do(KeyspaceFlushed())
    for key in keys:
        run.wake(key, Signal.GONE)


def keyspace_size(run: Execution, command: KeyspaceSize) -> int:
    """How many streams there are. O(1); O(streams) for who may not see all."""
    if command.visible is None:
        return len(run.keyspace.streams)
    return sum(1 for _ in _visible(run.keyspace.streams, command))


def _visible(keys: Iterable[bytes], command: Listing) -> Iterator[bytes]:
    """Those of `keys` that are there for the one who asks."""
    if command.visible is None:
        return iter(keys)
    patterns = [compile_glob(pattern) for pattern in command.visible]
    return (key for key in keys if any(pattern.fullmatch(key) for pattern in patterns))


def list_streams(run: Execution, command: ListStreams) -> StreamList:
    """A page in byte order of the keys. O(log n + page), and what lies between that may not be seen."""
    keys = _visible(_keys_from(run, command), command)
    page = list(islice(keys, command.limit))
    streams = run.keyspace.streams
    return StreamList([_summary(key, streams[key]) for key in page], more=next(keys, None) is not None)


def _keys_from(run: Execution, command: ListStreams) -> Iterator[bytes]:
    start = max(command.prefix, command.start_after or b"")
    for key in run.keyspace.streams.irange(start):
        if not key.startswith(command.prefix):
            return
        if key != command.start_after:
            yield key


def _summary(key: bytes, stream: Stream) -> StreamSummary:
    return StreamSummary(key, stream.length, stream.last_id, len(stream.groups))


def match_keys(run: Execution, command: MatchKeys) -> list[bytes]:
    """KEYS: all that match, in byte order. O(streams)."""
    pattern = compile_glob(command.pattern)
    return [key for key in _visible(run.keyspace.streams, command) if pattern.fullmatch(key)]


def scan_keys(run: Execution, command: ScanKeys) -> KeyScan:
    """A step of SCAN. The cursor is the serial of the next stream, so a deletion makes none skipped."""
    by_serial = run.keyspace.keys_by_serial
    serials = by_serial.irange(command.cursor)
    examined = list(islice(serials, max(command.count, 1)))
    keys = list(_visible((by_serial[serial] for serial in examined), command))
    if command.pattern is not None:
        pattern = compile_glob(command.pattern)
        keys = [key for key in keys if pattern.fullmatch(key)]
    return KeyScan(next(serials, 0), keys)


def get_config(run: Execution, command: GetConfig) -> dict[str, int]:
    """The settings whose names a pattern matches, whatever the case."""
    patterns = [compile_glob(pattern.lower()) for pattern in command.patterns]
    config = run.keyspace.config
    return {
        name: value
        for name, value in config.items()
        if any(pattern.fullmatch(name.encode()) for pattern in patterns)
    }


def set_config(run: Execution, command: SetConfig) -> None:
    """The names and ranges are the grammar's to check."""
    for name, value in command.values:
        if run.keyspace.config[name] != value:
            run.do(ConfigChanged(name, value))


def server_time(run: Execution, _: ServerTime) -> int:
    """The instant of this command, in Unix milliseconds."""
    return run.now_ms


def server_info(run: Execution, _: ServerInfo) -> ServerStats:
    """Counts over the whole keyspace. O(streams + groups)."""
    streams = run.keyspace.streams.values()
    groups = [group for stream in streams for group in stream.groups.values()]
    return ServerStats(
        streams=len(streams),
        entries=sum(stream.length for stream in streams),
        groups=len(groups),
        pending=sum(group.pending.count for group in groups),
        now_ms=run.now_ms,
    )


def expire_idempotency_keys(run: Execution, _: ExpireIdempotencyKeys) -> None:
    """Have every stream forget the keys whose time is over (rule 61). O(producers)."""
    for key, stream in run.keyspace.streams.items():
        before_ms = run.now_ms - stream.idempotency.duration_s * 1000
        if stream.idempotency.has_expired(before_ms):
            run.do(IdempotencyExpired(key, before_ms))
