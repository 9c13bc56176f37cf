"""A stream: its log of entries, its counters, its groups, and its memory of idempotency keys.

The counters outlive the entries: ids never go back, and lag is counted against all entries ever added.
"""

from __future__ import annotations

from sortedcontainers import SortedDict

from tailrace.core.group import Group
from tailrace.core.idempotency.memory import IdempotencyMemory
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.sealing import SealingQueue
from tailrace.core.stream_id import ZERO_ID, StreamId


class Stream:
    """`last_id`: the greatest id ever generated (or set), deleted or not. `max_deleted_id`: the greatest
    id ever deleted by XDEL and its kin; trimming does not move it (rule 17). `entries_added`: how many
    entries were ever added. `max_trimmed_id`: no entry above it was ever trimmed, so a reader that stands
    there or further on has missed nothing. `serial`: in which order the keyspace's streams came, for SCAN.

    `referenced_below`: every live entry below this id is still referenced by a group, as a trim under ACKED
    found out; `passed_live_max`: no block below it has more live entries. They are notes that save a later
    trim the way to there, and no state: neither stored nor copied.
    """

    __slots__ = (
        "entries_added",
        "groups",
        "idempotency",
        "last_id",
        "log",
        "max_deleted_id",
        "max_trimmed_id",
        "passed_live_max",
        "referenced_below",
        "serial",
    )

    def __init__(
        self, serial: int, cache: BlockCache, sealing: SealingQueue, idempotency: IdempotencyMemory
    ) -> None:
        self.serial = serial
        self.log = EntryLog(cache, sealing)
        self.last_id: StreamId = ZERO_ID
        self.max_deleted_id: StreamId = ZERO_ID
        self.max_trimmed_id: StreamId = ZERO_ID
        self.entries_added = 0
        self.groups: SortedDict[bytes, Group] = SortedDict()
        self.idempotency = idempotency
        self.referenced_below: StreamId = ZERO_ID
        self.passed_live_max = 0

    @property
    def part_count(self) -> int:
        """How many things a copy makes anew; what they hold, it shares. O(groups)."""
        in_groups = sum(group.part_count for group in self.groups.values()) if self.groups else 0
        return len(self.log.blocks) + in_groups + self.idempotency.key_count

    def copy(self, serial: int) -> Stream:
        """The same stream under another serial, to be changed apart. O(blocks + pending units + idempotency
        keys): entries and ids are shared, since neither stream ever changes them."""
        twin = Stream(serial, self.log.cache, self.log.sealing, self.idempotency.copy())
        twin.log = self.log.copy(serial)
        twin.last_id = self.last_id
        twin.max_deleted_id = self.max_deleted_id
        twin.max_trimmed_id = self.max_trimmed_id
        twin.entries_added = self.entries_added
        twin.groups = SortedDict((name, group.copy()) for name, group in self.groups.items())
        return twin

    def forget_references_from(self, value: StreamId) -> None:
        """Entries from `value` on may be referenced no longer. O(1)."""
        self.referenced_below = min(self.referenced_below, value)

    @property
    def length(self) -> int:
        """How many entries are live. O(1)."""
        return self.log.length

    @property
    def first_id(self) -> StreamId:
        """The first live id, 0-0 where the stream is empty. O(1)."""
        return self.log.first_id
