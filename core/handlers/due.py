"""What becomes due with time: scheduled entries are appended, and delayed retries can be claimed.

The server runs this command when the first deadline of the agenda comes, in bounded steps with other requests
in between. "Due" is decided by the system clock, as ids are: an entry never appears before its time as this
clock shows it, and one that has appeared stays if the clock steps back.
"""

from __future__ import annotations

from tailrace.core.agenda import OF_SCHEDULE
from tailrace.core.commands import DoDue
from tailrace.core.effects import RetriesReleased, ScheduledPublished
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.append import consecutive_ids
from tailrace.core.handlers.retention import retire_blocks
from tailrace.core.limits import DUE_BYTES_PER_STEP, DUE_ENTRIES_PER_STEP, DUE_PLACES_PER_STEP
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID


def do_due(execution: Execution, _: DoDue) -> int:
    """Publish and release what is due, in the order of time, within the bounds of one step. Return 1 if more
    is due now, else 0. O(log n) for each entry."""
    keyspace, now_ms = execution.keyspace, execution.now_ms
    step = _Step(execution)
    for serial, name in keyspace.agenda.due.take_due(now_ms, DUE_PLACES_PER_STEP):
        # The agenda forgets a stream and a group that are deleted.
        key = keyspace.keys_by_serial[serial]
        stream: Stream = keyspace.streams[key]
        if name == OF_SCHEDULE:
            step.publish(key, stream)
        else:
            step.release(key, stream, stream.groups[name])
        if step.is_spent:
            break
    first_ms = keyspace.agenda.due.first_ms()
    return int(first_ms is not None and first_ms <= now_ms)


class _Step:
    """What one step may still do."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._left = DUE_ENTRIES_PER_STEP
        self._left_bytes = DUE_BYTES_PER_STEP

    @property
    def is_spent(self) -> bool:
        """Whether the step can do nothing more."""
        return self._left <= 0 or self._left_bytes <= 0

    def publish(self, key: bytes, stream: Stream) -> None:
        """Append the first scheduled entries of a stream that are due."""
        execution, schedule = self._execution, stream.schedule
        assert schedule is not None, "the agenda has only streams with a schedule"
        scheduled_ids = schedule.due(execution.now_ms, self._left, self._left_bytes)
        if not scheduled_ids:
            # The entry that was first is cancelled.
            execution.keyspace.agenda.note_schedule(stream)
            return
        if stream.last_id > MAX_ID - len(scheduled_ids):
            # The stream has no ids left. If XSETID sets it back, the agenda gets it again.
            return
        self._left -= len(scheduled_ids)
        self._left_bytes -= sum(map(len, schedule.fragments_of(scheduled_ids)))
        ids = consecutive_ids(stream.last_id, execution.now_ms, len(scheduled_ids))
        execution.do(ScheduledPublished(key, scheduled_ids, ids))
        if stream.retention is not None:
            retire_blocks(execution, key, stream, len(ids))
        execution.wake(key)

    def release(self, key: bytes, stream: Stream, group: Group) -> None:
        """Let the first delayed entries of a group that are due be claimed."""
        execution = self._execution
        ids = group.pending.due_ids(execution.now_ms, self._left)
        if ids:
            self._left -= len(ids)
            execution.do(RetriesReleased(key, group.name, ids))
            execution.wake(key)
        else:
            # The entry that was first is acknowledged.
            execution.keyspace.agenda.note_group(stream, group)
