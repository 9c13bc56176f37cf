"""XACK and XNACK: acknowledge pending entries, or return them to the group for redelivery."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from msgspec.structs import replace

from tailrace.core.commands import Acknowledge, NackMode, NegativeAcknowledge
from tailrace.core.deliveries import DELIVERIES_MAX
from tailrace.core.effects import Nacked, RetriesDelayed
from tailrace.core.errors import no_key_or_group
from tailrace.core.execution import Execution, parsed
from tailrace.core.handlers.backoff import delay_of, require_near
from tailrace.core.handlers.dead_letters import DeadLetters, MoveRoom, dead_letters_of
from tailrace.core.handlers.delete import acknowledge
from tailrace.core.handlers.groups import missing_for, require_key_and_group
from tailrace.core.id_keys import id_keys, ids_of_keys
from tailrace.core.log.dead_letter import FATAL, MAX_DELIVERIES
from tailrace.core.pending.rows import Delivery
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def ack(execution: Execution, command: Acknowledge) -> int:
    """XACK: remove entries from the pending entries list, and return how many were pending. O(1) an id.

    A missing stream or group returns 0 before the ids are parsed; with `require_group` it raises NOGROUP.
    """
    group = execution.keyspace.group(command.key, command.group)
    if group is None:
        if command.require_group:
            raise no_key_or_group(command.key, command.group, missing_for(execution, command.key))
        return 0
    return acknowledge(execution, command.key, group, parsed(command.ids))


def nack(execution: Execution, command: NegativeAcknowledge) -> int:
    """XNACK: take entries from their consumers, and return how many are now unowned. O(1) an id.

    Unowned entries come first in the order in which CLAIM takes entries (rule 54). An id named twice is
    nacked twice: the first nack is applied before the second one is judged. An entry that the group may not
    deliver again becomes a dead letter, and counts as well. With a delay, of the command or of the group's
    backoff, nothing claims the entries before its end. Raises NOGROUP, and INVALID_ARGUMENT for a delay that
    is too long.
    """
    group = require_key_and_group(execution, command.key, command.group)
    stream = execution.keyspace.streams[command.key]
    if command.delay_ms is not None:
        require_near("delay_ms", command.delay_ms, command.delay_ms)
    ids = parsed(command.ids)
    delivery_of: Callable[[StreamId], Delivery | None] = group.pending.find_all(ids).get
    batch: dict[bytes, int] = {}
    if command.force and group.order is not None:
        # A group with an order by key makes nothing pending but by its reads.
        command = replace(command, force=False)
    letters = dead_letters_of(execution, command.key, group, MoveRoom())
    done = 0
    for value, id_key in zip(ids, id_keys(ids), strict=True):
        if id_key in batch:
            done += _flush(execution, command, batch, letters, delivery_of)
            # The flush changed entries.
            delivery_of = group.pending.get
        deliveries = _deliveries_after(stream, delivery_of(value), command, value)
        if deliveries is not None:
            batch[id_key] = deliveries
    done += _flush(execution, command, batch, letters, delivery_of)
    if done:
        execution.wake(command.key)
    return done


def _deliveries_after(
    stream: Stream, delivery: Delivery | None, command: NegativeAcknowledge, value: StreamId
) -> int | None:
    """The entry's new delivery count, or None if the entry stays unchanged. `delivery`: None if it is not
    pending."""
    if delivery is None and not (command.force and value in stream.log):
        return None
    if command.retry_count is not None:
        return command.retry_count
    if command.mode is NackMode.FATAL:
        return DELIVERIES_MAX
    deliveries = delivery.deliveries if delivery is not None else 0
    return max(deliveries - 1, 0) if command.mode is NackMode.SILENT else deliveries


def _flush(
    execution: Execution,
    command: NegativeAcknowledge,
    batch: dict[bytes, int],
    letters: DeadLetters | None,
    delivery_of: Callable[[StreamId], Delivery | None],
) -> int:
    """Apply `batch`: the new delivery counts by the key of the id. Return how many entries it has."""
    count = len(batch)
    if letters is not None:
        exhausted = [
            value
            for value, deliveries in zip(ids_of_keys(batch), batch.values(), strict=True)
            if deliveries >= letters.most and delivery_of(value) is not None
        ]
        is_fatal = command.mode is NackMode.FATAL and command.retry_count is None
        for id_key in id_keys(letters.move(exhausted, reason=FATAL if is_fatal else MAX_DELIVERIES)):
            del batch[id_key]
    if batch:
        _give_back(execution, command, batch)
        batch.clear()
    return count


def _give_back(execution: Execution, command: NegativeAcknowledge, batch: dict[bytes, int]) -> None:
    """Take the entries of `batch` from their consumers, each group of equal delays in one effect."""
    key, group = command.key, command.group
    delay = delay_of(command, execution.keyspace.streams[key].groups[group].settings)
    if delay is None:
        execution.do(Nacked(key, group, list(ids_of_keys(batch)), list(batch.values())))
        return
    by_delay: defaultdict[int, tuple[list[StreamId], list[int]]] = defaultdict(lambda: ([], []))
    for value, deliveries in zip(ids_of_keys(batch), batch.values(), strict=True):
        ids, counts = by_delay[delay(deliveries)]
        ids.append(value)
        counts.append(deliveries)
    for delay_ms, (ids, counts) in by_delay.items():
        if delay_ms:
            execution.do(RetriesDelayed(key, group, ids, counts, execution.now_ms + delay_ms))
        else:
            execution.do(Nacked(key, group, ids, counts))
