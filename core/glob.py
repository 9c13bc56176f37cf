r"""Redis's glob patterns over bytes: ``*``, ``?``, ``[abc]``, ``[a-z]``, ``[^a]``, ``\x``.

Unlike `fnmatch`, these patterns negate a class with ``^`` and escape with a backslash. The stars divide a
pattern into segments of fixed length::

    race:*:[0-9]?:*.log      head b"race:", middle b":[0-9]?:", tail b".log"

The head can match only at the start of the text, and the tail only at its end. The matcher searches for each
middle segment once, from the end of the previous match. The leftmost match is always the right one, because a
star follows it. So the matcher never backtracks, and a match takes at most O(len(text) x longest segment) for
every pattern. This module never decides which keys are compared.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

STEPS_PER_KEY: Final = 64
"""The cost of one key in addition to the search, in steps of the matcher (about 10 ns each)."""

_STAR: Final = None
_ASCII_MAX: Final = 127


class _Segment:
    """A part of a pattern without stars. `length`: the number of bytes that it matches. `literal`: the only
    text that it matches, None if there are several. `width`: the maximum number of bytes that a search
    compares at each position; 1 for a literal, which is found in linear time."""

    __slots__ = ("length", "literal", "match", "search", "width")

    def __init__(self, atoms: list[bytes], literal: bytes | None) -> None:
        compiled = re.compile(b"".join(atoms), re.DOTALL)
        self.match = compiled.match
        self.search = compiled.search
        self.length = len(atoms)
        self.literal = literal
        self.width = len(atoms) if literal is None else 1


class Glob:
    """One compiled pattern. `literal_prefix`: the bytes with which every matching text begins. `is_prefix`:
    the pattern matches every text that begins with `literal_prefix`."""

    __slots__ = (
        "_has_star",
        "_head",
        "_middle",
        "_steps_per_byte",
        "_tail",
        "_within",
        "is_prefix",
        "literal_prefix",
    )

    def __init__(self, pattern: bytes) -> None:
        segments, literals = _segments_of(pattern)
        self._has_star = len(segments) > 1
        self._head = segments[0]
        self._tail = segments[-1] if self._has_star else _Segment([], b"")
        self._middle = [each for each in segments[1:-1] if each.length]
        self._steps_per_byte = max((each.width for each in self._middle), default=0)
        self.literal_prefix = literals
        self.is_prefix = (
            self._has_star
            and len(literals) == self._head.length
            and not self._middle
            and not self._tail.length
        )
        # The pattern matches every text that has this within; None for all other patterns.
        self._within: bytes | None = None
        if not (self._head.length or self._tail.length) and len(self._middle) == 1:
            self._within = self._middle[0].literal

    def matches(self, text: bytes) -> bool:
        """Return whether the pattern matches all of `text`. O(len(text) x longest segment)."""
        if self.is_prefix or not text.startswith(self.literal_prefix):
            return text.startswith(self.literal_prefix)
        start, end = self._head.length, len(text) - self._tail.length
        has_room = start <= end if self._has_star else start == end
        if not (has_room and self._head_matches(text) and self._tail_matches(text, end)):
            return False
        for segment in self._middle:
            found = segment.search(text, start, end)
            if found is None:
                return False
            start = found.end()
        return True

    def _head_matches(self, text: bytes) -> bool:
        """Whether the head matches `text`, which begins with `literal_prefix`."""
        return len(self.literal_prefix) == self._head.length or self._head.match(text) is not None

    def _tail_matches(self, text: bytes, end: int) -> bool:
        return not self._tail.length or self._tail.match(text, end) is not None

    def matching(self, texts: list[bytes]) -> Iterable[bytes]:
        """Return those of `texts`, which all begin with `literal_prefix`, that the pattern matches, in their
        order."""
        if self.is_prefix:
            return texts
        if (within := self._within) is not None:
            # Most searches have such a pattern and few matches: one pass in C finds that there are none.
            return [text for text in texts if within in text] if within in b"\0".join(texts) else ()
        return filter(self.matches, texts)

    def steps_of_all(self, texts: Collection[bytes]) -> int:
        """Return the sum of `steps` of `texts`. O(texts) in C."""
        in_bytes = sum(map(len, texts)) * self._steps_per_byte if self._steps_per_byte else 0
        return STEPS_PER_KEY * len(texts) + in_bytes

    def steps(self, text: bytes) -> int:
        """Return the maximum number of steps that `matches` takes for `text`; a step takes about 10 ns."""
        return STEPS_PER_KEY + len(text) * self._steps_per_byte


@lru_cache(maxsize=256)
def compile_glob(pattern: bytes) -> Glob:
    """Return the compiled pattern; any bytes are a valid pattern. O(len(pattern))."""
    return Glob(pattern)


def _segments_of(pattern: bytes) -> tuple[list[_Segment], bytes]:
    """Return the segments between the stars (n stars give n + 1 segments), and the literal prefix."""
    segments: list[_Segment] = []
    atoms: list[bytes] = []
    literal: bytes | None = b""
    prefix = b""
    in_prefix = True
    rest = pattern
    while rest:
        atom, value, rest = _next_atom(rest)
        if atom is _STAR:
            segments.append(_Segment(atoms, literal))
            atoms, literal = [], b""
        else:
            atoms.append(atom)
            literal = None if literal is None or value is None else literal + value
        in_prefix = in_prefix and value is not None
        if in_prefix and value is not None:
            prefix += value
    segments.append(_Segment(atoms, literal))
    return segments, prefix


def _next_atom(rest: bytes) -> tuple[bytes | None, bytes | None, bytes]:
    """Split off the first element of a pattern. Return its regular expression (None for a star), its byte if
    it is a literal, else None, and the rest of the pattern."""
    head = rest[:1]
    if head == b"*":
        return _STAR, None, rest[1:]
    if head == b"?":
        return b".", None, rest[1:]
    if head == b"[":
        return _class(rest[1:])
    if head == b"\\" and len(rest) > 1:
        return re.escape(rest[1:2]), rest[1:2], rest[2:]
    return re.escape(head), head, rest[1:]


def _class(rest: bytes) -> tuple[bytes, None, bytes]:
    """Return the regular expression of the class in ``abc]...``, None, and the rest. Without a closing
    bracket, the class extends to the end of the pattern."""
    negated = rest.startswith(b"^")
    rest = rest[1:] if negated else rest
    members: set[int] = set()
    while rest and not rest.startswith(b"]"):
        if rest.startswith(b"\\") and len(rest) > 1:
            members.add(rest[1])
            rest = rest[2:]
        elif rest[1:2] == b"-" and rest[2:]:
            members.update(_range(rest[0], rest[2]))
            rest = rest[3:]
        else:
            members.add(rest[0])
            rest = rest[1:]
    chosen = set(range(256)) - members if negated else members
    if not chosen:
        return b"(?!)", None, rest[1:]
    return b"[" + b"".join(b"\\x%02x" % member for member in sorted(chosen)) + b"]", None, rest[1:]


def _range(first: int, last: int) -> Iterable[int]:
    """Return the bytes of ``first-last``, in either order. Redis compares signed bytes: 0x80 comes first."""
    low, high = sorted((byte - 256 if byte > _ASCII_MAX else byte) for byte in (first, last))
    return (value % 256 for value in range(low, high + 1))
