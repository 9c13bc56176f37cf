"""XIDMPRECORD: records an idempotency key for an entry that exists."""

from __future__ import annotations

from tailrace.core.commands import Idempotency, RecordIdempotencyKey
from tailrace.core.effects import AppendRemembered
from tailrace.core.errors import ErrorCode, StreamError, no_such_key
from tailrace.core.execution import Execution


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
