"""Followers: the next read of a client that follows streams, and what its answer means for an output.

It owns positions, gaps, filters, the reads that followers at the same position share, and the reads of a
group's consumer: if a thousand subscribers have read a stream to its end, the store runs one read for all of
them. It never writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

from tailrace.api.ports import Answer, StoreUnavailable, SubmitStore, Watch
from tailrace.api.problems.table import Refusal
from tailrace.api.websocket_limits import PUSH_BYTES_MAX, PUSH_ENTRIES_MAX
from tailrace.api.wire.filtering import AT_ONCE_MAX, ScanTurns
from tailrace.core.commands import SOME_INCARNATION, Read, ReadFrom, ReadGroup, ReadLimits
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.filters import Filter as EntryCondition
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import Entries, ReadReply, StreamRead
from tailrace.core.stream_id import ZERO_ID, StreamId, parse_id

# --- what a follower selects -------------------------------------------------------------------------


class FieldFilter(NamedTuple):
    """Selects entries in which each of these fields has one of its values. Equal filters share their
    results."""

    fields: tuple[tuple[bytes, frozenset[bytes]], ...]

    @property
    def step_entries(self) -> int:
        """How many entries it tests at once, before others get a turn."""
        return PUSH_ENTRIES_MAX

    def lets_through(self, fragment: bytes) -> bool:
        """Return whether an entry matches. If a name repeats, one matching value is enough. O(bytes)."""
        flat = flat_of(fragment)
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return all(
            any(has == name and value in values for has, value in pairs) for name, values in self.fields
        )

    def select(self, entries: Entries) -> Entries:
        """Return the entries that match. O(bytes)."""
        found = [
            (value, fragment)
            for value, fragment in zip(entries.ids, entries.fragments, strict=True)
            if fragment is not None and self.lets_through(fragment)
        ]
        return Entries([value for value, _ in found], [fragment for _, fragment in found])


Filter: TypeAlias = FieldFilter | EntryCondition
"""What a follower selects: fields with given values, or a condition."""


def filter_of(fields: Mapping[bytes, frozenset[bytes]]) -> FieldFilter:
    """Return the filter for these fields and values."""
    return FieldFilter(tuple(sorted(fields.items(), key=lambda item: item[0])))


class Delivery:
    """The result of one read of a stream. `frames`: what outputs have encoded of it, by the names that they
    give to equal frames."""

    __slots__ = ("_selections", "frames", "read")

    def __init__(self, read: StreamRead) -> None:
        self.read = read
        self.frames: dict[tuple[object, ...], bytes] = {}
        self._selections: dict[Filter, Entries] = {}

    def selection(self, wanted: Filter | None) -> Entries:
        """Return the entries that match the filter; computed once for each filter."""
        if wanted is None:
            return self.read.entries
        found = self._selections.get(wanted)
        if found is None:
            found = self._selections[wanted] = wanted.select(self.read.entries)
        return found

    def next_after(self, wanted: Filter | None, count: int) -> StreamId:
        """Return the position after the first `count` matching entries."""
        entries = self.selection(wanted)
        return self.read.next if count == len(entries.ids) else entries.ids[count - 1]


# --- reads -------------------------------------------------------------------------------------------


SKIPPED_MAX: Final = 1_000
"""After this many entries that do not match, a follower tells the client its position, so that a client that
comes back does not make the server examine them again."""


class Reading:
    """A read of a follower. `take` gets its answer: in the turn that wakes the read if it waits; entries that
    it finds at once follow in a later turn, so that a long backlog does not hold up others."""

    __slots__ = ("_watch",)

    _watch: Watch | None

    def begin(self, store: SubmitStore, command: Read | ReadGroup) -> None:
        """Run `command`. An error may reach `take` before this returns."""
        self._watch = None
        store.submit(command, self.answered, self._waits if command.block_ms is not None else None)

    def _waits(self, watch: Watch) -> None:
        self._watch = watch

    def answered(self, answer: Answer) -> None:
        """Get the answer of the store."""
        if self._watch is None and isinstance(answer, ReadReply):
            asyncio.get_running_loop().call_soon(self.take, answer)
        else:
            self.take(answer)

    def stop(self) -> None:
        """Stop waiting. `take` may still get an answer that exists already."""
        if self._watch is not None:
            self._watch.cancel()

    def take(self, answer: Answer) -> None:
        """Get the answer when it is its turn."""
        raise NotImplementedError


# --- reads that followers share ----------------------------------------------------------------------


class ReadPosition(NamedTuple):
    """The position of a reader: a stream, and the id after which it reads. With `strict`, a gap is an
    error. `incarnation`: as in `ReadFrom`. `most`: how many entries it reads."""

    key: bytes
    after: StreamId
    strict: bool
    incarnation: str | None
    most: int


Received: TypeAlias = Delivery | StreamError | StoreUnavailable


class SharedReads:
    """The reads of one store. `is_shared`: whether readers at the same position share a read. `turns`: those
    of filters."""

    def __init__(self, store: SubmitStore, turns: ScanTurns | None = None, *, is_shared: bool = True) -> None:
        self.turns = turns or ScanTurns()
        self._store = store
        self._is_shared = is_shared
        self._reads: dict[ReadPosition, SharedRead] = {}

    def __len__(self) -> int:
        return len(self._reads)

    def join(self, place: ReadPosition, member: Feed) -> None:
        """Let `member` wait at `place`. It must not wait already. O(1) if other members wait there."""
        read = member.waiting = self._reads.get(place) or SharedRead(self._reads, place)
        is_new = not read.members
        read.members[member] = None
        if is_new:
            if self._is_shared:
                self._reads[place] = read
            read.begin(self._store, _command(place))


def _command(place: ReadPosition) -> Read:
    key, after, strict, incarnation, most = place
    limits = ReadLimits(max_count=most, max_bytes=PUSH_BYTES_MAX)
    return Read((ReadFrom(key, after, incarnation),), limits, block_ms=0, strict=strict)


class SharedRead(Reading):
    """One read and its waiting readers, in the order in which they joined. `reads`: where others find it."""

    __slots__ = ("_is_open", "_place", "_reads", "members")

    def __init__(self, reads: dict[ReadPosition, SharedRead], place: ReadPosition) -> None:
        self._reads = reads
        self._place = place
        self._is_open = True
        self.members: dict[Feed, None] = {}

    def take(self, answer: Answer) -> None:
        """Pass the store's answer to every member."""
        if not self._is_open:
            return
        self._close()
        received: Received
        if isinstance(answer, ReadReply):
            received = Delivery(answer.streams[0])
        else:
            assert isinstance(answer, StreamError | StoreUnavailable)
            received = answer
        for member in list(self.members):
            # An earlier member may have removed this one when it received the answer.
            if member in self.members:
                try:
                    member.received(received)
                except Exception as error:  # noqa: BLE001 - a defect must not affect the other members
                    member.failed(error)

    def leave(self, member: Feed) -> None:
        """Stop waiting for `member`; it receives nothing."""
        del self.members[member]
        if self._is_open and not self.members:
            self._close()
            self.stop()

    def _close(self) -> None:
        self._is_open = False
        self._reads.pop(self._place, None)


# --- one stream --------------------------------------------------------------------------------------


class StreamOutput(Protocol):
    """Where the feeds of one client send. `wanted`: what it selects. `reads`: how its feeds read."""

    wanted: Filter | None
    reads: SharedReads

    @property
    def may_push(self) -> bool:
        """True if it is open, there is credit, and the client reads its output."""
        ...

    def push(self, feed: Feed, delivery: Delivery, incarnation: str | None) -> int:
        """Send as much of the selection of a delivery as the credit allows. Return how many entries: 0 if
        nothing may be sent now. `incarnation`: that of the stream, if the client does not know it."""
        ...

    def tell_position(self, feed: Feed, delivery: Delivery, incarnation: str | None) -> bool:
        """Send the position after a delivery of which no entry matches. Return False if nothing may be sent
        now."""
        ...

    def tell_gap(self, feed: Feed, after: StreamId, before: StreamId, **more: str | None) -> None:
        """Send that the entries between the two ids were trimmed, or are of another stream: `more` has its
        incarnation then."""
        ...

    def end(self, failure: Refusal) -> None:
        """End all feeds of the output, and send the reason."""
        ...

    def failed(self, error: Exception) -> None:
        """Handle a defect."""
        ...


class Start(NamedTuple):
    """Where a feed begins to read a stream. `incarnation`: as in `ReadFrom`. `is_ahead`: whether the stream
    has not reached the position, which the client chose. `gap`: why a first read would be refused, if that is
    known."""

    key: bytes
    after: StreamId
    incarnation: str | None
    is_ahead: bool = False
    gap: StreamError | None = None


class Feed:
    """One stream of an output: its position, and its waiting read.

    `position` is the last id that was read. `incarnation` is that of the stream in which the position was
    reached. `is_ahead`: as in `Start`. `skipped`: entries that did not match since the client learned the
    position.
    """

    __slots__ = (
        "_gap_told_to",
        "_output",
        "_told",
        "incarnation",
        "is_ahead",
        "key",
        "position",
        "skipped",
        "waiting",
    )

    def __init__(self, output: StreamOutput, start: Start) -> None:
        self._output = output
        self.key, self.position, self.incarnation, self.is_ahead, _ = start
        self._told = self.incarnation
        self.skipped = 0
        self.waiting: SharedRead | None = None
        self._gap_told_to = ZERO_ID
        """The id up to which a gap was reported to the client."""

    def arm(self) -> None:
        """Wait for entries, if they may be sent."""
        output = self._output
        if self.waiting is None and output.may_push:
            is_strict = self.position >= self._gap_told_to
            most = PUSH_ENTRIES_MAX if output.wanted is None else output.wanted.step_entries
            place = ReadPosition(self.key, self.position, is_strict, self.incarnation, most)
            output.reads.join(place, self)

    def close(self) -> None:
        """Stop waiting."""
        if self.waiting is not None:
            self.waiting.leave(self)
            self.waiting = None

    def received(self, received: Received) -> None:
        """Send the entries or the gap, or end the output with the error."""
        self.waiting = None
        if isinstance(received, Delivery):
            self.incarnation = received.read.incarnation or SOME_INCARNATION
            self.is_ahead = False
            self._take(received)
        elif isinstance(received, StreamError) and received.code is ErrorCode.POSITION_TRIMMED:
            self._tell_gap(received)
        else:
            self._output.end(received)

    def failed(self, error: Exception) -> None:
        """Pass a defect on to the output."""
        self._output.failed(error)

    def _take(self, delivery: Delivery) -> None:
        """Send as much as the credit allows; the rest is read again later."""
        output = self._output
        if not delivery.selection(output.wanted).ids:
            self._skip(delivery)
            return
        count = output.push(self, delivery, self._untold(delivery))
        if count:
            self._told = self.incarnation
            self.skipped = 0
            self.position = delivery.next_after(output.wanted, count)
            self.arm()

    def _skip(self, delivery: Delivery) -> None:
        """Read on after entries of which none matches. Further stored entries wait for the turn of the
        filter."""
        self.position = delivery.read.next
        self.skipped += len(delivery.read.entries)
        if self.skipped >= SKIPPED_MAX:
            self.skipped = 0
            if self._output.tell_position(self, delivery, self._untold(delivery)):
                self._told = self.incarnation
        if len(delivery.read.entries) > AT_ONCE_MAX:
            self._output.reads.turns.later(self.arm)
        else:
            self.arm()

    def _untold(self, delivery: Delivery) -> str | None:
        """Return the incarnation of the delivery's stream if the client does not know it."""
        incarnation = delivery.read.incarnation
        return None if incarnation == self._told else incarnation

    def _tell_gap(self, error: StreamError) -> None:
        after = self.position
        if "next" in error.details:
            self._begin_again(after, error)
            return
        first_id = parse_id(error.details["first_id"].encode())
        if first_id > after + 1:
            before = first_id
            self.position = first_id - 1
        else:
            # Entries in the middle were trimmed (those that every group has acknowledged). The engine reports
            # that some are missing, but not which ones, so one gap covers all of them.
            self._gap_told_to = parse_id(error.details["last_id"].encode())
            before = self._gap_told_to + 1
        self._output.tell_gap(self, after, before)
        self.arm()

    def _begin_again(self, after: StreamId, error: StreamError) -> None:
        """Report a gap that ends at the beginning of another stream, and read on there."""
        self.position = parse_id(error.details["next"].encode())
        self._gap_told_to = ZERO_ID
        self.incarnation = self._told = incarnation = error.details.get("incarnation")
        self._output.tell_gap(self, after, self.position + 1, incarnation=incarnation)
        self.arm()


# --- a consumer of a group ---------------------------------------------------------------------------


class GroupOutput(Protocol):
    """Where the entries of one consumer go."""

    def next_read(self) -> ReadGroup | None:
        """Return the next read: it asks for no more than may be sent. None: nothing may be sent now."""
        ...

    def take(self, reads: Sequence[StreamRead]) -> None:
        """Send the entries of a read, or return them to the group if that is no longer possible."""
        ...

    def end(self, failure: Refusal) -> None:
        """End the output, and send the reason."""
        ...

    def failed(self, error: Exception) -> None:
        """Handle a defect."""
        ...


class GroupFollower(Reading):
    """The reads of one consumer."""

    __slots__ = ("_is_closed", "_is_reading", "_output", "_store")

    def __init__(self, store: SubmitStore, output: GroupOutput) -> None:
        self._store = store
        self._output = output
        self._is_reading = False
        self._is_closed = False
        self._watch = None

    def arm(self) -> None:
        """Wait for entries, if they may be sent."""
        if self._is_reading or self._is_closed:
            return
        command = self._output.next_read()
        if command is not None:
            self._is_reading = True
            self.begin(self._store, command)

    def close(self) -> None:
        """Stop reading. The output still takes the entries of a read that has an answer already."""
        self._is_closed = True
        if self._is_reading:
            self.stop()

    def take(self, answer: Answer) -> None:
        """Pass the answer to the output, and read on."""
        self._is_reading = False
        try:
            if isinstance(answer, ReadReply):
                self._output.take(answer.streams)
                self.arm()
            elif not self._is_closed:
                assert isinstance(answer, StreamError | StoreUnavailable)
                self._output.end(answer)
        except Exception as error:  # noqa: BLE001 - the output owns what a defect ends
            self._output.failed(error)
