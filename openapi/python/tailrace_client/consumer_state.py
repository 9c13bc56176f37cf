"""The state of a consumer and the calls that it needs, independent of threads and tasks. It sends nothing.

The loop is: read (first entries that are idle long enough, then new ones), pass to workers, acknowledge. A
consumer *holds* an entry from the read until the entry is settled. An entry is settled when it is
acknowledged, returned to the group, stored as a dead letter, or released because its handler failed. A
released entry stays pending and is delivered again once it is idle long enough.

Rules that must hold:

* An entry that the consumer holds is not passed to a worker again, even if its lease expired and the group
  delivered it to this consumer once more.
* If the response to a read is lost, entries may be pending for this consumer although it never received them.
  If the consumer claims idle entries, it gets them back that way. Otherwise it reads its own pending entries
  after every lost response, and also at the start: those are left from an earlier run with the same name.
* An entry that was delivered `max_deliveries` times is not tried again; `dead_letters` stores it elsewhere.
* Positions and held entries belong to one stream. If the stream was deleted and another one created, the
  group begins before the first entry of the new stream, and the held entries are lost.
* A lease is extended only while the entry is still pending for this consumer. An entry that another consumer
  took over is *lost*: this consumer releases it at once, tells its item, and settles it no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from tailrace_client import entry_calls, group_calls, replies
from tailrace_client.call import Call
from tailrace_client.consumer_options import ConsumerOptions
from tailrace_client.entries import Delivery, Slice
from tailrace_client.errors import TailraceError
from tailrace_client.fields import Fields
from tailrace_client.group_calls import NackMode

NEW: Final = ">"
FIRST: Final = "0-0"
LAST: Final = "$"
BEFORE_ALL: Final = (0, 0)
"""The order of a position that is not an id, such as `$`: the first id that is seen replaces it."""

IDS_PER_REQUEST_MAX: Final = 10_000
"""The server's limit `ids_per_request_max`."""


class Work(Protocol):
    """The members of an item that the state needs."""

    @property
    def stream(self) -> str:
        """The key of the item's stream."""
        ...

    @property
    def id(self) -> str:
        """The id of the item's entry."""
        ...


class Held(Work, Protocol):
    """The members of an item that the consumer holds. `is_leaving`: its acknowledgment is on the way."""

    is_leaving: bool

    def lose(self) -> None:
        """Mark the item as lost."""
        ...


Key = tuple[str, str]
ItemT = TypeVar("ItemT", bound=Held)
WorkT = TypeVar("WorkT", bound=Work)


class Read(NamedTuple):
    """An entry as the group delivered it, with its stream."""

    stream: str
    entry: Delivery

    @property
    def id(self) -> str:
        """Return the id of the entry."""
        return self.entry.id


class Settle(NamedTuple):
    """A call that settles items of one stream, and returns how many of them were pending."""

    call: Call[int]
    items: Sequence[Held | Read]


class ConsumerState(Generic[ItemT]):
    """The state of one consumer. `held`: the items that are not settled, by stream and id."""

    def __init__(self, options: ConsumerOptions) -> None:
        self.options = options
        self.held: dict[Key, ItemT] = {}
        self._positions = dict.fromkeys(options.streams, NEW)
        self._newest = dict.fromkeys(options.streams, options.after)
        self._seen: dict[str, Fields | None] = {}
        """The fields of the newest entry that the consumer has received, by stream."""
        self.begin_again()

    # --- reading -------------------------------------------------------------------------------

    def create_calls(self) -> list[Call[Any]]:
        """Return the calls that create the group on every stream, from the last entry that this consumer has
        seen. A new group has no settings."""
        group = self.options.group
        self.begin_settings()
        return [
            group_calls.create(key, group, after, create_stream=True) for key, after in self._newest.items()
        ]

    def look_call(self, error: TailraceError) -> Call[Fields] | None:
        """Return the call that reads the newest entry that the consumer has received of the stream whose
        group is missing; None if no look is needed."""
        key = error.key
        if key not in self._seen or error.problem.get("missing") == "stream":
            return None
        assert isinstance(key, str)
        return entry_calls.entry(key, self._newest[key])

    def is_newest(self, error: TailraceError, fields: Fields) -> bool:
        """Return whether the entry that `look_call` has found is the one that the consumer has received."""
        return self._seen.get(str(error.key)) == fields

    def begin_anew(self, error: TailraceError) -> list[ItemT]:
        """Begin before the first entry of the stream whose group is missing: it is another one than before.
        Return the items that the consumer held of the earlier stream. Of a missing stream, `$` is the
        beginning: entries that are appended before the group exists again are new."""
        key = error.key
        if key not in self._seen:
            if error.problem.get("missing") == "stream" and self._newest.get(str(key)) == LAST:
                self._newest[str(key)] = FIRST
            return []
        assert isinstance(key, str)
        del self._seen[key]
        self._newest[key] = FIRST
        return [item for item in self.held.values() if item.stream == key]

    def begin_again(self) -> None:
        """Begin like a new consumer."""
        self.begin_settings()
        self.answer_lost()

    def begin_settings(self) -> None:
        """Let the settings of the group be sent again, to every stream."""
        self._unset = list(self.options.streams)

    def settings_calls(self) -> Iterator[Call[replies.Group]]:
        """Yield the calls that set the settings of the group, until each of them has succeeded once."""
        settings = self.options.settings
        while settings is not None and self._unset:
            stream = self._unset[-1]
            yield group_calls.configure(stream, self.options.group, settings.values(stream))
            self._unset.pop()

    def read_call(self, count: int, wait_ms: int) -> Call[list[Slice]]:
        """Return the next read, of at most `count` entries. It waits for entries only if the consumer has no
        pending entries left to read."""
        catches_up = any(position != NEW for position in self._positions.values())
        return group_calls.read(
            self.options.group,
            self.options.consumer,
            self._positions,
            max_count=count,
            wait_ms=None if catches_up else wait_ms,
            min_count=None
            if catches_up or self.options.min_count is None
            else min(count, self.options.min_count),
            linger_ms=None if catches_up else self.options.linger_ms,
            claim_min_idle_ms=self.options.claim_min_idle_ms,
        )

    def answer_lost(self) -> None:
        """Handle a lost response to a read, and the start of the consumer, by the second rule above."""
        if self.options.claim_min_idle_ms is None:
            self._positions = dict.fromkeys(self.options.streams, FIRST)

    def taken(self, slices: list[Slice]) -> list[Read]:
        """Return the entries of a read, without those that the consumer already holds."""
        reads = []
        for key, part in zip(self.options.streams, slices, strict=True):
            self._move_on(key, part)
            reads += [Read(key, entry) for entry in part.entries if (key, entry.id) not in self.held]
        return reads

    def _move_on(self, key: str, part: Slice) -> None:
        if self._positions[key] != NEW:
            self._positions[key] = part.next if part.entries else NEW
        for entry in part.entries:
            if key not in self._seen or _order(entry.id) > _order(self._newest[key]):
                self._newest[key] = entry.id
                self._seen[key] = entry.fields

    def may_be_dead(self, deliveries: int) -> bool:
        """Return whether the consumer's own setting allows no further delivery. The group's setting comes
        first."""
        return self.options.max_deliveries is not None and deliveries >= self.options.max_deliveries

    # --- settling ------------------------------------------------------------------------------

    def hold(self, item: ItemT) -> None:
        """Record an item that waits for a worker or is being processed."""
        self.held[item.stream, item.id] = item

    def holds(self, item: ItemT) -> bool:
        """Return whether the item is neither settled nor lost."""
        return self.held.get((item.stream, item.id)) is item

    def let_go(self, item: ItemT) -> None:
        """Forget an item that is settled or that no worker processes any longer. After a loss, the consumer
        may hold another item of the same entry."""
        if self.holds(item):
            del self.held[item.stream, item.id]

    def settle_calls(
        self,
        items: Iterable[Held | Read],
        how: Literal["ack", "nack"],
        mode: NackMode = "fail",
        delay_ms: int | None = None,
    ) -> list[Settle]:
        """Return the calls that acknowledge the items, or return them to the group, for after `delay_ms`. In
        the mode `silent`, the delivery does not count."""
        group = self.options.group
        settles = []
        for key, some in requests_of(items):
            ids = [item.id for item in some]
            if how == "ack":
                # After a lost response, the count of the repetition says nothing.
                call = replace(group_calls.ack(key, group, ids), repeated=len(ids))
            else:
                call = group_calls.nack(key, group, ids, mode, delay_ms=delay_ms)
            settles.append(Settle(call, some))
        return settles


def is_group_missing(error: TailraceError) -> bool:
    """Return whether the error says that the group or its stream does not exist."""
    return error.code in {"NOGROUP", "NO_SUCH_STREAM"}


def _order(entry_id: str) -> tuple[int, int]:
    ms, _, seq = entry_id.partition("-")
    return (int(ms), int(seq or 0)) if ms.isdigit() else BEFORE_ALL


def requests_of(items: Iterable[WorkT]) -> Iterator[tuple[str, list[WorkT]]]:
    """Yield a stream and its items, with as many items as one request may name."""
    for key, some in _by_stream(items).items():
        for start in range(0, len(some), IDS_PER_REQUEST_MAX):
            yield key, some[start : start + IDS_PER_REQUEST_MAX]


def _by_stream(items: Iterable[WorkT]) -> Mapping[str, list[WorkT]]:
    sorted_by_stream: defaultdict[str, list[WorkT]] = defaultdict(list)
    for item in items:
        sorted_by_stream[item.stream].append(item)
    return sorted_by_stream
