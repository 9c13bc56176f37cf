"""Delays against a naive model, on a data directory that crashes, under a clock that steps.

The model has a list of what waits, with its time, and looks through all of it whenever the timer rings. After
every step both have the same visible entries, schedule and pending entries. Nothing appears before its time,
no entry is lost or doubled, and ids rise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tailrace.core import commands as c
from tailrace.core.invariants import check
from tailrace.core.replies import AppendReply, RangeReply, ReadReply, ScheduledPage, ScheduleReply
from tailrace.core.schedule import deliver_at_ms
from tailrace.core.stream_id import MAX_ID, StreamId
from tests.model.crashing import Crashing, settings_of_a_run
from tests.support.redis_like import START_MS

KEY: Final = b"s"
GROUP: Final = b"g"
LONG_MS: Final = 1 << 40
"""Thirty years: the read claims what has no owner, and nothing else."""

DELAYS: Final = st.sampled_from((0, 1, 40, 40, 100, 1_500))


@dataclass
class Scheduled:
    """An entry that waits: its number, its time, and its place among those of equal time."""

    number: int
    at_ms: int
    scheduled_id: int


@dataclass
class Pending:
    """A pending entry. `order`: the place among those without an owner; None while one owns it or it is
    delayed. `until_ms`: the end of its delay."""

    deliveries: int
    order: int | None = None
    until_ms: int | None = None


@dataclass
class Model:
    """The stream, its schedule and its group."""

    visible: list[tuple[StreamId, int]] = field(default_factory=list)
    schedule: list[Scheduled] = field(default_factory=list)
    pending: dict[StreamId, Pending] = field(default_factory=dict)
    delayed: list[StreamId] = field(default_factory=list)
    read: int = 0
    clock: int = 0
    backoff: tuple[int, int, int] | None = None

    def next_order(self) -> int:
        self.clock += 1
        return self.clock

    def due(self, now_ms: int) -> list[int]:
        """Take the numbers of the entries that become visible, in order, and end delays."""
        ready = sorted(
            (each for each in self.schedule if each.at_ms <= now_ms),
            key=lambda each: (each.at_ms, each.scheduled_id),
        )
        self.schedule = [each for each in self.schedule if each.at_ms > now_ms]
        over = [value for value in self.delayed if self._until(value) <= now_ms]
        self.delayed = [value for value in self.delayed if value not in over]
        for value in sorted(over, key=self._until):
            self.pending[value] = Pending(self.pending[value].deliveries, self.next_order())
        return [each.number for each in ready]

    def _until(self, value: StreamId) -> int:
        until_ms = self.pending[value].until_ms
        assert until_ms is not None
        return until_ms

    def nack(self, value: StreamId, now_ms: int, delay_ms: int | None) -> None:
        item = self.pending[value]
        if value in self.delayed:
            self.delayed.remove(value)
        if delay_ms is None and self.backoff is not None:
            initial_ms, factor, max_ms = self.backoff
            delay_ms = min(initial_ms * factor ** max(item.deliveries - 1, 0), max_ms)
        if delay_ms:
            self.pending[value] = Pending(item.deliveries, None, now_ms + delay_ms)
            self.delayed.append(value)
        else:
            self.pending[value] = Pending(item.deliveries, self.next_order())

    def take(self) -> list[StreamId]:
        """Deliver what has no owner, and then what is new."""
        free = {value: item.order for value, item in self.pending.items() if item.order is not None}
        claimed = sorted(free, key=lambda value: free[value] or 0)
        for value in claimed:
            self.pending[value] = Pending(self.pending[value].deliveries + 1)
        new = [value for value, _ in self.visible[self.read :]]
        self.read = len(self.visible)
        self.pending |= {value: Pending(1) for value in new}
        return claimed + new


class DelayMachine(Crashing):
    """The stream `s` and its group `g`."""

    @initialize()
    def start(self) -> None:
        self.begin(START_MS)
        self.model = Model()
        self.numbers = 0
        self.execute(c.CreateGroup(KEY, GROUP, 0, create_stream=True))

    def next_fragment(self) -> bytes:
        self.numbers += 1
        return b'{"n":"%d"}' % self.numbers

    # --- time and crashes ------------------------------------------------------------------------

    @rule(elapsed_ms=st.sampled_from((0, 1, 40, 100)))
    def the_timer_rings(self, elapsed_ms: int) -> None:
        self.now_ms += elapsed_ms
        before = len(self.model.visible)
        while self.execute(c.DoDue()):
            pass
        due = {each.number: each.at_ms for each in self.model.schedule}
        expected = self.model.due(self.now_ms)
        assert all(due[number] <= self.now_ms for number in expected)
        appended = self.visible()[before:]
        assert [number for _, number in appended] == expected
        self.model.visible += appended

    @rule()
    def crash_before_the_commit(self) -> None:
        """What was not acknowledged is gone: entries that had become visible wait again."""
        self.execute(c.ScheduleEntries(KEY, [b'{"n":"0"}'], delay_ms=0), survives=False)
        self.execute(c.DoDue(), survives=False)
        self.crash(with_checkpoint=False)

    # --- entries ---------------------------------------------------------------------------------

    @rule(delay_ms=DELAYS, count=st.integers(1, 3), is_absolute=st.booleans())
    def schedule(self, delay_ms: int, count: int, *, is_absolute: bool) -> None:
        fragments = [self.next_fragment() for _ in range(count)]
        if is_absolute:
            command = c.ScheduleEntries(KEY, fragments, deliver_at_ms=self.now_ms + delay_ms - 20)
        else:
            command = c.ScheduleEntries(KEY, fragments, delay_ms=delay_ms)
        reply = self.execute(command)
        assert isinstance(reply, ScheduleReply)
        at_ms = self.now_ms + (max(delay_ms - 20, 0) if is_absolute else delay_ms)
        for index, value in enumerate(reply.scheduled_ids):
            number = self.numbers - count + 1 + index
            assert deliver_at_ms(value) == at_ms
            self.model.schedule.append(Scheduled(number, at_ms, value))

    @rule(pick=st.integers(0, 9))
    def cancel(self, pick: int) -> None:
        if self.model.schedule:
            gone = self.model.schedule.pop(pick % len(self.model.schedule))
            assert self.execute(c.CancelScheduled(KEY, (gone.scheduled_id,))) == 1

    @rule(count=st.integers(1, 6))
    def append(self, count: int) -> None:
        first = self.numbers + 1
        reply = self.execute(c.Append(KEY, [self.next_fragment() for _ in range(count)]))
        assert isinstance(reply, AppendReply)
        self.model.visible += zip(reply.ids, range(first, first + count), strict=True)

    @rule()
    def rename_there_and_back(self) -> None:
        self.execute(c.RenameKey(KEY, b"t"))
        self.execute(c.RenameKey(b"t", KEY))

    # --- the group -------------------------------------------------------------------------------

    @rule(backoff=st.sampled_from((None, (10, 2, 100), (50, 1, 50))))
    def configure(self, backoff: tuple[int, int, int] | None) -> None:
        initial_ms, factor, max_ms = backoff or (None, None, None)
        self.execute(
            c.ConfigureGroup(
                KEY,
                GROUP,
                backoff_initial_ms=initial_ms,
                backoff_factor=factor,
                backoff_max_ms=max_ms,
            )
        )
        self.model.backoff = backoff

    @rule(consumer=st.sampled_from((b"alice", b"bob")))
    def read(self, consumer: bytes) -> None:
        streams = (c.ReadFrom(KEY, c.Special.NEW),)
        reply = self.execute(c.ReadGroup(GROUP, consumer, streams, claim_min_idle_ms=LONG_MS))
        assert isinstance(reply, ReadReply)
        assert list(reply.streams[0].entries.ids) == self.model.take()

    @rule(picks=st.lists(st.integers(0, 30), min_size=1, max_size=6), delay_ms=st.none() | DELAYS)
    def nack(self, picks: list[int], delay_ms: int | None) -> None:
        if not self.model.pending:
            self.append(6)
            self.read(b"alice")
        known = sorted(self.model.pending)
        ids = tuple(dict.fromkeys(known[pick % len(known)] for pick in picks))
        self.execute(c.NegativeAcknowledge(KEY, GROUP, c.NackMode.FAIL, ids, delay_ms=delay_ms))
        for value in self.in_order_of_effects(ids, delay_ms):
            self.model.nack(value, self.now_ms, delay_ms)

    def in_order_of_effects(self, ids: tuple[StreamId, ...], delay_ms: int | None) -> list[StreamId]:
        """One nack forms a group of each delay, in the order in which the delays come first."""
        if delay_ms is not None or self.model.backoff is None:
            return list(ids)
        counts = list(dict.fromkeys(self._delay(value) for value in ids))
        return sorted(ids, key=lambda value: counts.index(self._delay(value)))

    def _delay(self, value: StreamId) -> int:
        assert self.model.backoff is not None
        initial_ms, factor, max_ms = self.model.backoff
        steps = max(self.model.pending[value].deliveries - 1, 0)
        return min(initial_ms * int(factor**steps), max_ms)

    @rule(
        picks=st.lists(st.integers(0, 30), min_size=1, max_size=6), elapsed_ms=st.sampled_from((39, 40, 100))
    )
    def nack_and_wait(self, picks: list[int], elapsed_ms: int) -> None:
        """Some wait for 40 ms, and a read finds those whose time has come."""
        self.nack(picks, 40)
        self.the_timer_rings(elapsed_ms)
        self.read(b"bob")

    @rule(pick=st.integers(0, 30))
    def ack(self, pick: int) -> None:
        known = sorted(self.model.pending)
        if known:
            value = known[pick % len(known)]
            assert self.execute(c.Acknowledge(KEY, GROUP, (value,))) == 1
            del self.model.pending[value]
            if value in self.model.delayed:
                self.model.delayed.remove(value)

    # --- after every step ------------------------------------------------------------------------

    def visible(self) -> list[tuple[StreamId, int]]:
        reply = self.disk.engine.execute(c.Range(KEY), self.now_ms).reply
        assert isinstance(reply, RangeReply)
        texts = [fragment or b"" for fragment in reply.entries.fragments]
        numbers = [int(text[len(b'{"n":"') : -len(b'"}')]) for text in texts]
        return list(zip(reply.entries.ids, numbers, strict=True))

    @invariant()
    def both_have_the_same_entries(self) -> None:
        visible = self.visible()
        assert visible == self.model.visible
        ids = [value for value, _ in visible]
        assert ids == sorted(set(ids))
        check(self.disk.engine.keyspace)

    @invariant()
    def both_have_the_same_schedule(self) -> None:
        page = self.disk.engine.execute(c.ListScheduled(KEY, count=1_000), self.now_ms).reply
        assert isinstance(page, ScheduledPage)
        expected = sorted(self.model.schedule, key=lambda each: each.scheduled_id)
        assert list(page.scheduled_ids) == [each.scheduled_id for each in expected]
        assert list(page.fragments) == [b'{"n":"%d"}' % each.number for each in expected]

    @invariant()
    def both_have_the_same_pending_entries(self) -> None:
        rows: Any = self.disk.engine.execute(c.PendingRange(KEY, GROUP, 0, MAX_ID, 1_000), self.now_ms).reply
        assert {row.id: (row.deliveries, row.claimable_at_ms) for row in rows} == {
            value: (item.deliveries, item.until_ms) for value, item in self.model.pending.items()
        }


TestDelay = DelayMachine.TestCase
TestDelay.settings = settings_of_a_run(40)
