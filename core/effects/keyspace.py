"""The effects on whole streams, their counters, and the server's settings. This module holds data only."""

from __future__ import annotations

from tailrace.core.effects.effect import Effect
from tailrace.core.stream_id import StreamId


class StreamCreated(Effect, frozen=True):
    """An empty stream was created."""

    key: bytes
    """The new stream's key, which was free."""


class StreamDeleted(Effect, frozen=True):
    """A stream was deleted, with its groups."""

    key: bytes
    """The stream's key."""


class StreamRenamed(Effect, frozen=True):
    """A stream got another key."""

    key: bytes
    """The old key."""
    new_key: bytes
    """The new key; a stream that had it was deleted. May equal `key`."""


class StreamCopied(Effect, frozen=True):
    """A stream was copied, with its groups and its idempotency keys."""

    key: bytes
    """The key of the original."""
    new_key: bytes
    """The key of the copy; a stream that had it was deleted."""


class KeyspaceFlushed(Effect, frozen=True):
    """All streams were deleted; settings stay."""


class ConfigChanged(Effect, frozen=True):
    """A setting of the server was changed."""

    name: str
    """The setting's name in CONFIG GET."""
    value: int
    """The new value."""


class StreamPositionSet(Effect, frozen=True):
    """The counters of a stream were set (XSETID)."""

    key: bytes
    """The stream's key."""
    last_id: StreamId
    """The new last generated id."""
    entries_added: int
    """The new number of entries ever added."""
    max_deleted_id: StreamId
    """The new greatest deleted id."""
