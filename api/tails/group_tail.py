"""The state of a tail that reads as a group's consumer, and holds at most a window of deliveries.

Sans-IO, like `api.tails.tail`, whose protocol it follows. It owns the window: what was sent on this tail
and is still pending for its consumer. The store alone knows what was acknowledged, so it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tailrace.api.tails import sse
from tailrace.api.tails.tail import Form
from tailrace.core.commands import PendingRange, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.errors import StreamError
from tailrace.core.replies import ReadReply, Reply, StreamRead
from tailrace.core.stream_id import StreamId

_ALL: Final = 1 << 62
"""A count that bounds nothing: the ids asked about do."""


class GroupReader(NamedTuple):
    """Who reads, and how.

    `prefetch`: how many deliveries may be unacknowledged on this tail. With `noack` new entries are not
    pending, and the window does not count.
    """

    group: bytes
    consumer: bytes
    prefetch: int = sse.PREFETCH_DEFAULT
    claim_min_idle_ms: int | None = None
    noack: bool = False


class GroupTail:
    """A tail as a group's consumer.

    `history`: for streams where the consumer's own pending entries come first, the exclusive position
    above which. `keys`: all streams.
    """

    def __init__(
        self, reader: GroupReader, keys: Sequence[bytes], history: Mapping[bytes, StreamId], form: Form
    ) -> None:
        self._reader = reader
        self._keys = list(keys)
        self._history = dict(history)
        self._sent = dict(history)
        """The greatest id sent of each stream: claimed entries lie below and move it back nowhere."""
        self._form = form
        self._unacknowledged: dict[bytes, set[StreamId]] = {}

    @property
    def is_full(self) -> bool:
        """Whether the window is used up."""
        return self._room() <= 0

    def opening(self) -> bytes:
        """The first bytes."""
        return sse.opening(self._form.last_event_id(self._sent))

    def questions(self) -> Sequence[PendingRange]:
        """What is still pending of what was sent; asked once half of the window is used."""
        if 2 * self._room() >= self._reader.prefetch:
            return []
        group, consumer = self._reader.group, self._reader.consumer
        return [
            PendingRange(key, group, min(ids), max(ids), _ALL, consumer=consumer)
            for key, ids in self._unacknowledged.items()
        ]

    def answered(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """Whatever is no longer pending for this consumer leaves the window; there is nothing to send."""
        pending: dict[bytes, set[StreamId]] = {}
        for (key, sent), reply in zip(self._unacknowledged.items(), replies, strict=True):
            if isinstance(reply, StreamError):
                raise reply
            assert isinstance(reply, list)
            if left := sent.intersection([entry.id for entry in reply]):
                pending[key] = left
        self._unacknowledged = pending
        return []

    def read(self, block_ms: int) -> ReadGroup:
        """First the consumer's own pending entries, a stream at a time; then claimed and new ones of all."""
        room = min(self._room(), sse.EVENT_ENTRIES_MAX)
        limits = ReadLimits(max_count=room, max_bytes=sse.EVENT_BYTES_MAX)
        group, consumer = self._reader.group, self._reader.consumer
        for key, after in self._history.items():
            return ReadGroup(group, consumer, (ReadFrom(key, after),), limits)
        sources = tuple([ReadFrom(key, Special.NEW) for key in self._keys])
        claim_min_idle_ms, noack = self._reader.claim_min_idle_ms, self._reader.noack
        return ReadGroup(group, consumer, sources, limits, block_ms, claim_min_idle_ms, noack)

    def taken(self, reply: ReadReply) -> list[bytes]:
        """One event for each stream that gave entries; a history that gave none is read to its end."""
        events = [self._entries(read) for read in reply.streams if read.entries.ids]
        if events:
            return events
        if self._history:
            del self._history[reply.streams[0].key]
            return []
        return [sse.COMMENT]

    def refused(self, error: StreamError) -> None:
        """The group is gone, and with it the tail."""
        raise error

    def _entries(self, read: StreamRead) -> bytes:
        key, ids = read.key, read.entries.ids
        self._sent[key] = max(self._sent.get(key, 0), *ids)
        if read.history:
            self._history[key] = read.next
        if not self._reader.noack:
            self._unacknowledged.setdefault(key, set()).update(ids)
        self._keys.remove(key)
        self._keys.append(key)
        return sse.event(
            "entries", self._form.entries(read, deliveries=True), self._form.last_event_id(self._sent)
        )

    def _room(self) -> int:
        return self._reader.prefetch - sum(map(len, self._unacknowledged.values()))
