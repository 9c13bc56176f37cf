"""Random programs of the stream commands of Redis 8.10: the commands of 7.0 with their newer options, and all
later commands.

Owns the commands, never the answers. ``+`` as a position and the consumers that empty reads create are part
of these programs; no probes are needed.
"""

from __future__ import annotations

from typing import Final

from tests.differential.generator import SEVEN, Generator, Table
from tests.differential.probes import is_short
from tests.differential.vocabulary import (
    BAD_IDS,
    BAD_NUMBERS,
    CLAIM_IDLES,
    FAR_FUTURE_MS,
    GROUPS,
    IDEMPOTENT_IDS,
    IDMP_DURATIONS,
    IDMP_MAXSIZES,
    LATER_JUNK,
    LONG_CLAIM_IDLES,
    NACK_MODES,
    POLICIES,
    PRODUCERS,
    REPEATED_FIELDS,
    REPLY_BYTES,
    Step,
    Words,
)


class LaterGenerator(Generator):
    """Programs of commands as 8.10 has them."""

    junk = LATER_JUNK

    def _table(self) -> Table:
        return (*SEVEN, *_LATER)

    def _is_comparable(self, words: Words) -> bool:
        return is_short(words) and not _depends_on_the_clock(words)

    def _as_step(self, words: Words) -> Step:
        return (words,)

    # --- writing -----------------------------------------------------------------------------

    def _policy(self, one_in: int) -> Words:
        return [self._word(self._pick(POLICIES))] if self._one_in(one_in) else []

    def _trim(self) -> Words:
        policy = self._policy(2)
        return [*policy, *super()._trim()] if self._one_in(2) else [*super()._trim(), *policy]

    def xadd_idmp(self) -> Words:
        """XADD under an idempotency key, with ``*`` as a rule."""
        key = self._key()
        producer = b"" if self._one_in(60) else self._pick(PRODUCERS)
        iid = b"" if self._one_in(60) else self._pick(IDEMPOTENT_IDS)
        words = (
            [self._word(b"IDMP"), producer, iid] if self._one_in(2) else [self._word(b"IDMPAUTO"), producer]
        )
        trim = self._trim() if self._one_in(12) else self._policy(20)
        options = self._shuffled(words, self._optional(12, b"NOMKSTREAM"), trim)
        value = self._new_id(key) if self._one_in(30) else self._auto_id(key)
        return [b"XADD", key, *options, value, *self._random.choice(REPEATED_FIELDS)]

    def _counted_ids(self) -> Words:
        ids = self._some_ids()
        count = self._pick(BAD_NUMBERS) if self._one_in(40) else b"%d" % len(ids)
        return [self._word(b"IDS"), count, *ids]

    def xdelex(self) -> Words:
        return [b"XDELEX", self._key(), *self._shuffled(self._policy(1), self._counted_ids())]

    def xackdel(self) -> Words:
        options = self._shuffled(self._policy(1), self._counted_ids())
        return [b"XACKDEL", self._key(), self._group(), *options]

    def xnack(self) -> Words:
        options = self._shuffled(
            self._counted_ids(),
            self._optional(3, b"RETRYCOUNT", self._number()),
            self._optional(3, b"FORCE"),
        )
        return [b"XNACK", self._key(), self._group(), self._word(self._pick(NACK_MODES)), *options]

    def xcfgset(self) -> Words:
        options = self._shuffled(
            self._optional(2, b"IDMP-DURATION", self._pick(IDMP_DURATIONS)),
            self._optional(2, b"IDMP-MAXSIZE", self._pick(IDMP_MAXSIZES)),
        )
        return [b"XCFGSET", self._key(), *options]

    def xidmprecord(self) -> Words:
        key = self._key()
        future = [value for value in self._ids[key][-12:] if int(value.split(b"-")[0]) >= FAR_FUTURE_MS]
        value = self._pick(BAD_IDS) if self._one_in(20) else self._pick(future or [b"10000000000000-9"])
        return [b"XIDMPRECORD", key, self._pick(PRODUCERS), self._pick(IDEMPOTENT_IDS), value]

    def copy(self) -> Words:
        options = self._shuffled(
            self._optional(8, b"DB", self._pick((b"0", b"0", b"16", b"-1", b"x", b"2147483648"))),
            self._optional(2, b"REPLACE"),
        )
        return [b"COPY", self._key(), self._key(), *options]

    # --- reading -----------------------------------------------------------------------------

    def _limits(self, *, sized: bool) -> Words:
        count = self._number()
        maximum = b"%d" % (int(count) + self._random.randrange(3)) if count.isdigit() else self._number()
        return self._shuffled(
            self._optional(2, b"COUNT", count),
            self._optional(3, b"MAXCOUNT", self._number() if self._one_in(20) else maximum),
            [self._word(b"MAXSIZE"), self._pick(REPLY_BYTES)] if sized else [],
        )

    def xread_bounded(self) -> Words:
        keys = [self._key() for _ in range(self._random.choice((1, 2, 3)))]
        positions = [self._pick([self._id(), b"0", b"0", b"$", b"+"]) for _ in keys]
        options = self._limits(sized=self._one_in(2))
        return [b"XREAD", *options, b"STREAMS", *keys, *positions]

    def xreadgroup_bounded(self) -> Words:
        keys = [self._key() for _ in range(self._random.choice((1, 1, 2, 3)))]
        positions = [self._pick((b">", b">", b">", b">", b"0", self._id())) for _ in keys]
        sized = self._one_in(3)
        options = self._shuffled(
            [b"GROUP", self._random.choices(GROUPS, (5, 1))[0], self._consumer()],
            self._limits(sized=sized),
            self._optional(2, b"CLAIM", self._pick(LONG_CLAIM_IDLES if sized else CLAIM_IDLES)),
            self._optional(40, b"BLOCK", b"1"),
            self._optional(6, b"NOACK"),
        )
        return [b"XREADGROUP", *options, b"STREAMS", *keys, *positions]


def _depends_on_the_clock(words: Words) -> bool:
    """Whether MAXSIZE bounds a reply with idle times that were counted from the program's start on, or a key
    is recorded for an old id, which Redis forgets within a second."""
    if words[0].upper() == b"XIDMPRECORD":
        return any(word.split(b"-")[0].isdigit() and not _is_future(word) for word in words[4:])
    upper = [word.upper() for word in words]
    pairs = list(zip(upper, words[1:], strict=False))
    claims = any(word == b"CLAIM" and idle not in LONG_CLAIM_IDLES for word, idle in pairs)
    return claims and b"MAXSIZE" in upper


def _is_future(word: bytes) -> bool:
    return int(word.split(b"-")[0]) >= FAR_FUTURE_MS


_LATER: Final[Table] = (
    (LaterGenerator.xtrim, 5),
    (LaterGenerator.xack, 4),
    (LaterGenerator.xadd_idmp, 8),
    (LaterGenerator.xdelex, 4),
    (LaterGenerator.xackdel, 5),
    (LaterGenerator.xnack, 6),
    (LaterGenerator.xcfgset, 2),
    (LaterGenerator.xidmprecord, 3),
    (LaterGenerator.copy, 3),
    (LaterGenerator.xread_bounded, 6),
    (LaterGenerator.xreadgroup_bounded, 16),
)
"""The commands and options that came after 7.0, besides the table of 7.0."""
