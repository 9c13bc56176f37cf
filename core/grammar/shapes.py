"""Ids, entries and maps as RESP2: the shapes that several commands share.

Owns how a value is written; which values a reply holds is said beside the command's parser.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.entry import flat_of
from core.grammar.request import Resp
from core.replies import Entries
from core.stream_id import SEQ_BITS, U64_MAX, StreamId


def id_bulk(value: StreamId) -> bytes:
    """An id as a bulk string."""
    return b"%d-%d" % (value >> SEQ_BITS, value & U64_MAX)


def optional_id_bulk(value: StreamId | None) -> bytes | None:
    """An id, or nil."""
    return None if value is None else id_bulk(value)


def id_list(ids: Sequence[StreamId]) -> list[Resp]:
    """Ids as an array of bulk strings."""
    return [id_bulk(value) for value in ids]


def integer_list(values: Sequence[int]) -> Resp:
    """Integers, or members of an integer enumeration, as an array."""
    return [int(value) for value in values]


def bulk_list(values: Sequence[bytes]) -> Resp:
    """Names as an array of bulk strings."""
    return list(values)


def map_of(members: dict[bytes, Resp]) -> list[Resp]:
    """A map, which RESP2 writes as an array of names and values in turn."""
    return [item for member in members.items() for item in member]


def entry_list(entries: Entries) -> list[Resp]:
    """Entries as ``[id, [name, value, ...]]``; a deleted one has nil for its fields. O(bytes)."""
    return [
        [id_bulk(value), fields_of(fragment)]
        for value, fragment in zip(entries.ids, entries.fragments, strict=True)
    ]


def delivered_list(entries: Entries) -> list[Resp]:
    """Entries as ``[id, fields, idle-ms, deliveries]``: what CLAIM answers, new entries with zeros."""
    zeros = [0] * len(entries)
    columns = zip(
        entries.ids, entries.fragments, entries.idle_ms or zeros, entries.deliveries or zeros, strict=True
    )
    return [
        [id_bulk(value), fields_of(fragment), idle_ms, deliveries]
        for value, fragment, idle_ms, deliveries in columns
    ]


def fields_of(fragment: bytes | None) -> Resp:
    """An entry's names and values in turn, or nil where it was deleted."""
    return None if fragment is None else list[Resp](flat_of(fragment))
