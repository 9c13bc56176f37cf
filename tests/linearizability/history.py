"""Histories of concurrent clients of one stream, and the check that they are linearizable.

A history is linearizable if every operation can be given one instant between its start and its end so that
the results are those of the operations one after another. Ids give the order of the appends, and the ranges
of entries that a group was given are the order of its reads, so no search is needed: each result names the
position at which it must have happened, and the check looks for operations that the clock puts the other
way round. Everything here is a function of the history.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise


@dataclass(frozen=True)
class Span:
    """When the client sent the request, and when it had the response, in nanoseconds of one clock."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Appended(Span):
    """An append, and the id in its response."""

    id: str


@dataclass(frozen=True)
class SawNewest(Span):
    """A read of the newest entries: their ids, rising. `asked`: how many it asked for."""

    ids: Sequence[str]
    asked: int


@dataclass(frozen=True)
class GroupRead(Span):
    """A read of new entries by a consumer of the group. `asked`: how many it asked for."""

    consumer: str
    ids: Sequence[str]
    asked: int


@dataclass(frozen=True)
class Acknowledged(Span):
    """An acknowledgment of one entry. `count`: 1 if this request removed it from the pending entries."""

    id: str
    count: int


@dataclass(frozen=True)
class SawPending(Span):
    """A read of all pending entries of one consumer: their ids."""

    consumer: str
    ids: frozenset[str]


@dataclass
class History:
    """All operations of all clients on one stream, which was empty, with one group from its beginning."""

    appends: list[Appended] = field(default_factory=list)
    newest: list[SawNewest] = field(default_factory=list)
    group_reads: list[GroupRead] = field(default_factory=list)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    pending: list[SawPending] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, vars(self).values()))


def violations(history: History) -> Iterator[str]:
    """Yield what no order of the operations explains, as sentences. O(n log n)."""
    order = _Order(history.appends)
    yield from order.repeated()
    seen: list[SawNewest | GroupRead | SawPending] = [
        *history.newest,
        *history.group_reads,
        *history.pending,
    ]
    unknown = {entry_id for each in seen for entry_id in each.ids if entry_id not in order.positions}
    if unknown:
        yield f"entries were seen that no append returned: {sorted(unknown)}"
        return
    yield from _of_the_log(order, history)
    yield from _of_group_reads(order, history.group_reads)
    yield from _of_acknowledgments(history)
    yield from _of_pending(history)


class _Order:
    """The appends by their ids."""

    def __init__(self, appends: Iterable[Appended]) -> None:
        self.appends = sorted(appends, key=lambda append: _parsed(append.id))
        self.positions = {append.id: position for position, append in enumerate(self.appends)}
        self._starts = sorted(append.start_ns for append in self.appends)
        by_end = sorted((append.end_ns, self.positions[append.id]) for append in self.appends)
        self._ends = [end_ns for end_ns, _ in by_end]
        self._greatest = list(accumulate((position for _, position in by_end), max))

    def repeated(self) -> Iterator[str]:
        """Yield the ids that two appends returned."""
        for first, second in pairwise(self.appends):
            if first.id == second.id:
                yield f"two appends returned the id {first.id}"

    def greatest_before(self, ns: int) -> int:
        """Return the greatest position of an append that had ended before `ns`; -1 if there is none."""
        count = bisect_left(self._ends, ns)
        return self._greatest[count - 1] if count else -1


def _parsed(entry_id: str) -> tuple[int, int]:
    milliseconds, _, sequence = entry_id.partition("-")
    return int(milliseconds), int(sequence)


def _of_the_log(order: _Order, history: History) -> Iterator[str]:
    """Appends and reads of the newest entries, each at the length of the stream that it shows."""
    # (length after it, appends before reads): the operations in the only order that explains the results.
    placed: list[tuple[int, int, Span]] = [
        (position + 1, 0, append) for position, append in enumerate(order.appends)
    ]
    for seen in history.newest:
        positions = [order.positions[entry_id] for entry_id in seen.ids]
        if any(second != first + 1 for first, second in pairwise(positions)):
            yield f"a read of the newest entries passed over some: {seen.ids}"
            continue
        length = positions[-1] + 1 if positions else 0
        if len(positions) < min(seen.asked, length):
            yield f"a read of the newest {seen.asked} of {length} entries returned {len(positions)}"
        placed.append((length, 1, seen))
    placed.sort(key=lambda item: (*item[:2], item[2].start_ns))
    yield from _against_the_clock(span for _, _, span in placed)


def _against_the_clock(ordered: Iterable[Span]) -> Iterator[str]:
    """Yield operations that had ended before an operation started that must have happened earlier."""
    latest: Span | None = None
    for span in ordered:
        if latest is not None and span.end_ns < latest.start_ns:
            yield f"{span} had ended before {latest} started, which must have happened earlier"
        if latest is None or span.start_ns > latest.start_ns:
            latest = span


def _of_group_reads(order: _Order, reads: Sequence[GroupRead]) -> Iterator[str]:
    """Each entry is given once, in order; and a read that was given fewer than it asked for got all."""
    given = sorted((read for read in reads if read.ids), key=lambda read: order.positions[read.ids[0]])
    flat = [order.positions[entry_id] for read in given for entry_id in read.ids]
    if flat != list(range(len(flat))):
        yield "the group was not given every entry once and in order"
        return
    yield from _against_the_clock(given)
    for read in given:
        last = order.positions[read.ids[-1]]
        if order.appends[last].start_ns > read.end_ns:
            yield f"{read} returned an entry before its append started"
    started = sorted((read.start_ns, order.positions[read.ids[-1]]) for read in given)
    starts = [start_ns for start_ns, _ in started]
    greatest = list(accumulate((position for _, position in started), max))
    for read in reads:
        if len(read.ids) < read.asked:
            count = bisect_right(starts, read.end_ns)
            last_given = order.positions[read.ids[-1]] if read.ids else greatest[count - 1] if count else -1
            if order.greatest_before(read.start_ns) > last_given:
                yield f"{read} was not given an entry whose append had ended before"


def _of_acknowledgments(history: History) -> Iterator[str]:
    """Each entry is acknowledged at most once, and not before it was given."""
    given = {entry_id: read for read in history.group_reads for entry_id in read.ids}
    removed = Counter(done.id for done in history.acknowledged if done.count)
    for entry_id, count in removed.items():
        if count > 1:
            yield f"{count} acknowledgments of {entry_id} removed it"
    for done in history.acknowledged:
        if done.count and (done.id not in given or given[done.id].start_ns > done.end_ns):
            yield f"{done} removed an entry that the group had not been given"
    removals = {done.id: done for done in history.acknowledged if done.count}
    for done in history.acknowledged:
        if done.count:
            continue
        removal = removals.get(done.id)
        was_given = done.id in given and given[done.id].end_ns < done.start_ns
        if was_given and (removal is None or removal.start_ns > done.end_ns):
            yield f"{done} did not remove an entry that was pending"


def _of_pending(history: History) -> Iterator[str]:
    """The pending entries of a consumer are those that it was given and no client acknowledged."""
    removals = {done.id: done for done in history.acknowledged if done.count}
    given: defaultdict[str, dict[str, GroupRead]] = defaultdict(dict)
    for read in history.group_reads:
        given[read.consumer].update(dict.fromkeys(read.ids, read))
    for seen in history.pending:
        of_consumer = given[seen.consumer]
        for entry_id in seen.ids:
            yield from _seen_pending(seen, entry_id, of_consumer.get(entry_id), removals.get(entry_id))
        for entry_id, read in of_consumer.items():
            removal = removals.get(entry_id)
            is_removed = removal is not None and removal.start_ns <= seen.end_ns
            if entry_id not in seen.ids and read.end_ns < seen.start_ns and not is_removed:
                yield f"{entry_id} was not pending for {seen.consumer}, which had read it"


def _seen_pending(
    seen: SawPending, entry_id: str, read: GroupRead | None, removal: Acknowledged | None
) -> Iterator[str]:
    """Yield why one entry cannot have been pending for the consumer that `seen` asked for."""
    if read is None:
        yield f"{entry_id} was pending for {seen.consumer}, which was not given it"
    elif read.start_ns > seen.end_ns:
        yield f"{seen.consumer} had {entry_id} pending before it read it"
    if removal is not None and removal.end_ns < seen.start_ns:
        yield f"{entry_id} was pending after its acknowledgment"
