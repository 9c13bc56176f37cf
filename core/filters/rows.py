"""Reads the fields that a filter needs from stored entries, and no others.

A row has one member for each name: the value as text, or None if the entry lacks the field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec

from tailrace.core.log.entry import flat_of

Row: TypeAlias = Any
"""A struct of a type that `RowReader` makes."""

Getter: TypeAlias = Callable[[Row], str | None]

UTF8: Final = ("utf-8", "surrogateescape")
"""How bytes become text. It is reversible, so that equal texts have equal bytes."""


class RowReader:
    """Reads the fields `names`, which are distinct."""

    __slots__ = ("_decoder", "_members", "_type")

    def __init__(self, names: Sequence[str]) -> None:
        self._members = {name: f"field_{number}" for number, name in enumerate(names)}
        fields = [(member, str | None, None) for member in self._members.values()]
        # Without `Any`, mypy wants the members of a type that exists only at run time.
        self._type: Any = msgspec.defstruct("Row", fields, gc=False)
        self._decoder = self._decoder_of(fields)

    def _decoder_of(self, fields: Sequence[tuple[str, Any, Any]]) -> msgspec.json.Decoder[Row] | None:
        """Return a decoder that skips all other fields; None if it cannot know a name, because JSON escapes
        one of its characters, or because it is not UTF-8."""
        names = {member: name for name, member in self._members.items()}
        try:
            return msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=names, gc=False))
        except (ValueError, UnicodeEncodeError):
            return None

    def getter(self, name: str) -> Getter:
        """Return a function that returns the value of a field of a row."""
        return attrgetter(self._members[name])

    def rows(self, fragments: Sequence[bytes]) -> list[Row]:
        """Return the row of each entry. O(bytes): about 0.2 us an entry of five fields, 5 us if the entry
        repeats a name or is not UTF-8."""
        if self._decoder is None:
            return [*map(self._row_of_any, fragments)]
        plain = [fragment for fragment in fragments if fragment[:1] == b"{"]
        found = self._decoder.decode_lines(b"\n".join(plain))
        if len(plain) == len(fragments):
            return found
        following = iter(found)
        return [
            next(following) if fragment[:1] == b"{" else self._row_of_any(fragment) for fragment in fragments
        ]

    def _row_of_any(self, fragment: bytes) -> Row:
        flat = flat_of(fragment)
        row = self._type()
        for name, value in zip(flat[::2], flat[1::2], strict=True):
            member = self._members.get(name.decode(*UTF8))
            if member is not None:
                setattr(row, member, value.decode(*UTF8))
        return row
