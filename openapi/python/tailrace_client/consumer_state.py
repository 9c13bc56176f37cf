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
* A lease is extended only while the entry is still pending for this consumer. An entry that another consumer
  took over stays with that consumer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from tailrace_client import group_calls
from tailrace_client.call import Call
from tailrace_client.entries import Delivery, Slice
from tailrace_client.errors import TailraceError
from tailrace_client.generated import models
from tailrace_client.group_calls import NackMode

NEW: Final = ">"
FIRST: Final = "0-0"
BEFORE_ALL: Final = (0, 0)
"""The order of a position that is not an id, such as `$`: the first id that is seen replaces it."""

PENDING_PAGE: Final = 10_000
IDS_PER_REQUEST_MAX: Final = 10_000
"""The server's limit `ids_per_request_max`."""

BEATS_PER_LEASE: Final = 3
"""The number of extensions within the length of a lease: two extensions can fail before the lease expires."""


def keys_of(streams: str | Iterable[str]) -> tuple[str, ...]:
    """Return one key or several keys as a tuple."""
    return (streams,) if isinstance(streams, str) else tuple(streams)


@dataclass(frozen=True, slots=True)
class Options:
    """The checked options of a consumer; `Consumer` documents them."""

    streams: tuple[str, ...]
    group: str
    consumer: str
    claim_min_idle_ms: int | None
    max_deliveries: int | None
    dead_letter_stream: str | None
    batch: int
    wait_ms: int
    create_group: bool
    after: str

    def __post_init__(self) -> None:
        if not self.streams:
            raise ValueError("streams is empty; pass at least one key")
        if self.batch < 1:
            raise ValueError(f"batch={self.batch} is too small; it must be at least 1")
        if self.max_deliveries is not None and self.max_deliveries < 1:
            raise ValueError(f"max_deliveries={self.max_deliveries} is too small; it must be at least 1")

    @property
    def beat_s(self) -> float | None:
        """Return the seconds between two extensions of leases; None if there are no leases."""
        return None if not self.claim_min_idle_ms else self.claim_min_idle_ms / BEATS_PER_LEASE / 1_000


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


Key = tuple[str, str]
ItemT = TypeVar("ItemT", bound=Work)


class Read(NamedTuple):
    """An entry as the group delivered it, with its stream."""

    stream: str
    entry: Delivery

    @property
    def id(self) -> str:
        """Return the id of the entry."""
        return self.entry.id


class ConsumerState(Generic[ItemT]):
    """The state of one consumer. `held`: the items that are not settled, by stream and id."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.held: dict[Key, ItemT] = {}
        self._positions = dict.fromkeys(options.streams, NEW)
        self._newest = dict.fromkeys(options.streams, options.after)
        self.answer_lost()

    # --- reading -------------------------------------------------------------------------------

    def create_calls(self) -> list[Call[Any]]:
        """Return the calls that create the group on every stream, from the last entry that this consumer has
        seen."""
        group = self.options.group
        return [
            group_calls.create(key, group, after, create_stream=True) for key, after in self._newest.items()
        ]

    def read_call(self) -> Call[list[Slice]]:
        """Return the next read. It waits for entries only if the consumer has no pending entries left to
        read."""
        catches_up = any(position != NEW for position in self._positions.values())
        return group_calls.read(
            self.options.group,
            self.options.consumer,
            self._positions,
            max_count=self.options.batch,
            wait_ms=None if catches_up else self.options.wait_ms,
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
            if _order(entry.id) > _order(self._newest[key]):
                self._newest[key] = entry.id

    def is_dead(self, deliveries: int) -> bool:
        """Return whether an entry with this many deliveries is not tried again."""
        return self.options.max_deliveries is not None and deliveries >= self.options.max_deliveries

    # --- settling ------------------------------------------------------------------------------

    def hold(self, item: ItemT) -> None:
        """Record an item that waits for a worker or is being processed."""
        self.held[item.stream, item.id] = item

    def holds(self, item: Work) -> bool:
        """Return whether the item is not settled yet."""
        return (item.stream, item.id) in self.held

    def let_go(self, item: Work) -> None:
        """Forget an item that is settled or that no worker processes any longer."""
        self.held.pop((item.stream, item.id), None)

    def ack_calls(self, items: Iterable[Work]) -> list[Call[int]]:
        """Return the calls that acknowledge the items."""
        return [group_calls.ack(key, self.options.group, ids) for key, ids in _requests(items)]

    def nack_calls(self, items: Iterable[Work], mode: NackMode) -> list[Call[int]]:
        """Return the calls that return the items to the group; in the mode `silent`, the delivery does not
        count."""
        return [group_calls.nack(key, self.options.group, ids, mode) for key, ids in _requests(items)]

    # --- leases --------------------------------------------------------------------------------

    def held_calls(self) -> list[tuple[str, Call[models.PendingPage]]]:
        """Return the calls that ask which held entries are still pending for this consumer, by stream."""
        calls = []
        for key, ids in _ids_by_stream(list(self.held.values())).items():
            least, greatest = min(ids, key=_order), max(ids, key=_order)
            call = group_calls.pending(
                key,
                self.options.group,
                start=least,
                end=greatest,
                count=PENDING_PAGE,
                consumer=self.options.consumer,
            )
            calls.append((key, call))
        return calls

    def extend_call(self, key: str, mine: models.PendingPage) -> Call[list[str]] | None:
        """Return the call that extends the leases of the held entries in `mine`; None if there are none."""
        ids = [item.id for item in mine.pending if (key, item.id) in self.held]
        if not ids:
            return None
        return group_calls.extend(key, self.options.group, self.options.consumer, ids)


def is_group_missing(error: TailraceError) -> bool:
    """Return whether the error says that the group or its stream does not exist."""
    return error.code in {"NOGROUP", "NO_SUCH_STREAM"}


def _order(entry_id: str) -> tuple[int, int]:
    ms, _, seq = entry_id.partition("-")
    return (int(ms), int(seq or 0)) if ms.isdigit() else BEFORE_ALL


def _requests(items: Iterable[Work]) -> Iterator[tuple[str, list[str]]]:
    """Yield stream and ids, with as many ids as one request may name."""
    for key, ids in _ids_by_stream(items).items():
        for start in range(0, len(ids), IDS_PER_REQUEST_MAX):
            yield key, ids[start : start + IDS_PER_REQUEST_MAX]


def _ids_by_stream(items: Iterable[Work]) -> Mapping[str, list[str]]:
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        ids[item.stream].append(item.id)
    return ids
