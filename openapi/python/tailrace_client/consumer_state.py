"""What a consumer of a group holds and asks for, apart from threads and tasks. It sends nothing.

The loop is: read (what fell idle first, then what is new), hand out, acknowledge. An entry that was read is
*held* until it is settled: acknowledged, given back, set aside as a dead letter, or let go because its
handler failed (it stays pending then, and comes back once it is idle long enough).

Rules that must hold:

* An entry that is held is not handed out again, even where its lease ran out and the group gave it to this
  same consumer once more.
* A lost answer to a read may have made entries pending for this consumer that nobody works on. Where the
  consumer claims idle entries, that brings them back. Where it does not, it reads its own pending entries
  after every such loss, and at the start: those of its former life.
* An entry that was delivered `max_deliveries` times is not tried again; `dead_letters` sets it aside.
* A lease is extended only while the entry is still pending for this consumer: what another took stays there.
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
from tailrace_client.generated.models import PendingPage
from tailrace_client.group_calls import NackMode

NEW: Final = ">"
FIRST: Final = "0-0"
BEFORE_ALL: Final = (0, 0)
"""`$`, as the first position, is replaced by the first id that is seen."""

PENDING_PAGE: Final = 10_000
IDS_PER_REQUEST_MAX: Final = 10_000
"""As the server's `ids_per_request_max`."""

BEATS_PER_LEASE: Final = 3
"""A lease is extended so often within its length: two extensions may fail before it runs out."""


def keys_of(streams: str | Iterable[str]) -> tuple[str, ...]:
    """One key or several, as a consumer is told them."""
    return (streams,) if isinstance(streams, str) else tuple(streams)


@dataclass(frozen=True, slots=True)
class Options:
    """What a consumer is told when it is made; `Consumer` documents it."""

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
            raise ValueError("streams: at least one is needed")
        if self.batch < 1:
            raise ValueError(f"batch={self.batch}: at least 1 is needed")
        if self.max_deliveries is not None and self.max_deliveries < 1:
            raise ValueError(f"max_deliveries={self.max_deliveries}: at least 1 is needed")

    @property
    def beat_s(self) -> float | None:
        """How often leases are extended; None where there are none."""
        return None if not self.claim_min_idle_ms else self.claim_min_idle_ms / BEATS_PER_LEASE / 1_000


class Work(Protocol):
    """What the state needs to know of an item."""

    @property
    def stream(self) -> str:
        """The key of its stream."""
        ...

    @property
    def id(self) -> str:
        """Its entry's id."""
        ...


Key = tuple[str, str]
ItemT = TypeVar("ItemT", bound=Work)


class Read(NamedTuple):
    """An entry as the group gave it, and its stream."""

    stream: str
    entry: Delivery

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.entry.id


class ConsumerState(Generic[ItemT]):
    """`held`: the items that are not settled, by stream and id."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.held: dict[Key, ItemT] = {}
        self._positions = dict.fromkeys(options.streams, NEW)
        self._newest = dict.fromkeys(options.streams, options.after)
        self.answer_lost()

    # --- reading -------------------------------------------------------------------------------

    def create_calls(self) -> list[Call[Any]]:
        """What makes the group on every stream, from behind what this consumer has seen."""
        group = self.options.group
        return [
            group_calls.create(key, group, after, create_stream=True) for key, after in self._newest.items()
        ]

    def read_call(self) -> Call[list[Slice]]:
        """The next read. It waits for entries only where nothing of its own is left to be read."""
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
        """A read was sent, and what it gave is not known; also the start. See the second rule."""
        if self.options.claim_min_idle_ms is None:
            self._positions = dict.fromkeys(self.options.streams, FIRST)

    def taken(self, slices: list[Slice]) -> list[Read]:
        """What a read gave, without what is held already."""
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
        """Whether an entry that was delivered so often is not to be tried again."""
        return self.options.max_deliveries is not None and deliveries >= self.options.max_deliveries

    # --- settling ------------------------------------------------------------------------------

    def hold(self, item: ItemT) -> None:
        """It is handed out, or waits to be."""
        self.held[item.stream, item.id] = item

    def holds(self, item: Work) -> bool:
        """Whether it is not settled yet."""
        return (item.stream, item.id) in self.held

    def let_go(self, item: Work) -> None:
        """It is settled, or nobody works on it any longer."""
        self.held.pop((item.stream, item.id), None)

    def ack_calls(self, items: Iterable[Work]) -> list[Call[int]]:
        """What acknowledges them."""
        return [group_calls.ack(key, self.options.group, ids) for key, ids in _requests(items)]

    def nack_calls(self, items: Iterable[Work], mode: NackMode) -> list[Call[int]]:
        """What gives them back; `silent`: as if they had not been delivered."""
        return [group_calls.nack(key, self.options.group, ids, mode) for key, ids in _requests(items)]

    # --- leases --------------------------------------------------------------------------------

    def held_calls(self) -> list[tuple[str, Call[PendingPage]]]:
        """What tells which of the entries that are held are still pending for this consumer, by stream."""
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

    def extend_call(self, key: str, mine: PendingPage) -> Call[list[str]] | None:
        """What extends the leases of those that are held and `mine`; None where there are none."""
        ids = [item.id for item in mine.pending if (key, item.id) in self.held]
        if not ids:
            return None
        return group_calls.extend(key, self.options.group, self.options.consumer, ids)


def is_group_missing(error: TailraceError) -> bool:
    """Whether the group, or its stream, is not there (any more)."""
    return error.code in {"NOGROUP", "NO_SUCH_STREAM"}


def _order(entry_id: str) -> tuple[int, int]:
    ms, _, seq = entry_id.partition("-")
    return (int(ms), int(seq or 0)) if ms.isdigit() else BEFORE_ALL


def _requests(items: Iterable[Work]) -> Iterator[tuple[str, list[str]]]:
    """The ids by stream, as many together as one request may name."""
    for key, ids in _ids_by_stream(items).items():
        for start in range(0, len(ids), IDS_PER_REQUEST_MAX):
            yield key, ids[start : start + IDS_PER_REQUEST_MAX]


def _ids_by_stream(items: Iterable[Work]) -> Mapping[str, list[str]]:
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for item in items:
        ids[item.stream].append(item.id)
    return ids
