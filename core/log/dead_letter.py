"""The stored form of a dead letter: the fields of an entry, followed by six fields that say where it is from.

The six fields are the last ones, in this order, so an entry may have fields of the same names itself, and a
dead letter can become a dead letter again. This module never decides which entries become dead letters.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tailrace.core.log.entry import flat_of, fragment_of_any_size
from tailrace.core.stream_id import StreamId, format_id

_NAMES: Final = [b"_source_stream", b"_source_id", b"_group", b"_deliveries", b"_last_consumer", b"_reason"]
_ADDED: Final = 2 * len(_NAMES)

MAX_DELIVERIES: Final = b"max_deliveries"
"""The reason: the entry was delivered as often as the group allows."""
FATAL: Final = b"fatal"
"""The reason: a consumer returned the entry as one that can never be processed (XNACK FATAL)."""


class Origin(Struct, frozen=True, gc=False):
    """Where a dead letter is from."""

    id: StreamId
    """The id of the entry in its stream."""
    deliveries: int
    """How often the entry was delivered."""
    consumer: bytes
    """The name of the last owner; empty if the entry had none."""
    reason: bytes = MAX_DELIVERIES
    """Why the entry was moved."""


def dead_letter(fragment: bytes, key: bytes, group: bytes, origin: Origin) -> bytes:
    """Return the fragment of the dead letter that the entry `fragment` becomes. It may exceed the limits of
    an entry by the six fields. O(bytes)."""
    deliveries = str(origin.deliveries).encode()
    values = (key, format_id(origin.id).encode(), group, deliveries, origin.consumer, origin.reason)
    added = [text for pair in zip(_NAMES, values, strict=True) for text in pair]
    return fragment_of_any_size([*flat_of(fragment), *added])


def entry_of(fragment: bytes, key: bytes, group: bytes) -> bytes | None:
    """Return the fragment of the entry that became the dead letter `fragment`: the inverse of `dead_letter`.

    Returns None if `fragment` is not a dead letter of this stream and group. O(bytes).
    """
    flat = flat_of(fragment)
    added = flat[-_ADDED:]
    if len(flat) <= _ADDED or added[::2] != _NAMES or (added[1], added[5]) != (key, group):
        return None
    return fragment_of_any_size(flat[:-_ADDED])
