"""The pending entries of a group in order of delivery, delayed ones last."""

from __future__ import annotations

from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.stored import stored


def entries_in_order(pending: PendingEntriesList) -> list[tuple[int, Consumer | None, int]]:
    """Return id, owner and time of all entries in order."""
    return [(value, owner, at_ms) for ids, owner, at_ms, _ in stored(pending) for value in ids]


def ids_in_order(pending: PendingEntriesList) -> list[int]:
    """Return the ids of all entries in order."""
    return [value for value, _, _ in entries_in_order(pending)]
