"""All streams by name, and the settings that are the server's. Data and lookups; no command lives here.

`core.apply` is the only writer. Whoever holds a keyspace may look at all of it, and change none of it.
"""

from __future__ import annotations

from typing import Final

from sortedcontainers import SortedDict

from tailrace.core.garbage import Garbage
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
    """`streams`: by key, in byte order; a flush replaces the table. `keys_by_serial`: the same keys in the
    order they came; `last_serial`: the greatest ever given. `config`: the settings of CONFIG GET;
    `node_limits`: those that bound a block. `garbage`: deleted streams whose memory is still to be freed.
    `sealing`: full blocks that are not sealed yet. `scan_order`: the keys in the order of SCAN."""

    def __init__(self, cache: BlockCache | None = None) -> None:
        self.cache = cache or BlockCache()
        self.garbage = Garbage()
        self.sealing = SealingQueue()
        self.streams: SortedDict[bytes, Stream] = SortedDict()
        self.keys_by_serial: SortedDict[int, bytes] = SortedDict()
        self.config: dict[str, int] = dict(CONFIG_DEFAULTS)
        self.node_limits = self._node_limits()
        self.last_serial = 0
        self.scan_order = ScanOrder()

    def _node_limits(self) -> NodeLimits:
        return NodeLimits(self.config[NODE_MAX_ENTRIES], self.config[NODE_MAX_BYTES])

    def group(self, key: bytes, group: bytes) -> Group | None:
        """The group of that name, None where it or the stream is missing."""
        stream = self.streams.get(key)
        return None if stream is None else stream.groups.get(group)

    # --- for core.apply ------------------------------------------------------------------------

    def configure(self, name: str, value: int) -> None:
        """Set a setting that `config` knows."""
        self.config[name] = value
        self.node_limits = self._node_limits()

    def create(self, key: bytes) -> Stream:
        """A new, empty stream under `key`, which is free."""
        assert key not in self.streams, "a stream is made where there is none"
        memory = IdempotencyMemory(self.config[IDMP_DURATION], self.config[IDMP_MAXSIZE])
        stream = Stream(self.last_serial + 1, self.cache, self.sealing, memory)
        self.put(key, stream)
        return stream

    def delete(self, key: bytes) -> None:
        """Take the stream out, for good. Its memory is freed later: see `core.garbage`."""
        stream = self._take(key)
        del self.keys_by_serial[stream.serial]
        self.garbage.add_stream(stream)

    def rename(self, key: bytes, new_key: bytes) -> None:
        """Move a stream; one that stood under `new_key` is gone."""
        if new_key in self.streams:
            self.delete(new_key)
        self.put(new_key, self._take(key))

    def _take(self, key: bytes) -> Stream:
        self.scan_order.remove(key)
        stream: Stream = self.streams.pop(key)
        return stream

    def copy(self, key: bytes, new_key: bytes) -> None:
        """Put a copy of the stream under `new_key`; one that stood there is gone."""
        twin = self.streams[key].copy(self.last_serial + 1)
        if new_key in self.streams:
            self.delete(new_key)
        self.put(new_key, twin)

    def clear(self) -> None:
        """Delete all streams; settings stay. O(1): memory is freed later."""
        self.garbage.add_all(self.streams, self.keys_by_serial, self.scan_order)
        self.sealing.clear()
        self.streams = SortedDict()
        self.keys_by_serial = SortedDict()
        self.scan_order = ScanOrder()

    def put(self, key: bytes, stream: Stream) -> None:
        """Enter a stream under its name and serial."""
        self.streams[key] = stream
        self.keys_by_serial[stream.serial] = key
        self.last_serial = max(self.last_serial, stream.serial)
        self.scan_order.add(key)
