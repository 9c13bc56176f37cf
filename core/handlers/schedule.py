"""Scheduled entries: appends that become visible later. Store, list and cancel them.

The stream exists from the first scheduled entry on, so that its schedule is deleted and renamed with it. What
cannot be decided before the entries have ids (an explicit id, a condition on the last id, a trim) has no
place here. `core.handlers.due` appends the entries when their time has come.
"""

from __future__ import annotations

from msgspec.structs import replace

from tailrace.core.commands import CancelScheduled, Idempotency, ListScheduled, ScheduleEntries
from tailrace.core.effects import (
    AppendRemembered,
    DuplicateCounted,
    EntriesScheduled,
    ScheduledCancelled,
    StreamCreated,
)
from tailrace.core.errors import ErrorCode, StreamError, no_such_key
from tailrace.core.execution import Execution
from tailrace.core.handlers.backoff import require_near
from tailrace.core.idempotency.memory import SCHEDULED
from tailrace.core.limits import (
    PAGE_BYTES_MAX,
    SCHEDULED_BYTES_MAX,
    SCHEDULED_BYTES_TOTAL_MAX,
    SCHEDULED_ENTRIES_MAX,
    SCHEDULED_ENTRIES_TOTAL_MAX,
    SCHEDULED_PAGE_MAX,
)
from tailrace.core.replies import ScheduledPage, ScheduleReply
from tailrace.core.schedule import Schedule, new_scheduled_ids
from tailrace.core.stream import Stream
from tailrace.core.stream_id import SEQ_BITS


def schedule_entries(execution: Execution, command: ScheduleEntries) -> ScheduleReply | None:
    """Store entries that are appended later, and return their scheduled ids. O(entries log n).

    Returns None if the stream is missing and the command must not create it. A request whose idempotency key
    is known stores nothing, and returns the ids of the first one. Raises INVALID_ARGUMENT for a time that is
    too far away, and LIMIT_EXCEEDED.
    """
    at_ms = _time_of(command, execution.now_ms)
    stream = execution.stream(command.key)
    if stream is None and not command.create:
        return None
    request = None if command.idempotency is None else _marked(command.idempotency)
    if request is not None and stream is not None:
        remembered = stream.idempotency.find(request)
        if remembered is not None:
            execution.do(DuplicateCounted(command.key, request.producer))
            return ScheduleReply(remembered[1:], replayed=True)
    schedule = None if stream is None else stream.schedule
    _require_room(execution, schedule, len(command.fragments), sum(map(len, command.fragments)))
    ids = new_scheduled_ids(schedule, at_ms, execution.now_ms, len(command.fragments))
    if stream is None:
        execution.do(StreamCreated(command.key))
    execution.do(EntriesScheduled(command.key, ids, command.fragments))
    if request is not None:
        # The first id is the time of the request, by which the key expires.
        remembered_ids = (execution.now_ms << SEQ_BITS, *ids)
        execution.do(
            AppendRemembered(
                command.key, request.producer, request.key, remembered_ids, request.fingerprint, None, None
            )
        )
    return ScheduleReply(ids)


def _time_of(command: ScheduleEntries, now_ms: int) -> int:
    """Return when the entries are due: the requested time, or now if it has passed."""
    if command.delay_ms is not None:
        require_near("delay_ms", command.delay_ms, command.delay_ms)
        return now_ms + command.delay_ms
    at_ms = command.deliver_at_ms
    assert at_ms is not None, "one of the two is set"
    require_near("deliver_at_ms", at_ms, at_ms - now_ms)
    return max(at_ms, now_ms)


def _marked(request: Idempotency) -> Idempotency:
    """Return the key with a fingerprint that no append without a delay has."""
    if request.epoch is not None:
        raise StreamError(
            ErrorCode.INVALID_ARGUMENT,
            "ERR an epoch cannot be used with a delay; omit the epoch, or the delay",
        )
    return replace(request, fingerprint=SCHEDULED + (request.fingerprint or b""))


def _require_room(execution: Execution, schedule: Schedule | None, count: int, size_bytes: int) -> None:
    agenda = execution.keyspace.agenda
    entries, used_bytes = (0, 0) if schedule is None else (len(schedule.entries), schedule.size_bytes)
    for have, add, most, what in (
        (entries, count, SCHEDULED_ENTRIES_MAX, "scheduled entries of the stream"),
        (used_bytes, size_bytes, SCHEDULED_BYTES_MAX, "bytes of scheduled entries of the stream"),
        (agenda.scheduled_count, count, SCHEDULED_ENTRIES_TOTAL_MAX, "scheduled entries of all streams"),
        (
            agenda.scheduled_bytes,
            size_bytes,
            SCHEDULED_BYTES_TOTAL_MAX,
            "bytes of scheduled entries of all streams",
        ),
    ):
        if have + add > most:
            raise StreamError(
                ErrorCode.LIMIT_EXCEEDED,
                f"ERR too many {what}: {have} are waiting, {add} more were requested, and {most} are "
                "allowed; wait until some are published, or cancel some",
            )


def list_scheduled(execution: Execution, command: ListScheduled) -> ScheduledPage:
    """Return scheduled entries in the order of publication, cut to one page. O(log n + m).

    Raises NO_SUCH_STREAM.
    """
    schedule = _require_stream(execution, command.key).schedule
    if schedule is None:
        return ScheduledPage((), (), has_more=False)
    room = execution.room(PAGE_BYTES_MAX)
    room.require_any()
    most = min(command.count, SCHEDULED_PAGE_MAX)
    ids = schedule.after(command.after, most + 1)
    fragments = schedule.fragments_of(ids[:most])
    kept = room.take_fitting(fragments)
    return ScheduledPage(ids[:kept], fragments[:kept], has_more=kept < len(ids))


def cancel_scheduled(execution: Execution, command: CancelScheduled) -> int:
    """Remove scheduled entries, and return how many there were. O(ids log n). Raises NO_SUCH_STREAM."""
    schedule = _require_stream(execution, command.key).schedule
    if schedule is None:
        return 0
    ids = schedule.among(command.scheduled_ids)
    if ids:
        execution.do(ScheduledCancelled(command.key, ids))
    return len(ids)


def _require_stream(execution: Execution, key: bytes) -> Stream:
    stream = execution.stream(key)
    if stream is None:
        raise no_such_key(key)
    return stream
