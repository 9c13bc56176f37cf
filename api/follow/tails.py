"""Tails: followers over Server-Sent Events. They say which events a read leads to.

`PlainTail` follows streams from positions, and reports gaps. `GroupTail` follows them as a consumer of a
group, with a limited number of unacknowledged entries. In both, the streams take turns, so that a busy
stream does not delay the others. This module owns the life of a tail, and its signs of life. A tail writes
to an `Output` by itself; the connection disconnects a client that reads nothing.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol

from msgspec.structs import replace

from tailrace.api.follow import sse
from tailrace.api.follow.followers import Delivery, Feed, Filter, GroupFollower, SharedReads, Start
from tailrace.api.name_members import named
from tailrace.api.ports import Answer, StoreUnavailable, SubmitStore
from tailrace.api.problems.table import DEFECT, HttpCode, Refusal, problem, problem_of
from tailrace.api.websocket_limits import PUSH_BYTES_MAX, PUSH_ENTRIES_MAX
from tailrace.api.wire.filtering import ScanTurns
from tailrace.api.wire.replies import entries_json, slice_json
from tailrace.core.commands import PendingRange, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.errors import StreamError
from tailrace.core.id_keys import ends_of, id_keys
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import NO_ENTRIES, PendingEntry, StreamRead
from tailrace.core.stream_id import ZERO_ID, StreamId, format_id

PAUSE_MS_MIN: Final = 10
PAUSE_MS_MAX: Final = 320
"""The pauses, in milliseconds, after which a full window is checked again: from the first, doubling up to the
second. The store does not notify tails of acknowledgments."""

_ALL: Final = 1 << 62
"""A count without effect: the range of ids limits the reply."""


class Output(Protocol):
    """The connection of a tail. It calls `on_relief` when the client has read enough to get more."""

    on_relief: Callable[[], None]

    @property
    def can_push(self) -> bool:
        """True if the client reads what is sent, and the connection is not closing."""
        ...

    def send(self, event: bytes) -> None:
        """Write without waiting. If the connection is closing, do nothing."""
        ...


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


class Tail(ABC):
    """A tail on one connection. `request_id`: for the problem that ends it. `ended`: done when it has ended,
    with the defect that ended it, or None."""

    ended: asyncio.Future[Exception | None]
    _output: Output
    _timer: asyncio.TimerHandle

    def __init__(self, form: EventForm, request_id: str | None, heartbeat_ms: int) -> None:
        self._form = form
        self._request_id = request_id
        self._heartbeat_s = heartbeat_ms / 1000
        self._sent_at_s = 0.0
        self._is_over = False

    def begin(self, output: Output) -> None:
        """Send the first event, and then what comes."""
        loop = asyncio.get_running_loop()
        self._output = output
        self.ended = loop.create_future()
        self._send(self._opening())
        self._timer = loop.call_later(self._heartbeat_s, self._beat)
        output.on_relief = self._go_on
        self._go_on()

    def close(self) -> None:
        """Stop reading and sending."""
        self._is_over = True
        self._timer.cancel()
        self._stop()

    def end(self, failure: Refusal) -> None:
        """End the tail with a last event that has the reason."""
        self._end(sse.failure("end", problem_of(failure, self._request_id)), None)

    def failed(self, error: Exception) -> None:
        """End the tail after a defect, and tell the client."""
        self._end(sse.failure("problem", problem(HttpCode.INTERNAL, DEFECT, self._request_id)), error)

    def _go_on(self) -> None:
        """Wait for entries, unless the tail has ended."""
        try:
            if not self._is_over:
                self._arm()
        except Exception as error:  # noqa: BLE001 - a defect ends the tail
            self.failed(error)

    @property
    def may_push(self) -> bool:
        """True if events may be sent now."""
        return not self._is_over and self._output.can_push

    @abstractmethod
    def _opening(self) -> bytes:
        """Return the first bytes of the response."""

    @abstractmethod
    def _arm(self) -> None:
        """Wait for entries."""

    @abstractmethod
    def _stop(self) -> None:
        """Wait no longer."""

    def _sign_of_life(self) -> bytes:
        """Return what to send if no event was sent for the heartbeat interval."""
        return sse.COMMENT

    def _end(self, event: bytes, error: Exception | None) -> None:
        if not self._is_over:
            self.close()
            self._output.send(event)
            self.ended.set_result(error)

    def _send(self, event: bytes) -> None:
        self._sent_at_s = asyncio.get_running_loop().time()
        self._output.send(event)

    def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        left_s = self._sent_at_s + self._heartbeat_s - loop.time()
        if left_s <= 0:
            left_s = self._heartbeat_s
            if self._output.can_push:
                self._send(self._sign_of_life())
        self._timer = loop.call_later(left_s, self._beat)


class PlainTail(Tail):
    """A tail of streams without a group. It sends the entries after `starts`; with `wanted`, those that
    match. If a stream is deleted and created again, the tail reports a gap and continues with the new stream.

    The client is not told a position that its stream has not reached, so that it comes back with the one that
    it chose.

    If entries do not match, the position advances without an event. The client learns it after
    `SKIPPED_MAX` entries, and with each sign of life.
    """

    def __init__(
        self,
        store: SubmitStore,
        starts: Iterable[Start],
        form: EventForm,
        wanted: Filter | None = None,
        *,
        turns: ScanTurns | None = None,
        request_id: str | None = None,
        heartbeat_ms: int = sse.HEARTBEAT_MS,
    ) -> None:
        super().__init__(form, request_id, heartbeat_ms)
        self.wanted = wanted
        # Each tail has its own reads, so that each one counts as a reader that waits.
        self.reads = SharedReads(store, turns, is_shared=False)
        # The feed that was served last is the last one.
        self._feeds: dict[Feed, None] = {}
        self._gaps: list[tuple[Feed, StreamError]] = []
        """Known gaps, which are sent before the first entries."""
        for start in starts:
            feed = Feed(self, start)
            self._feeds[feed] = None
            if start.gap is not None:
                self._gaps.append((feed, start.gap))

    @property
    def incarnation(self) -> str | None:
        """The incarnation of the only stream; None if it is not known, or there are several streams."""
        return None if self._form.labelled else next(iter(self._feeds)).incarnation or None

    def push(self, feed: Feed, delivery: Delivery, incarnation: str | None) -> int:
        """Send the entries that match as one event."""
        if not self.may_push:
            return 0
        read = delivery.read
        if self.wanted is not None:
            read = replace(read, entries=delivery.selection(self.wanted))
        self._served(feed, read.next)
        self._send_entries(self._form.entries(read, deliveries=False), incarnation)
        return len(read.entries.ids)

    def tell_position(self, feed: Feed, delivery: Delivery, incarnation: str | None) -> bool:
        """Send an event without entries."""
        if not self.may_push:
            return False
        self._served(feed, delivery.read.next)
        self._send_entries(self._form.nothing(feed.key, feed.position), incarnation)
        return True

    def tell_gap(self, feed: Feed, after: StreamId, before: StreamId, **more: str | None) -> None:
        """Send a `gap` event."""
        content = {**named(key=feed.key), "from": format_id(after), "to": format_id(before), **more}
        self._send(sse.event("gap", content, self._last_event_id()))

    def _served(self, feed: Feed, position: StreamId) -> None:
        feed.position = position
        del self._feeds[feed]
        self._feeds[feed] = None

    def _send_entries(self, content: object, incarnation: str | None) -> None:
        untold = None if self._form.labelled else incarnation
        self._send(sse.event("entries", content, self._last_event_id(), untold))

    def _opening(self) -> bytes:
        return sse.opening(self._nothing(), self._last_event_id())

    def _sign_of_life(self) -> bytes:
        """Return a comment, or the position if it has changed since the last event."""
        if not any(feed.skipped for feed in self._feeds):
            return sse.COMMENT
        for feed in self._feeds:
            feed.skipped = 0
        return sse.event("entries", self._nothing(), self._last_event_id())

    def _arm(self) -> None:
        gaps, self._gaps = self._gaps, []
        for feed, gap in gaps:
            feed.received(gap)
        for feed in list(self._feeds):
            feed.arm()

    def _stop(self) -> None:
        for feed in self._feeds:
            feed.close()

    def _nothing(self) -> object:
        """Return the data of an event that only tells the position; it names the last stream."""
        feed = next(reversed(self._feeds))
        return self._form.nothing(feed.key, feed.position)

    def _last_event_id(self) -> str:
        known = [feed for feed in self._feeds if not feed.is_ahead]
        if not self._form.labelled:
            return format_id(known[0].position) if known else ""
        return self._form.last_event_id(
            {feed.key: feed.position for feed in known}, {feed.key: feed.incarnation for feed in known}
        )


# --- as a consumer of a group ------------------------------------------------------------------------


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


class Window:
    """The entries that a tail has sent and that are still pending for its consumer. Other connections can
    acknowledge entries, so the tail reads from the store which ones are still pending: once half of the
    window is used, before each read."""

    def __init__(self, reader: TailConsumer) -> None:
        self._reader = reader
        # By the keys of the ids (`core.id_keys`).
        self._unacknowledged: dict[bytes, set[bytes]] = {}

    @property
    def room(self) -> int:
        """How many entries may be sent."""
        return self._reader.prefetch - sum(map(len, self._unacknowledged.values()))

    def sent(self, key: bytes, ids: Sequence[StreamId]) -> None:
        """Add entries. O(ids)."""
        if not self._reader.noack:
            self._unacknowledged.setdefault(key, set()).update(id_keys(ids))

    def questions(self) -> Sequence[PendingRange]:
        """Return reads of the entries that are still pending; none while half of the window is free."""
        if 2 * self.room >= self._reader.prefetch:
            return []
        group, consumer = self._reader.group, self._reader.consumer
        return [
            PendingRange(key, group, *ends_of(sent), _ALL, consumer=consumer)
            for key, sent in self._unacknowledged.items()
        ]

    def answered(self, key: bytes, pending: Sequence[PendingEntry]) -> None:
        """Keep only those entries of a stream that are still pending. O(entries)."""
        left = self._unacknowledged[key].intersection(id_keys([entry.id for entry in pending]))
        if left:
            self._unacknowledged[key] = left
        else:
            del self._unacknowledged[key]


class GroupTail(Tail):
    """A tail that reads as a group's consumer.

    `keys` are all streams. `history` has, for streams whose pending entries are sent first, the id after
    which to begin.
    """

    def __init__(
        self,
        store: SubmitStore,
        reader: TailConsumer,
        keys: Sequence[bytes],
        history: Mapping[bytes, StreamId],
        form: EventForm,
        *,
        request_id: str | None = None,
        heartbeat_ms: int = sse.HEARTBEAT_MS,
    ) -> None:
        super().__init__(form, request_id, heartbeat_ms)
        self._store = store
        self._reader = reader
        self._keys = list(keys)
        self._history = dict(history)
        self._greatest = dict(history)
        """The greatest id sent of each stream. Claimed entries have smaller ids and do not change it."""
        self._window = Window(reader)
        self._follower = GroupFollower(store, self)
        self._questions_left = 0
        self._is_window_known = False
        """Whether the store was asked since the last read."""
        self._pause_ms = PAUSE_MS_MIN
        self._pause: asyncio.TimerHandle | None = None

    def next_read(self) -> ReadGroup | None:
        """Return the next read: first the consumer's pending entries, stream by stream, then claimed and new
        ones. None while the window is full, or the store is asked about it."""
        if not self.may_push or self._questions_left or self._pause is not None:
            return None
        if not self._is_window_known and (questions := self._window.questions()):
            self._ask(questions)
            return None
        self._is_window_known = False
        limits = ReadLimits(max_count=min(self._window.room, PUSH_ENTRIES_MAX), max_bytes=PUSH_BYTES_MAX)
        group, consumer = self._reader.group, self._reader.consumer
        for key, after in self._history.items():
            return ReadGroup(group, consumer, (ReadFrom(key, after),), limits)
        sources = tuple([ReadFrom(key, Special.NEW) for key in self._keys])
        claim_min_idle_ms, noack = self._reader.claim_min_idle_ms, self._reader.noack
        return ReadGroup(group, consumer, sources, limits, 0, claim_min_idle_ms, noack)

    def take(self, reads: Sequence[StreamRead]) -> None:
        """Send one event for each stream with entries. A history without entries is complete."""
        if self._is_over:
            return  # the entries stay pending: other consumers can claim them
        found = [read for read in reads if read.entries.ids]
        for read in found:
            self._push(read)
        if not found and self._history:
            del self._history[reads[0].key]

    def _push(self, read: StreamRead) -> None:
        key, ids = read.key, read.entries.ids
        self._greatest[key] = max(self._greatest.get(key, 0), *ids)
        if read.history:
            self._history[key] = read.next
        self._window.sent(key, ids)
        self._keys.remove(key)
        self._keys.append(key)
        content = self._form.entries(read, deliveries=True)
        self._send(sse.event("entries", content, self._form.last_event_id(self._greatest)))

    def _ask(self, questions: Sequence[PendingRange]) -> None:
        """Ask which entries are still pending. Each question is a command of its own, so that they never
        exceed the work limit of one transaction."""
        self._questions_left = len(questions)
        for question in questions:
            self._store.submit(question, partial(self._answered, question.key))

    def _answered(self, key: bytes, answer: Answer) -> None:
        if self._is_over:
            return
        if isinstance(answer, StreamError | StoreUnavailable):
            self.end(answer)
            return
        assert isinstance(answer, list)
        self._window.answered(key, answer)
        self._questions_left -= 1
        if self._questions_left:
            return
        if self._window.room <= 0:
            loop = asyncio.get_running_loop()
            self._pause = loop.call_later(self._pause_ms / 1000, self._pause_is_over)
            self._pause_ms = min(2 * self._pause_ms, PAUSE_MS_MAX)
        else:
            self._is_window_known = True
            self._pause_ms = PAUSE_MS_MIN
            self._go_on()

    def _pause_is_over(self) -> None:
        self._pause = None
        self._go_on()

    def _opening(self) -> bytes:
        key = self._keys[0]
        nothing = self._form.nothing(key, self._greatest.get(key, ZERO_ID))
        return sse.opening(nothing, self._form.last_event_id(self._greatest))

    def _arm(self) -> None:
        self._follower.arm()

    def _stop(self) -> None:
        self._follower.close()
        if self._pause is not None:
            self._pause.cancel()
