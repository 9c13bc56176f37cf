"""Entries, names and replies as a Python program sees them, and their conversion to and from bytes.

Text is UTF-8. Bytes that are not UTF-8 become lone surrogates in a `str`, as in Python's file names, so that
no byte is lost. This module never runs a command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from tailrace.core.grammar import Resp, Rows, SimpleString
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import Entries
from tailrace.core.stream_id import format_id

Name: TypeAlias = str | bytes
"""A key, a group, a consumer, or a name or value of a field."""

FieldsToAppend: TypeAlias = (
    Mapping[str, str]
    | Mapping[str, bytes]
    | Mapping[bytes, bytes]
    | Mapping[str, Name]
    | Iterable[tuple[Name, Name]]
)
"""The fields of a new entry: a mapping, or pairs if a name repeats."""


@dataclass(frozen=True)
class Entry:
    """One entry of a stream."""

    id: str
    """The id, such as `1692632086370-0`."""
    pairs: tuple[tuple[bytes, bytes], ...] = field(repr=False)
    """The names and values, byte for byte and in order; empty if the entry was deleted while pending."""
    idle_ms: int = 0
    """Group reads: milliseconds since the last delivery before this one."""
    deliveries: int = 0
    """Group reads: how often the entry was delivered before; 0 for a new entry."""

    @cached_property
    def fields(self) -> dict[str, str]:
        """The names and values as text. If a name repeats, its last value."""
        return {as_text(name): as_text(value) for name, value in self.pairs}

    @property
    def is_deleted(self) -> bool:
        """Whether the entry was deleted while it was pending: acknowledge it."""
        return not self.pairs


def as_bytes(word: Name) -> bytes:
    """Return the bytes of `word`. Raises `TypeError` for another type."""
    if isinstance(word, str):
        return word.encode("utf-8", "surrogateescape")
    if isinstance(word, bytes):
        return word
    raise TypeError(f"{word!r} is of type {type(word).__name__}; it must be str or bytes: convert it first")


def as_text(word: bytes) -> str:
    """Return `word` as text."""
    return word.decode("utf-8", "surrogateescape")


def flat_fields(fields: FieldsToAppend) -> list[bytes]:
    """Return `[name, value, name, value, ...]`. Raises `TypeError` for other types, `ValueError` if empty."""
    _require_pairs(fields)
    pairs: Iterable[Any] = fields.items() if isinstance(fields, Mapping) else fields
    flat = [as_bytes(word) for pair in pairs for word in _pair(pair)]
    if not flat:
        raise ValueError("the entry has no fields; it needs at least one name with a value")
    return flat


def _require_pairs(fields: object) -> None:
    # A text is iterable too, and a text of two characters would be a pair.
    if isinstance(fields, str | bytes) or not isinstance(fields, Iterable):
        raise TypeError(
            f"the entry {fields!r} is of type {type(fields).__name__}; it must be a mapping of names to "
            "values, or pairs of a name and a value"
        )


def _pair(pair: Any) -> Sequence[Any]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:  # noqa: PLR2004 - a name and a value
        raise TypeError(f"{pair!r} is not a pair of a name and a value")
    return pair


def entries_of(entries: Entries) -> Iterator[Entry]:
    """Yield the entries of a reply."""
    count = len(entries)
    idle_ms, deliveries = entries.idle_ms or [0] * count, entries.deliveries or [0] * count
    for number, (entry_id, fragment) in enumerate(zip(entries.ids, entries.fragments, strict=True)):
        flat = [] if fragment is None else flat_of(fragment)
        pairs = tuple(zip(flat[::2], flat[1::2], strict=True))
        yield Entry(format_id(entry_id), pairs, idle_ms[number], deliveries[number])


def plain(reply: Resp, *, binary: bool) -> Any:
    """Return a reply of Redis as int, str, list or None. With `binary`, strings of data stay bytes."""
    if isinstance(reply, list | Rows):
        return [plain(item, binary=binary) for item in reply]
    if isinstance(reply, SimpleString):
        return str(reply)
    if isinstance(reply, bytes) and not binary:
        return as_text(reply)
    return reply
