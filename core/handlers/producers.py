"""Producers that replay whole batches: find an append, show the epochs, take an epoch over."""

from __future__ import annotations

from tailrace.core.commands import FindAppend, InfoProducer, TakeOverEpoch
from tailrace.core.effects import EpochTakenOver
from tailrace.core.errors import no_such_key
from tailrace.core.execution import Execution
from tailrace.core.replies import AppendReply, EpochInfo


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
