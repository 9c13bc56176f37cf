"""Transfers of pending entries against the naive model, with crashes.

The limits from which on the engine works in another way are small, and differ from program to program: so
small programs meet segments that are divided, joined and full, and batches. A read may do little work.
The reads of one kind together return what one read without a limit would return, in the same order.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any, Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from tailrace.core import commands as c
from tailrace.core.bounds import reply_budget
from tailrace.core.handlers import claims, group_reader, idle_entries, pending_views
from tailrace.core.invariants import check
from tests.model.crashing import Crashing, settings_of_a_run
from tests.model.naive import Budget
from tests.model.streams import Id, text, trim_rule
from tests.model.transfers import Claim, Filter, TransferModel
from tests.model.views import full
from tests.support import pending_limits
from tests.support.pending_order import ids_in_order
from tests.support.redis_like import START_MS, R, Word, readable

KEY: Final = "s"
COPY: Final = "t"
ENTRIES: Final = 20

GROUPS: Final = st.sampled_from(("g", "g", "g", "h"))
NAMES: Final = "abcdef"
CONSUMERS: Final = st.sampled_from(NAMES)
RANKS: Final = st.sampled_from((0, 0, 0, 1, 2, 5))
POLICIES: Final = st.sampled_from(("KEEPREF", "DELREF", "ACKED"))
MIN_IDLES: Final = st.sampled_from((0, 0, 5, 60))
IDS: Final = st.tuples(st.integers(0, 30), st.just(0))
COUNTS: Final = st.none() | st.integers(1, 9)
ORDERS: Final = st.permutations(range(ENTRIES)) | st.just([*range(ENTRIES)])
PICKS: Final = st.lists(st.integers(0, 40), min_size=1, max_size=8)
UNTIL: Final = st.sampled_from(("blocks", "publish", "release"))

CLAIMS: Final = st.builds(
    Claim,
    min_idle_ms=MIN_IDLES,
    retry_count=st.sampled_from((None, None, 0, 300)),
    last_id=st.none() | IDS,
    force=st.booleans(),
    just_id=st.booleans(),
)

LIMITS: Final[dict[tuple[Any, str], tuple[int, ...]]] = {
    **pending_limits.LIMITS,
    (idle_entries, "_LOOKUP_CHUNK"): (7, 100),
    (group_reader, "_LOOKUP_CHUNK"): (1, 3, 100),
    (pending_views, "LOOKUP_CHUNK"): (1, 3, 100),
    (claims, "SCAN_CHUNK"): (1, 3, 100),
    (reply_budget, "PENDING_STEPS_MAX"): (1, 9, 30, 40_000),
}
"""The values of each limit that a program may run with. The largest one has no effect on so few entries."""


class Transfers(Crashing):
    """The stream `s` with the groups `g` and `h`, whose entries are mostly claimed one at a time."""

    @initialize(seed=st.integers(0, 99_999), picks=ORDERS)
    def start(self, seed: int, picks: list[int]) -> None:
        """`seed`: that of the limits. Shrinking one number is faster than shrinking each limit."""
        self.patch = pytest.MonkeyPatch()
        random = Random(seed)
        for (module, name), values in LIMITS.items():
            self.patch.setattr(module, name, random.choice(values))
        self.r = R()
        self.begin(START_MS)
        self.model = TransferModel(START_MS)
        for group in "gh":
            made = self.model.create_group(KEY, group, (0, 0), None)
            self.same(made, "XGROUP", "CREATE", KEY, group, 0, "MKSTREAM")
        self.append(ENTRIES)
        self.read_new("g", "a", None, None, noack=False)
        self.scatter("g", picks, 1)

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.undo()
        super().teardown()

    def open(self) -> None:
        super().open()
        self.r.engine = self.disk.engine

    def step_clock(self, elapsed_ms: int) -> None:
        elapsed_ms = abs(elapsed_ms)
        super().step_clock(elapsed_ms)
        self.r.now_ms = self.model.now_ms = self.now_ms

    def run(self, *words: Word) -> Any:
        request = self.r.request(*words)
        assert request.command is not None
        return readable(request.to_resp(self.execute(request.command)))

    def same(self, expected: Any, *words: Word) -> None:
        assert self.run(*words) == expected, words

    def ids(self, group: str, picks: list[int]) -> list[Id]:
        """Ids that are probably pending in the group; some are not, and some never were."""
        stream = self.model.streams[KEY]
        pending = sorted(item.id for item in stream.groups[group].pel)
        known = [*pending, *pending, *(value for value, _ in stream.entries), (31, 0)]
        return [known[pick % len(known)] for pick in picks]

    def owner(self, group: str, rank: int) -> str:
        """The consumer with the most entries, or the one of that rank."""
        pending = [item.consumer for item in self.model.streams[KEY].groups[group].pel]
        return sorted(NAMES, key=pending.count, reverse=True)[rank]

    # --- transfers ---------------------------------------------------------------------------

    @rule(group=GROUPS, consumer=CONSUMERS, new_consumer=CONSUMERS)
    def transfer(self, group: str, consumer: str, new_consumer: str) -> None:
        expected = self.model.transfer(KEY, group, consumer, new_consumer)
        assert self.execute(_transfer(group, consumer, new_consumer)) == expected

    @rule(group=GROUPS, names=st.lists(CONSUMERS, min_size=2, max_size=5))
    def transfer_on(self, group: str, names: list[str]) -> None:
        """A chain of transfers: each consumer gets the entries that the one before it got."""
        for consumer, new_consumer in pairwise(names):
            self.transfer(group, consumer, new_consumer)

    @rule(
        group=GROUPS,
        names=st.permutations(NAMES),
        picks=ORDERS,
        elapsed_ms=st.sampled_from((5, 60)),
        use=st.sampled_from(("pending", "history", "delete", "one by one")),
    )
    def transfer_in_pairs(
        self, group: str, names: list[str], picks: list[int], elapsed_ms: int, use: str
    ) -> None:
        """Transfers between consumers that all own some entries, and then between those that got some; and a
        use of the entries of the last one."""
        self.scatter(group, picks, 1)
        while len(names) > 1:
            for consumer, new_consumer in zip(names[::2], names[1::2], strict=False):
                self.transfer(group, consumer, new_consumer)
            names = names[1::2]
        self.step_clock(elapsed_ms)
        if use == "pending":
            self.show_pending(group, (0, 0), (99, 0), 20, elapsed_ms, 0)
        elif use == "history":
            self.read_history(group, 0, (0, 0), None)
        elif use == "one by one":
            self.read_one_by_one(group, 4, 0)
            self.look()
        else:
            self.delete_consumer(group, 0)
            self.read_new(group, "a", None, 0, noack=False)

    @rule(group=GROUPS, count=st.integers(1, 6), rank=RANKS)
    def read_one_by_one(self, group: str, count: int, rank: int) -> None:
        self.append(count)
        for _ in range(count):
            self.read_new(group, self.owner(group, rank), 1, None, noack=False)

    @rule(group=GROUPS, rank=RANKS)
    def delete_consumer(self, group: str, rank: int) -> None:
        consumer = self.owner(group, rank)
        expected = self.model.delete_consumer(KEY, group, consumer)
        self.same(expected, "XGROUP", "DELCONSUMER", KEY, group, consumer)

    @rule(group=GROUPS, consumer=CONSUMERS)
    def create_consumer(self, group: str, consumer: str) -> None:
        expected = self.model.create_consumer(KEY, group, consumer)
        self.same(expected, "XGROUP", "CREATECONSUMER", KEY, group, consumer)

    @rule(group=GROUPS, consumer=CONSUMERS, new_consumer=CONSUMERS, until=UNTIL)
    def crash_before_a_transfer_is_stored(
        self, group: str, consumer: str, new_consumer: str, until: str
    ) -> None:
        """The checkpoint that a crash interrupts has the state before the transfer."""
        self.disk.checkpoint(until=until)
        self.execute(_transfer(group, consumer, new_consumer), survives=False)
        self.crash(with_checkpoint=False)

    # --- claims ------------------------------------------------------------------------------

    @rule(group=GROUPS, picks=PICKS, together=st.integers(1, 6))
    def scatter(self, group: str, picks: list[int], together: int) -> None:
        """Claims of a few entries by one consumer after the other, in no order."""
        ids = self.ids(group, picks)
        for at in range(0, len(ids), together):
            options = Claim(just_id=True)
            self.claim(group, NAMES[at // together % len(NAMES)], ids[at : at + together], options)

    @rule(
        group=GROUPS,
        consumer=CONSUMERS,
        picks=PICKS,
        options=CLAIMS,
        age_ms=st.sampled_from((None, None, 0, 5, 100)),
        is_time=st.booleans(),
    )
    def claim_some(
        self,
        group: str,
        consumer: str,
        picks: list[int],
        options: Claim,
        age_ms: int | None,
        *,
        is_time: bool,
    ) -> None:
        if age_ms is not None:
            options = replace(options, at_ms=self.now_ms - age_ms)
        self.claim(group, consumer, self.ids(group, picks), options, is_time=is_time)

    def claim(
        self, group: str, consumer: str, ids: list[Id], options: Claim, *, is_time: bool = False
    ) -> None:
        words: list[Word] = []
        if options.at_ms is not None:
            words += ["TIME", options.at_ms] if is_time else ["IDLE", self.now_ms - options.at_ms]
        if options.retry_count is not None:
            words += ["RETRYCOUNT", options.retry_count]
        if options.last_id is not None:
            words += ["LASTID", text(options.last_id)]
        words += ["FORCE"] * options.force + ["JUSTID"] * options.just_id
        expected = self.model.claim_with(KEY, group, consumer, ids, options)
        self.same(expected, "XCLAIM", KEY, group, consumer, options.min_idle_ms, *map(text, ids), *words)

    @rule(
        group=GROUPS,
        consumer=CONSUMERS,
        min_idle_ms=MIN_IDLES,
        start=IDS,
        count=st.integers(1, 9),
        just_id=st.booleans(),
    )
    def claim_all_from(
        self, group: str, consumer: str, min_idle_ms: int, start: Id, count: int, *, just_id: bool
    ) -> None:
        """XAUTOCLAIM from each cursor that it returns."""
        expected = self.model.claim_all_from(KEY, group, consumer, min_idle_ms, start, count, just_id=just_id)
        cursor, claimed, deleted = text(start), list[Any](), list[Any]()
        words = ["JUSTID"] * just_id
        while len(claimed) + len(deleted) < count and (cursor != "0-0" or start == (0, 0)):
            left, before = count - len(claimed) - len(deleted), _id_of(cursor)
            reply = self.run("XAUTOCLAIM", KEY, group, consumer, min_idle_ms, cursor, "COUNT", left, *words)
            claimed, deleted, cursor = [*claimed, *reply[1]], [*deleted, *reply[2]], reply[0]
            if cursor == "0-0":
                break
            assert _id_of(cursor) > before, "XAUTOCLAIM does not proceed"
        assert (cursor, claimed, deleted) == expected

    # --- reads -------------------------------------------------------------------------------

    @rule(group=GROUPS, consumer=CONSUMERS, count=COUNTS, claim_ms=st.none() | MIN_IDLES, noack=st.booleans())
    def read_new(
        self, group: str, consumer: str, count: int | None, claim_ms: int | None, *, noack: bool
    ) -> None:
        """Reads with CLAIM until they returned all that is idle now, and all new entries."""
        stream = self.model.streams[KEY]
        pending = [item for item in stream.groups[group].pel if stream.fields(item.id) is not None]
        if claim_ms == 0 and pending:
            # A further read could claim again what the one before claimed.
            count = min(count or len(pending), len(pending))
        budget = Budget(count, None)
        reply = self.model.read_group(group, consumer, [(KEY, None)], budget, claim_ms=claim_ms, noack=noack)
        expected = reply[0][1] if reply else []
        words: list[Word] = ["XREADGROUP", "GROUP", group, consumer]
        words += ["NOACK"] * noack + ([] if claim_ms is None else ["CLAIM", claim_ms])
        found: list[Any] = []
        while not found or len(found) < len(expected):
            limit: list[Word] = [] if count is None else ["COUNT", count - len(found)]
            reply = self.run(*words, *limit, "STREAMS", KEY, ">")
            if not reply:
                break
            found += reply[0][1]
        assert found == expected, (words, count)

    @rule(group=GROUPS, rank=RANKS, after=IDS, count=COUNTS)
    def read_history(self, group: str, rank: int, after: Id, count: int | None) -> None:
        """Reads of a history, each from the last entry of the one before."""
        consumer = self.owner(group, rank)
        [[_, expected]] = self.model.read_group(group, consumer, [(KEY, after)], Budget(count, None))
        found: list[Any] = []
        words = ["XREADGROUP", "GROUP", group, consumer]
        while count is None or len(found) < count:
            limit: list[Word] = [] if count is None else ["COUNT", count - len(found)]
            position = found[-1][0] if found else text(after)
            [[_, some]] = self.run(*words, *limit, "STREAMS", KEY, position)
            if not some:
                break
            found += some
        assert found == expected

    @rule(
        group=GROUPS,
        first=IDS,
        last=IDS | st.just((99, 0)),
        count=st.integers(1, 20),
        min_idle_ms=MIN_IDLES,
        rank=st.none() | RANKS,
    )
    def show_pending(
        self, group: str, first: Id, last: Id, count: int, min_idle_ms: int, rank: int | None
    ) -> None:
        consumer = None if rank is None else self.owner(group, rank)
        wanted = Filter(first, last, count, min_idle_ms, consumer)
        words: list[Word] = ["IDLE", min_idle_ms] if min_idle_ms else []
        words += [text(first), text(last), count, *([] if consumer is None else [consumer])]
        self.same(self.model.pending_rows(KEY, group, wanted), "XPENDING", KEY, group, *words)

    @rule(group=GROUPS)
    def show_consumers(self, group: str) -> None:
        self.same(self.model.pending_summary(KEY, group), "XPENDING", KEY, group)
        self.same(self.model.consumers(KEY, group), "XINFO", "CONSUMERS", KEY, group)

    # --- acknowledgments and removals --------------------------------------------------------

    @rule(count=st.integers(1, 4))
    def append(self, count: int) -> None:
        for _ in range(count):
            value = (self.model.stream(KEY).last[0] + 1, 0)
            self.same(self.model.add(KEY, ["f", "v"], value), "XADD", KEY, text(value), "f", "v")

    @rule(group=GROUPS, picks=PICKS)
    def ack(self, group: str, picks: list[int]) -> None:
        ids = self.ids(group, picks)
        self.same(self.model.ack(KEY, group, ids), "XACK", KEY, group, *map(text, ids))

    @rule(group=GROUPS, policy=POLICIES, picks=PICKS)
    def ack_and_delete(self, group: str, policy: str, picks: list[int]) -> None:
        ids = self.ids(group, picks)
        expected = self.model.ack_and_delete(KEY, group, policy, ids)
        self.same(expected, "XACKDEL", KEY, group, policy, "IDS", len(ids), *map(text, ids))

    @rule(
        group=GROUPS,
        mode=st.sampled_from(("SILENT", "FAIL", "FATAL")),
        picks=PICKS,
        retry=st.none() | st.integers(0, 3),
        force=st.booleans(),
    )
    def nack(self, group: str, mode: str, picks: list[int], retry: int | None, *, force: bool) -> None:
        ids = self.ids(group, picks)
        expected = self.model.nack(KEY, group, mode, ids, retry, force=force)
        words: list[Word] = [] if retry is None else ["RETRYCOUNT", retry]
        words += ["FORCE"] * force
        self.same(expected, "XNACK", KEY, group, mode, "IDS", len(ids), *map(text, ids), *words)

    @rule(group=GROUPS, policy=st.none() | POLICIES, picks=PICKS)
    def delete(self, group: str, policy: str | None, picks: list[int]) -> None:
        ids = self.ids(group, picks)
        if policy is None:
            self.same(self.model.delete(KEY, ids), "XDEL", KEY, *map(text, ids))
        else:
            expected = self.model.delete_by_policy(KEY, policy, ids)
            self.same(expected, "XDELEX", KEY, policy, "IDS", len(ids), *map(text, ids))

    @rule(policy=POLICIES, bound=st.integers(0, ENTRIES) | IDS)
    def trim(self, policy: str, bound: int | Id) -> None:
        if isinstance(bound, int):
            words: list[Word] = ["MAXLEN", bound, policy]
            rule = trim_rule(policy, max_length=bound)
        else:
            words, rule = ["MINID", text(bound), policy], trim_rule(policy, min_id=bound)
        self.same(self.model.trim(KEY, rule), "XTRIM", KEY, *words)

    # --- the group ---------------------------------------------------------------------------

    @rule(group=GROUPS, after=IDS)
    def move_group(self, group: str, after: Id) -> None:
        self.same(self.model.move_group(KEY, group, after, None), "XGROUP", "SETID", KEY, group, text(after))

    @rule(group=GROUPS, after=IDS)
    def recreate_group(self, group: str, after: Id) -> None:
        self.same(self.model.destroy_group(KEY, group), "XGROUP", "DESTROY", KEY, group)
        made = self.model.create_group(KEY, group, after, None)
        self.same(made, "XGROUP", "CREATE", KEY, group, text(after))

    @rule()
    def continue_with_a_copy(self) -> None:
        self.same(self.model.copy(KEY, COPY), "COPY", KEY, COPY)
        assert _state(self.r, COPY) == full(self.model.streams.pop(COPY))
        self.same("OK", "RENAME", COPY, KEY)

    # --- the state ---------------------------------------------------------------------------

    @rule()
    def look(self) -> None:
        """Not after every step: looking takes entries out of batches that they left."""
        assert _state(self.r, KEY) == full(self.model.streams[KEY])
        for name, group in self.model.streams[KEY].groups.items():
            pending = self.disk.engine.keyspace.streams[b"s"].groups[name.encode()].pending
            assert [(value >> 64, 0) for value in ids_in_order(pending)] == [item.id for item in group.pel]
        check(self.disk.engine.keyspace)


def _transfer(group: str, consumer: str, new_consumer: str) -> c.DeleteConsumer:
    return c.DeleteConsumer(
        KEY.encode(), group.encode(), consumer.encode(), transfer_to=new_consumer.encode()
    )


def _id_of(written: str) -> Id:
    first, second = written.split("-")
    return int(first), int(second)


def _state(r: R, key: str) -> dict[str, Any]:
    found = r.full(key)
    del found["radix-tree-keys"], found["radix-tree-nodes"]
    return found


TestTransfers = Transfers.TestCase
TestTransfers.settings = settings_of_a_run(50)
