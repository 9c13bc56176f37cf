"""Applying the effects of the retention of streams. Only `core.apply` uses this module.

As there, applying decides nothing and cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tailrace.core import apply_order
from tailrace.core.effects import Effect, EntriesRetired, RetentionConfigured
from tailrace.core.keyspace import Keyspace
from tailrace.core.retention import RetentionRules


def _retention_configured(keyspace: Keyspace, effect: RetentionConfigured) -> None:
    rules = RetentionRules(
        effect.max_age_ms, effect.max_length, effect.max_bytes, effect.acknowledged, effect.protect_unread
    )
    keyspace.set_retention(effect.key, rules if rules.removes else None)


def _entries_retired(keyspace: Keyspace, effect: EntriesRetired) -> None:
    stream = keyspace.streams[effect.key]
    last_id = stream.log.trim_front(effect.count)
    stream.max_trimmed_id = max(stream.max_trimmed_id, last_id)
    if stream.ordered:
        apply_order.trimmed(keyspace, effect.key, stream, last_id)
    retention = stream.retention
    assert retention is not None, "only retention removes them"
    retention.removed[effect.reason] += effect.count
    retention.removed_at_ms = effect.at_ms


APPLIERS: Final[dict[type[Effect], Callable[[Keyspace, Any], None]]] = {
    RetentionConfigured: _retention_configured,
    EntriesRetired: _entries_retired,
}
