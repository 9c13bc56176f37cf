"""The invariants of the pending entries list of a group between any two commands, checked from scratch.

`core.invariants` checks the rest of a keyspace. It costs O(pending entries), so no request runs it. This
module never changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tailrace.core.group import Group
from tailrace.core.id_keys import id_key, ids_of_keys
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.delivery_order import DeliveryOrder
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.run import Run
from tailrace.core.pending.scattered import ScatteredTable
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Bunch, Single, Unit


def check_group(group: Group) -> None:
    """Check the pending entries list against the consumers' indexes and the order of delivery."""
    pending = group.pending
    owners = _check_units(pending)
    assert pending.count == len(owners), "the count of pending entries is wrong"
    assert pending.nacked_count == sum(owner is None for owner in owners.values()), "nacked is wrong"
    assert list(pending.ids()) == sorted(owners), "the index by id differs from the units"
    for name, consumer in group.consumers.items():
        assert name == consumer.name, f"consumer {name!r} is called {consumer.name!r}"
        _check_consumer(pending, consumer, [value for value in sorted(owners) if owners[value] is consumer])
    scattered = _distinct(unit for part in pending.scattered.parts for unit in part.units.values())
    held: list[Unit] = [unit for unit in scattered if unit.is_held]
    assert pending.held is not None or not held, "delayed units are in no order"
    if pending.held is not None:
        _check_order(pending.held, held)
    _check_order(pending.order, [*pending.runs.values(), *(each for each in scattered if not each.is_held)])


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
    check_table(pending.scattered)
    parts = pending.scattered.parts
    filed = {int.from_bytes(key): unit for part in parts for key, unit in part.units.items()}
    for value, unit in filed.items():
        assert value in list(unit.live_ids()), "an entry is filed under a unit that does not have it"
        assert value not in owners, "an entry is pending twice"
        owners[value] = unit.consumer
    units = _distinct(filed.values())
    assert not any(map(pending.is_gone, units)), "an entry is filed under a unit without entries"
    live = [value for unit in units for value in unit.live_ids()]
    assert sorted(live) == sorted(filed), "a unit has an entry that is not filed under it"
    return owners


def check_table(table: ScatteredTable) -> None:
    """Check the parts of a table of scattered entries, and the index of owners."""
    listed = list(table.from_(0))
    ids: list[int] = []
    for number, part in enumerate(table.parts):
        rising = sorted(part.units)
        assert rising or len(table.parts) == 1, "a part is empty"
        assert list(part.keys.from_(b"")) == rising, "the ids of a part are in the wrong order"
        assert all(table.parts[number] is table.part_of(key) for key in rising), "an entry is in a wrong part"
        ids += ids_of_keys(rising)
        owned = {key: unit for units in part.owned.values() for key, unit in units.items()}
        assert owned == {key: unit for key, unit in part.units.items() if unit.consumer is not None}
        for consumer, units in part.owned.items():
            assert units, "an owner without entries is kept"
            assert all(unit.consumer is consumer for unit in units.values()), "an entry has a wrong owner"
    assert listed == ids == sorted(ids), "the parts are in the wrong order"
    assert len(table) == len(ids), "the scattered entries are miscounted"


def _distinct(units: Iterable[Single | Bunch]) -> list[Single | Bunch]:
    return list({id(unit): unit for unit in units}.values())


def _check_run(key: bytes, run: Run) -> None:
    ids = list(run.live_ids())
    assert ids, "a run is empty"
    assert run.live == len(ids), "a run's live entries are miscounted"
    assert (ids[0], ids[-1]) == (run.first_id, run.last_id), "a run's ends are not live"
    assert key == run.key <= id_key(run.first_id), "a run is filed under a wrong key"
    assert run.consumer is not None, "a run has no owner"


def _check_strip(strip: Strip) -> None:
    times = [entry.delivered_at_ms for entry in strip.entries()]
    assert times == sorted(times), "the times of a strip fall"
    assert times[-1] <= strip.delivered_at_ms, "a strip is filed under a time before its last entry"
    assert all(strip.key in owner.runs for owner in strip.owners()), "an owner's index lacks a strip"


def _check_consumer(pending: PendingEntriesList, consumer: Consumer, ids: list[int]) -> None:
    assert consumer.pending_count == len(ids), f"consumer {consumer.name!r} is miscounted"
    assert list(pending.ids_of(consumer)) == ids, f"consumer {consumer.name!r} has a wrong index"
    assert consumer.runs.keys() <= pending.runs.keys(), f"consumer {consumer.name!r} has runs of another list"


def _check_order(order: DeliveryOrder, units: list[Unit]) -> None:
    """Check that all units are linked once and both ways, unowned first, then by time, and the index of
    times."""
    listed = list(linked(order))
    assert len(set(map(id, listed))) == len(listed), "the order repeats a unit"
    live = list(map(id, order.units()))
    assert sorted(live) == sorted(map(id, units)), "the order lacks a unit, or shows one without entries"
    of_live = set(live)
    assert [id(unit) for unit in listed if id(unit) in of_live] == live, "iterating changes the order"
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


def linked(order: DeliveryOrder) -> Iterator[Unit]:
    """Return all units in the list, also those that have no pending entry any more."""
    unit = order.head
    while unit is not None:
        yield unit
        unit = unit.next
