"""The engine against the naive model, step by step: the commands that Redis 7.0 lacks, and the commands that
they need.

After every step both are asked for everything (XINFO STREAM FULL), and the engine's structures are
checked against each other.
"""

from __future__ import annotations

import os
from itertools import product
from typing import Any, Final, TypeAlias

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tailrace.core.commands import ExpireIdempotencyKeys
from tailrace.core.invariants import check
from tests.model.naive import Budget, Model
from tests.model.streams import Id, text, trim_rule
from tests.model.views import full
from tests.support.redis_like import START_MS, R, Word

EXAMPLES: Final = int(os.environ.get("TESTS_MODEL_EXAMPLES", "60"))
STEPS_PER_EXAMPLE: Final = 50
IN_CI: Final = os.environ.get("CI", "").lower() in {"1", "true"}

KEYS: Final = st.sampled_from(("s", "s", "t"))
GROUPS: Final = st.sampled_from(("g", "g", "h"))
CONSUMERS: Final = st.sampled_from(("alice", "bob", ""))
POLICIES: Final = st.sampled_from(("KEEPREF", "DELREF", "ACKED"))
COUNTS: Final = st.none() | st.integers(1, 4)
MIN_IDLES: Final = st.sampled_from((0, 0, 5, 60))
IDS: Final = st.tuples(st.integers(0, 12), st.integers(0, 1))
PICKS: Final = st.lists(st.integers(0, 15), min_size=1, max_size=4)
FIELDS: Final = st.sampled_from((["f", "v"], ["f", "v", "f", "w"], ["rider", "Żółć"]))
STEPS: Final = st.sampled_from(((1, 0), (1, 0), (0, 1), (2, 1)))
TrimChoice: TypeAlias = "tuple[str, str, int | Id]"
TRIMS: Final = st.tuples(POLICIES, st.sampled_from(("", "=", "~")), st.integers(0, 6) | IDS)


def _options(**given: Any) -> list[Word]:
    """``NAME value`` for each that is given, ``NAME`` alone for True."""
    words: list[Word] = []
    for name, value in given.items():
        if value is not None and value is not False:
            words += [name.upper()] if value is True else [name.upper(), value]
    return words


class Streams(RuleBasedStateMachine):
    """Two streams with two groups each; ids are small, so that commands meet each other's results."""

    @initialize()
    def start(self) -> None:
        """Two entries in each stream, read by alice of each group; so every command has something to do."""
        self.r = R()
        self.model = Model(START_MS)
        for key, group in product("st", "gh"):
            created = self.model.create_group(key, group, (0, 0), None)
            self.same(created, "XGROUP", "CREATE", key, group, 0, "MKSTREAM")
        for key in "st":
            self.append(key, ["f", "v"], [(1, 0), (1, 0)], None)
        for group in "gh":
            self.read_both(group, "alice", (None, None), None, None, None)

    def same(self, expected: Any, *words: Word) -> None:
        assert self.r.run(*words) == expected, words

    def ids(self, key: str, picks: list[int], group: str | None = None) -> list[Id]:
        """Ids that are probably there, or pending in `group` where one is given; some never were."""
        stream = self.model.stream(key)
        pending = [item.id for item in stream.groups[group].pel] if group else []
        others = sorted({value for value, _ in stream.entries} | {stream.last, (3, 1)}, reverse=True)
        known = [*pending, *others]
        return [known[pick % len(known)] for pick in picks]

    # --- time and writing --------------------------------------------------------------------

    @rule(elapsed_ms=st.sampled_from((1, 5, 60, 1500)))
    def time_passes(self, elapsed_ms: int) -> None:
        self.r.now_ms += elapsed_ms
        self.model.now_ms += elapsed_ms

    @rule(key=KEYS, fields=FIELDS, steps=st.lists(STEPS, min_size=1, max_size=4), trim=st.none() | TRIMS)
    def append(self, key: str, fields: list[str], steps: list[Id], trim: TrimChoice | None) -> None:
        words, trimming = _trim(trim) if trim else ([], None)
        for step in steps:
            last = self.model.stream(key).last
            value = (last[0] + step[0], step[1] if step[0] else last[1] + step[1])
            expected = self.model.add(key, fields, value, trimming)
            self.same(expected, "XADD", key, *words, text(value), *fields)

    @rule(key=KEYS, producer=st.sampled_from("pq"), name=st.sampled_from("abcd"), trim=st.none() | TRIMS)
    def append_once(self, key: str, producer: str, name: str, trim: TrimChoice | None) -> None:
        words, trimming = _trim(trim) if trim else ([], None)
        expected = self.model.add(key, ["f", "v"], None, trimming, (producer, name))
        self.same(expected, "XADD", key, "IDMP", producer, name, *words, "*", "f", "v")

    @rule(key=KEYS, duration_s=st.sampled_from((1, 100)), maxsize=st.sampled_from((2, 100)))
    def configure(self, key: str, duration_s: int, maxsize: int) -> None:
        expected = self.model.configure(key, duration_s, maxsize)
        self.same(expected, "XCFGSET", key, "IDMP-DURATION", duration_s, "IDMP-MAXSIZE", maxsize)

    @rule()
    def expire_keys(self) -> None:
        self.model.expire_keys()
        self.r.engine.execute(ExpireIdempotencyKeys(), self.r.now_ms)

    @rule(key=KEYS, trim=TRIMS)
    def trim(self, key: str, trim: TrimChoice) -> None:
        words, trimming = _trim(trim)
        self.same(self.model.trim(key, trimming), "XTRIM", key, *words)

    @rule(key=KEYS, picks=PICKS)
    def delete(self, key: str, picks: list[int]) -> None:
        ids = self.ids(key, picks)
        self.same(self.model.delete(key, ids), "XDEL", key, *map(text, ids))

    @rule(key=KEYS, policy=POLICIES, picks=PICKS)
    def delete_by_policy(self, key: str, policy: str, picks: list[int]) -> None:
        ids = self.ids(key, picks)
        expected = self.model.delete_by_policy(key, policy, ids)
        self.same(expected, "XDELEX", key, policy, "IDS", len(ids), *map(text, ids))

    # --- groups ------------------------------------------------------------------------------

    @rule(key=KEYS, group=GROUPS, after=IDS, read=st.none() | st.integers(0, 9))
    def move_group(self, key: str, group: str, after: Id, read: int | None) -> None:
        expected = self.model.move_group(key, group, after, read)
        self.same(expected, "XGROUP", "SETID", key, group, text(after), *_options(entriesread=read))

    @rule(key=KEYS, group=GROUPS, after=IDS)
    def recreate_group(self, key: str, group: str, after: Id) -> None:
        if group == "h":
            self.same(self.model.destroy_group(key, group), "XGROUP", "DESTROY", key, group)
        self.same(
            self.model.create_group(key, group, after, None), "XGROUP", "CREATE", key, group, text(after)
        )

    @rule(key=KEYS, group=GROUPS, consumer=CONSUMERS)
    def delete_consumer(self, key: str, group: str, consumer: str) -> None:
        self.same(
            self.model.delete_consumer(key, group, consumer), "XGROUP", "DELCONSUMER", key, group, consumer
        )

    @rule(key=KEYS, group=GROUPS, picks=PICKS)
    def ack(self, key: str, group: str, picks: list[int]) -> None:
        ids = self.ids(key, picks, group)
        self.same(self.model.ack(key, group, ids), "XACK", key, group, *map(text, ids))

    @rule(key=KEYS, group=GROUPS, policy=POLICIES, picks=PICKS)
    def ack_and_delete(self, key: str, group: str, policy: str, picks: list[int]) -> None:
        ids = self.ids(key, picks, group)
        expected = self.model.ack_and_delete(key, group, policy, ids)
        self.same(expected, "XACKDEL", key, group, policy, "IDS", len(ids), *map(text, ids))

    @rule(
        key=KEYS,
        group=GROUPS,
        mode=st.sampled_from(("SILENT", "FAIL", "FATAL")),
        picks=PICKS,
        retry=st.none() | st.integers(0, 3),
        force=st.booleans(),
    )
    def nack(
        self, key: str, group: str, mode: str, picks: list[int], retry: int | None, *, force: bool
    ) -> None:
        ids = self.ids(key, picks, group)
        expected = self.model.nack(key, group, mode, ids, retry, force=force)
        words = _options(retrycount=retry, force=force)
        self.same(expected, "XNACK", key, group, mode, "IDS", len(ids), *map(text, ids), *words)

    @rule(
        key=KEYS,
        group=GROUPS,
        consumer=CONSUMERS,
        min_idle_ms=MIN_IDLES,
        picks=PICKS,
        idle_ms=MIN_IDLES,
        force=st.booleans(),
    )
    def claim(
        self,
        key: str,
        group: str,
        consumer: str,
        min_idle_ms: int,
        picks: list[int],
        idle_ms: int,
        *,
        force: bool,
    ) -> None:
        ids = self.ids(key, picks, group)
        expected = self.model.claim(key, group, consumer, min_idle_ms, ids, idle_ms=idle_ms, force=force)
        words = _options(idle=idle_ms, force=force)
        self.same(expected, "XCLAIM", key, group, consumer, min_idle_ms, *map(text, ids), *words)

    @rule(
        key=KEYS, group=GROUPS, consumer=CONSUMERS, min_idle_ms=MIN_IDLES, start=IDS, count=st.integers(1, 3)
    )
    def auto_claim(
        self, key: str, group: str, consumer: str, min_idle_ms: int, start: Id, count: int
    ) -> None:
        expected = self.model.auto_claim(key, group, consumer, min_idle_ms, start, count)
        words: list[Word] = [key, group, consumer, min_idle_ms, text(start), "COUNT", count, "JUSTID"]
        self.same(expected, "XAUTOCLAIM", *words)

    # --- reading -----------------------------------------------------------------------------

    @rule(after=st.tuples(IDS, IDS), count=COUNTS, spare=COUNTS)
    def read(self, after: tuple[Id, Id], count: int | None, spare: int | None) -> None:
        max_count = None if spare is None else spare + (count or 0)
        expected = self.model.read(list(zip("st", after, strict=True)), Budget(count, max_count))
        words = _options(count=count, maxcount=max_count)
        self.same(expected, "XREAD", *words, "STREAMS", "s", "t", *map(text, after))

    @rule(group=GROUPS, consumer=CONSUMERS, count=COUNTS, noack=st.booleans(), claim_ms=st.none() | MIN_IDLES)
    def read_one(
        self, group: str, consumer: str, count: int | None, claim_ms: int | None, *, noack: bool
    ) -> None:
        expected = self.model.read_group(
            group, consumer, [("s", None)], Budget(count, None), claim_ms=claim_ms, noack=noack
        )
        words = _options(count=count, noack=noack, claim=claim_ms)
        self.same(expected, "XREADGROUP", "GROUP", group, consumer, *words, "STREAMS", "s", ">")

    @rule(
        group=GROUPS,
        consumer=CONSUMERS,
        after=st.tuples(st.none() | IDS, st.none() | IDS),
        count=COUNTS,
        spare=COUNTS,
        claim_ms=st.none() | MIN_IDLES,
    )
    def read_both(
        self,
        group: str,
        consumer: str,
        after: tuple[Id | None, Id | None],
        count: int | None,
        spare: int | None,
        claim_ms: int | None,
    ) -> None:
        max_count = None if spare is None else spare + (count or 0)
        sources = list(zip("st", after, strict=True))
        expected = self.model.read_group(
            group, consumer, sources, Budget(count, max_count), claim_ms=claim_ms
        )
        words = _options(count=count, maxcount=max_count, claim=claim_ms)
        positions = [">" if value is None else text(value) for value in after]
        self.same(expected, "XREADGROUP", "GROUP", group, consumer, *words, "STREAMS", "s", "t", *positions)

    # --- after every step --------------------------------------------------------------------

    @invariant()
    def both_hold_the_same(self) -> None:
        for key in ("s", "t"):
            found = self.r.full(key)
            del found["radix-tree-keys"], found["radix-tree-nodes"]
            assert found == full(self.model.streams[key])

    @invariant()
    def the_engine_does_not_contradict_itself(self) -> None:
        check(self.r.engine.keyspace)


def _trim(trim: TrimChoice) -> tuple[list[Word], Any]:
    """The words of a trim and what it does: ``~`` under a reference policy is exact (rule 14)."""
    policy, sign, bound = trim
    signs: list[Word] = [] if policy == "KEEPREF" or not sign else [sign]
    if isinstance(bound, int):
        return ["MAXLEN", *signs, bound, policy], trim_rule(policy, max_length=bound)
    return ["MINID", *signs, text(bound), policy], trim_rule(policy, min_id=bound)


TestStreams = Streams.TestCase
TestStreams.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS_PER_EXAMPLE,
    derandomize=IN_CI,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
