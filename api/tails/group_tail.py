"""The state of a tail that reads as a group's consumer, with a limited number of unacknowledged entries.

It does no input or output, like `api.tails.tail`, whose protocol it implements. It owns the window: the
entries that were sent on this tail and are still pending for its consumer. Other connections can acknowledge
entries, so the tail reads from the store which entries are still pending.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tailrace.api.tails import sse
from tailrace.api.tails.tail import EventForm
from tailrace.core.commands import PendingRange, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.errors import StreamError
from tailrace.core.id_keys import ends_of, id_keys
from tailrace.core.replies import ReadReply, Reply, StreamRead
from tailrace.core.stream_id import ZERO_ID, StreamId

_ALL: Final = 1 << 62
"""A count without effect: the range of ids limits the reply."""


class TailConsumer(NamedTuple):
    """The group and consumer of a tail, and its options.

    `prefetch` is how many entries of this tail can be unacknowledged. With `noack`, new entries do not
    become pending, and `prefetch` has no effect.
    """

    group: bytes
    consumer: bytes
    prefetch: int = sse.PREFETCH_DEFAULT
    claim_min_idle_ms: int | None = None
    noack: bool = False


class GroupTail:
    """A tail that reads as a group's consumer.

    `keys` are all streams. `history` has, for streams whose pending entries are sent first, the id after
    which to begin.
    """

    def __init__(
        self, reader: TailConsumer, keys: Sequence[bytes], history: Mapping[bytes, StreamId], form: EventForm
    ) -> None:
        self._reader = reader
        self._keys = list(keys)
        self._history = dict(history)
        self._sent = dict(history)
        """The greatest id sent of each stream. Claimed entries have smaller ids and do not change it."""
        self._form = form
        # By the keys of the ids (`core.id_keys`).
        self._unacknowledged: dict[bytes, set[bytes]] = {}

    @property
    def is_full(self) -> bool:
        """True if the tail has `prefetch` unacknowledged entries."""
        return self._room() <= 0

    def opening(self) -> bytes:
        """Return the first bytes of the response."""
        key = self._keys[0]
        nothing = self._form.nothing(key, self._sent.get(key, ZERO_ID))
        return sse.opening(nothing, self._form.last_event_id(self._sent))

    def questions(self) -> Sequence[PendingRange]:
        """Return reads of the entries that were sent and are still pending, once half of the window is
        used."""
        if 2 * self._room() >= self._reader.prefetch:
            return []
        group, consumer = self._reader.group, self._reader.consumer
        return [
            PendingRange(key, group, *ends_of(sent), _ALL, consumer=consumer)
            for key, sent in self._unacknowledged.items()
        ]

    def answered(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """Remove the entries from the window that are no longer pending. There is no event to send."""
        pending: dict[bytes, set[bytes]] = {}
        for (key, sent), reply in zip(self._unacknowledged.items(), replies, strict=True):
            if isinstance(reply, StreamError):
                raise reply
            assert isinstance(reply, list)
            if left := sent.intersection(id_keys([entry.id for entry in reply])):
                pending[key] = left
        self._unacknowledged = pending
        return []

    def read(self, block_ms: int) -> ReadGroup:
        """Return the next read: first the consumer's pending entries, stream by stream, then claimed and new
        ones."""
        room = min(self._room(), sse.EVENT_ENTRIES_MAX)
        limits = ReadLimits(max_count=room, max_bytes=sse.EVENT_BYTES_MAX)
        group, consumer = self._reader.group, self._reader.consumer
        for key, after in self._history.items():
            return ReadGroup(group, consumer, (ReadFrom(key, after),), limits)
        sources = tuple([ReadFrom(key, Special.NEW) for key in self._keys])
        claim_min_idle_ms, noack = self._reader.claim_min_idle_ms, self._reader.noack
        return ReadGroup(group, consumer, sources, limits, block_ms, claim_min_idle_ms, noack)

    def taken(self, reply: ReadReply) -> list[bytes]:
        """Return one event for each stream with entries. A history without entries is complete."""
        events = [self._entries(read) for read in reply.streams if read.entries.ids]
        if events:
            return events
        if self._history:
            del self._history[reply.streams[0].key]
            return []
        return [sse.COMMENT]

    def sign_of_life(self) -> bytes:
        """Return a comment."""
        return sse.COMMENT

    def refused(self, error: StreamError) -> None:
        """Raise `error`, which ends the tail: the group no longer exists."""
        raise error

    def _entries(self, read: StreamRead) -> bytes:
        key, ids = read.key, read.entries.ids
        self._sent[key] = max(self._sent.get(key, 0), *ids)
        if read.history:
            self._history[key] = read.next
        if not self._reader.noack:
            self._unacknowledged.setdefault(key, set()).update(id_keys(ids))
        self._keys.remove(key)
        self._keys.append(key)
        return sse.event(
            "entries", self._form.entries(read, deliveries=True), self._form.last_event_id(self._sent)
        )

    def _room(self) -> int:
        return self._reader.prefetch - sum(map(len, self._unacknowledged.values()))
