"""The invariants of a keyspace between any two commands, checked from scratch.

Tests and the check of a restored state use it. It costs O(all entries and pending entries), so no request
runs it. Each function checks the rules of one structure; `check` names the stream with a broken rule. This
module never changes anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import takewhile

from tailrace.core.agenda import OF_SCHEDULE, Agenda
from tailrace.core.group import Group
from tailrace.core.idempotency.memory import IdempotencyMemory
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.delivery_order import DeliveryOrder
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.run import Run
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Bunch, Single, Unit
from tailrace.core.scan_order import in_order, scan_position
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, U64_MAX


def check(keyspace: Keyspace) -> None:
    """Raise AssertionError if `keyspace` breaks an invariant."""
    serials = {stream.serial: key for key, stream in keyspace.streams.items()}
    assert serials == dict(keyspace.keys_by_serial), "the index by serial differs from the streams"
    scanned = sorted((scan_position(key), key) for key in keyspace.streams)
    runs = keyspace.scan_order.runs_from(0)
    places = [(run[key], key) for run in runs for key in in_order(run, run)]
    assert places == scanned, "the order of SCAN differs from the streams"
    for key, stream in keyspace.streams.items():
        try:
            check_stream(stream)
            _check_deadline(keyspace, stream)
            _check_agenda(keyspace.agenda, stream)
        except AssertionError as error:
            raise AssertionError(f"stream {key!r}: {error}") from error
    schedules = [each.schedule for each in keyspace.streams.values() if each.schedule is not None]
    counts = (sum(len(each.entries) for each in schedules), sum(each.size_bytes for each in schedules))
    agenda = keyspace.agenda
    assert counts == (agenda.scheduled_count, agenda.scheduled_bytes), "scheduled entries are miscounted"
    assert keyspace.cache.used_bytes <= keyspace.cache.max_bytes, "the cache is over its bound"


def _check_deadline(keyspace: Keyspace, stream: Stream) -> None:
    first_ms = stream.idempotency.deadline_ms()
    deadline_ms = keyspace.deadlines.of(stream.serial)
    assert first_ms is None or (deadline_ms is not None and deadline_ms <= first_ms), "a key expires unseen"


def _check_agenda(agenda: Agenda, stream: Stream) -> None:
    """Check that the agenda knows of everything that becomes due in the stream, and the schedule's sizes."""
    waiting = {name: group.pending.first_held_ms for name, group in stream.groups.items()}
    schedule = stream.schedule
    if schedule is not None:
        has_ids = stream.last_id <= MAX_ID - len(schedule.entries)
        waiting[OF_SCHEDULE] = schedule.first_ms if has_ids else None
        assert schedule.size_bytes == sum(map(len, schedule.entries.values())), "a schedule's bytes are wrong"
        last = max((value & U64_MAX for value in schedule.ids()), default=0)
        assert last <= schedule.last_number, "a scheduled id is above the greatest number"
    for name, first_ms in waiting.items():
        deadline_ms = agenda.due.of((stream.serial, name))
        assert first_ms is None or (deadline_ms is not None and deadline_ms <= first_ms), "due unseen"


def check_stream(stream: Stream) -> None:
    """Check a stream's counters against its entries, and every group."""
    check_log(stream.log)
    assert stream.last_id >= stream.log.last_id, "an entry is above the last id"
    assert stream.entries_added >= stream.length, "fewer entries added than live"
    assert stream.last_id >= stream.max_deleted_id, "a deleted id is above the last id"
    check_memory(stream.idempotency)
    for name, group in stream.groups.items():
        assert name == group.name, f"group {name!r} is called {group.name!r}"
        check_group(group)
        check_order(stream, group)
        _check_passed(stream, group.pending.order)


def _check_passed(stream: Stream, order: DeliveryOrder) -> None:
    """Check that no unit up to the one that was passed over has a live entry."""
    passed: list[Unit] = []
    if order.passed is not None:
        passed = [*takewhile(lambda unit: unit is not order.passed, order.units()), order.passed]
        assert list(order.units())[: len(passed)] == passed, "the passed unit is not in the order"
    live = stream.log.live_among(value for unit in passed for value in unit.live_ids())
    assert not live, "a live entry was passed over"


def check_memory(memory: IdempotencyMemory) -> None:
    """Check that the key counts are right and that each producer has keys."""
    timed, epochs = memory.timed, memory.epochs
    assert timed.key_count == sum(map(len, timed.producers.values())), "keys without an epoch are miscounted"
    assert all(timed.producers.values()), "a producer without keys is kept"
    kept = [epoch for each in epochs.producers.values() for epoch in each]
    assert epochs.key_count == sum(len(epoch.keys) for epoch in kept), "keys with an epoch are miscounted"
    assert all(epochs.producers.values()), "a producer without an epoch is kept"


def check_log(log: EntryLog) -> None:
    """Check that blocks are in order and not empty, that ids rise, and that the length is right."""
    previous = 0
    waiting = set(map(id, log.sealing.waiting))
    for index, block in enumerate(log.blocks):
        assert block.live > 0, f"block {index} is empty"
        is_last_or_waits = index == len(log.blocks) - 1 or id(block) in waiting
        assert not block.is_open or is_last_or_waits, "an open block is neither the last one nor waiting"
        ids = list(block.decode().ids)
        _check_block(block, ids)
        assert previous < ids[0], f"block {index} begins at or below the end of the one before"
        previous = ids[-1]
    assert log.length == sum(block.live for block in log.blocks), "the length is wrong"
    assert log.ended_bytes == sum(block.fragment_bytes for block in log.blocks), "the bytes are wrong"
    ids, fragments = log.range()
    assert ids == sorted(set(ids)), "ids do not rise"
    assert log.at_ranks(range(log.length)) == ids, "the counts before the blocks are wrong"
    assert all(fragments), "a live entry has no fields"


def _check_block(block: Block, ids: list[int]) -> None:
    assert len(ids) == block.count == len(block.decode().fragments), "positions are miscounted"
    assert (ids[0], ids[-1]) == (block.first_id, block.last_id), "a block's ends are wrong"
    assert ids == sorted(set(ids)), "ids in a block do not rise"
    assert block.holes < 1 << block.count, "a hole is outside the block"


def check_group(group: Group) -> None:
    """Check the pending entries list against the consumers' indexes and the order of delivery."""
    pending = group.pending
    owners = _check_units(pending)
    assert pending.count == len(owners), "the count of pending entries is wrong"
    assert pending.nacked_count == sum(owner is None for owner in owners.values()), "nacked is wrong"
    assert list(pending.ids()) == sorted(owners), "the index by id differs from the units"
    for name, consumer in group.consumers.items():
        assert name == consumer.name, f"consumer {name!r} is called {consumer.name!r}"
        _check_consumer(consumer, [value for value in sorted(owners) if owners[value] is consumer])
        filed = [pending.scattered[value] is unit for value, unit in consumer.scattered.items()]
        assert all(filed), f"consumer {name!r} has an entry under a wrong unit"
    scattered = _distinct(pending.scattered.values())
    held: list[Unit] = [unit for unit in scattered if unit.is_held]
    assert held or pending.held is None or pending.held.head is None, "a unit in the list is not delayed"
    if pending.held is not None:
        _check_order(pending.held, held)
    _check_order(pending.order, [*pending.runs.values(), *(each for each in scattered if not each.is_held)])


def check_order(stream: Stream, group: Group) -> None:
    """Check the order by key of a group against its settings, its pending entries and the stream's
    entries."""
    order, settings = group.order, group.settings
    assert (stream.ordered.get(group.name) is group) == (order is not None), "the stream misses an order"
    assert (None if order is None else order.field) == (None if settings is None else settings.order_by)
    if order is None:
        return
    held, live = list(order.held), stream.log.live_among([*order.held, *order.key_of])
    assert not order.is_done, "an order is kept without need"
    assert held == sorted(held), "the held entries are not in order"
    assert max(held, default=0) <= group.last_delivered_id, "an unread entry is held"
    assert live == sorted({*held, *order.key_of}), "an entry is held or in flight, but deleted"
    assert all(value in group.pending for value in order.key_of), "an entry is in flight, but not pending"
    assert order.in_flight == Counter(order.key_of.values()), "the keys in flight are wrong"
    queues: dict[bytes, list[int]] = {}
    for value, key in order.held.items():
        if key is not None:
            queues.setdefault(key, []).append(value)
    assert {key: list(queue) for key, queue in order.queues.items()} == queues, "a queue is wrong"
    first = {queue[0] for key, queue in queues.items() if key not in order.in_flight}
    assert set(order.ready) == first | {value for value, key in order.held.items() if key is None}
    assert set(order.key_of) <= set(order.heap), "a trim would not find an entry"


def _check_units(pending: PendingEntriesList) -> dict[int, Consumer | None]:
    """Check that each id is pending once, and return the owner of each."""
    owners: dict[int, Consumer | None] = {}
    previous = -1
    for key, run in pending.runs.items():
        _check_run(key, run)
        assert previous < run.first_id, "runs overlap"
        previous = run.last_id
        if isinstance(run, Strip):
            _check_strip(run)
            owners.update((entry.id, entry.consumer) for entry in run.entries())
        else:
            owners.update(dict.fromkeys(run.live_ids(), run.consumer))
    for value, unit in pending.scattered.items():
        assert value in list(unit.live_ids()), "an entry is filed under a unit that does not have it"
        assert value not in owners, "an entry is pending twice"
        owners[value] = unit.consumer
    scattered = [value for unit in _distinct(pending.scattered.values()) for value in unit.live_ids()]
    assert sorted(scattered) == sorted(pending.scattered), "a unit has an entry that is not filed under it"
    assert list(pending.scattered_ids.from_(0)) == sorted(scattered), (
        "the index of scattered entries is wrong"
    )
    return owners


def _distinct(units: Iterable[Single | Bunch]) -> list[Single | Bunch]:
    return list({id(unit): unit for unit in units}.values())


def _check_run(key: int, run: Run) -> None:
    ids = list(run.live_ids())
    assert ids, "a run is empty"
    assert run.live == len(ids), "a run's live entries are miscounted"
    assert (ids[0], ids[-1]) == (run.first_id, run.last_id), "a run's ends are not live"
    assert key == run.key <= run.first_id, "a run is filed under a wrong key"
    assert run.consumer is not None, "a run has no owner"


def _check_strip(strip: Strip) -> None:
    times = [entry.delivered_at_ms for entry in strip.entries()]
    assert times == sorted(times), "the times of a strip fall"
    assert times[-1] <= strip.delivered_at_ms, "a strip is filed under a time before its last entry"
    assert all(strip.key in owner.runs for owner in strip.owners()), "an owner's index lacks a strip"


def _check_consumer(consumer: Consumer, ids: list[int]) -> None:
    assert consumer.pending_count == len(ids), f"consumer {consumer.name!r} is miscounted"
    assert consumer.scattered.keys() <= set(ids), f"consumer {consumer.name!r} has an entry of another owner"
    assert list(consumer.pending_ids()) == ids, f"consumer {consumer.name!r} has a wrong index"


def _check_order(order: DeliveryOrder, units: list[Unit]) -> None:
    """Check that all units are linked once and both ways, unowned first, then by time, and the index of
    times."""
    listed = list(order.units())
    assert sorted(map(id, listed)) == sorted(map(id, units)), "the order lacks or repeats a unit"
    times = [-1 if unit.consumer is None and not unit.is_held else unit.delivered_at_ms for unit in listed]
    assert times == sorted(times), "the order of delivery is broken"
    previous: Unit | None = None
    for unit in listed:
        assert unit.prev is previous, "a backward link is wrong"
        previous = unit
    assert order.tail is previous, "the tail is wrong"
    assert order.last_of_time == dict(zip(times, listed, strict=True)), "the times' index is wrong"
    falling = list(order.times_up_to(max(times, default=0)))
    assert falling == sorted(set(times), reverse=True), "the view of times is wrong"
