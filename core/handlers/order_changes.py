"""Setting `order_by` on a group that has pending or held entries: their keys are read from the stream.

This module changes nothing: it returns the effects that follow the change of the settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from tailrace.core.effects import Effect, EntriesHeld, KeysTaken
from tailrace.core.errors import ErrorCode, StreamError, printable
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.ordered_delivery import keys_of
from tailrace.core.limits import FILTER_SCAN_BYTES_MAX, ORDERED_ENTRIES_MAX
from tailrace.core.stream_id import StreamId


def begun_order(
    execution: Execution, key: bytes, group: Group, before: str | None, after: str | None
) -> list[Effect]:
    """Return what follows a change of `order_by`: the keys of pending entries are in flight, and held entries
    wait for their new keys. O(pending + held entries).

    Raises LIMIT_EXCEEDED if there are more than `ORDERED_ENTRIES_MAX`, or if they are too large.
    """
    if after is None or after == before:
        return []
    held = [] if group.order is None else list(group.order.held)
    count = group.pending.count + len(held)
    if count > ORDERED_ENTRIES_MAX:
        _refuse(group, f"has {count} pending and held entries, and {ORDERED_ENTRIES_MAX} are allowed")
    effects: list[Effect] = []
    pending, keys = _with_keys(execution, key, group, list(group.pending.ids()), after)
    taken = [(value, each) for value, each in zip(pending, keys, strict=True) if each is not None]
    if taken:
        effects.append(KeysTaken(key, group.name, [value for value, _ in taken], [each for _, each in taken]))
    if held:
        effects.append(EntriesHeld(key, group.name, *_with_keys(execution, key, group, held, after)))
    return effects


def _with_keys(
    execution: Execution, key: bytes, group: Group, ids: Sequence[StreamId], field: str
) -> tuple[list[StreamId], list[bytes | None]]:
    """Return the live ones of `ids`, with their keys."""
    fragments = execution.keyspace.streams[key].log.get_many(ids, FILTER_SCAN_BYTES_MAX)
    if len(fragments) < len(ids):
        _refuse(group, f"has more than {FILTER_SCAN_BYTES_MAX} bytes of pending and held entries")
    live = [value for value, fragment in zip(ids, fragments, strict=True) if fragment is not None]
    return live, keys_of(field, [fragment for fragment in fragments if fragment is not None])


def _refuse(group: Group, what: str) -> NoReturn:
    raise StreamError(
        ErrorCode.LIMIT_EXCEEDED,
        f"ERR order_by cannot be set now: the group '{printable(group.name)}' {what}; acknowledge some "
        "first, or create another group",
    )
