"""Dead letters against the naive model, on a data directory that crashes, under a clock that steps.

After every step both are asked for everything, and every entry that was ever appended is in one place only:
unread or pending in the group, acknowledged, or a dead letter.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tailrace.core import commands as c
from tailrace.core.invariants import check
from tests.model.crashing import Crashing, settings_of_a_run
from tests.model.dead_letters import DEAD, GROUP, SOURCE, DeadLetterModel
from tests.model.naive import Budget
from tests.model.streams import Id, text
from tests.model.views import full
from tests.support.redis_like import START_MS, R, Word, readable

CONSUMERS: Final = st.sampled_from(("alice", "bob"))
MIN_IDLES: Final = st.sampled_from((0, 0, 5, 60))
PICKS: Final = st.lists(st.integers(0, 15), min_size=1, max_size=4)
COUNTS: Final = st.none() | st.integers(1, 3)


class DeadLetters(Crashing):
    """The stream `s` with the group `g`, whose dead letters go to `t`."""

    @initialize()
    def start(self) -> None:
        self.r = R()
        self.begin(START_MS)
        self.model = self.new_model(START_MS)
        self.appended = 0
        self.settled: Counter[str] = Counter()
        self.deleted: set[str] = set()
        self.prepare()
        self.same(
            self.model.create_group(SOURCE, GROUP, (0, 0), None),
            "XGROUP",
            "CREATE",
            SOURCE,
            GROUP,
            0,
            "MKSTREAM",
        )
        self.configure(1)
        self.append(3)
        self.read("alice", None, None)

    def open(self) -> None:
        super().open()
        self.r.engine = self.disk.engine

    def step_clock(self, elapsed_ms: int) -> None:
        super().step_clock(elapsed_ms)
        self.r.now_ms = self.model.now_ms = self.now_ms

    def new_model(self, now_ms: int) -> DeadLetterModel:
        return DeadLetterModel(now_ms)

    def prepare(self) -> None:
        """Run the commands that come before all others."""

    def same(self, expected: Any, *words: Word) -> None:
        request = self.r.request(*words)
        assert request.command is not None
        assert readable(request.to_resp(self.execute(request.command))) == expected, words

    def ids(self, picks: list[int]) -> list[Id]:
        stream = self.model.streams[SOURCE]
        known = [
            *(item.id for item in stream.groups[GROUP].pel),
            *(value for value, _ in stream.entries),
            (3, 1),
        ]
        return [known[pick % len(known)] for pick in picks]

    # --- time, crashes, settings -----------------------------------------------------------------

    @rule(consumer=CONSUMERS, claim_ms=MIN_IDLES)
    def crash_before_the_commit(self, consumer: str, claim_ms: int) -> None:
        words = ["XREADGROUP", "GROUP", GROUP, consumer, "CLAIM", str(claim_ms), "STREAMS", SOURCE, ">"]
        command = self.r.request(*words).command
        assert command is not None
        self.execute(command, survives=False)
        self.execute(c.Redrive(SOURCE.encode(), GROUP.encode(), 2), survives=False)
        self.crash(with_checkpoint=False)

    @rule(most=st.sampled_from((1, 1, 2, 3)))
    def configure(self, most: int) -> None:
        self.execute(c.ConfigureGroup(SOURCE.encode(), GROUP.encode(), most, DEAD.encode()))
        self.model.most = most

    # --- entries ---------------------------------------------------------------------------------

    @rule(count=st.integers(1, 3))
    def append(self, count: int) -> None:
        for _ in range(count):
            self.appended += 1
            fields = ["n", str(self.appended)]
            self.same(self.model.add(SOURCE, fields), "XADD", SOURCE, "*", *fields)

    @rule(picks=PICKS)
    def delete(self, picks: list[int]) -> None:
        ids = self.ids(picks)
        stream = self.model.streams[SOURCE]
        self.deleted.update(fields[1] for fields in map(stream.fields, ids) if fields is not None)
        self.same(self.model.delete(SOURCE, ids), "XDEL", SOURCE, *map(text, ids))

    @rule(picks=PICKS)
    def ack(self, picks: list[int]) -> None:
        ids = self.ids(picks)
        stream = self.model.streams[SOURCE]
        for value in dict.fromkeys(ids):
            fields = stream.fields(value)
            if fields is not None and stream.groups[GROUP].find(value) is not None:
                self.settled[fields[1]] += 1
        self.same(self.model.ack(SOURCE, GROUP, ids), "XACK", SOURCE, GROUP, *map(text, ids))

    # --- deliveries ------------------------------------------------------------------------------

    @rule(consumer=CONSUMERS, count=COUNTS, claim_ms=st.none() | MIN_IDLES)
    def read(self, consumer: str, count: int | None, claim_ms: int | None) -> None:
        budget = Budget(count, None)
        expected = self.model.read_group(GROUP, consumer, [(SOURCE, None)], budget, claim_ms=claim_ms)
        words = [] if count is None else ["COUNT", str(count)]
        words += [] if claim_ms is None else ["CLAIM", str(claim_ms)]
        self.same(expected, "XREADGROUP", "GROUP", GROUP, consumer, *words, "STREAMS", SOURCE, ">")

    @rule(consumer=CONSUMERS, count=COUNTS)
    def history(self, consumer: str, count: int | None) -> None:
        expected = self.model.read_group(GROUP, consumer, [(SOURCE, (0, 0))], Budget(count, None))
        words = [] if count is None else ["COUNT", str(count)]
        self.same(expected, "XREADGROUP", "GROUP", GROUP, consumer, *words, "STREAMS", SOURCE, "0")

    @rule(mode=st.sampled_from(("SILENT", "FAIL", "FATAL")), picks=PICKS, retry=st.none() | st.integers(0, 3))
    def nack(self, mode: str, picks: list[int], retry: int | None) -> None:
        ids = self.ids(picks)
        words = [] if retry is None else ["RETRYCOUNT", str(retry)]
        expected = self.model.nack_here(mode, ids, retry)
        self.same(expected, "XNACK", SOURCE, GROUP, mode, "IDS", len(ids), *map(text, ids), *words)

    @rule(consumer=CONSUMERS, min_idle_ms=MIN_IDLES, picks=PICKS)
    def claim(self, consumer: str, min_idle_ms: int, picks: list[int]) -> None:
        ids = self.ids(picks)
        expected = self.model.claim_here(consumer, min_idle_ms, ids, force=False)
        self.same(expected, "XCLAIM", SOURCE, GROUP, consumer, min_idle_ms, *map(text, ids))

    @rule(consumer=CONSUMERS, min_idle_ms=MIN_IDLES, count=st.integers(1, 3))
    def auto_claim(self, consumer: str, min_idle_ms: int, count: int) -> None:
        expected = self.model.auto_claim_here(consumer, min_idle_ms, count)
        self.same(expected, "XAUTOCLAIM", SOURCE, GROUP, consumer, min_idle_ms, "0-0", "COUNT", count)

    @precondition(lambda self: self.model.most is not None)
    @rule(limit=st.integers(1, 3))
    def redrive(self, limit: int) -> None:
        reply = self.execute(c.Redrive(SOURCE.encode(), GROUP.encode(), limit))
        assert len(reply.ids) == self.model.redrive(limit)

    # --- after every step ------------------------------------------------------------------------

    @invariant()
    def both_hold_the_same(self) -> None:
        for key, stream in self.model.streams.items():
            found = self.r.full(key)
            del found["radix-tree-keys"], found["radix-tree-nodes"]
            assert found == full(stream)
        check(self.disk.engine.keyspace)

    @invariant()
    def every_entry_is_in_one_place(self) -> None:
        stream = self.model.streams[SOURCE]
        group = stream.groups[GROUP]
        places = Counter(self.settled)
        places.update(
            fields[1]
            for value, fields in stream.entries
            if value > group.last or group.find(value) is not None
        )
        if DEAD in self.model.streams:
            places.update(fields[1] for _, fields in self.model.streams[DEAD].entries)
        for number in map(str, range(1, self.appended + 1)):
            assert places[number] == 1 or number in self.deleted, number


TestDeadLetters = DeadLetters.TestCase
TestDeadLetters.settings = settings_of_a_run(40)
