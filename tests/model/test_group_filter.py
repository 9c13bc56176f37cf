"""The filter of a group against a naive model, on a data directory that crashes.

After every step the group's position, its counter, its lag and its pending entries are those of the model.
The model tests each entry with the naive evaluation of filters.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tailrace.core import commands as c
from tailrace.core.filters.syntax import parse
from tailrace.core.invariants import check
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import GroupInfo, ReadReply
from tailrace.core.stream_id import id_ms
from tests.model.crashing import Crashing, settings_of_a_run
from tests.support.naive_filter import outcome

KEY, GROUP = b"s", b"g"
FILTERS: Final = (
    None,
    "false",
    "fields.kind == 'a'",
    "!(fields.kind == 'a')",
    "has(fields.size) && int(fields.size) > 1",
    "fields.kind != 'a' || double(fields.size) < 2.5",
)
FIELDS: Final = st.sampled_from(
    ((b"kind", b"a"), (b"kind", b"b", b"size", b"1"), (b"kind", b"a", b"size", b"3"), (b"size", b"\xff"))
)


class GroupFilter(Crashing):
    """One stream with one group and two consumers; the ids are 1-0, 2-0 and so on."""

    @initialize()
    def start(self) -> None:
        self.begin(1_000_000)
        self.entries: dict[int, tuple[bytes, ...]] = {}
        self.wanted: str | None = None
        self.position = 0
        self.pending: dict[int, bytes] = {}
        self.execute(c.CreateGroup(KEY, GROUP, 0, create_stream=True))

    def matches(self, flat: tuple[bytes, ...]) -> bool:
        if self.wanted is None:
            return True
        return outcome(parse(self.wanted), list(zip(flat[::2], flat[1::2], strict=True))) is True

    @rule(some=st.lists(FIELDS, min_size=1, max_size=4))
    def append(self, some: list[tuple[bytes, ...]]) -> None:
        numbers = range(len(self.entries) + 1, len(self.entries) + len(some) + 1)
        self.entries |= dict(zip(numbers, some, strict=True))
        ids = tuple(number << 64 for number in numbers)
        self.execute(c.Append(KEY, [fragment_from_flat(flat) for flat in some], ids))

    @rule(text=st.sampled_from(FILTERS))
    def configure(self, text: str | None) -> None:
        self.execute(c.ConfigureGroup(KEY, GROUP, filter=text))
        self.wanted = text

    @rule(
        consumer=st.sampled_from((b"alice", b"bob")), count=st.none() | st.integers(1, 3), noack=st.booleans()
    )
    def read(self, consumer: bytes, count: int | None, *, noack: bool) -> None:
        sources = (c.ReadFrom(KEY, c.Special.NEW),)
        limits = c.ReadLimits(count=count)
        reply = self.execute(c.ReadGroup(GROUP, consumer, sources, limits, block_ms=None, noack=noack))
        assert isinstance(reply, ReadReply)
        assert [id_ms(value) for value in reply.streams[0].entries.ids] == self.expected(
            consumer, count, noack=noack
        )

    def expected(self, consumer: bytes, count: int | None, *, noack: bool) -> list[int]:
        """Deliver entry by entry, and stop before the first one that is one too many."""
        delivered: list[int] = []
        for number in range(self.position + 1, len(self.entries) + 1):
            if self.matches(self.entries[number]):
                if count is not None and len(delivered) == count:
                    break
                delivered.append(number)
            self.position = number
        if not noack:
            self.pending |= dict.fromkeys(delivered, consumer)
        return delivered

    @rule(pick=st.integers(0, 20))
    def acknowledge(self, pick: int) -> None:
        number = pick % (len(self.entries) + 1)
        removed = self.execute(c.Acknowledge(KEY, GROUP, (number << 64,)))
        assert removed == (self.pending.pop(number, None) is not None)

    @rule(pick=st.integers(0, 20))
    def move_the_group(self, pick: int) -> None:
        self.position = pick % (len(self.entries) + 1)
        self.execute(c.SetGroupPosition(KEY, GROUP, self.position << 64, self.position))

    def groups(self) -> list[GroupInfo]:
        reply = self.execute(c.InfoGroups(KEY))
        assert isinstance(reply, list)
        return reply

    @invariant()
    def the_group_is_that_of_the_model(self) -> None:
        keyspace = self.disk.engine.keyspace
        check(keyspace)
        group = keyspace.streams[KEY].groups[GROUP]
        [described] = self.groups()
        assert id_ms(group.last_delivered_id) == self.position
        assert described.lag == len(self.entries) - self.position
        assert described.settings.filter == self.wanted
        owners = {
            id_ms(value): consumer.name
            for consumer in group.consumers.values()
            for value in group.pending.ids_of(consumer)
        }
        assert owners == self.pending


GroupFilter.TestCase.settings = settings_of_a_run(30)
TestGroupFilter = GroupFilter.TestCase
