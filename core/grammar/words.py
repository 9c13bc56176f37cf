"""A cursor over the words of one command, and the number formats of Redis.

Owns the reading of single words; each command's parser decides which words it takes, and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from tailrace.core.commands import Malformed
from tailrace.core.errors import ErrorCode, StreamError, kept, not_an_integer
from tailrace.core.grammar.refusals import limit_exceeded
from tailrace.core.limits import IDS_PER_REQUEST_MAX, KEYS_PER_REQUEST_MAX, NAME_BYTES_MAX, PATTERN_BYTES_MAX
from tailrace.core.stream_id import StreamId, parse_id

T = TypeVar("T")

I64_MAX: Final = (1 << 63) - 1
I64_MIN: Final = -(1 << 63)

_INTEGER: Final = re.compile(rb"0|-?[1-9][0-9]{0,18}")


def parse_integer(raw: bytes) -> int | None:
    """Return a signed 64-bit decimal without plus sign, leading zero or space, as Redis reads it; else
    None."""
    if _INTEGER.fullmatch(raw) is None:
        return None
    value = int(raw)
    return value if I64_MIN <= value <= I64_MAX else None


def deferred(parse: Callable[[], T]) -> T | Malformed:
    """Return the result of `parse`, or its error as `Malformed`: the engine raises it where Redis would
    parse."""
    try:
        return parse()
    except StreamError as error:
        return Malformed(kept(error))


def check_id_count(count: int) -> None:
    """Raise LIMIT_EXCEEDED if one command names more ids than the server allows."""
    if count > IDS_PER_REQUEST_MAX:
        raise limit_exceeded(f"a command may name {IDS_PER_REQUEST_MAX} ids at most")


def check_key_count(count: int) -> None:
    """Raise LIMIT_EXCEEDED if one command names more keys than the server allows."""
    if count > KEYS_PER_REQUEST_MAX:
        raise limit_exceeded(f"a command may name {KEYS_PER_REQUEST_MAX} keys at most")


def deferred_ids(words: Sequence[bytes]) -> tuple[StreamId, ...] | Malformed:
    """Return the ids in `words`, or the error of the first malformed one. O(words).

    Raises LIMIT_EXCEEDED if there are too many words.
    """
    check_id_count(len(words))
    return deferred(lambda: tuple(parse_id(word) for word in words))


class Words:
    """The words after a command's name, read from left to right. Every method takes O(words read).

    `name`: the full name in lower case, for error lines. `typed`: the last word of the name, as typed.
    A parser must not read past the end: arity and `take_option` guarantee the words that it may read.
    """

    __slots__ = ("_at", "_words", "name", "typed")

    def __init__(self, name: str, typed: bytes, words: Sequence[bytes]) -> None:
        self.name = name
        self.typed = typed
        self._words = words
        self._at = 0

    @property
    def left(self) -> int:
        """How many words are unread."""
        return len(self._words) - self._at

    def peek(self) -> bytes:
        """Return the next word; it remains unread."""
        return self._words[self._at]

    def take(self) -> bytes:
        """Read the next word."""
        word = self._words[self._at]
        self._at += 1
        return word

    def take_many(self, count: int) -> Sequence[bytes]:
        """Read the next `count` words, or all that are left if there are fewer."""
        words = self._words[self._at : self._at + count]
        self._at += len(words)
        return words

    def take_rest(self) -> Sequence[bytes]:
        """Read all words that are left."""
        return self.take_many(self.left)

    def take_option(self, option: bytes, values: int = 0) -> bool:
        """Read the next word if it is `option` in any case and at least `values` words follow it."""
        found = self.left > values and self.peek().lower() == option
        self._at += found
        return found

    def take_integer(self, refusal: str | None = None) -> int:
        """Read the next word as a signed 64-bit integer; `refusal` replaces Redis's general error line."""
        value = parse_integer(self.take())
        if value is not None:
            return value
        if refusal is None:
            raise not_an_integer()
        raise StreamError(ErrorCode.NOT_AN_INTEGER, f"ERR {refusal}")

    def take_bounded(self, least: int, greatest: int, refusal: str) -> int:
        """Read the next word as an integer from `least` to `greatest`; else raise with the line `refusal`."""
        value = self.take_integer(refusal)
        if least <= value <= greatest:
            return value
        raise StreamError(ErrorCode.INVALID_ARGUMENT, f"ERR {refusal}")

    def take_name(self, what: str) -> bytes:
        """Read the next word as a name, which may be empty. Raises LIMIT_EXCEEDED, whose line contains
        `what`."""
        return checked_name(self.take(), what)

    def take_key(self) -> bytes:
        """Read the next word as the name of a stream."""
        return self.take_name("key")

    def take_group(self) -> bytes:
        """Read the next word as the name of a consumer group."""
        return self.take_name("group name")

    def take_consumer(self) -> bytes:
        """Read the next word as the name of a consumer."""
        return self.take_name("consumer name")

    def take_pattern(self) -> bytes:
        """Read the next word as a glob pattern. Raises LIMIT_EXCEEDED if the pattern is too long."""
        pattern = self.take()
        if len(pattern) > PATTERN_BYTES_MAX:
            raise limit_exceeded(f"the pattern is longer than {PATTERN_BYTES_MAX} bytes")
        return pattern


def checked_name(name: bytes, what: str) -> bytes:
    """Return `name`. Raises LIMIT_EXCEEDED, whose line contains `what`, if the name is too long."""
    if len(name) > NAME_BYTES_MAX:
        raise limit_exceeded(f"the {what} is longer than {NAME_BYTES_MAX} bytes")
    return name
