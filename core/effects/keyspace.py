"""The effects on whole streams, their counters and settings, and the server's settings."""

from __future__ import annotations

from tailrace.core.effects.effect import Effect
from tailrace.core.keyspace import Keyspace
from tailrace.core.retention import RetentionRules
from tailrace.core.stream_id import StreamId


class StreamCreated(Effect, frozen=True):
    """An empty stream was created."""

    key: bytes
    """The new stream's key, which was free."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.create(self.key)


class StreamDeleted(Effect, frozen=True):
    """A stream was deleted, with its groups."""

    key: bytes
    """The stream's key."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.delete(self.key)


class StreamRenamed(Effect, frozen=True):
    """A stream got another key."""

    key: bytes
    """The old key."""
    new_key: bytes
    """The new key; a stream that had it was deleted. May equal `key`."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.rename(self.key, self.new_key)


class StreamCopied(Effect, frozen=True):
    """A stream was copied, with its groups and its idempotency keys."""

    key: bytes
    """The key of the original."""
    new_key: bytes
    """The key of the copy; a stream that had it was deleted."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.copy(self.key, self.new_key)


class KeyspaceFlushed(Effect, frozen=True):
    """All streams were deleted; settings stay."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.clear()


class ConfigChanged(Effect, frozen=True):
    """A setting of the server was changed."""

    name: str
    """The setting's name in CONFIG GET."""
    value: int
    """The new value."""

    def apply(self, keyspace: Keyspace) -> None:
        keyspace.configure(self.name, self.value)


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

    def apply(self, keyspace: Keyspace) -> None:
        stream = keyspace.streams[self.key]
        stream.last_id = self.last_id
        stream.entries_added = self.entries_added
        stream.max_deleted_id = self.max_deleted_id
        keyspace.agenda.note_schedule(stream)
        for group in stream.groups.values():
            group.pending.look_again()


class RetentionConfigured(Effect, frozen=True):
    """The rules of a stream's retention were replaced. Without a rule that removes, it has no retention."""

    key: bytes
    """The stream's key."""
    max_age_ms: int | None
    """As `RetentionRules.max_age_ms`."""
    max_length: int | None
    """As `RetentionRules.max_length`."""
    max_bytes: int | None
    """As `RetentionRules.max_bytes`."""
    acknowledged: bool
    """As `RetentionRules.acknowledged`."""
    protect_unread: bool
    """As `RetentionRules.protect_unread`."""

    def apply(self, keyspace: Keyspace) -> None:
        rules = RetentionRules(
            self.max_age_ms, self.max_length, self.max_bytes, self.acknowledged, self.protect_unread
        )
        keyspace.set_retention(self.key, rules if rules.removes else None)
