"""A compiled filter, and the cache of the filters that requests and groups use.

It owns the limit on the length of a filter. It never decides what happens with entries that do not match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import Final

from tailrace.core.filters.conditions import RowReader, compiled
from tailrace.core.filters.places import invalid_filter
from tailrace.core.filters.tree import (
    Affix,
    All,
    Among,
    AnyOf,
    Cast,
    CompareNumbers,
    CompareTexts,
    Condition,
    Field,
    Has,
    Not,
    Value,
)
from tailrace.core.limits import FILTER_CHARACTERS_MAX, FILTER_STEP_ENTRIES
from tailrace.core.replies import Entries

FILTERS_KEPT: Final = 256
"""How many compiled filters are kept: about 10 KiB each. Compiling one takes about a millisecond."""


TESTS_PER_FULL_STEP: Final = 8
"""Up to so many tests, a step has `FILTER_STEP_ENTRIES` entries."""


class Filter:
    """A filter, ready to test stored entries. `text` is what the client sent."""

    __slots__ = ("_reader", "_test", "step_entries", "text")

    def __init__(self, text: str, condition: Condition) -> None:
        self.text = text
        # How many entries to test at once, before others get a turn: fewer if the filter has many tests.
        self.step_entries = FILTER_STEP_ENTRIES // -(-_test_count(condition) // TESTS_PER_FULL_STEP)
        self._reader = RowReader([*dict.fromkeys(_names(condition))])
        self._test = compiled(condition, self._reader.getter)

    def flags(self, fragments: Sequence[bytes]) -> list[bool]:
        """Return for each stored entry whether it matches. O(bytes + tests)."""
        return [*map(self._test, self._reader.rows(fragments))]

    def select(self, entries: Entries) -> Entries:
        """Return the entries that match, in their order. `entries` has no deleted ones. O(bytes + tests)."""
        flags = self.flags([each for each in entries.fragments if each is not None])
        return Entries([*compress(entries.ids, flags)], [*compress(entries.fragments, flags)])


@lru_cache(FILTERS_KEPT)
def compile_filter(text: str) -> Filter:
    """Return the filter with this text.

    Raises `StreamError` INVALID_FILTER with the place of the error. The first call of the process loads the
    parser, which takes about 0.1 s.
    """
    from tailrace.core.filters.syntax import parse  # noqa: PLC0415 - a server without filters loads no parser

    if len(text) > FILTER_CHARACTERS_MAX:
        message = f"a filter may have {FILTER_CHARACTERS_MAX} characters at most, this one has {len(text)}"
        raise invalid_filter(text, FILTER_CHARACTERS_MAX, message)
    return Filter(text, parse(text))


def _test_count(condition: Condition) -> int:
    """Return how many tests of single fields the condition has."""
    if isinstance(condition, All | AnyOf):
        return sum(map(_test_count, condition.parts))
    return _test_count(condition.of) if isinstance(condition, Not) else 1


def _names(part: Condition | Value) -> Iterator[str]:
    """Return the names of the fields that a part of a filter reads. They may repeat."""
    if isinstance(part, Field | Has):
        yield part.name
    elif isinstance(part, All | AnyOf):
        for each in part.parts:
            yield from _names(each)
    elif isinstance(part, CompareTexts | CompareNumbers):
        yield from (*_names(part.left), *_names(part.right))
    elif isinstance(part, Affix):
        yield from (*_names(part.of), *_names(part.affix))
    elif isinstance(part, Not | Cast | Among):
        yield from _names(part.of)
