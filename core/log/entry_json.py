"""Entries as JSON for clients: as an array, or one object per line.

A fragment becomes an entry by wrapping: ``{"id":"1-0","fields":`` + fragment + ``}``. Only another shape than
the stored one looks into the fragment. This module knows nothing of HTTP, and never changes what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final

from tailrace.core.log.entry import BASE64_MARK, reshaped
from tailrace.core.replies import Entries
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId


class Shape(Enum):
    """How entries are written, as the client asks with ``?shape=`` and ``?encoding=``."""

    NATURAL = "natural"
    """`fields` if names are unique, else `pairs`; base64 only for entries that are not UTF-8."""
    PAIRS = "pairs"
    """Always `pairs`; base64 only for entries that are not UTF-8."""
    NATURAL_BASE64 = "natural+base64"
    """`fields` if names are unique, else `pairs`; always base64."""
    PAIRS_BASE64 = "pairs+base64"
    """Always `pairs`, always base64."""


_AS_PAIRS: Final = (Shape.PAIRS, Shape.PAIRS_BASE64)
_AS_BASE64: Final = (Shape.NATURAL_BASE64, Shape.PAIRS_BASE64)

_SEQ_MASK: Final = U64_MAX
_PIECE_ENTRIES: Final = 500
_PLAIN: Final = b'{"id":"%d-%d","fields":%b}'
_NEW: Final = b'{"id":"%d-%d","fields":%b,"idle_ms":0,"deliveries":0}'
_CLAIMED: Final = b'{"id":"%d-%d","fields":%b,"idle_ms":%d,"deliveries":%d}'


def wire_entries(entries: Entries, shape: Shape = Shape.NATURAL, *, deliveries: bool = False) -> bytes:
    """Return the entries as a JSON array. O(bytes); about 0.3 us an entry if all are plain.

    `deliveries`: write `idle_ms` and `deliveries` of each entry; zeros if the reply has none.
    """
    return b"[" + _written(entries, shape, b",", deliveries=deliveries) + b"]"


def wire_ndjson(entries: Entries, shape: Shape = Shape.NATURAL) -> bytes:
    """Return the entries, at least one, as one JSON object per line. O(bytes)."""
    return _written(entries, shape, b"\n", deliveries=False) + b"\n"


def _written(entries: Entries, shape: Shape, separator: bytes, *, deliveries: bool) -> bytes:
    if _are_plain(entries, shape):
        return _plain_entries(entries, separator, deliveries=deliveries)
    return separator.join(wire_lines(entries, shape, deliveries=deliveries))


def _are_plain(entries: Entries, shape: Shape) -> bool:
    """Whether all entries are stored as fields and written that way, so that one template fits all. O(m) in
    C."""
    fragments: Sequence[Any] = entries.fragments
    if shape is not Shape.NATURAL or not fragments or None in fragments:
        return False
    # Only fragments of fields begin with a brace. `min` and `max` compare bytes in C.
    return bool(min(fragments) >= b"{" and max(fragments) < b"|")


def _plain_entries(entries: Entries, separator: bytes, *, deliveries: bool) -> bytes:
    """Return all entries, formatted some hundred at a time: one by one takes half as long again."""
    template = _NEW if deliveries else _PLAIN
    columns: list[Sequence[Any]] = [entries.fragments]
    if deliveries and entries.idle_ms is not None and entries.deliveries is not None:
        template = _CLAIMED
        columns += [entries.idle_ms, entries.deliveries]
    pieces = []
    for start in range(0, len(entries.ids), _PIECE_ENTRIES):
        piece = slice(start, start + _PIECE_ENTRIES)
        ids = entries.ids[piece]
        each, *numbers = _template_and_numbers(template, ids)
        filled = [*numbers, *[column[piece] for column in columns]]
        parts: list[Any] = [None] * (len(filled) * len(ids))
        for number, column in enumerate(filled):
            parts[number :: len(filled)] = column
        pieces.append(separator.join([each] * len(ids)) % tuple(parts))
    return separator.join(pieces)


def _template_and_numbers(
    template: bytes, ids: Sequence[StreamId]
) -> tuple[bytes, *tuple[Sequence[int], ...]]:
    """Return the template of each entry, and the columns of id numbers to fill in. If the ids are consecutive
    within one millisecond, as after an append of many entries, the template contains the time part."""
    time = ids[0] >> SEQ_BITS
    if isinstance(ids, range) and time == ids[-1] >> SEQ_BITS:
        first, last = ids[0] & _SEQ_MASK, ids[-1] & _SEQ_MASK
        return template.replace(b"%d", b"%d" % time, 1), range(first, last + 1)
    return template, [value >> SEQ_BITS for value in ids], [value & _SEQ_MASK for value in ids]


def wire_lines(entries: Entries, shape: Shape = Shape.NATURAL, *, deliveries: bool = False) -> list[bytes]:
    """Return one JSON object per entry. O(bytes)."""
    ids, fragments = entries.ids, entries.fragments
    idle_ms = entries.idle_ms or [0] * len(ids)
    counts = entries.deliveries or [0] * len(ids)
    return [
        b'{"id":"%d-%d",%b%b}'
        % (
            value >> SEQ_BITS,
            value & _SEQ_MASK,
            _members(fragment, shape),
            b',"idle_ms":%d,"deliveries":%d' % (idle, count) if deliveries else b"",
        )
        for value, fragment, idle, count in zip(ids, fragments, idle_ms, counts, strict=True)
    ]


def _members(fragment: bytes | None, shape: Shape) -> bytes:
    """Return the JSON members of an entry after its id."""
    if fragment is None:
        return b'"deleted":true'
    if shape is not Shape.NATURAL:
        fragment = reshaped(fragment, pairs=shape in _AS_PAIRS, base64=shape in _AS_BASE64)
    if fragment[:1] == BASE64_MARK:
        return _named(fragment[1:]) + b',"encoding":"base64"'
    return _named(fragment)


def _named(body: bytes) -> bytes:
    return (b'"fields":' if body[:1] == b"{" else b'"pairs":') + body
