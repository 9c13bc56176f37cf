"""XDEL, XDELEX and XACKDEL: delete entries by id, under a reference policy (rules 19 to 21).

A group references the entries that it has pending and those that it has yet to deliver (rule 15).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from itertools import count as count_from
from operator import not_

from tailrace.core.commands import AcknowledgeAndDelete, DeleteEntries, DeleteEntriesByPolicy, References
from tailrace.core.effects import EntriesRemoved, PendingRemoved, ReferencesTrimmed
from tailrace.core.errors import ErrorCode, StreamError, no_key_or_group
from tailrace.core.execution import Execution, parsed
from tailrace.core.group import Group
from tailrace.core.handlers.groups import missing_for
from tailrace.core.id_keys import are_among, at_first_mention, distinct, rising
from tailrace.core.limits import REFERENCE_LOOKS_MAX
from tailrace.core.replies import DeleteResult
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


def delete_entries(execution: Execution, command: DeleteEntries) -> int:
    """XDEL: delete entries, and return how many of the ids were live. O(ids log n).

    A missing stream returns 0 before the ids are parsed.
    """
    stream = execution.stream(command.key)
    if stream is None:
        return 0
    live = stream.log.live_among(parsed(command.ids))
    _remove(execution, command.key, live)
    return len(live)


def _remove(execution: Execution, key: bytes, ids: Sequence[StreamId]) -> None:
    """Remove the live entries `ids`, which rise."""
    if ids:
        execution.do(EntriesRemoved(key, ids, tombstone=True))


def delete_entries_by_policy(execution: Execution, command: DeleteEntriesByPolicy) -> list[DeleteResult]:
    """XDELEX: delete entries under a reference policy, and return one result for each id.

    A missing stream returns NOT_FOUND for every id before the ids are parsed (rule 19). O(ids log n) a group.
    """
    stream = execution.stream(command.key)
    if stream is None:
        return [DeleteResult.NOT_FOUND] * command.ids_count
    ids = parsed(command.ids)
    require_few_looks(stream, ids, command.references)
    kept = referenced_among(stream, ids) if command.references is References.ACKNOWLEDGED else ()
    live = stream.log.live_among(ids)
    deleted = live if not kept else list(compress(live, map(not_, are_among(live, kept))))
    results = at_first_mention(ids, deleted, [DeleteResult.DELETED] * len(deleted), DeleteResult.NOT_FOUND)
    for at in compress(count_from(), are_among(ids, kept)) if kept else ():
        results[at] = DeleteResult.REFERENCED
    if command.references is References.DELETE:
        drop_references(execution, command.key, stream, distinct(ids))
    _remove(execution, command.key, deleted)
    return results


def acknowledge_and_delete(execution: Execution, command: AcknowledgeAndDelete) -> list[DeleteResult]:
    """XACKDEL: acknowledge and delete entries, and return one result for each id.

    Only ids that this group has pending are affected (rule 21). A missing stream or group returns NOT_FOUND
    for every id before the ids are parsed; with `require_group` it raises NOGROUP. O(ids log n) a group.
    """
    stream = execution.stream(command.key)
    group = execution.keyspace.group(command.key, command.group)
    if stream is None or group is None:
        if command.require_group:
            raise no_key_or_group(command.key, command.group, missing_for(execution, command.key))
        return [DeleteResult.NOT_FOUND] * command.ids_count
    ids = parsed(command.ids)
    require_few_looks(stream, ids, command.references)
    acknowledged = group.pending.present(ids)
    if acknowledged:
        execution.do(PendingRemoved(command.key, group.name, acknowledged))
    # An entry that was deleted before counts as deleted, even if other groups still have it pending.
    deleted, outcome = acknowledged, [DeleteResult.DELETED] * len(acknowledged)
    if command.references is References.ACKNOWLEDGED:
        is_kept = are_among(acknowledged, referenced_among(stream, acknowledged))
        deleted = list(compress(acknowledged, map(not_, is_kept)))
        outcome = [DeleteResult.REFERENCED if kept else DeleteResult.DELETED for kept in is_kept]
    if command.references is References.DELETE:
        drop_references(execution, command.key, stream, deleted)
    _remove(execution, command.key, stream.log.live_among(deleted))
    return at_first_mention(ids, acknowledged, outcome, DeleteResult.NOT_FOUND)


def acknowledge(execution: Execution, key: bytes, group: Group, ids: Iterable[StreamId]) -> int:
    """Remove `ids` from the group's pending entries list, and return how many were pending. O(1) an id."""
    pending = group.pending.present(ids)
    if pending:
        execution.do(PendingRemoved(key, group.name, pending))
    return len(pending)
