"""References from groups to entries: which entries are referenced, and the removal of references.

A group references the entries that it has pending and those that it has yet to deliver (rule 15).
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.effects import PendingBetweenRemoved, PendingRemoved
from tailrace.core.execution import Execution
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def referenced_among(stream: Stream, ids: Sequence[StreamId]) -> set[StreamId]:
    """The ids among `ids` that a group references; none if there are no groups. O(ids log n) a group."""
    referenced: set[StreamId] = set()
    for group in stream.groups.values():
        referenced.update(filter(group.last_delivered_id.__lt__, ids))
        referenced.update(group.pending.units_of(ids))
    return referenced


def drop_references(execution: Execution, key: bytes, stream: Stream, ids: Sequence[StreamId]) -> None:
    """Remove the distinct `ids` from every group's pending entries list (rule 16). O(ids log n) a group."""
    for group in stream.groups.values():
        pending = group.pending.present(ids)
        if pending:
            execution.do(PendingRemoved(key, group.name, pending))


def drop_references_of_first(execution: Execution, key: bytes, stream: Stream, count: int) -> None:
    """Remove the first `count` live entries (`count` >= 1) from every group's pending entries list (rule 16).

    Deleted entries stay pending. O(runs of pending entries) if no entry before the last of them was deleted,
    else O(blocks).
    """
    groups = [group for group in stream.groups.values() if group.pending.count]
    if not groups:
        return
    spans = stream.log.spans_of_first(count)
    for group in groups:
        pending = [span for span in spans if group.pending.count_between(*span)]
        if pending:
            first_ids, last_ids = zip(*pending, strict=True)
            execution.do(PendingBetweenRemoved(key, group.name, first_ids, last_ids))
