"""The queries of hot requests, in their plain form: each parameter once, with a value that needs no repair.

It owns which values are plain. Another form is no error: the documented route reads it, or says what is
wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

Query: TypeAlias = Mapping[str, bytes]
"""The values of a query by their names, percent-decoded."""


class NotPlain(Exception):
    """The documented route has to read the query."""


def plain_query(raw: bytes, names: AbstractSet[str]) -> Query | None:
    """Return the values of a query whose parameters are among `names`; None if it is not plain. O(bytes)."""
    values: dict[str, bytes] = {}
    for part in raw.split(b"&") if raw else ():
        name, equals, value = part.partition(b"=")
        text = name.decode("latin-1")
        # In a query, a plus sign is a space.
        if not equals or text not in names or text in values or b"+" in value:
            return None
        values[text] = unquote_to_bytes(value) if b"%" in value else value
    return values


def number_of(query: Query, name: str, default: int, least: int, most: int) -> int:
    """Return a number from `least` to `most`. Raises `NotPlain`."""
    text = query.get(name)
    if text is None:
        return default
    if not text.isdigit() or len(text) > len(str(most)) or not least <= int(text) <= most:
        raise NotPlain
    return int(text)


def text_of(query: Query, name: str, default: str) -> str:
    """Return a text of ASCII characters. Raises `NotPlain`."""
    value = query.get(name)
    if value is None:
        return default
    if not value.isascii():
        raise NotPlain
    return value.decode()


def choice_of(query: Query, name: str, default: bytes, other: bytes) -> bool:
    """Return whether the parameter has the value `other` instead of its default. Raises `NotPlain`."""
    value = query.get(name, default)
    if value not in (default, other):
        raise NotPlain
    return value == other
