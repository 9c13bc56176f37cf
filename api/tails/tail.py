"""The state of one tail: where it stands, what it asks the store next, and what it sends.

Sans-IO: replies of the store go in, events as bytes come out, and whoever drives it
(`api.tails.tail_response`) does so step by step::

    questions() -> answered(replies)     what must be known before it reads on, mostly nothing
    is_full                              a group's window holds no more: look again later
    read(block_ms) -> taken(reply)       or refused(error), which raises what ends the tail

Two kinds. `PlainTail` reads from positions and reports what was trimmed away before it came by;
`api.tails.group_tail` reads as a group's consumer. In both streams take turns: the one that was served last
is asked last, so that a busy one starves no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from tailrace.api.name_members import named
from tailrace.api.tails import sse
from tailrace.api.wire.replies import entries_json, slice_json
from tailrace.core.commands import Command, Read, ReadFrom, ReadGroup, ReadLimits
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import ReadReply, Reply, StreamRead
from tailrace.core.stream_id import StreamId, format_id, parse_id

_EVENT_LIMITS: Final = ReadLimits(max_count=sse.EVENT_ENTRIES_MAX, max_bytes=sse.EVENT_BYTES_MAX)
_PROBE_LIMITS: Final = ReadLimits(max_count=1)


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
