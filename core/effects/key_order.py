"""The effects on the order by key of groups. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects.effect import Effect
from tailrace.core.stream_id import StreamId


class KeysTaken(Effect, frozen=True):
    """A group with `order_by` delivered entries: they are no longer held, and their keys are in flight."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, distinct; at least one."""
    keys: Sequence[bytes | None]
    """The key of each entry; None: it has none, or the delivery did not make the entry pending."""


class EntriesHeld(Effect, frozen=True):
    """A group with `order_by` passed over entries whose keys were in flight, or had held entries."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: Sequence[StreamId]
    """The ids, rising, and above all held ones; at least one."""
    keys: Sequence[bytes | None]
    """The key of each entry; None: it has none, after `order_by` was changed."""


class HeldForgotten(Effect, frozen=True):
    """A group forgot its held entries, because XGROUP SETID moved its position."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
