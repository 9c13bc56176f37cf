"""All policies of a stream and its groups together against the naive model, with crashes, under a clock that
steps.

It does all that `test_leases` does: dead letters, redrive, claims by the group's setting, extended leases,
expiring consumers. In addition the group has a filter, a second group reads the same stream, the stream and
its dead letters have retention, and reads gather. After every step each entry that was ever appended is in
exactly one place, or was removed by a rule or a deletion that names it; none was removed against
`protect_unread`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from tailrace.core import commands as c
from tailrace.core.replies import ReadReply
from tailrace.core.retention import RetentionRules
from tailrace.core.stream_id import format_id
from tests.model.crashing import settings_of_a_run
from tests.model.dead_letters import DEAD, GROUP, SOURCE
from tests.model.naive import Budget
from tests.model.policies import FILTERS, PolicyModel
from tests.model.streams import Id, text
from tests.model.test_dead_letters import CONSUMERS, COUNTS, MIN_IDLES, PICKS
from tests.model.test_leases import Leases

KEY, NAME = SOURCE.encode(), GROUP.encode()
OTHER: Final = "h"

RULES: Final = st.builds(
    RetentionRules,
    max_age_ms=st.none() | st.sampled_from((1, 50, 6_000)),
    max_length=st.none() | st.integers(1, 8),
    max_bytes=st.none() | st.sampled_from((1, 60, 200)),
    acknowledged=st.booleans(),
    protect_unread=st.sampled_from((True, True, False)),
)


class Policies(Leases):
    """As `Leases`, with filter, retention, a second group and reads that gather."""

    def new_model(self, now_ms: int) -> PolicyModel:
        return PolicyModel(now_ms)

    def prepare(self) -> None:
        """Blocks of one entry make rules on bytes exact."""
        self.execute(c.SetConfig((("stream-node-max-entries", 1),)))
        made = self.policies.create_group(SOURCE, OTHER, (0, 0), None)
        self.same(made, "XGROUP", "CREATE", SOURCE, OTHER, 0, "MKSTREAM")

    @property
    def policies(self) -> PolicyModel:
        assert isinstance(self.model, PolicyModel)
        return self.model

    # --- settings --------------------------------------------------------------------------------

    @rule(wanted=st.sampled_from(tuple(FILTERS)))
    def configure_filter(self, wanted: str | None) -> None:
        self.execute(c.ConfigureGroup(KEY, NAME, filter=wanted))
        self.policies.filter = wanted

    @rule(key=st.sampled_from((SOURCE, SOURCE, DEAD)), rules=RULES)
    def configure_retention(self, key: str, rules: RetentionRules) -> None:
        if key in self.policies.streams:
            self.execute(c.ConfigureStream(key.encode(), retention=rules))
            self.policies.retain(key, rules)

    # --- entries ---------------------------------------------------------------------------------

    @rule(count=st.integers(1, 3), kind=st.sampled_from("ab"), lane=st.sampled_from((None, "x", "y")))
    def append(self, count: int, kind: str = "a", lane: str | None = None) -> None:
        for _ in range(count):
            fields = self.new_fields(kind, lane)
            before = self.all_live_ids()
            self.same(self.model.add(SOURCE, fields), "XADD", SOURCE, "*", *fields)
            before[SOURCE].append(self.policies.streams[SOURCE].last)
            self.sweep_after(before)

    def new_fields(self, kind: str, lane: str | None) -> list[str]:
        self.appended += 1
        return ["n", str(self.appended), "kind", kind, *(() if lane is None else ("lane", lane))]

    @rule()
    def sweep(self) -> None:
        self.sweep_after(self.all_live_ids())

    def sweep_after(self, before: dict[str, list[Id]]) -> None:
        """Remove what the rules remove: nothing that a group has not read, if that is protected. An append
        has perhaps removed a part of it. `before`: the entries before that."""
        groups = [replace(group) for group in self.policies.streams[SOURCE].groups.values()]
        assert self.execute(c.SweepRetention()) == 0
        after = self.all_live_ids()
        removed = self.policies.sweep()
        if self.policies.rules.get(SOURCE, RetentionRules()).protect_unread:
            assert all(group.has_read(value) for group in groups for value in removed[SOURCE])
        assert {key: [value for value in ids if value not in after[key]] for key, ids in before.items()} == {
            key: removed.get(key, []) for key in before
        }

    def all_live_ids(self) -> dict[str, list[Id]]:
        return {key: self.live_ids(key) for key in self.policies.streams}

    def live_ids(self, key: str) -> list[Id]:
        reply: Any = self.disk.engine.execute(c.Range(key.encode()), self.r.now_ms).reply
        return [(value >> 64, value & (1 << 64) - 1) for value in reply.entries.ids]

    @rule(picks=PICKS)
    def delete(self, picks: list[int]) -> None:
        ids = self.ids(picks)
        for value in ids:
            self.policies.account(SOURCE, value)
        self.same(self.model.delete(SOURCE, ids), "XDEL", SOURCE, *map(text, ids))

    # --- reads -----------------------------------------------------------------------------------

    @rule(consumer=CONSUMERS, count=COUNTS, claim_ms=st.none() | MIN_IDLES, noack=st.booleans())
    def read(self, consumer: str, count: int | None, claim_ms: int | None, noack: bool = False) -> None:  # noqa: FBT001, FBT002 - hypothesis passes it by name
        before = self.unread()
        expected = self.policies.read_leased(consumer, Budget(count, None), claim_ms, noack=noack)
        self.settle_passed(before, noack=noack)
        words = [] if count is None else ["COUNT", str(count)]
        words += [] if claim_ms is None else ["CLAIM", str(claim_ms)]
        words += ["NOACK"] if noack else []
        self.same(expected, "XREADGROUP", "GROUP", GROUP, consumer, *words, "STREAMS", SOURCE, ">")

    def unread(self) -> dict[Id, list[str]]:
        stream = self.policies.streams[SOURCE]
        return {value: fields for value, fields in stream.entries if value > stream.groups[GROUP].last}

    def settle_passed(self, before: dict[Id, list[str]], *, noack: bool = False) -> None:
        """Count the entries that a read has passed and that did not become pending."""
        last = self.policies.streams[SOURCE].groups[GROUP].last
        passed = [fields for value, fields in before.items() if value <= last]
        self.settled.update(fields[1] for fields in passed if noack or not self.policies.matches(fields))

    @rule(consumer=CONSUMERS, count=COUNTS, min_count=st.integers(1, 4))
    def gather(self, consumer: str, count: int | None, min_count: int) -> None:
        """A waiting read with `min_count` returns what can be claimed, or enough entries, or waits."""
        sources, limits = (c.ReadFrom(KEY, c.Special.NEW),), c.ReadLimits(count=count)
        batch = c.Batch(min_count, linger_ms=None)
        waits, before = self.policies.gathers(min_count), self.unread()
        expected: list[str] = []
        if waits:
            self.policies.wait(consumer)
        else:
            reply = self.policies.read_leased(consumer, Budget(count, None), None, noack=False)
            expected = [entry[0] for _, entries in reply or () for entry in entries]
            self.settle_passed(before)
        found = self.execute(
            c.ReadGroup(NAME, consumer.encode(), sources, limits, block_ms=60_000, batch=batch)
        )
        assert isinstance(found, ReadReply)
        assert [format_id(value) for value in found.streams[0].entries.ids] == expected

    @rule(count=COUNTS)
    def read_other(self, count: int | None) -> None:
        expected = self.model.read_group(OTHER, "carol", [(SOURCE, None)], Budget(count, None))
        words = [] if count is None else ["COUNT", str(count)]
        self.same(expected, "XREADGROUP", "GROUP", OTHER, "carol", *words, "STREAMS", SOURCE, ">")

    @rule(picks=PICKS)
    def ack_other(self, picks: list[int]) -> None:
        pending = [item.id for item in self.policies.streams[SOURCE].groups[OTHER].pel]
        ids = [pending[pick % len(pending)] for pick in picks] if pending else [(3, 1)]
        self.same(self.model.ack(SOURCE, OTHER, ids), "XACK", SOURCE, OTHER, *map(text, ids))

    @precondition(lambda self: DEAD in self.policies.streams)
    @rule(pick=st.integers(0, 9))
    def delete_a_dead_letter(self, pick: int) -> None:
        letters = self.policies.streams[DEAD].entries
        if letters:
            value, _ = letters[pick % len(letters)]
            self.policies.account(DEAD, value)
            self.same(self.model.delete(DEAD, [value]), "XDEL", DEAD, text(value))

    # --- after every step ------------------------------------------------------------------------

    @invariant()
    def every_entry_is_in_one_place(self) -> None:
        stream = self.policies.streams[SOURCE]
        places = Counter([*self.settled.elements(), *self.waiting()])
        places.update(fields[1] for value, fields in stream.entries if self.policies.is_open(value))
        if DEAD in self.policies.streams:
            places.update(fields[1] for _, fields in self.policies.streams[DEAD].entries)
        for number in map(str, range(1, self.appended + 1)):
            assert places[number] == (number not in self.policies.gone), number

    def waiting(self) -> list[str]:
        """Return the entries that are not in the stream yet."""
        return []

    @invariant()
    def the_figures_are_right(self) -> None:
        groups: Any = self.disk.engine.execute(c.InfoGroups(KEY), self.r.now_ms).reply
        [own, other] = groups
        assert (own.lag_ms, other.lag_ms) == (self.policies.lag_ms(GROUP), self.policies.lag_ms(OTHER))
        assert own.settings.filter == self.policies.filter
        for key, rules in self.policies.rules.items():
            retention = self.disk.engine.keyspace.streams[key.encode()].retention
            assert (retention is not None) == rules.removes
            removed = 0 if retention is None else sum(retention.removed.values())
            assert removed == self.policies.removed.get(key, 0)


TestPolicies = Policies.TestCase
TestPolicies.settings = settings_of_a_run(50)
