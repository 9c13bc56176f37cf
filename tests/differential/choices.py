"""Random words of a command: names, ids, bounds, numbers, and mistakes in valid commands.

It remembers the names and ids that were probably added, so that commands name existing ones. It knows no
command.
"""

from __future__ import annotations

from random import Random

from tests.differential.vocabulary import (
    BAD_IDS,
    BAD_NUMBERS,
    BAD_VALUE_ONE_IN,
    CONSUMERS,
    EDGE_IDS,
    GROUPS,
    JUNK,
    KEYS,
    NUMBERS,
    Words,
)


class Choices:
    """The choices of one program.

    `_tops` and `_ids`: the greatest id and the ids that were probably added to a key. `_last_key`: the
    key chosen last, whose ids the rest of the command will name. `junk`: words that do not belong.
    """

    junk: tuple[bytes, ...] = JUNK

    def __init__(self, random: Random) -> None:
        self._random = random
        self._tops: dict[bytes, tuple[int, int]] = dict.fromkeys(KEYS, (0, 0))
        self._ids: dict[bytes, list[bytes]] = {key: [b"1-0"] for key in KEYS}
        self._last_key = KEYS[0]

    def _one_in(self, n: int) -> bool:
        return self._random.randrange(n) == 0

    def _pick(self, options: tuple[bytes, ...] | list[bytes]) -> bytes:
        return self._random.choice(options)

    def _key(self) -> bytes:
        self._last_key = self._random.choices(KEYS, (8, 2, 1))[0]
        return self._last_key

    def _group(self) -> bytes:
        return b"nogroup" if self._one_in(40) else self._random.choices(GROUPS, (5, 1))[0]

    def _consumer(self) -> bytes:
        return self._random.choices(CONSUMERS, (4, 3, 1))[0]

    def _number(self, extra: tuple[bytes, ...] = ()) -> bytes:
        if self._one_in(BAD_VALUE_ONE_IN):
            return self._pick(BAD_NUMBERS)
        return self._pick((*NUMBERS, *extra))

    def _word(self, word: bytes) -> bytes:
        return word.lower() if self._one_in(8) else word

    def _id(self) -> bytes:
        if self._one_in(BAD_VALUE_ONE_IN):
            return self._pick(BAD_IDS)
        if self._one_in(5):
            return b"%d-%d" % (self._random.randrange(8), self._random.randrange(4))
        return self._pick(self._ids[self._last_key][-12:])

    def _bound(self) -> bytes:
        if self._one_in(3):
            return self._pick(EDGE_IDS)
        value = self._id()
        if self._one_in(4):
            value = value.split(b"-")[0]
        return b"(" + value if self._one_in(4) else value

    def _some_ids(self) -> Words:
        return [self._id() for _ in range(self._random.choice((1, 1, 2, 3, 6)))]

    def _optional(self, one_in: int, *words: bytes) -> Words:
        return [self._word(words[0]), *words[1:]] if self._one_in(one_in) else []

    def _shuffled(self, *groups: Words) -> Words:
        order = list(groups)
        self._random.shuffle(order)
        return [word for group in order for word in group]

    # --- bad input ---------------------------------------------------------------------------

    def _mutated(self, words: Words) -> Words:
        changed = list(words)
        place = self._random.randrange(len(words))
        kind = self._random.randrange(6)
        if kind == 0:
            del changed[place:]
        elif kind == 1:
            del changed[place]
        elif kind == 2:
            changed.insert(place + 1, self._pick(self.junk))
        elif kind == 3:
            changed[place] = self._pick((*self.junk, *BAD_IDS))
        elif kind == 4:
            other = self._random.randrange(len(words))
            changed[place], changed[other] = changed[other], changed[place]
        else:
            changed.insert(place, words[place])
        return changed or [b"XLEN"]
