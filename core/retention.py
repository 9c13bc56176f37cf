"""Retention of a stream: which of its oldest entries the server removes without a request, which Redis does
not have. This module holds data only.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from msgspec import Struct


class Reason(StrEnum):
    """Why retention removed entries: the rule that removed the most of them at that time."""

    MAX_AGE = "max_age_ms"
    MAX_LENGTH = "max_length"
    MAX_BYTES = "max_bytes"
    ACKNOWLEDGED = "acknowledged"


class RetentionRules(Struct, frozen=True, array_like=True, gc=False):
    """The rules of one stream; None: no such rule. Storage writes the members in this order.

    Each rule names the entries to remove, always the oldest ones. An entry goes if one rule removes it.
    """

    max_age_ms: int | None = None
    """How long an entry is kept, counted from the time in its id; at least 1."""
    max_length: int | None = None
    """How many entries are kept; at least 1."""
    max_bytes: int | None = None
    """How many bytes of fragments are kept, before compression; at least 1. Whole blocks go."""
    acknowledged: bool = False
    """Whether entries go that every group has read and acknowledged, up to the first entry that one of them
    has not. A stream without groups keeps all."""
    protect_unread: bool = False
    """Whether entries stay, in spite of the other rules, that a group has not read."""

    @property
    def removes(self) -> bool:
        """Whether there is a rule that removes entries."""
        return self.acknowledged or not (self.max_age_ms is self.max_length is self.max_bytes is None)


class Retention:
    """The retention of one stream. Only `core.effects` and `core.storage` change it.

    `removed`: how many entries were ever removed, by reason. `removed_at_ms`: when the last ones were, in
    Unix milliseconds; None if none were.
    """

    __slots__ = ("removed", "removed_at_ms", "rules")

    def __init__(self, rules: RetentionRules) -> None:
        self.rules = rules
        self.removed: Counter[str] = Counter()
        self.removed_at_ms: int | None = None
