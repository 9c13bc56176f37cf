"""XGROUP CREATECONSUMER and DELCONSUMER, and the consumers that reads and claims create."""

from __future__ import annotations

from tailrace.core.commands import CreateConsumer, DeleteConsumer
from tailrace.core.effects import ConsumerCreated, ConsumerDeleted, ConsumerSeen, Transferred
from tailrace.core.errors import consumer_has_pending
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.groups import require_group
from tailrace.core.pending.consumer import Consumer


def touch_consumer(execution: Execution, key: bytes, group: Group, name: bytes) -> Consumer:
    """Mark the consumer `name` as seen now, create it if it is missing, and return it (rules 28, 33)."""
    if name in group.consumers:
        execution.do(ConsumerSeen(key, group.name, name, execution.now_ms, active=False))
    else:
        execution.do(ConsumerCreated(key, group.name, name, execution.now_ms))
    consumer: Consumer = group.consumers[name]
    return consumer


def create_consumer(execution: Execution, command: CreateConsumer) -> int:
    """XGROUP CREATECONSUMER: return 1 if the consumer is new, 0 if it exists. Raises NOGROUP."""
    group = require_group(execution, command.key, command.group)
    if command.consumer in group.consumers:
        return 0
    execution.do(ConsumerCreated(command.key, command.group, command.consumer, execution.now_ms))
    return 1


def delete_consumer(execution: Execution, command: DeleteConsumer) -> int | None:
    """XGROUP DELCONSUMER: delete a consumer, and return how many pending entries were dropped.

    Returns None if the consumer is missing; Redis replies with 0. The consumer's entries are dropped (rule
    55), unless `transfer_to` names another consumer, which then gets them. Raises NOGROUP, and
    CONSUMER_HAS_PENDING if `refuse_pending` is set.
    """
    group = require_group(execution, command.key, command.group)
    consumer = group.consumers.get(command.consumer)
    if consumer is None:
        return None
    dropped: int = consumer.pending_count
    if command.transfer_to is not None and command.transfer_to != command.consumer:
        if command.transfer_to not in group.consumers:
            execution.do(ConsumerCreated(command.key, command.group, command.transfer_to, execution.now_ms))
        execution.do(Transferred(command.key, command.group, command.consumer, command.transfer_to))
        dropped = 0
    elif command.refuse_pending and dropped:
        raise consumer_has_pending(command.key, command.group, command.consumer, dropped)
    execution.do(ConsumerDeleted(command.key, command.group, command.consumer))
    return dropped
