"""A stream: its log of entries, its counters, its groups, and its memory of idempotency keys.

Deleting entries does not change the counters: ids always rise, and lag is counted against all entries ever
added. This module never decides what a command does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sortedcontainers import SortedDict

from tailrace.core.group import Group
from tailrace.core.idempotency.memory import IdempotencyMemory
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.sealing import SealingQueue
from tailrace.core.retention import Retention
from tailrace.core.schedule import Schedule
from tailrace.core.stream_id import ZERO_ID, StreamId

NO_GROUPS: Final[SortedDict[bytes, Group]] = SortedDict()
"""The groups of all streams that never had one. Such a table takes 1.7 kB, more than a stream of one entry
without it. Nothing is ever added to it."""


class Stream:
    """One stream. Only `core.effects`, `core.keyspace` and `core.storage` change it."""

    __slots__ = (
        "entries_added",
        "groups",
        "idempotency",
        "last_id",
        "log",
        "max_deleted_id",
        "max_trimmed_id",
        "ordered",
        "passed_live_max",
        "referenced_below",
        "retention",
        "schedule",
        "serial",
    )

    def __init__(
        self, serial: int, cache: BlockCache, sealing: SealingQueue, idempotency: IdempotencyMemory
    ) -> None:
        # The stream's number in the keyspace. Later streams have greater serials, a renamed stream keeps its
        # own, and storage files the stream under it.
        self.serial = serial
        # The entries.
        self.log = EntryLog(cache, sealing)
        # The greatest id ever generated, or set by XSETID, whether or not its entry still exists.
        self.last_id: StreamId = ZERO_ID
        # The greatest id ever deleted by XDEL, XDELEX or XACKDEL, or set by XSETID. Trimming does not change
        # it (rule 17).
        self.max_deleted_id: StreamId = ZERO_ID
        # No entry above this id was ever trimmed: a reader at this position or after it has missed none.
        self.max_trimmed_id: StreamId = ZERO_ID
        # The number of entries ever added, or as set by XSETID.
        self.entries_added = 0
        # The groups by name, in byte order.
        self.groups = NO_GROUPS
        # Those of the groups that have an order by key. Replaced when it changes: most streams share one.
        self.ordered: Mapping[bytes, Group] = NO_GROUPS
        # The idempotency keys of appends.
        self.idempotency = idempotency
        # Which entries the server removes without a request; None: it removes none.
        self.retention: Retention | None = None
        # Entries that are not visible yet; None if there are none. A copy does not have them.
        self.schedule: Schedule | None = None
        # Hints that save time in a later trim under ACKED; neither stored nor copied. Every live entry below
        # `referenced_below` is still referenced by a group, and no block below it has more than
        # `passed_live_max` live entries.
        self.referenced_below: StreamId = ZERO_ID
        self.passed_live_max = 0

    @property
    def part_count(self) -> int:
        """The number of objects that a copy creates: blocks, parts of groups, idempotency keys. O(groups)."""
        in_groups = sum(group.part_count for group in self.groups.values()) if self.groups else 0
        return len(self.log.blocks) + in_groups + self.idempotency.key_count

    def copy(self, serial: int) -> Stream:
        """Return an independent copy under another serial. O(blocks + pending units + idempotency keys): both
        streams share entries and ids, which never change."""
        twin = Stream(serial, self.log.cache, self.log.sealing, self.idempotency.copy())
        twin.log = self.log.copy(serial)
        twin.last_id = self.last_id
        twin.max_deleted_id = self.max_deleted_id
        twin.max_trimmed_id = self.max_trimmed_id
        twin.entries_added = self.entries_added
        twin.retention = None if self.retention is None else Retention(self.retention.rules)
        for group in self.groups.values():
            twin.add_group(group.copy())
        return twin

    def add_group(self, group: Group) -> None:
        """Add a group whose name is free. O(log groups)."""
        if self.groups is NO_GROUPS:
            self.groups = SortedDict()
        self.groups[group.name] = group
        self.note_order(group)

    def note_order(self, group: Group) -> None:
        """File a group of the stream, whose order by key may have begun or ended. O(groups that
        have one)."""
        self.forget_order(group.name)
        if group.order is not None:
            self.ordered = {**self.ordered, group.name: group}

    def forget_order(self, name: bytes) -> None:
        """Take a group from `ordered`, if it is there. O(groups there)."""
        if name in self.ordered:
            self.ordered = {each: group for each, group in self.ordered.items() if each != name}

    def forget_references_from(self, value: StreamId) -> None:
        """Lower `referenced_below` to `value`: from there on, references may be gone. O(1)."""
        self.referenced_below = min(self.referenced_below, value)

    @property
    def length(self) -> int:
        """The number of live entries. O(1)."""
        return self.log.length

    @property
    def first_id(self) -> StreamId:
        """The first live id, 0-0 for an empty stream. O(1) unless the first block begins with a hole."""
        return self.log.first_id
