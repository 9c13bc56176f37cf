"""Leases and dead letters together against the naive model, with crashes, under a clock that steps.

It does all that `test_dead_letters` does; in addition the group claims by its own setting, consumers extend
and expire, and every step checks that no entry is lost.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tailrace.core import commands as c
from tailrace.core.replies import ExpiryReply, ExtendReply
from tailrace.core.stream_id import format_id, parse_id
from tests.model.crashing import settings_of_a_run
from tests.model.dead_letters import GROUP, SOURCE
from tests.model.leases import LeaseModel
from tests.model.naive import Budget
from tests.model.streams import text
from tests.model.test_dead_letters import CONSUMERS, COUNTS, MIN_IDLES, PICKS, DeadLetters

KEY, NAME = SOURCE.encode(), GROUP.encode()


class Leases(DeadLetters):
    """As `DeadLetters`, with a group that has settings of leases."""

    def new_model(self, now_ms: int) -> LeaseModel:
        return LeaseModel(now_ms)

    @property
    def leases(self) -> LeaseModel:
        assert isinstance(self.model, LeaseModel)
        return self.model

    @rule(claim_ms=st.sampled_from((None, 1, 5, 60)), expiry_ms=st.sampled_from((None, 5_000, 5_000, 8_000)))
    def configure_leases(self, claim_ms: int | None, expiry_ms: int | None) -> None:
        self.execute(c.ConfigureGroup(KEY, NAME, claim_min_idle_ms=claim_ms, consumer_expiry_ms=expiry_ms))
        self.leases.claim_ms, self.leases.expiry_ms = claim_ms, expiry_ms

    @rule(consumer=CONSUMERS, count=COUNTS, claim_ms=st.none() | MIN_IDLES, noack=st.booleans())
    def read(self, consumer: str, count: int | None, claim_ms: int | None, noack: bool = False) -> None:  # noqa: FBT001, FBT002 - hypothesis passes it by name
        group = self.leases.streams[SOURCE].groups[GROUP]
        unread = [value for value, _ in self.leases.streams[SOURCE].entries if value > group.last]
        expected = self.leases.read_leased(consumer, Budget(count, None), claim_ms, noack=noack)
        words = [] if count is None else ["COUNT", str(count)]
        words += [] if claim_ms is None else ["CLAIM", str(claim_ms)]
        words += ["NOACK"] if noack else []
        if noack:
            fields = [self.leases.streams[SOURCE].fields(each) for each in unread if each <= group.last]
            self.settled.update(each[1] for each in fields if each is not None)
        self.same(expected, "XREADGROUP", "GROUP", GROUP, consumer, *words, "STREAMS", SOURCE, ">")

    @rule(elapsed_ms=st.sampled_from((2_000, 5_000, 8_000)))
    def time_passes(self, elapsed_ms: int) -> None:
        self.step_clock(elapsed_ms)

    @rule(consumer=CONSUMERS, picks=PICKS)
    def extend(self, consumer: str, picks: list[int]) -> None:
        ids = self.ids(picks)
        wanted = tuple(parse_id(text(value).encode()) for value in ids)
        reply = self.execute(c.ExtendLeases(KEY, NAME, consumer.encode(), wanted))
        assert isinstance(reply, ExtendReply)
        found = [format_id(value) for value in reply.extended], [format_id(value) for value in reply.lost]
        assert found == self.leases.extend(consumer, ids)

    @rule(waiting=st.lists(CONSUMERS, max_size=2), is_after_a_step=st.booleans())
    def look(self, waiting: list[str], is_after_a_step: bool) -> None:  # noqa: FBT001 - hypothesis passes it by name
        if is_after_a_step or self.leases.since_ms > self.leases.now_ms:
            self.leases.since_ms = self.leases.now_ms
        places = tuple((KEY, NAME, name.encode()) for name in waiting)
        reply = self.execute(c.ExpireConsumers(self.leases.since_ms, places))
        assert isinstance(reply, ExpiryReply)
        assert reply.next is None
        assert (reply.consumers, reply.entries) == self.leases.look(waiting)


TestLeases = Leases.TestCase
TestLeases.settings = settings_of_a_run(40)
