"""XIDMPRECORD: an idempotency key for an entry that is there already."""

from __future__ import annotations

from tailrace.core.commands import Idempotency, RecordIdempotencyKey
from tailrace.core.effects import AppendRemembered
from tailrace.core.errors import ErrorCode, StreamError, no_such_key
from tailrace.core.execution import Execution


def record_idempotency_key(execution: Execution, command: RecordIdempotencyKey) -> None:
    """Remember the key as if the entry had been appended under it; the same once more changes nothing."""
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
