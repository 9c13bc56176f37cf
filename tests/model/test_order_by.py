"""Order by key against a naive model, on a data directory that crashes, under a clock that steps.

The model keeps which entries were delivered, acknowledged and passed over, and decides about each entry by
looking at all others. After every step the engine's group is that of the model, at most one entry of each
value is in flight, and every entry is in one place only. The entries of a value are delivered in order.
"""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tailrace.core import commands as c
from tailrace.core.group import Group
from tailrace.core.invariants import check
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import id_ms
from tests.model.crashing import Crashing, settings_of_a_run

KEY, GROUP, DEAD = b"s", b"g", b"dead"
FIELDS: Final = ("k", "c")
VALUES: Final = st.tuples(st.sampled_from((None, "a", "b", "c")), st.sampled_from((None, "x", "y")))
CONSUMERS: Final = st.sampled_from((b"alice", b"bob"))
PICKS: Final = st.lists(st.integers(0, 30), min_size=1, max_size=4)


class OrderBy(Crashing):
    """One stream with one group and two consumers; the ids are 1-0, 2-0 and so on."""

    @initialize()
    def start(self) -> None:
        self.begin(1_000_000)
        # The values of both fields of every entry, and the entries that still exist.
        self.values: dict[int, tuple[str | None, str | None]] = {}
        self.live: set[int] = set()
        self.field: str | None = None
        self.most: int | None = None
        self.position = 0
        self.held: list[int] = []
        # The pending entries, with owner and number of deliveries.
        self.pending: dict[int, tuple[bytes | None, int]] = {}
        # Entries that are done: acknowledged, moved, or delivered with NOACK.
        self.done: set[int] = set()
        # Entries that XGROUP SETID made unread again, or skipped: their order says nothing.
        self.moved_up_to = 0
        # Entries that were in flight, or delivered, before the field was set.
        self.set_up_to = 0
        self.execute(c.CreateGroup(KEY, GROUP, 0, create_stream=True))
        self.configure("k")
        self.append([("a", "x"), ("a", "y"), ("b", None), ("a", "x"), ("b", "y"), (None, None)])
        self.read(b"alice", None, noack=False)

    # --- the naive rules -------------------------------------------------------------------------

    def value_of(self, number: int) -> str | None:
        return None if self.field is None else self.values[number][FIELDS.index(self.field)]

    def is_in_flight(self, value: str | None) -> bool:
        return value is not None and any(
            self.value_of(number) == value for number in self.pending if number in self.live
        )

    def ready(self) -> set[int]:
        """Return the held entries that may be delivered now."""
        if self.field is None:
            return set(self.held)
        first: dict[str, int] = {}
        for number in self.held:
            value = self.value_of(number)
            if value is not None:
                first.setdefault(value, number)
        free = {number for value, number in first.items() if not self.is_in_flight(value)}
        return free | {number for number in self.held if self.value_of(number) is None}

    def new_ones(self, most: int, *, noack: bool) -> tuple[list[int], list[int]]:
        """Return the new entries that a read delivers and those that it holds, and move the position."""
        delivered: list[int] = []
        held: list[int] = []
        waiting = {self.value_of(number) for number in self.held}
        for number in sorted(self.live):
            if number <= self.position:
                continue
            if len(delivered) == most:
                break
            value = self.value_of(number)
            taken = set() if noack else {self.value_of(other) for other in delivered}
            if value is not None and (
                value in taken | waiting or self.is_in_flight(value) or value in map(self.value_of, held)
            ):
                held.append(number)
            else:
                delivered.append(number)
            self.position = number
        return delivered, held

    # --- entries ---------------------------------------------------------------------------------

    @rule(some=st.lists(VALUES, min_size=1, max_size=6))
    def append(self, some: list[tuple[str | None, str | None]]) -> None:
        numbers = range(len(self.values) + 1, len(self.values) + len(some) + 1)
        self.values |= dict(zip(numbers, some, strict=True))
        self.live.update(numbers)
        fragments = [fragment_from_flat([b"n", b"1", *_flat(values)]) for values in some]
        self.execute(c.Append(KEY, fragments, tuple(number << 64 for number in numbers)))

    @rule(picks=PICKS, references=st.sampled_from(list(c.References)))
    def delete(self, picks: list[int], references: c.References) -> None:
        numbers = self.numbers(picks)
        referenced = {*self.pending, *self.held, *(each for each in self.live if each > self.position)}
        gone = set(numbers) & self.live
        if references is c.References.ACKNOWLEDGED:
            gone -= referenced
        ids = _ids(numbers)
        self.execute(c.DeleteEntriesByPolicy(KEY, ids, len(ids), references))
        if references is c.References.DELETE:
            self.settle(numbers)
        self.forget(gone)

    @rule(pick=st.integers(0, 30), with_references=st.booleans())
    def trim(self, pick: int, *, with_references: bool) -> None:
        [least] = self.numbers([pick])
        references = c.References.DELETE if with_references else c.References.KEEP
        self.execute(c.TrimStream(KEY, c.Trim(None, least << 64, references=references)))
        gone = {number for number in self.live if number < least}
        if with_references:
            self.settle(gone)
        self.forget(gone)

    def forget(self, gone: set[int]) -> None:
        self.live -= gone
        self.held = [number for number in self.held if number not in gone]

    def numbers(self, picks: list[int]) -> list[int]:
        known = [*self.pending, *self.held, *sorted(self.live), len(self.values) + 1]
        return [known[pick % len(known)] for pick in picks]

    # --- deliveries ------------------------------------------------------------------------------

    @rule(consumer=CONSUMERS, count=st.none() | st.integers(1, 4), noack=st.booleans())
    def read(self, consumer: bytes, count: int | None, *, noack: bool) -> None:
        sources = (c.ReadFrom(KEY, c.Special.NEW),)
        reply = self.execute(c.ReadGroup(GROUP, consumer, sources, c.ReadLimits(count=count), noack=noack))
        assert isinstance(reply, ReadReply)
        got = [id_ms(value) for value in reply.streams[0].entries.ids]
        most = 1_000 if count is None else count
        ready = self.ready()
        if noack and self.field is not None:
            free = {self.value_of(number) for number in ready}
            ready |= {number for number in self.held if self.value_of(number) in free}
        first = [number for number in got if number in self.held]
        assert set(first) <= ready
        assert len(first) == min(most, len(ready))
        is_draining = self.field is None and self.held
        new, held = ([], []) if is_draining else self.new_ones(most - len(first), noack=noack)
        assert got == sorted(first + new)
        self.in_order(got)
        self.held = [number for number in self.held if number not in first] + held
        if noack:
            # What is pending already, because the group was moved back, stays so.
            self.done.update(got)
        else:
            self.pending |= dict.fromkeys(got, (consumer, 1))

    def in_order(self, got: list[int]) -> None:
        """No entry is delivered while an earlier one of its value is unread, and none is delivered twice."""
        for number in got:
            assert number not in self.done or number <= self.moved_up_to
            value = self.value_of(number)
            if value is None:
                continue
            earlier = [each for each in self.held if each < number and each not in got]
            assert value not in map(self.value_of, earlier), number

    @rule(consumer=CONSUMERS, picks=PICKS, force=st.booleans())
    def claim(self, consumer: bytes, picks: list[int], *, force: bool) -> None:
        if self.field is None:
            force = False
        ids = _ids(dict.fromkeys(self.numbers(picks)))
        reply = self.execute(c.Claim(KEY, GROUP, consumer, c.ClaimOptions(0, ids, force=force)))
        expected = []
        for number in map(id_ms, ids):
            if number not in self.live:
                self.settle([number])
            elif number in self.pending:
                deliveries = self.pending[number][1]
                if self.most is not None and deliveries >= self.most:
                    self.settle([number])
                else:
                    self.pending[number] = (consumer, deliveries + 1)
                    expected.append(number)
        assert [id_ms(value) for value in reply.entries.ids] == expected

    @rule(picks=PICKS, force=st.booleans())
    def nack(self, picks: list[int], *, force: bool) -> None:
        if self.field is None:
            force = False
        ids = _ids(dict.fromkeys(self.numbers(picks)))
        self.execute(c.NegativeAcknowledge(KEY, GROUP, c.NackMode.FAIL, ids, force=force))
        for number in map(id_ms, ids):
            if number in self.pending:
                deliveries = self.pending[number][1]
                if self.most is not None and deliveries >= self.most and number in self.live:
                    self.settle([number])
                else:
                    self.pending[number] = (None, deliveries)

    @rule(picks=PICKS)
    def acknowledge(self, picks: list[int]) -> None:
        numbers = self.numbers(picks)
        removed = self.execute(c.Acknowledge(KEY, GROUP, _ids(numbers)))
        assert removed == len(set(numbers) & self.pending.keys())
        self.settle(numbers)

    @rule(picks=PICKS)
    def acknowledge_and_delete(self, picks: list[int]) -> None:
        numbers = self.numbers(picks)
        ids = _ids(numbers)
        self.execute(c.AcknowledgeAndDelete(KEY, GROUP, ids, len(ids), c.References.KEEP))
        gone = set(numbers) & self.pending.keys()
        self.settle(numbers)
        self.forget(gone & self.live)

    @rule(consumer=CONSUMERS)
    def delete_consumer(self, consumer: bytes) -> None:
        self.execute(c.DeleteConsumer(KEY, GROUP, consumer))
        self.settle([number for number, (owner, _) in self.pending.items() if owner == consumer])

    def settle(self, numbers: Any) -> None:
        for number in list(numbers):
            if self.pending.pop(number, None) is not None:
                self.done.add(number)

    # --- the group, time, crashes ----------------------------------------------------------------

    @rule(field=st.sampled_from((None, "k", "k", "c")))
    def configure(self, field: str | None) -> None:
        self.execute(c.ConfigureGroup(KEY, GROUP, order_by=field))
        if field != self.field:
            self.set_up_to = self.position
        self.field = field

    @rule(most=st.none() | st.integers(1, 2))
    def configure_dead_letters(self, most: int | None) -> None:
        stream = None if most is None else DEAD
        self.execute(c.ConfigureGroup(KEY, GROUP, most, stream))
        self.most = most

    @rule(pick=st.integers(0, 30))
    def move_the_group(self, pick: int) -> None:
        self.moved_up_to = len(self.values)
        self.position = pick % (len(self.values) + 1)
        self.held = []
        self.execute(c.SetGroupPosition(KEY, GROUP, self.position << 64))

    @rule(consumer=CONSUMERS, picks=PICKS)
    def crash_before_the_commit(self, consumer: bytes, picks: list[int]) -> None:
        self.execute(c.ReadGroup(GROUP, consumer, (c.ReadFrom(KEY, c.Special.NEW),)), survives=False)
        self.execute(c.Acknowledge(KEY, GROUP, _ids(self.numbers(picks))), survives=False)
        self.crash(with_checkpoint=False)

    # --- after every step ------------------------------------------------------------------------

    def group(self) -> Group:
        found: Group = self.disk.engine.keyspace.streams[KEY].groups[GROUP]
        return found

    @invariant()
    def the_group_is_that_of_the_model(self) -> None:
        check(self.disk.engine.keyspace)
        group = self.group()
        assert id_ms(group.last_delivered_id) == self.position
        owners: dict[int, bytes | None] = dict.fromkeys(map(id_ms, group.pending.ids()))
        for name, consumer in group.consumers.items():
            owners |= dict.fromkeys(map(id_ms, group.pending.ids_of(consumer)), name)
        assert owners == {number: owner for number, (owner, _) in self.pending.items()}
        order = group.order
        assert ([] if order is None else list(map(id_ms, order.held))) == self.held
        assert (set() if order is None else set(map(id_ms, order.ready))) == self.ready()

    @invariant()
    def at_most_one_entry_of_each_value_is_in_flight(self) -> None:
        values = [
            self.value_of(number)
            for number in self.pending
            if number in self.live and number > self.set_up_to and self.value_of(number) is not None
        ]
        assert len(values) == len(set(values))

    @invariant()
    def every_entry_is_in_one_place(self) -> None:
        for number in self.live:
            if number > self.moved_up_to:
                places = (number in self.held, number in self.pending, number in self.done)
                assert sum(places) == (number <= self.position), number


def _flat(values: tuple[str | None, str | None]) -> list[bytes]:
    named = zip(FIELDS, values, strict=True)
    return [item.encode() for name, value in named if value is not None for item in (name, value)]


def _ids(numbers: Any) -> tuple[int, ...]:
    return tuple(number << 64 for number in numbers)


OrderBy.TestCase.settings = settings_of_a_run(40)
TestOrderBy = OrderBy.TestCase
