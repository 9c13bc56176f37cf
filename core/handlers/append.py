"""XADD and its batches: choose the ids and append the entries. The order of checks is rule 8.

XIDMPRECORD and the commands of producers that replay whole batches use the same memory of idempotency keys.
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.commands import (
    Append,
    AutoSeq,
    FindAppend,
    Idempotency,
    IdRequest,
    InfoProducer,
    RecordIdempotencyKey,
    TakeOverEpoch,
)
from tailrace.core.effects import (
    AppendRemembered,
    DuplicateCounted,
    EntriesAppended,
    EpochTakenOver,
    StreamCreated,
)
from tailrace.core.errors import ErrorCode, StreamError, ids_exhausted, no_such_key
from tailrace.core.execution import Execution
from tailrace.core.handlers.retention import retire_blocks
from tailrace.core.handlers.trim import trim_stream
from tailrace.core.outcome import WakeUp
from tailrace.core.replies import AppendReply, EpochInfo
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, SEQ_BITS, U64_MAX, ZERO_ID, StreamId, format_id, id_ms


def append(execution: Execution, command: Append) -> AppendReply | None:
    """XADD: append the entries and return their ids. O(entries), plus the cost of the trim.

    Returns None if the stream is missing and the command must not create it. An append whose idempotency key
    is known appends nothing and returns the ids of the first append. Raises ID_NOT_GREATER, ID_EXHAUSTED and
    PRECONDITION_FAILED before the first change. With `each`, the reply has the ids of the appends that did
    not fail.
    """
    if command.ids is not None:
        _refuse_zero(command.ids)
    key = command.key
    stream = execution.keyspace.streams.get(key)
    if stream is None and not command.create:
        return None
    if command.idempotency is not None:
        remembered = _find_duplicate(execution, key, command.idempotency, stream)
        if remembered is not None:
            return AppendReply(remembered, replayed=True)
    last_id = ZERO_ID if stream is None else stream.last_id
    ids = _choose_ids(command, last_id, execution.now_ms)
    if stream is None:
        execution.do(StreamCreated(key))
    fragments = command.fragments[: len(ids)] if command.each else command.fragments
    execution.do(EntriesAppended(key, ids, fragments))
    if command.idempotency is not None:
        execution.do(_remember(key, command.idempotency, ids))
    if command.trim is not None or (stream is not None and stream.retention is not None):
        _shorten(execution, command, stream, len(ids))
    execution.wake_ups.append(WakeUp(key))
    return AppendReply(ids)


def _shorten(execution: Execution, command: Append, stream: Stream | None, appended: int) -> None:
    """Remove the entries that the command's trim, or the retention of an existing stream, no longer keeps."""
    if command.trim is not None:
        trim_stream(execution, command.key, command.trim)
    if stream is not None and stream.retention is not None:
        retire_blocks(execution, command.key, stream, appended if command.each else 1)


def _refuse_zero(ids: Sequence[IdRequest]) -> None:
    if ZERO_ID in ids:
        raise StreamError(
            ErrorCode.ID_NOT_GREATER,
            "ERR The ID specified in XADD must be greater than 0-0",
            last_id="0-0",
            given="0-0",
        )


def _find_duplicate(
    execution: Execution, key: bytes, request: Idempotency, stream: Stream | None
) -> Sequence[StreamId] | None:
    found = None if stream is None else stream.idempotency.find(request)
    if found is not None:
        execution.do(DuplicateCounted(key, request.producer))
    return found


def _choose_ids(command: Append, last_id: StreamId, now_ms: int) -> Sequence[StreamId]:
    if command.if_last_id is not None and command.if_last_id != last_id:
        raise _another_last_id(command.if_last_id, last_id)
    if command.ids is not None:
        return _requested_ids(command.ids, last_id, now_ms)
    count = len(command.fragments)
    if command.each:
        first = max(now_ms << SEQ_BITS, last_id + 1)
        count = max(min(count, MAX_ID + 1 - first), 1)
    return consecutive_ids(last_id, now_ms, count)


def _another_last_id(wanted: StreamId, last_id: StreamId) -> StreamError:
    return StreamError(
        ErrorCode.PRECONDITION_FAILED,
        f"ERR the stream's last id is {format_id(last_id)}, not {format_id(wanted)}",
        last_id=format_id(last_id),
    )


def _requested_ids(requests: Sequence[IdRequest], last_id: StreamId, now_ms: int) -> Sequence[StreamId]:
    if last_id == MAX_ID:
        raise ids_exhausted()
    ids = []
    for request in requests:
        last_id = _next_id(request, last_id, now_ms)
        ids.append(last_id)
    return ids


def consecutive_ids(last_id: StreamId, now_ms: int, count: int) -> Sequence[StreamId]:
    """Automatic ids: the first is the time now or the last id plus 1, whichever is greater (rule 5)."""
    first = now_ms << SEQ_BITS
    if first <= last_id:
        first = last_id + 1
    if count == 1 and first <= MAX_ID:
        return (first,)
    if first + count - 1 > MAX_ID:
        raise ids_exhausted()
    return range(first, first + count)


def _next_id(request: IdRequest, last_id: StreamId, now_ms: int) -> StreamId:
    if request is None:
        return consecutive_ids(last_id, now_ms, 1)[0]
    if isinstance(request, AutoSeq):
        return _next_in_ms(request.ms, last_id)
    if request <= last_id:
        raise _not_greater(last_id, format_id(request))
    return request


def _next_in_ms(ms: int, last_id: StreamId) -> StreamId:
    """``ms-*``: the next sequence number of that millisecond; it never moves to the next one (rule 6)."""
    first = ms << SEQ_BITS
    if first > last_id:
        return first
    if ms == id_ms(last_id) and last_id & U64_MAX != U64_MAX:
        return last_id + 1
    raise _not_greater(last_id, f"{ms}-*")


def _not_greater(last_id: StreamId, given: str) -> StreamError:
    return StreamError(
        ErrorCode.ID_NOT_GREATER,
        "ERR The ID specified in XADD is equal or smaller than the target stream top item",
        last_id=format_id(last_id),
        given=given,
    )


def _remember(key: bytes, request: Idempotency, ids: Sequence[StreamId]) -> AppendRemembered:
    return AppendRemembered(
        key, request.producer, request.key, ids, request.fingerprint, request.epoch, request.layout
    )


def find_append(execution: Execution, command: FindAppend) -> AppendReply | None:
    """Return the ids of the append with this idempotency key, None if the key is new. O(1).

    Raises what an append with the key raises before it appends.
    """
    stream = execution.stream(command.key)
    if stream is None or command.idempotency is None:
        return None
    ids = stream.idempotency.find(command.idempotency)
    return None if ids is None else AppendReply(ids, replayed=True)


def info_producer(execution: Execution, command: InfoProducer) -> list[EpochInfo]:
    """Return the epochs of a producer, the last one last; none for an unknown producer. O(1).

    Raises NO_SUCH_STREAM.
    """
    stream = execution.stream(command.key)
    if stream is None:
        raise no_such_key(command.key)
    epochs = stream.idempotency.epochs.producers.get(command.producer, ())
    return [EpochInfo(epoch.number, epoch.layout, len(epoch.keys)) for epoch in epochs]


def take_over_epoch(execution: Execution, command: TakeOverEpoch) -> None:
    """Give an epoch another layout. A repetition changes nothing. O(1).

    Raises NO_SUCH_STREAM, STALE_EPOCH, and LAYOUT_CHANGED if the epoch is not as the command says.
    """
    stream = execution.stream(command.key)
    if stream is None:
        raise no_such_key(command.key)
    if stream.idempotency.epochs.must_change(command):
        execution.do(EpochTakenOver(command.key, command.producer, command.epoch, command.layout))


def record_idempotency_key(execution: Execution, command: RecordIdempotencyKey) -> None:
    """XIDMPRECORD: remember the key as if the entry had been appended with it. O(log n).

    The same key for the same entry changes nothing. Raises NO_SUCH_STREAM, and INVALID_ARGUMENT if the entry
    is missing or the key belongs to another entry.
    """
    stream = execution.stream(command.key)
    if stream is None:
        raise no_such_key(command.key)
    if command.id not in stream.log:
        raise StreamError(ErrorCode.INVALID_ARGUMENT, "ERR No such message in stream")
    known = stream.idempotency.find(Idempotency(command.producer, command.idempotency_key))
    if known is None:
        ids = (command.id,)
        execution.do(
            AppendRemembered(command.key, command.producer, command.idempotency_key, ids, None, None, None)
        )
    elif known[0] != command.id:
        raise StreamError(
            ErrorCode.INVALID_ARGUMENT,
            "ERR IID already exists for this producer with a different stream ID",
        )
