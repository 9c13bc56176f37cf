"""Retention against a naive model, on a data directory that crashes, under a clock that steps.

The model has a list of entries, and asks each of them whether a rule removes it. Blocks have one entry, so
that rules on bytes are exact. After every step both have the same entries and the same pending entries, and
no group has lost an unread entry that was protected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tailrace.core import commands as c
from tailrace.core.invariants import check
from tailrace.core.replies import AppendReply
from tailrace.core.retention import RetentionRules
from tailrace.core.stream_id import SEQ_BITS, StreamId
from tests.model.crashing import Crashing, settings_of_a_run
from tests.support.redis_like import START_MS

KEY: Final = b"s"
GROUPS: Final = (b"g", b"h")
FRAGMENT: Final = b'{"n":"1"}'
NO_RULES: Final = RetentionRules()

RULES: Final = st.builds(
    RetentionRules,
    max_age_ms=st.none() | st.sampled_from((1, 50, 2_000)),
    max_length=st.none() | st.integers(1, 6),
    max_bytes=st.none() | st.sampled_from((1, 20, 50)),
    acknowledged=st.booleans(),
    protect_unread=st.booleans(),
)


@dataclass
class NaiveGroup:
    """Position and pending ids."""

    last: StreamId = 0
    pending: set[StreamId] = field(default_factory=set)


@dataclass
class NaiveStream:
    """The ids of the live entries, the groups, the rules, and how many entries retention has removed."""

    ids: list[StreamId] = field(default_factory=list)
    groups: dict[bytes, NaiveGroup] = field(default_factory=dict)
    rules: RetentionRules = NO_RULES
    removed: int = 0

    def sweep(self, now_ms: int) -> None:
        """Remove the first entries, as long as a rule removes the first one."""
        while self.ids and self._goes(self.ids[0], now_ms):
            del self.ids[0]
            self.removed += 1
        if self.rules.removes:
            for group in self.groups.values():
                group.pending = {each for each in group.pending if self.ids and each >= self.ids[0]}

    def _goes(self, value: StreamId, now_ms: int) -> bool:
        rules, groups = self.rules, self.groups.values()
        if rules.protect_unread and any(group.last < value for group in groups):
            return False
        is_old = rules.max_age_ms is not None and value >> SEQ_BITS < now_ms - rules.max_age_ms
        is_above = rules.max_length is not None and len(self.ids) > rules.max_length
        size_bytes = len(self.ids) * len(FRAGMENT)
        is_large = rules.max_bytes is not None and size_bytes > rules.max_bytes and len(self.ids) > 1
        is_done = bool(self.groups) and all(
            value <= group.last and not any(each <= value for each in group.pending) for group in groups
        )
        return is_old or is_above or is_large or (rules.acknowledged and is_done)


class RetentionMachine(Crashing):
    """The stream `s` and its groups."""

    @initialize()
    def start(self) -> None:
        self.begin(START_MS)
        self.model = NaiveStream()
        self.execute(c.SetConfig((("stream-node-max-entries", 1),)))
        self.execute(c.CreateStream(KEY))

    # --- time, crashes, settings -----------------------------------------------------------------

    @rule()
    def crash_before_the_commit(self) -> None:
        self.execute(c.SweepRetention(), survives=False)
        self.execute(c.CreateStream(KEY, retention=None), survives=False)
        self.crash(with_checkpoint=False)

    @rule(rules=RULES)
    def configure(self, rules: RetentionRules) -> None:
        self.execute(c.ConfigureStream(KEY, retention=rules))
        if not rules.removes:
            self.model.removed = 0
        self.model.rules = rules if rules.removes else NO_RULES

    # --- entries and groups ----------------------------------------------------------------------

    @rule(count=st.integers(1, 4))
    def append(self, count: int) -> None:
        reply = self.execute(c.Append(KEY, [FRAGMENT] * count))
        assert isinstance(reply, AppendReply)
        self.model.ids += reply.ids
        self.sweep()

    @rule(pick=st.integers(0, 9))
    def delete(self, pick: int) -> None:
        if self.model.ids:
            value = self.model.ids.pop(pick % len(self.model.ids))
            self.execute(c.DeleteEntries(KEY, (value,)))

    @rule(group=st.sampled_from(GROUPS))
    def create_group(self, group: bytes) -> None:
        if group not in self.model.groups:
            self.execute(c.CreateGroup(KEY, group, 0))
            self.model.groups[group] = NaiveGroup()

    @rule(group=st.sampled_from(GROUPS))
    def destroy_group(self, group: bytes) -> None:
        if self.model.groups.pop(group, None) is not None:
            self.execute(c.DestroyGroup(KEY, group))

    @rule(group=st.sampled_from(GROUPS), count=st.integers(1, 3))
    def read(self, group: bytes, count: int) -> None:
        naive = self.model.groups.get(group)
        if naive is None:
            return
        unread = [value for value in self.model.ids if value > naive.last][:count]
        streams = (c.ReadFrom(KEY, c.Special.NEW),)
        self.execute(c.ReadGroup(group, b"alice", streams, c.ReadLimits(count=count)))
        if unread:
            naive.last = unread[-1]
            naive.pending.update(unread)

    @rule(group=st.sampled_from(GROUPS), pick=st.integers(0, 9))
    def ack(self, group: bytes, pick: int) -> None:
        naive = self.model.groups.get(group)
        if naive is not None and naive.pending:
            value = sorted(naive.pending)[pick % len(naive.pending)]
            naive.pending.remove(value)
            self.execute(c.Acknowledge(KEY, group, (value,)))

    @rule()
    def sweep(self) -> None:
        before = set(self.model.ids)
        assert self.execute(c.SweepRetention()) == 0
        self.model.sweep(self.now_ms)
        if self.model.rules.protect_unread and self.model.groups:
            read_up_to = min(group.last for group in self.model.groups.values())
            assert all(value <= read_up_to for value in before - set(self.live_ids()))

    # --- after every step ------------------------------------------------------------------------

    def live_ids(self) -> list[StreamId]:
        reply = self.disk.engine.execute(c.Range(KEY), self.now_ms).reply
        return list(reply.entries.ids)  # type: ignore[union-attr]

    @invariant()
    def both_have_the_same_entries(self) -> None:
        assert self.live_ids() == self.model.ids
        check(self.disk.engine.keyspace)

    @invariant()
    def both_have_the_same_pending_entries(self) -> None:
        for name, naive in self.model.groups.items():
            reply = self.disk.engine.execute(c.PendingRange(KEY, name), self.now_ms).reply
            assert {row.id for row in reply} == naive.pending  # type: ignore[union-attr]

    @invariant()
    def the_counts_are_right(self) -> None:
        retention = self.disk.engine.keyspace.streams[KEY].retention
        assert (0 if retention is None else sum(retention.removed.values())) == self.model.removed
        assert (retention is not None) == self.model.rules.removes


TestRetention = RetentionMachine.TestCase
TestRetention.settings = settings_of_a_run(40)
