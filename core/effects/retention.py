"""The effects of the retention of a stream. This module holds data only."""

from __future__ import annotations

from tailrace.core.effects.effect import Effect


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


class EntriesRetired(Effect, frozen=True):
    """The retention of a stream, which it has, removed the first entries, as a trim does (rule 17)."""

    key: bytes
    """The stream's key."""
    count: int
    """How many live entries were removed; at least 1."""
    reason: str
    """A `Reason`."""
    at_ms: int
    """When, in Unix milliseconds."""
