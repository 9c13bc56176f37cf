"""The pending entries that one consumer owns, in id order: what a read of the consumer's history returns.

Owns the reads of the pending entries list and of the log; changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from tailrace.core.bounds.pending_work import PendingWork
from tailrace.core.group import Group
from tailrace.core.idle import idle_since
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.pending.consumer import Consumer
from tailrace.core.replies import Entries
from tailrace.core.stream_id import StreamId

_LOOKUP_CHUNK: Final = 1_000
"""How many entries are looked up at once."""


class OwnedEntries:
    """The entries of `consumer` in `group`. `work`: what the read may still do."""

    def __init__(
        self, log: EntryLog, group: Group, consumer: Consumer, now_ms: int, work: PendingWork
    ) -> None:
        self._log = log
        self._pending = group.pending
        self._consumer = consumer
        self._now_ms = now_ms
        self._work = work
        self._idle_ms: list[int] = []
        self._counts: list[int] = []

    def read(self, ids: Iterator[StreamId], max_bytes: int) -> Entries:
        """Return the first of `ids`, which are all ids of the consumer between them, as many as fit into
        `max_bytes` and into the work of the read, and at least one if there is one. O(log n + result)."""
        found, fragments = list[StreamId](), list[bytes | None]()
        while not self._work.is_spent and (some := list(islice(ids, _LOOKUP_CHUNK))):
            looks = self._log.cache.lookups
            read = self._log.get_many(some, max_bytes)
            self._work.count(len(some), self._describe(some), self._log.cache.lookups - looks)
            found += some
            fragments += read
            max_bytes -= sum(map(len, filter(None, read)))
            if len(read) < len(some):
                break
        return Entries(found, fragments, self._idle_ms, self._counts).first(len(fragments))

    def _describe(self, ids: Sequence[StreamId]) -> int:
        """Add the idle times and the delivery counts of `ids`, and return how much work they are."""
        found, units = self._pending.described(ids)
        self._counts += [each.deliveries for each in found]
        self._idle_ms += [idle_since(each.at_ms, self._now_ms) for each in found]
        return units
