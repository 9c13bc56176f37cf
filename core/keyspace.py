"""The keyspace: all streams by key, and the server's settings.

Only `core.effects` and recovery write to it; all other code only reads. This module never decides what a
command does.
"""

from __future__ import annotations

from typing import Final

from sortedcontainers import SortedDict, SortedSet

from tailrace.core.agenda import Agenda, Deadlines
from tailrace.core.group import Group
from tailrace.core.idempotency.memory import IdempotencyMemory
from tailrace.core.limits import (
    IDMP_DURATION_S_DEFAULT,
    IDMP_MAXSIZE_DEFAULT,
    NODE_BYTES_DEFAULT,
    NODE_ENTRIES_DEFAULT,
)
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.node_size import NodeLimits
from tailrace.core.log.sealing import SealingQueue
from tailrace.core.presence import Presence
from tailrace.core.retention import Retention, RetentionRules
from tailrace.core.scan_order import ScanOrder
from tailrace.core.stream import Stream

NODE_MAX_ENTRIES: Final = "stream-node-max-entries"
NODE_MAX_BYTES: Final = "stream-node-max-bytes"
IDMP_DURATION: Final = "stream-idmp-duration"
IDMP_MAXSIZE: Final = "stream-idmp-maxsize"

CONFIG_DEFAULTS: Final = {
    NODE_MAX_ENTRIES: NODE_ENTRIES_DEFAULT,
    NODE_MAX_BYTES: NODE_BYTES_DEFAULT,
    IDMP_DURATION: IDMP_DURATION_S_DEFAULT,
    IDMP_MAXSIZE: IDMP_MAXSIZE_DEFAULT,
}


class Keyspace:
    """All streams of one server."""

    def __init__(self, cache: BlockCache | None = None, identity: str = "0") -> None:
        # Differs from that of every other keyspace, in which the same serials number other streams.
        self.identity = identity
        # Decompressed blocks of all streams.
        self.cache = cache or BlockCache()
        # Full blocks of all streams that are not sealed yet.
        self.sealing = SealingQueue()
        # The streams by key, in byte order. A flush replaces the table.
        self.streams: SortedDict[bytes, Stream] = SortedDict()
        # The keys by their stream's serial.
        self.keys_by_serial: dict[int, bytes] = {}
        # The settings of CONFIG GET: name and value.
        self.config: dict[str, int] = dict(CONFIG_DEFAULTS)
        # The settings that limit the size of a block.
        self.node_limits = self._node_limits()
        # The greatest serial ever used; 0 before the first stream.
        self.last_serial = 0
        # The serials of the streams that have a retention.
        self.retained: SortedSet[int] = SortedSet()
        # When idempotency keys of which streams may expire. A hint that saves time, not stored.
        self.deadlines: Deadlines[int] = Deadlines()
        # Scheduled entries and delayed retries: what becomes due when.
        self.agenda = Agenda()
        # The keys in the order of SCAN.
        self.scan_order = ScanOrder()
        # Serial and name of each group whose consumers expire. A group that is gone, or whose settings were
        # removed, stays here until the next look at it.
        self.expiring: SortedSet[tuple[int, bytes]] = SortedSet()
        # The same for groups that have a greatest lag.
        self.watched: SortedSet[tuple[int, bytes]] = SortedSet()
        # Key and name of each group with an order by key whose waiting readers may now find an entry. Emptied
        # after each command; not stored.
        self.freed: set[tuple[bytes, bytes]] = set()
        # The bytes that `protect_unread` kept in streams at their last sweep, by serial; streams without any
        # are missing. For the metrics, not stored.
        self.protected_bytes: dict[int, int] = {}
        # The last step of the expiry of consumers; not stored.
        self.presence = Presence()

    def _node_limits(self) -> NodeLimits:
        return NodeLimits(self.config[NODE_MAX_ENTRIES], self.config[NODE_MAX_BYTES])

    def group(self, key: bytes, group: bytes) -> Group | None:
        """Return the group, None if the stream or the group does not exist. O(1)."""
        stream = self.streams.get(key)
        return None if stream is None else stream.groups.get(group)

    def incarnation_of(self, stream: Stream) -> str:
        """Return a text that no other stream of any keyspace ever has. A rename keeps it. O(1)."""
        return f"{self.identity}-{stream.serial}"

    # --- for core.effects ----------------------------------------------------------------------

    def configure(self, name: str, value: int) -> None:
        """Set the setting `name`, which exists in `config`. O(1)."""
        self.config[name] = value
        self.node_limits = self._node_limits()

    def create(self, key: bytes) -> Stream:
        """Create an empty stream under `key`, which is free. O(log n)."""
        assert key not in self.streams, "the key is free"
        memory = IdempotencyMemory(self.config[IDMP_DURATION], self.config[IDMP_MAXSIZE])
        stream = Stream(self.last_serial + 1, self.cache, self.sealing, memory)
        self.put(key, stream)
        return stream

    def delete(self, key: bytes) -> None:
        """Delete the stream. O(log n), and about 1 us for each of its blocks: freeing a million entries at
        once takes 5 ms, and 100 000 streams 40 ms."""
        stream = self._take(key)
        del self.keys_by_serial[stream.serial]
        self.retained.discard(stream.serial)
        self.protected_bytes.pop(stream.serial, None)
        self.deadlines.forget(stream.serial)
        stream.log.forget_decoded()

    def rename(self, key: bytes, new_key: bytes) -> None:
        """Give the stream another key; a stream that had it is deleted. O(log n)."""
        if new_key in self.streams:
            self.delete(new_key)
        self.put(new_key, self._take(key))

    def set_retention(self, key: bytes, rules: RetentionRules | None) -> None:
        """Replace the rules of a stream's retention, or remove it with its counters. O(log n)."""
        stream: Stream = self.streams[key]
        if rules is None:
            stream.retention = None
            self.retained.discard(stream.serial)
            self.protected_bytes.pop(stream.serial, None)
            return
        if stream.retention is None:
            stream.retention = Retention(rules)
        stream.retention.rules = rules
        self.retained.add(stream.serial)

    def _take(self, key: bytes) -> Stream:
        self.scan_order.remove(key)
        stream: Stream = self.streams.pop(key)
        self.agenda.remove(stream)
        return stream

    def copy(self, key: bytes, new_key: bytes) -> None:
        """Add a copy of the stream under `new_key`; a stream that had the key is deleted. O(parts of the
        stream)."""
        twin = self.streams[key].copy(self.last_serial + 1)
        if new_key in self.streams:
            self.delete(new_key)
        self.put(new_key, twin)

    def clear(self) -> None:
        """Delete all streams and keep the settings. O(streams + blocks) to free them."""
        self.cache.clear()
        self.sealing.clear()
        self.streams = SortedDict()
        self.keys_by_serial = {}
        self.retained = SortedSet()
        self.protected_bytes = {}
        self.deadlines = Deadlines()
        self.agenda.clear()
        self.scan_order = ScanOrder()
        self.expiring = SortedSet()
        self.watched = SortedSet()

    def put(self, key: bytes, stream: Stream) -> None:
        """Add `stream` under `key`, which is free, and under its serial. O(log n)."""
        self.streams[key] = stream
        self.keys_by_serial[stream.serial] = key
        self.last_serial = max(self.last_serial, stream.serial)
        if stream.retention is not None:
            self.retained.add(stream.serial)
        self.scan_order.add(key)
        self.agenda.add(stream)
        for group in stream.groups.values():
            if group.settings is not None:
                self.note_settings(stream, group)
        self.note_deadline(stream)

    def note_settings(self, stream: Stream, group: Group) -> None:
        """Remember the group if its settings need work over time. O(log n)."""
        settings = group.settings
        if settings is not None and settings.consumer_expiry_ms is not None:
            self.expiring.add((stream.serial, group.name))
        if settings is not None and settings.max_lag_ms is not None:
            self.watched.add((stream.serial, group.name))

    def note_deadline(self, stream: Stream) -> None:
        """File the stream under the time at which its first idempotency key expires, if it has one.
        O(producers without an epoch)."""
        deadline_ms = stream.idempotency.deadline_ms()
        if deadline_ms is not None:
            self.deadlines.note(stream.serial, deadline_ms)
