"""All that `test_policies` does, with scheduled entries, nacks that delay, and a backoff of the group.

No entry is appended or claimed before its time, and none is lost on its way.
"""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from tailrace.core import commands as c
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import ScheduledPage, ScheduleReply
from tailrace.core.stream_id import id_ms
from tests.model.crashing import settings_of_a_run
from tests.model.dead_letters import SOURCE
from tests.model.delays import Backoff, DelayModel
from tests.model.streams import Id
from tests.model.test_dead_letters import PICKS
from tests.model.test_policies import KEY, NAME, Policies

DELAYS: Final = st.sampled_from((0, 1, 5, 60, 3_000))
BACKOFFS: Final = st.sampled_from((None, Backoff(1, 2, 100), Backoff(5, 1, 5), Backoff(60, 3, 1_000)))


class DelayedPolicies(Policies):
    """As `Policies`, with delays."""

    def new_model(self, now_ms: int) -> DelayModel:
        return DelayModel(now_ms)

    @property
    def delays(self) -> DelayModel:
        assert isinstance(self.model, DelayModel)
        return self.model

    @rule(backoff=BACKOFFS)
    def configure_backoff(self, backoff: Backoff | None) -> None:
        initial, factor, most = (None, None, None) if backoff is None else backoff
        self.execute(
            c.ConfigureGroup(
                KEY, NAME, backoff_initial_ms=initial, backoff_factor=factor, backoff_max_ms=most
            )
        )
        self.delays.backoff = backoff

    @rule(
        delay_ms=DELAYS,
        as_time=st.booleans(),
        kind=st.sampled_from("ab"),
        lane=st.sampled_from((None, "x", "y")),
        survives=st.sampled_from((True, True, True, False)),
    )
    def schedule(self, delay_ms: int, kind: str, lane: str | None, *, as_time: bool, survives: bool) -> None:
        """Schedule an entry; without `survives`, the server crashes before it is durable."""
        fields = self.new_fields(kind, lane)
        fragments = [fragment_from_flat([each.encode() for each in fields])]
        at_ms = self.r.now_ms + delay_ms
        when: dict[str, Any] = {"deliver_at_ms": at_ms - 1} if as_time else {"delay_ms": delay_ms}
        reply = self.execute(c.ScheduleEntries(KEY, fragments, **when), survives=survives)
        assert isinstance(reply, ScheduleReply)
        if survives:
            self.delays.schedule(at_ms - as_time, reply.scheduled_ids[0], fields)
        else:
            self.appended -= 1
            self.crash(with_checkpoint=False)

    @precondition(lambda self: self.delays.scheduled)
    @rule(pick=st.integers(0, 9))
    def cancel(self, pick: int) -> None:
        entry = self.delays.scheduled[pick % len(self.delays.scheduled)]
        assert self.execute(c.CancelScheduled(KEY, (entry.id, entry.id))) == 1
        self.delays.cancel(entry)

    @rule(survives=st.sampled_from((True, True, True, False)))
    def do_due(self, *, survives: bool) -> None:
        """Append what is due, and let delayed entries be claimed; or crash before that is durable."""
        if not survives:
            self.execute(c.DoDue(), survives=False)
            self.crash(with_checkpoint=False)
            return
        before = self.all_live_ids()
        assert self.execute(c.DoDue()) == 0
        before[SOURCE] += self.delays.do_due()
        self.sweep_after(before)

    @rule(
        mode=st.sampled_from(("SILENT", "FAIL", "FATAL")),
        picks=PICKS,
        retry=st.none() | st.integers(0, 3),
        delay_ms=st.none() | DELAYS,
    )
    def nack(self, mode: str, picks: list[int], retry: int | None, delay_ms: int | None) -> None:
        ids = self.ids(picks)
        self.delays.nack_delay_ms = delay_ms
        expected = self.model.nack_here(mode, ids, retry)
        self.delays.nack_delay_ms = None
        values = tuple(_number(value) for value in ids)
        command = c.NegativeAcknowledge(
            KEY, NAME, c.NackMode[mode], values, retry_count=retry, delay_ms=delay_ms
        )
        assert self.execute(command) == expected

    # --- after every step ------------------------------------------------------------------------

    def waiting(self) -> list[str]:
        return [each.fields[1] for each in self.delays.scheduled]

    @invariant()
    def both_have_the_same_schedule(self) -> None:
        page = self.disk.engine.execute(c.ListScheduled(KEY), self.r.now_ms).reply
        assert isinstance(page, ScheduledPage)
        expected = sorted(self.delays.scheduled, key=lambda each: each.at_ms)
        assert list(page.scheduled_ids) == [each.id for each in expected]
        assert [id_ms(value) for value in page.scheduled_ids] == [each.at_ms for each in expected]


def _number(value: Id) -> int:
    return value[0] << 64 | value[1]


TestDelayedPolicies = DelayedPolicies.TestCase
TestDelayedPolicies.settings = settings_of_a_run(50)
