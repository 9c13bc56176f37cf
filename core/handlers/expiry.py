"""The expiry of consumers: one that was not seen for too long gives its entries back, and is deleted.

The server examines all groups with the setting once a second, in bounded steps (`expire_consumers`). While
such a look is not complete, a group read first does the work for its own group. `core.presence` owns the rule
of who is expired. An entry that is given back has no owner, as after XNACK, and keeps its delivery count.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from tailrace.core.commands import ExpireConsumers
from tailrace.core.effects import ConsumerDeleted, ConsumerSeen, Nacked
from tailrace.core.execution import Execution
from tailrace.core.group import Group
from tailrace.core.pending.consumer import Consumer
from tailrace.core.presence import EXPIRED_ENTRIES_MAX, EXPIRY_LOOKS_MAX, Presence
from tailrace.core.replies import ExpiryReply

SEEN_FRACTION: Final = 4
"""A consumer that waits is marked as seen once this fraction of its time has passed, not at every look: the
mark is written to disk."""


def expire_consumers(execution: Execution, command: ExpireConsumers) -> ExpiryReply:
    """Do one step of a look at all groups whose consumers expire. O(waiting + consumers examined)."""
    keyspace, now_ms = execution.keyspace, execution.now_ms
    _see_waiting(execution, command)
    keyspace.presence = Presence(command.since_ms, now_ms, is_behind=True)
    step = _Step(execution)
    first = command.after
    places = list(islice(keyspace.expiring.irange(first and first[:2]), EXPIRY_LOOKS_MAX + 1))
    for number, place in enumerate(places):
        serial, name = place
        start = first[2] if first and first[:2] == place else b""
        if step.is_spent or number == EXPIRY_LOOKS_MAX:
            return ExpiryReply((serial, name, start), step.consumers, step.entries)
        key = keyspace.keys_by_serial.get(serial)
        group = None if key is None else keyspace.group(key, name)
        if key is None or group is None or _expiry_ms(group) is None:
            keyspace.expiring.discard(place)
            continue
        following = step.expire(key, group, start)
        if following is not None:
            return ExpiryReply((serial, name, following), step.consumers, step.entries)
    keyspace.presence = Presence(command.since_ms, now_ms)
    return ExpiryReply(None, step.consumers, step.entries)


def expire_before_read(execution: Execution, keys: Iterable[bytes], name: bytes, consumer: bytes) -> None:
    """Expire consumers of the group `name` of each stream by the current look, which may not have reached
    them, but not the one that reads. One step for all of these groups together. O(1) for each group without
    the setting."""
    step = _Step(execution, spared=consumer)
    for key in dict.fromkeys(keys):
        group = execution.keyspace.streams[key].groups[name]
        if group.settings is not None and not step.is_spent:
            step.expire(key, group, b"")


def _expiry_ms(group: Group) -> int | None:
    return None if group.settings is None else group.settings.consumer_expiry_ms


def _see_waiting(execution: Execution, command: ExpireConsumers) -> None:
    """Mark the consumers of waiting reads as seen. A consumer that was deleted stays deleted."""
    now_ms = execution.now_ms
    for key, name, consumer_name in command.waiting:
        group = execution.keyspace.group(key, name)
        expiry_ms = None if group is None else _expiry_ms(group)
        if group is None or expiry_ms is None or consumer_name not in group.consumers:
            continue
        seen_at_ms = group.consumers[consumer_name].seen_at_ms
        if seen_at_ms > now_ms or now_ms - seen_at_ms >= expiry_ms // SEEN_FRACTION:
            execution.do(ConsumerSeen(key, name, consumer_name, now_ms, active=False))


class _Step:
    """One bounded step. `consumers`, `entries`: how many were deleted and given back. `spared`: a consumer
    that is seen now."""

    def __init__(self, execution: Execution, spared: bytes | None = None) -> None:
        self.consumers = 0
        self.entries = 0
        self._execution = execution
        self._spared = spared
        self._looks = 0

    @property
    def is_spent(self) -> bool:
        """Whether the step may examine no further consumer, or take no further entry."""
        return self._looks >= EXPIRY_LOOKS_MAX or self.entries >= EXPIRED_ENTRIES_MAX

    def expire(self, key: bytes, group: Group, start: bytes) -> bytes | None:
        """Expire consumers of `group` from the name `start` on. Return the name from which to continue, None
        if all were examined. O(consumers examined + entries given back). The step must not be spent."""
        expiry_ms = _expiry_ms(group)
        presence, now_ms = self._execution.keyspace.presence, self._execution.now_ms
        room = EXPIRY_LOOKS_MAX - self._looks
        consumers = list(islice(group.consumers.irange(start), room + 1)) if expiry_ms is not None else []
        self._looks += len(consumers) + 1
        for name in consumers[:room]:
            consumer: Consumer = group.consumers[name]
            if name == self._spared or not presence.is_expired(consumer, expiry_ms or 0, now_ms):
                continue
            self._give_back(key, group, consumer)
            if consumer.pending_count:
                return name
        return consumers[room] if len(consumers) > room else None

    def _give_back(self, key: bytes, group: Group, consumer: Consumer) -> None:
        """Take entries from `consumer`, and delete it if that were all."""
        execution = self._execution
        ids = list(islice(group.pending.ids_of(consumer), EXPIRED_ENTRIES_MAX - self.entries))
        if ids:
            counts = [each.deliveries for each in group.pending.of(ids)]
            execution.do(Nacked(key, group.name, ids, counts))
            execution.wake(key)
            self.entries += len(ids)
        if not consumer.pending_count:
            execution.do(ConsumerDeleted(key, group.name, consumer.name))
            self.consumers += 1
