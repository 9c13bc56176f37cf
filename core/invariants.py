"""The invariants of a keyspace between any two commands, checked from scratch.

Tests and the check of a restored state use it. It costs O(all entries and pending entries), so no request
runs it. Each function checks the rules of one structure; `check` names the stream with a broken rule. This
module never changes anything.
"""

from __future__ import annotations

from collections import Counter

from tailrace.core.agenda import OF_SCHEDULE, Agenda
from tailrace.core.group import Group
from tailrace.core.idempotency.memory import IdempotencyMemory
from tailrace.core.keyspace import Keyspace
from tailrace.core.log.block import Block
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.rows import Batch
from tailrace.core.pending_invariants import check_group
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
        _check_passed(stream, group.pending)


def _check_passed(stream: Stream, pending: PendingEntriesList) -> None:
    """Check that no entry that was passed over is live."""
    passed: list[int] = []
    for segment in pending.table.segments.segments:
        for value, row in zip(*segment.entries(), strict=True):
            if isinstance(row, Batch):
                is_passed = row.bound is None
            else:
                first = segment.times[segment.passed :], segment.serials[segment.passed :]
                is_passed = not first[0] or row[:2] < (first[0][0], first[1][0])
            if is_passed:
                passed.append(value)
    assert not stream.log.live_among(passed), "a live entry was passed over"


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
