"""All that `test_delayed_policies` does, with an order by key of the group: all policies together.

No entry is lost, delivered out of order within its key, appended or claimed before its time, or removed
against `protect_unread`.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from tailrace.core import commands as c
from tailrace.core.replies import ReadReply
from tests.model.crashing import settings_of_a_run
from tests.model.dead_letters import GROUP, SOURCE
from tests.model.orders import OrderModel
from tests.model.streams import Id
from tests.model.test_dead_letters import CONSUMERS, COUNTS, MIN_IDLES
from tests.model.test_delayed_policies import DelayedPolicies
from tests.model.test_policies import KEY, NAME


class AllPolicies(DelayedPolicies):
    """As `DelayedPolicies`, with an order."""

    def new_model(self, now_ms: int) -> OrderModel:
        return OrderModel(now_ms)

    @property
    def all(self) -> OrderModel:
        assert isinstance(self.model, OrderModel)
        return self.model

    @rule(field=st.sampled_from((None, "lane", "lane", "kind")))
    def configure_order(self, field: str | None) -> None:
        self.execute(c.ConfigureGroup(KEY, NAME, order_by=field))
        self.all.set_order(field)

    @rule(consumer=CONSUMERS, count=COUNTS, claim_ms=st.none() | MIN_IDLES, noack=st.booleans())
    def read(self, consumer: str, count: int | None, claim_ms: int | None, noack: bool = False) -> None:  # noqa: FBT001, FBT002 - hypothesis passes it by name
        if self.all.is_ordered:
            self.read_in_order(consumer, count, claim_ms, noack=noack)
        else:
            super().read(consumer, count, claim_ms, noack)

    def read_in_order(self, consumer: str, count: int | None, claim_ms: int | None, *, noack: bool) -> None:
        before, model = self.unread(), self.all
        sources, limits = (c.ReadFrom(KEY, c.Special.NEW),), c.ReadLimits(count=count)
        command = c.ReadGroup(
            NAME, consumer.encode(), sources, limits, claim_min_idle_ms=claim_ms, noack=noack
        )
        reply = self.execute(command)
        assert isinstance(reply, ReadReply)
        got = [_id(value) for value in reply.streams[0].entries.ids]
        group = model.streams[SOURCE].groups[GROUP]
        position = _id(self.disk.engine.keyspace.streams[KEY].groups[NAME].last_delivered_id)
        held = set(group.held)
        claimed = model.claim_first(consumer, count, claim_ms, noack=noack)
        assert got[: len(claimed)] == claimed
        fresh = got[len(claimed) :]
        left = None if count is None else count - len(claimed)
        if left == 0:
            assert (fresh, position) == ([], group.last)
        else:
            model.take_fresh(consumer, fresh, position, left, noack=noack)
        if claimed or (fresh and not noack):
            group.consumers[consumer].active_ms = model.now_ms
        for value, fields in before.items():
            is_done = noack and value in fresh
            if value <= position and (is_done or not model.matches(fields)):
                self.settled[fields[1]] += 1
        for value in held & set(fresh):
            fields_of = model.streams[SOURCE].fields(value)
            assert fields_of is not None
            if noack:
                self.settled[fields_of[1]] += 1

    @precondition(lambda self: not self.all.is_ordered)
    @rule(consumer=CONSUMERS, count=COUNTS, min_count=st.integers(1, 4))
    def gather(self, consumer: str, count: int | None, min_count: int) -> None:
        super().gather(consumer, count, min_count)

    # --- after every step ------------------------------------------------------------------------

    @invariant()
    def the_group_holds_what_the_model_holds(self) -> None:
        order = self.disk.engine.keyspace.streams[KEY].groups[NAME].order
        held = [] if order is None else [_id(value) for value in order.held]
        assert held == self.all.streams[SOURCE].groups[GROUP].held
        keys = self.all.keys_in_flight()
        assert len(keys) == len(set(keys)), "two entries of one key are in flight"


def _id(value: int) -> Id:
    return value >> 64, value & (1 << 64) - 1


TestAllPolicies = AllPolicies.TestCase
TestAllPolicies.settings = settings_of_a_run(50)
