"""The state of one tail: its position, the next command for the store, and the events to send.

It does no input or output. Replies of the store go in, and events come out as bytes.
`api.tails.tail_response` calls it step by step::

    questions() -> answered(replies) commands to run before the next read; mostly none is_full
    a group's window is full: ask again later read(block_ms) -> taken(reply)       or refused(error), which
    raises the error that ends the tail

There are two kinds. `PlainTail` reads from positions and reports gaps. `GroupTail` (`api.tails.group_tail`)
reads as a group's consumer. In both, the streams take turns: the stream that was served last is read last,
so that a busy stream does not delay the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from msgspec.structs import replace

from tailrace.api.name_members import named
from tailrace.api.tails import sse
from tailrace.api.wire.replies import entries_json, slice_json
from tailrace.core.commands import SOME_INCARNATION, Command, Read, ReadFrom, ReadGroup, ReadLimits
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.filters import Filter
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import NO_ENTRIES, ReadReply, Reply, StreamRead
from tailrace.core.stream_id import StreamId, format_id, parse_id

_EVENT_LIMITS: Final = ReadLimits(max_count=sse.EVENT_ENTRIES_MAX, max_bytes=sse.EVENT_BYTES_MAX)
SKIPPED_MAX: Final = 1_000
"""After this many entries that do not match, a tail tells the client its position, so that a reconnecting
client does not make the server examine them again."""

_PROBE_LIMITS: Final = ReadLimits(max_count=1)


class EventForm(NamedTuple):
    """The form of the entries. With `labelled`, the tail has several streams, and each event names its
    stream."""

    shape: Shape
    labelled: bool

    def entries(self, read: StreamRead, *, deliveries: bool) -> object:
        """Return the data of an `entries` event."""
        if self.labelled:
            return slice_json(read, self.shape, deliveries=deliveries)
        return entries_json(read.entries, self.shape, deliveries=deliveries)

    def nothing(self, key: bytes, at: StreamId) -> object:
        """Return the data of an `entries` event without entries, after `at`."""
        return self.entries(StreamRead(key, NO_ENTRIES, next=at), deliveries=False)

    def last_event_id(
        self, positions: Mapping[bytes, StreamId], incarnations: Mapping[bytes, str | None] | None = None
    ) -> str:
        """Return the `Last-Event-ID` with which to resume from `positions`; empty if there are none.
        `incarnations`: those of the streams in which the positions were reached."""
        if self.labelled:
            return sse.composite_id(positions, incarnations or {})
        return "".join(map(format_id, positions.values()))


class Tail(Protocol):
    """The interface of both kinds of tails."""

    @property
    def is_full(self) -> bool:
        """True if the consumer must acknowledge entries before the tail reads more."""
        ...

    def opening(self) -> bytes:
        """Return the first bytes of the response."""
        ...

    def questions(self) -> Sequence[Command]:
        """Return commands that do not wait, to run in one atomic step before the next read."""
        ...

    def answered(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """Return the events that follow from the replies. Raises the `StreamError` that ends the tail."""
        ...

    def read(self, block_ms: int) -> Read | ReadGroup:
        """Return the next read, which waits up to `block_ms`."""
        ...

    def taken(self, reply: ReadReply) -> list[bytes]:
        """Return the events of the read's reply; a comment if it has no entries."""
        ...

    def refused(self, error: StreamError) -> None:
        """Handle a refused read: raise `error`, or ask questions about it next."""
        ...

    def sign_of_life(self) -> bytes:
        """Return what to send if no event was sent for the heartbeat interval."""
        ...


class PlainTail:
    """A tail of streams without a group. It sends the entries after `positions`; with `wanted`, those that
    match. If a stream is deleted and created again, the tail reports a gap and continues with the new stream.

    `incarnations`: those of the streams in which the positions were reached; None for a position that the
    client chose. `ahead`: streams that have not reached their position. The client is not told these
    positions, so that it comes back with the one that it chose.

    If entries do not match, the position advances without an event. The client learns it after
    `SKIPPED_MAX` entries, and with each sign of life.
    """

    is_full = False

    def __init__(
        self,
        positions: Mapping[bytes, StreamId],
        form: EventForm,
        wanted: Filter | None = None,
        incarnations: Mapping[bytes, str | None] | None = None,
        ahead: Collection[bytes] = (),
    ) -> None:
        self._positions = dict(positions)
        self._incarnations = dict(incarnations or {})
        self._ahead = set(ahead)
        self._form = form
        self._told = self.incarnation
        """The incarnation of the only stream that the client knows: from the header, a gap or an event."""
        self._wanted = wanted
        self._skipped = 0
        """Entries that did not match since the client learned the position."""
        self._trimmed = False
        """True if entries after some position were trimmed, and it is not yet known of which stream."""
        self._holes: tuple[bytes, StreamId] | None = None
        """A stream with missing entries between existing ones, and the id up to which entries may be
        missing."""

    @property
    def incarnation(self) -> str | None:
        """The incarnation of the only stream; None if it is not known, or there are several streams."""
        known = None if self._form.labelled else next(iter(self._incarnations.values()), None)
        return known or None

    def opening(self) -> bytes:
        """Return the first bytes of the response, with the start position as id."""
        return sse.opening(self._nothing(), self._last_event_id())

    def read(self, block_ms: int) -> Read:
        """Return a read of all streams. It fails if entries after a position were trimmed, so that every gap
        is noticed."""
        limits = _EVENT_LIMITS
        if self._wanted is not None:
            limits = ReadLimits(self._wanted.step_entries, self._wanted.step_entries, sse.EVENT_BYTES_MAX)
        return Read(self._sources(), limits, block_ms, strict=True)

    def taken(self, reply: ReadReply) -> list[bytes]:
        """Return one event for each stream with entries, or a comment if nothing was read."""
        reads = [read for read in reply.streams if read.entries.ids]
        return self._events(reads) if reads else [self.sign_of_life()]

    def sign_of_life(self) -> bytes:
        """Return a comment, or the position if it has changed since the last event."""
        if not self._skipped:
            return sse.COMMENT
        self._skipped = 0
        return sse.event("entries", self._nothing(), self._last_event_id())

    def refused(self, error: StreamError) -> None:
        """Look for the gap if entries were trimmed; raise any other error."""
        if error.code is not ErrorCode.POSITION_TRIMMED:
            raise error
        self._trimmed = True

    def questions(self) -> Sequence[Read]:
        """Return one read for each stream, to find the streams whose entries were trimmed."""
        if self._holes is not None:
            key, _ = self._holes
            return [Read((self._source(key),), _EVENT_LIMITS)]
        if self._trimmed:
            return [Read((source,), _PROBE_LIMITS, strict=True) for source in self._sources()]
        return []

    def answered(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """Return gap events, or the remaining entries of a stream with missing entries."""
        if self._holes is not None:
            return self._read_past_holes(*self._holes, replies[0])
        return self._report_gaps(replies)

    def _report_gaps(self, replies: Sequence[Reply | StreamError]) -> list[bytes]:
        """Return a gap for each refused position. A stream with holes is handled before the next stream."""
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
        """Return a gap event, and continue at the stream's first entry.

        If the first entry is at or before the position, entries in the middle were trimmed (by the reference
        policy). Then the gap ends at the stream's last id, and the remaining entries up to there follow.
        """
        if error.code is not ErrorCode.POSITION_TRIMMED:
            raise error
        position = self._positions[key]
        if "next" in error.details:
            return self._begin_again(key, position, error)
        first_id = parse_id(error.details["first_id"].encode())
        if first_id > position + 1:
            self._positions[key] = first_id - 1
        else:
            first_id = parse_id(error.details["last_id"].encode()) + 1
            self._holes = key, first_id - 1
        return self._gap_event(key, position, first_id)

    def _begin_again(self, key: bytes, position: StreamId, error: StreamError) -> bytes:
        """Return a gap event that ends at the beginning of another stream, and continue there."""
        self._positions[key] = parse_id(error.details["next"].encode())
        self._incarnations[key] = incarnation = error.details.get("incarnation")
        self._told = self.incarnation
        return self._gap_event(key, position, self._positions[key] + 1, incarnation=incarnation)

    def _gap_event(self, key: bytes, after: StreamId, before: StreamId, **more: str | None) -> bytes:
        content = {**named(key=key), "from": format_id(after), "to": format_id(before), **more}
        return sse.event("gap", content, self._last_event_id())

    def _read_past_holes(self, key: bytes, end: StreamId, reply: Reply | StreamError) -> list[bytes]:
        if isinstance(reply, StreamError):
            raise reply
        assert isinstance(reply, ReadReply)
        reads = [read for read in reply.streams if read.entries.ids]
        events = self._events(reads)
        if not reads or self._positions[key] >= end:
            self._positions[key] = max(self._positions[key], end)
            self._holes = None
        return events

    def _events(self, reads: Sequence[StreamRead]) -> list[bytes]:
        """Return the events for the entries that match, or the position after many that do not."""
        events = [event for read in reads if (event := self._entries(read))]
        return [self.sign_of_life()] if not events and self._skipped >= SKIPPED_MAX else events

    def _entries(self, read: StreamRead) -> bytes:
        """Return the event of a read, nothing if no entry matches."""
        self._incarnations[read.key] = read.incarnation or SOME_INCARNATION
        self._ahead.discard(read.key)
        del self._positions[read.key]
        self._positions[read.key] = read.next
        if self._wanted is not None:
            examined = len(read.entries)
            read = replace(read, entries=self._wanted.select(read.entries))
            if not read.entries.ids:
                self._skipped += examined
                return b""
        self._skipped = 0
        content = self._form.entries(read, deliveries=False)
        return sse.event("entries", content, self._last_event_id(), self._untold())

    def _untold(self) -> str | None:
        """Return the incarnation of the only stream if the client learns it with the next event."""
        untold = self.incarnation if self.incarnation != self._told else None
        self._told = self.incarnation
        return untold

    def _nothing(self) -> object:
        """Return the data of an event that only tells the position; it names the last stream."""
        return self._form.nothing(*list(self._positions.items())[-1])

    def _sources(self) -> tuple[ReadFrom, ...]:
        return tuple(map(self._source, self._positions))

    def _source(self, key: bytes) -> ReadFrom:
        return ReadFrom(key, self._positions[key], self._incarnations.get(key))

    def _last_event_id(self) -> str:
        known = {key: at for key, at in self._positions.items() if key not in self._ahead}
        return self._form.last_event_id(known, self._incarnations)
