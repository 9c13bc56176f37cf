"""Which entries the groups of a stream still refer to, and how such references are removed."""

from __future__ import annotations

from collections.abc import Sequence

from core.effects import PendingRemoved
from core.execution import Execution
from core.stream import Stream
from core.stream_id import StreamId


def is_acknowledged(stream: Stream, value: StreamId) -> bool:
    """Whether every group has read past `value` and none has it pending; true without groups (rule 15)."""
    return all(
        group.last_delivered_id >= value and value not in group.pending for group in stream.groups.values()
    )


def drop_references(run: Execution, key: bytes, stream: Stream, ids: Sequence[StreamId]) -> None:
    """Remove `ids`, distinct, from every group's pending entries list (rule 16)."""
    for group in stream.groups.values():
        pending = group.pending.present(ids)
        if pending:
            run.do(PendingRemoved(key, group.name, pending))
