"""The state of one tail: where it stands, what it asks the store next, and what it sends.

Sans-IO: replies of the store go in, events as bytes come out, and whoever drives it
(`api.routes.tail`) does so step by step::

    questions() -> answered(replies)     what must be known before it reads on, mostly nothing
    is_full                              a group's window holds no more: look again later
    read(block_ms) -> taken(reply)       or refused(error), which raises what ends the tail

Two kinds. `PlainTail` reads from positions and reports what was trimmed away before it came by.
`GroupTail` reads as a group's consumer and holds at most a window of unacknowledged deliveries.
Streams take turns: the one that was served last is asked last, so that a busy one starves no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from api import sse
from api.names import named
from api.replies import entries_json, slice_json
from core.commands import Command, PendingRange, Read, ReadFrom, ReadGroup, ReadLimits, Special
from core.entry import Shape
from core.errors import ErrorCode, StreamError
from core.replies import ReadReply, Reply, StreamRead
from core.stream_id import StreamId, format_id, parse_id

_EVENT_LIMITS: Final = ReadLimits(max_count=sse.EVENT_ENTRIES_MAX, max_bytes=sse.EVENT_BYTES_MAX)
_PROBE_LIMITS: Final = ReadLimits(max_count=1)
_ALL: Final = 1 << 62
"""A count that bounds nothing: the ids asked about do."""


class Form(NamedTuple):
    """How entries are written; `labelled`: the tail is over several streams, and each event names its."""

    shape: Shape
    labelled: bool

    def entries(self, read: StreamRead, *, deliveries: bool) -> object:
        """The data of an `entries` event."""
        if self.labelled:
            return slice_json(read, self.shape, deliveries=deliveries)
        return entries_json(read.entries, self.shape, deliveries=deliveries)

    def last_event_id(self, positions: Mapping[bytes, StreamId]) -> str:
        """What to send back as `Last-Event-ID` to resume from `positions`; empty where there is none."""
        if self.labelled:
            return sse.composite_id(positions)
        return "".join(map(format_id, positions.values()))


class Tail(Protocol):
    """What both kinds are to their driver."""

    @property
    def is_full(self) -> bool:
        """Whether nothing may be read before the consumer acknowledges."""
        ...

    def opening(self) -> bytes:
        """The first bytes."""
        ...

    def questions(self) -> Sequence[Command]:
        """Commands that do not wait, to be executed at one instant before reading on."""
        ...

    def answered(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """The events that their replies give. Raises the `StreamError` that ends the tail."""
        ...

    def read(self, block_ms: int) -> Read | ReadGroup:
        """The read that is to be executed next."""
        ...

    def taken(self, reply: ReadReply) -> list[bytes]:
        """The events that its reply gives; a comment where it waited in vain."""
        ...

    def refused(self, error: StreamError) -> None:
        """Its read was refused: raises `error`, or the next questions deal with it."""
        ...


class PlainTail:
    """A tail of streams from `positions` on, each exclusive."""

    is_full = False

    def __init__(self, positions: Mapping[bytes, StreamId], form: Form) -> None:
        self._positions = dict(positions)
        self._form = form
        self._trimmed = False
        """Whether some position is known to have been trimmed away, and not yet which."""
        self._holes: tuple[bytes, StreamId] | None = None
        """A stream with entries missing between those that are left, and up to where that may be so."""

    def opening(self) -> bytes:
        """The first bytes; their id is where the tail begins."""
        return sse.opening(self._last_event_id())

    def read(self, block_ms: int) -> Read:
        """All streams at once; refused where entries ahead were trimmed, so that no loss goes unseen."""
        return Read(self._sources(), _EVENT_LIMITS, block_ms, strict=True)

    def taken(self, reply: ReadReply) -> list[bytes]:
        """One event for each stream that gave entries."""
        return [self._entries(read) for read in reply.streams if read.entries.ids] or [sse.COMMENT]

    def refused(self, error: StreamError) -> None:
        """Trimmed positions are looked for; any other refusal ends the tail."""
        if error.code is not ErrorCode.POSITION_TRIMMED:
            raise error
        self._trimmed = True

    def questions(self) -> Sequence[Read]:
        """Where something was trimmed: which streams that concerns, one read each."""
        if self._holes is not None:
            key, _ = self._holes
            return [Read((ReadFrom(key, self._positions[key]),), _EVENT_LIMITS)]
        if self._trimmed:
            return [Read((source,), _PROBE_LIMITS, strict=True) for source in self._sources()]
        return []

    def answered(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """Gaps, or what is left of a stream with holes."""
        if self._holes is not None:
            return self._read_past_holes(*self._holes, replies[0])
        return self._report_gaps(replies)

    def _report_gaps(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """A gap for each position that was refused; a stream with holes is dealt with before the next."""
        self._trimmed = False
        events = []
        for key, reply in zip(tuple(self._positions), replies, strict=True):
            if isinstance(reply, StreamError):
                self._trimmed = True
                events.append(self._gap(key, reply))
            if self._holes is not None:
                break
        return events

    def _gap(self, key: bytes, error: StreamError) -> bytes:
        """Report what is gone, and go on where the stream begins now.

        Where it begins at or before the position, entries were trimmed out of its middle (by reference
        policy): how far, only its last id bounds, and what is left up to there follows.
        """
        if error.code is not ErrorCode.POSITION_TRIMMED:
            raise error
        position = self._positions[key]
        first_id = parse_id(error.details["first_id"].encode())
        if first_id > position + 1:
            self._positions[key] = first_id - 1
        else:
            first_id = parse_id(error.details["last_id"].encode()) + 1
            self._holes = key, first_id - 1
        content = {**named(key=key), "from": format_id(position), "to": format_id(first_id)}
        return sse.event("gap", content, self._last_event_id())

    def _read_past_holes(self, key: bytes, end: StreamId, reply: Reply | StreamError) -> list[bytes]:
        if isinstance(reply, StreamError):
            raise reply
        assert isinstance(reply, ReadReply)
        events = [self._entries(read) for read in reply.streams if read.entries.ids]
        if not events or self._positions[key] >= end:
            self._positions[key] = max(self._positions[key], end)
            self._holes = None
        return events

    def _entries(self, read: StreamRead) -> bytes:
        del self._positions[read.key]
        self._positions[read.key] = read.next
        return sse.event("entries", self._form.entries(read, deliveries=False), self._last_event_id())

    def _sources(self) -> tuple[ReadFrom, ...]:
        return tuple([ReadFrom(key, after) for key, after in self._positions.items()])

    def _last_event_id(self) -> str:
        return self._form.last_event_id(self._positions)


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
