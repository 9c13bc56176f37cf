"""The retention of a stream in its state: the rules, and what they have removed.

This module never reads or writes a file.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tailrace.core.retention import Retention, RetentionRules


def retention_row(retention: Retention | None) -> list[Any] | None:
    """Return the rules, the numbers of removed entries by reason, and the time of the last removal."""
    if retention is None:
        return None
    return [retention.rules, retention.removed, retention.removed_at_ms]


def retention_of(row: list[Any] | None) -> Retention | None:
    """Return the retention: the inverse of `retention_row`."""
    if row is None:
        return None
    rules, removed, removed_at_ms = row
    retention = Retention(msgspec.convert(rules, RetentionRules))
    retention.removed.update(removed)
    retention.removed_at_ms = removed_at_ms
    return retention
