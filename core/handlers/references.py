"""References from groups to entries: which entries are referenced, and the removal of references.

A group references the entries that it has pending and those that it has yet to deliver (rule 15).
"""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.commands import References
from tailrace.core.effects import PendingRemoved, ReferencesTrimmed
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.id_keys import rising
from tailrace.core.limits import REFERENCE_LOOKS_MAX
from tailrace.core.stream import Stream
from tailrace.core.stream_id import StreamId


def require_few_looks(stream: Stream, ids: Sequence[StreamId], policy: References) -> None:
    """Raise LIMIT_EXCEEDED if the ids times the groups to be asked exceed `REFERENCE_LOOKS_MAX`."""
    if policy is References.KEEP or len(ids) * len(stream.groups) <= REFERENCE_LOOKS_MAX:
        return
    groups = len(_groups_with_pending(stream, ids))
    if len(ids) * groups > REFERENCE_LOOKS_MAX:
        raise StreamError(
            ErrorCode.LIMIT_EXCEEDED,
            f"ERR too many references to look for: {len(ids)} ids in {groups} groups, {REFERENCE_LOOKS_MAX} "
            "together are allowed; name fewer ids",
        )


def referenced_among(stream: Stream, ids: Sequence[StreamId]) -> Sequence[StreamId]:
    """The ids among `ids` that a group references, rising: pending, or not read yet (rule 15). None if there
    are no groups. O(ids log n) for each group that has some of them pending, O(1) for each other group."""
    groups = stream.groups.values()
    if not groups or not ids:
        return ()
    read_up_to = min(group.last_delivered_id for group in groups)
    referenced = list(filter(read_up_to.__lt__, ids))
    for group in stream.ordered.values():
        referenced += group.held_among(ids)
    for group in _groups_with_pending(stream, ids):
        referenced += group.pending.present(ids)
    return rising(referenced)


def _groups_with_pending(stream: Stream, ids: Sequence[StreamId]) -> list[Group]:
    """The groups that have entries pending between the least and the greatest of `ids`, one at least."""
    least, greatest = min(ids), max(ids)
    groups = [group for group in stream.groups.values() if group.pending.count]
    return [group for group in groups if group.pending.count_between(least, greatest)]


def drop_references(execution: Execution, key: bytes, stream: Stream, ids: Sequence[StreamId]) -> None:
    """Remove the distinct `ids` from every group's pending entries list (rule 16). O(ids log n) a group."""
    if not ids:
        return
    for group in _groups_with_pending(stream, ids):
        pending = group.pending.present(ids)
        if pending:
            execution.do(PendingRemoved(key, group.name, pending))


def drop_references_of_first(execution: Execution, key: bytes, stream: Stream, count: int) -> None:
    """Remove the first `count` live entries (`count` >= 1) from every group's pending entries list (rule 16).

    Deleted entries stay pending. O(pending units in between) for each group; O(blocks) as well if an entry
    before the last of them was deleted.
    """
    groups = [group for group in stream.groups.values() if group.pending.count]
    if not groups:
        return
    first_id, [last_id] = stream.first_id, stream.log.at_ranks([count - 1])
    if any(group.pending.has_between(first_id, last_id) for group in groups):
        execution.do(ReferencesTrimmed(key, *stream.log.spans_of_first(count)))
