"""Leases: how long a consumer keeps an entry, by the settings of its group, and how it keeps one longer."""

from __future__ import annotations

from itertools import compress
from operator import not_

from tailrace.core.commands import ExtendLeases, ReadGroup
from tailrace.core.effects import ConsumerSeen, LeasesExtended
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.id_keys import distinct
from tailrace.core.pending.consumer import Consumer
from tailrace.core.replies import ExtendReply
from tailrace.core.stream_id import StreamId


def own_min_idle_ms(command: ReadGroup, group: Group) -> int | None:
    """Return the group's setting `claim_min_idle_ms` if it applies to a read of new entries, else None. O(1).

    A value in the request wins, whichever is greater. A read with NOACK claims nothing by itself: its client
    does not acknowledge, so a claimed entry would stay pending, and be claimed again and again.
    """
    settings = group.settings
    if settings is None or command.claim_min_idle_ms is not None or command.noack:
        return None
    return settings.claim_min_idle_ms


def extend(execution: Execution, command: ExtendLeases) -> ExtendReply:
    """Set the time of delivery of the consumer's own entries to now; counts stay. O(ids log n).

    The consumer counts as seen. Raises NOGROUP.
    """
    group = require_key_and_group(execution, command.key, command.group)
    consumer: Consumer | None = group.consumers.get(command.consumer)
    ids = distinct(command.ids)
    if consumer is None:
        return ExtendReply((), ids)
    execution.do(ConsumerSeen(command.key, group.name, consumer.name, execution.now_ms, active=False))
    found = map(group.pending.find_all(ids).get, ids)
    is_owned = [each is not None and each.consumer is consumer for each in found]
    kept: list[StreamId] = list(compress(ids, is_owned))
    if kept:
        execution.do(LeasesExtended(command.key, group.name, consumer.name, kept, execution.now_ms))
    return ExtendReply(kept, list(compress(ids, map(not_, is_owned))))
