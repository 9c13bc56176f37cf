"""COPY: creates a stream with the content of another; both share the parts that never change."""

from __future__ import annotations

from tailrace.core.commands import CopyKey
from tailrace.core.effects import StreamCopied
from tailrace.core.errors import ErrorCode, StreamError, same_object
from tailrace.core.execution import Execution
from tailrace.core.limits import COPY_PARTS_MAX
from tailrace.core.outcome import Signal


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
