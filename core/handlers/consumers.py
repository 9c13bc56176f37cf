"""XGROUP CREATECONSUMER and DELCONSUMER, and the consumer that a read or claim makes in passing."""

from __future__ import annotations

from tailrace.core.commands import CreateConsumer, DeleteConsumer
from tailrace.core.effects import ConsumerCreated, ConsumerDeleted, ConsumerSeen, Transferred
from tailrace.core.errors import ErrorCode, StreamError, printable
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.groups import require_group
from tailrace.core.pending.consumer import Consumer


def touch_consumer(execution: Execution, key: bytes, group: Group, name: bytes) -> Consumer:
    """The consumer `name`, made where it is missing; its time of being seen is now (rules 28, 33)."""
    if name in group.consumers:
        execution.do(ConsumerSeen(key, group.name, name, execution.now_ms, active=False))
    else:
        execution.do(ConsumerCreated(key, group.name, name, execution.now_ms))
    consumer: Consumer = group.consumers[name]
    return consumer


def create_consumer(execution: Execution, command: CreateConsumer) -> int:
    """1 where the consumer is new, 0 where it stands already."""
    group = require_group(execution, command.key, command.group)
    if command.consumer in group.consumers:
        return 0
    execution.do(ConsumerCreated(command.key, command.group, command.consumer, execution.now_ms))
    return 1


def delete_consumer(execution: Execution, command: DeleteConsumer) -> int | None:
    """How many pending entries it had; None where there is no such consumer, which Redis answers with 0.

    They are gone with it for good (rule 55), or handed to `transfer_to`.
    """
    group = require_group(execution, command.key, command.group)
    consumer = group.consumers.get(command.consumer)
    if consumer is None:
        return None
    pending_count: int = consumer.pending_count
    if command.transfer_to is not None and command.transfer_to != command.consumer:
        if command.transfer_to not in group.consumers:
            execution.do(ConsumerCreated(command.key, command.group, command.transfer_to, execution.now_ms))
        execution.do(Transferred(command.key, command.group, command.consumer, command.transfer_to))
    elif command.refuse_pending and pending_count:
        raise StreamError(
            ErrorCode.CONSUMER_HAS_PENDING,
            f"ERR consumer '{printable(command.consumer)}' has {pending_count} pending entries",
            {"key": command.key, "group": command.group, "consumer": command.consumer},
            pending=str(pending_count),
        )
    execution.do(ConsumerDeleted(command.key, command.group, command.consumer))
    return pending_count
