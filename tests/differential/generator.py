"""Random programs of the stream commands of Redis 7.0, with few names and ids, so that commands affect each
other.

Owns the commands, never the answers. A step is one command, or several that belong together when a
program is shrunk. Times are far apart, so that no answer depends on a few milliseconds. What came
after 7.0 is in `later_generator`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias

from tests.differential.choices import Choices
from tests.differential.probes import consumer_probes, is_comparable
from tests.differential.vocabulary import (
    DELIVERY_TIMES,
    FAR_FUTURE_MS,
    FIELDS,
    GROUPS,
    HUGE,
    IDLE_TIMES,
    KEYS,
    MIN_IDLES,
    MUTATED_PERCENT,
    NODE_ENTRIES,
    SEQ_MAX,
    SIGNED,
    Program,
    Step,
    Words,
)


class Generator(Choices):
    """Programs of commands, one method a command; a subclass has another table of them."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        table = self._table()
        self._makers = [make for make, _ in table]
        self._weights = [weight for _, weight in table]

    def _table(self) -> Table:
        """The methods that make a command, each with its weight."""
        return SEVEN

    def _is_comparable(self, words: Words) -> bool:
        return is_comparable(words)

    def _may_mutate(self, words: Words) -> bool:
        return SIGNED.isdisjoint(words)

    def _as_step(self, words: Words) -> Step:
        return (words, *consumer_probes(words))

    def program(self, length: int) -> Program:
        """About `length` steps, opening with a size for the macro nodes and a stream with a group."""
        entries = self._random.choice(NODE_ENTRIES)
        opening: Program = [
            ([b"CONFIG", b"SET", b"stream-node-max-entries", b"%d" % entries],),
            *(
                ([b"XGROUP", b"CREATE", key, group, self._pick((b"0", b"0", b"1", b"$")), b"MKSTREAM"],)
                for key in KEYS
                for group in GROUPS
                if not self._one_in(6)
            ),
        ]
        return opening + [self._step() for _ in range(length - len(opening))]

    def _step(self) -> Step:
        make = self._random.choices(self._makers, self._weights)[0]
        while True:
            words = make(self)
            if self._random.randrange(100) < MUTATED_PERCENT and self._may_mutate(words):
                words = self._mutated(words)
            if self._is_comparable(words):
                return self._as_step(words)

    # --- writing -----------------------------------------------------------------------------

    def _new_id(self, key: bytes) -> bytes:
        ms, seq = self._tops[key]
        kind = self._random.randrange(24)
        if kind == 0:
            return self._auto_id(key)
        if kind == 1:
            return self._id()
        if kind == 2:
            return b"%d-*" % max(ms + self._random.choice((-1, 0, 0, 1)), 0)
        if kind == 3 and self._one_in(30):
            ms, seq = self._random.choice(((ms, SEQ_MAX), (SEQ_MAX, SEQ_MAX), (SEQ_MAX, 0)))
        elif kind < 14:
            ms, seq = ms + self._random.choice((1, 1, 1, 2)), 0
        else:
            seq += self._random.choice((1, 1, 2))
        self._tops[key] = (ms, seq)
        value = b"%d-%d" % (ms, seq)
        self._ids[key].append(value)
        return b"%d" % ms if seq == 0 and self._one_in(4) else value

    def _auto_id(self, key: bytes) -> bytes:
        """``*``: from the clock at first, and one above the last id in a stream with ids of the future."""
        ms, seq = self._tops[key]
        if ms < FAR_FUTURE_MS:
            self._tops[key] = (FAR_FUTURE_MS, 0)
        else:
            self._tops[key] = (ms, seq + 1)
            self._ids[key].append(b"%d-%d" % self._tops[key])
        return b"*"

    def _trim(self) -> Words:
        sign = self._random.choice(([], [], [b"="], [b"~"], [b"~"]))
        limit: Words = []
        if sign == [b"~"] or self._one_in(15):
            limit = self._optional(3, b"LIMIT", self._number((b"20",)))
        if self._one_in(2):
            return [self._word(b"MAXLEN"), *sign, self._number((b"20", b"30")), *limit]
        return [self._word(b"MINID"), *sign, self._id(), *limit]

    def xadd(self) -> Words:
        key = self._key()
        options = self._shuffled(self._optional(12, b"NOMKSTREAM"), self._trim() if self._one_in(12) else [])
        return [self._word(b"XADD"), key, *options, self._new_id(key), *self._fields()]

    def _fields(self) -> Words:
        pairs = self._random.choice((1, 1, 1, 2, 3))
        return [self._pick(FIELDS) for _ in range(2 * pairs)]

    def xtrim(self) -> Words:
        return [b"XTRIM", self._key(), *self._trim()]

    def xdel(self) -> Words:
        return [b"XDEL", self._key(), *self._some_ids()]

    def xsetid(self) -> Words:
        options = self._shuffled(
            self._optional(2, b"ENTRIESADDED", self._number((b"50", b"100"))),
            self._optional(2, b"MAXDELETEDID", self._id()),
        )
        key = self._key()
        return [b"XSETID", key, self._pick((self._id(), b"%d-%d" % self._tops[key])), *options]

    # --- reading -----------------------------------------------------------------------------

    def xlen(self) -> Words:
        return [b"XLEN", self._key()]

    def xrange(self) -> Words:
        key, count = self._key(), self._optional(2, b"COUNT", self._number((HUGE,)))
        low, high = self._pick((b"-", b"0", self._bound())), self._pick((b"+", self._bound()))
        if self._one_in(2):
            return [self._word(b"XRANGE"), key, low, high, *count]
        return [self._word(b"XREVRANGE"), key, high, low, *count]

    def xread(self) -> Words:
        keys = [self._key() for _ in range(self._random.choice((1, 1, 2, 3)))]
        positions = [self._pick([self._id(), b"0", b"$"]) for _ in keys]
        options = self._shuffled(
            self._optional(2, b"COUNT", self._number()), self._optional(40, b"BLOCK", b"1")
        )
        return [b"XREAD", *options, self._word(b"STREAMS"), *keys, *positions]

    def xreadgroup(self) -> Words:
        keys = [self._key() for _ in range(self._random.choice((1, 1, 1, 1, 1, 2)))]
        positions = [self._pick((b">", b">", b">", b">", b"0", self._id())) for _ in keys]
        options = self._shuffled(
            [self._word(b"GROUP"), self._group(), self._consumer()],
            self._optional(2, b"COUNT", self._number()),
            self._optional(40, b"BLOCK", b"1"),
            self._optional(8, b"NOACK"),
        )
        return [b"XREADGROUP", *options, self._word(b"STREAMS"), *keys, *positions]

    # --- groups ------------------------------------------------------------------------------

    def _group_start(self) -> bytes:
        return self._pick(
            (b"0", b"$", self._id(), self._id(), b"-", b"+") if self._one_in(10) else (b"0", b"$", self._id())
        )

    def xgroup_create(self) -> Words:
        options = self._shuffled(
            self._optional(2, b"MKSTREAM"), self._optional(4, b"ENTRIESREAD", self._number((b"-1",)))
        )
        return [self._word(b"XGROUP"), b"CREATE", self._key(), self._group(), self._group_start(), *options]

    def xgroup_setid(self) -> Words:
        options = self._optional(3, b"ENTRIESREAD", self._number((b"-1",)))
        return [b"XGROUP", b"SETID", self._key(), self._group(), self._group_start(), *options]

    def xgroup_destroy(self) -> Words:
        return [b"XGROUP", self._word(b"DESTROY"), self._key(), self._group()]

    def xgroup_createconsumer(self) -> Words:
        return [b"XGROUP", b"CREATECONSUMER", self._key(), self._group(), self._consumer()]

    def xgroup_delconsumer(self) -> Words:
        return [b"XGROUP", b"DELCONSUMER", self._key(), self._group(), self._consumer()]

    def xack(self) -> Words:
        return [self._word(b"XACK"), self._key(), self._group(), *self._some_ids()]

    def xpending(self) -> Words:
        words = [b"XPENDING", self._key(), self._group()]
        if self._one_in(3):
            return words
        idle = self._optional(3, b"IDLE", self._pick(MIN_IDLES))
        consumer = [self._consumer()] if self._one_in(2) else []
        low, high = self._pick((b"-", self._bound())), self._pick((b"+", self._bound()))
        return [*words, *idle, low, high, self._number((HUGE,)), *consumer]

    def xclaim(self) -> Words:
        options = self._shuffled(
            self._optional(3, b"IDLE", self._pick(IDLE_TIMES)),
            self._optional(6, b"TIME", self._pick(DELIVERY_TIMES)),
            self._optional(5, b"RETRYCOUNT", self._number()),
            self._optional(2, b"FORCE"),
            self._optional(4, b"JUSTID"),
            self._optional(12, b"LASTID", self._id()),
        )
        words = [b"XCLAIM", self._key(), self._group(), self._consumer(), self._pick(MIN_IDLES)]
        return [*words, *self._some_ids(), *options]

    def xautoclaim(self) -> Words:
        options = self._shuffled(self._optional(2, b"COUNT", self._number()), self._optional(3, b"JUSTID"))
        words = [b"XAUTOCLAIM", self._key(), self._group(), self._consumer(), self._pick(MIN_IDLES)]
        return [*words, self._pick([b"0", b"-", self._bound()]), *options]

    # --- inspection and the keyspace -----------------------------------------------------------

    def xinfo(self) -> Words:
        key = self._key()
        full = self._optional(2, b"FULL", *self._optional(2, b"COUNT", self._number((b"-1",))))
        kind = self._random.randrange(3)
        if kind == 0:
            return [b"XINFO", b"STREAM", key, *full]
        if kind == 1:
            return [b"XINFO", b"GROUPS", key]
        return [b"xinfo", b"CONSUMERS", key, self._group()]

    def keyspace(self) -> Words:
        key, other = self._key(), self._key()
        commands: list[Words] = [
            *([b"EXISTS", key, other], [b"TYPE", key], [b"DBSIZE"], [b"RENAME", key, other], [b"DEL", key]),
            *(
                [b"PING"],
                [b"ECHO", key],
                [b"PING", key],
                [b"KEYS", b"*"],
                [b"XWHAT", key, other],
                [b"XGROUP", b"WHAT"],
            ),
            [b"CONFIG", b"GET", b"stream-node-max-entries"],
        ]
        return self._random.choice(commands)


Table: TypeAlias = "tuple[tuple[Callable[[Any], Words], int], ...]"

SEVEN: Final[Table] = (
    (Generator.xadd, 32),
    (Generator.xtrim, 3),
    (Generator.xdel, 5),
    (Generator.xsetid, 1),
    (Generator.xlen, 1),
    (Generator.xrange, 7),
    (Generator.xread, 5),
    (Generator.xreadgroup, 16),
    (Generator.xgroup_create, 3),
    (Generator.xgroup_setid, 2),
    (Generator.xgroup_destroy, 1),
    (Generator.xgroup_createconsumer, 1),
    (Generator.xgroup_delconsumer, 1),
    (Generator.xack, 6),
    (Generator.xpending, 6),
    (Generator.xclaim, 7),
    (Generator.xautoclaim, 5),
    (Generator.xinfo, 5),
    (Generator.keyspace, 1),
)
"""The commands of 7.0."""
