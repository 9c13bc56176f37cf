"""XPENDING with IDLE: the pending entries of a range of ids that are idle long enough, in id order.

A segment knows its earliest time, so the search skips those without an idle entry. `PENDING_LOOKS_MAX` bounds
it. This module owns that search; it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile

from tailrace.core.commands import PendingRange
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.group import Group
from tailrace.core.limits import PENDING_LOOKS_MAX
from tailrace.core.pending.consumer import Consumer
from tailrace.core.pending.rows import latest_idle_ms
from tailrace.core.stream_id import StreamId


def idle_in_range(
    group: Group, consumer: Consumer | None, command: PendingRange, now_ms: int
) -> Iterator[StreamId]:
    """Return the first `count` entries of `group`, or of one consumer, that `command` asks for. An entry
    without an owner is idle at any threshold, unless it is delayed. O(segments + entries returned).

    Raises LIMIT_EXCEEDED if more than `PENDING_LOOKS_MAX` entries were examined without success.
    """
    ids = _idle_ids(group, consumer, command, now_ms)
    return islice(takewhile(command.end.__ge__, ids), command.count)


def _idle_ids(
    group: Group, consumer: Consumer | None, command: PendingRange, now_ms: int
) -> Iterator[StreamId]:
    latest_ms = latest_idle_ms(now_ms, command.min_idle_ms)
    in_vain = 0
    for examined, ids in group.pending.idle_ids(latest_ms, consumer, command.start, command.end):
        found = list(ids)
        in_vain += examined - len(found)
        if in_vain > PENDING_LOOKS_MAX:
            raise StreamError(
                ErrorCode.LIMIT_EXCEEDED,
                f"ERR too many pending entries to examine: more than {PENDING_LOOKS_MAX} are not idle "
                f"for {command.min_idle_ms} ms; name a narrower range of ids",
            )
        yield from found
