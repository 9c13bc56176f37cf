"""XREADGROUP: new entries, one's own history, and the claim of what others left (rules 27 to 41).

For each stream in turn, with ``>``: first what has been pending too long, oldest first, then what was
never delivered. With an id: what is pending for this consumer above it. Every stream is checked
before the first is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, islice

from msgspec.structs import replace

from tailrace.core.bounds.reply_budget import ReplyBudget
from tailrace.core.commands import ReadFrom, ReadGroup, Special
from tailrace.core.deliveries import each_one_more
from tailrace.core.effects import Claimed, ConsumerCreated, ConsumerSeen, Delivered, GroupMoved
from tailrace.core.errors import no_group_for_read
from tailrace.core.execution import Execution, parsed_position
from tailrace.core.group import Group
from tailrace.core.handlers.groups import missing_for
from tailrace.core.handlers.ranges import smaller
from tailrace.core.handlers.reads import deadline_ms, take_after
from tailrace.core.idle import idle_since
from tailrace.core.lag import entries_read_after
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.outcome import Wait
from tailrace.core.pending.delivery_order import DeliveryOrder
from tailrace.core.replies import NO_ENTRIES, Entries, ReadReply, StreamRead
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, StreamId


def read_group(execution: Execution, command: ReadGroup) -> ReadReply:
    """All streams asked for, in order. O(log n + m) a stream, whatever is pending and not idle.

    Raises NOGROUP where a stream or its group is missing, before anything is changed (rule 27).
    """
    positions = [_check(execution, command, source) for source in command.streams]
    execution.room(command.limits.page_bytes).require_any()
    budget = ReplyBudget(command.limits)
    min_idle_ms = command.claim_min_idle_ms
    reads = []
    for source, after in zip(command.streams, positions, strict=True):
        if budget.is_spent or not execution.room().has_any:
            reads.append(_unread(execution, command, source.key, after))
            continue
        reader = _StreamReader(execution, command, source.key, budget)
        if isinstance(after, Special):
            reads.append(reader.read_new(min_idle_ms))
        else:
            # Redis forgets the threshold here for the streams that follow (rule 39).
            min_idle_ms = None
            reads.append(reader.read_history(after))
    reply = ReadReply(reads)
    if command.block_ms is not None and reply.is_empty:
        execution.wait = _wait(execution, command, min_idle_ms)
        execution.retry = replace(command, until_ms=execution.wait.until_ms)
    return reply


def _check(execution: Execution, command: ReadGroup, source: ReadFrom) -> StreamId | Special:
    if execution.keyspace.group(source.key, command.group) is None:
        raise no_group_for_read(source.key, command.group, missing_for(execution, source.key))
    position = parsed_position(source.after)
    # Redis writes ``>`` as the greatest id, so that id asks for new entries, too.
    return Special.NEW if position == MAX_ID else position


def _unread(execution: Execution, command: ReadGroup, key: bytes, after: StreamId | Special) -> StreamRead:
    """A stream after the one in which MAXCOUNT or MAXSIZE was reached: no consumer is made there."""
    if not isinstance(after, Special):
        return StreamRead(key, NO_ENTRIES, next=after)
    group = execution.keyspace.streams[key].groups[command.group]
    return StreamRead(key, NO_ENTRIES, next=group.last_delivered_id, new=True)


class _StreamReader:
    """One stream of one XREADGROUP. Its consumer is created, or seen, also where the stream has no entries
    for it (rules 28, 33): seen at the end, so that one effect also says whether it was given entries."""

    def __init__(self, execution: Execution, command: ReadGroup, key: bytes, budget: ReplyBudget) -> None:
        self.execution = execution
        self.command = command
        self.key = key
        self.budget = budget
        self.room = execution.room()
        self.stream: Stream = execution.keyspace.streams[key]
        self.group: Group = self.stream.groups[command.group]
        self._is_new = command.consumer not in self.group.consumers
        self._is_active = False
        self._is_served = False
        if self._is_new:
            execution.do(ConsumerCreated(key, command.group, command.consumer, execution.now_ms))

    def read_new(self, min_idle_ms: int | None) -> StreamRead:
        """Claimed entries, if asked for, then new ones; `count` bounds both together (rule 34)."""
        count = self.command.limits.count
        if min_idle_ms is None:
            entries = self._take_new(count, claim=False)
        else:
            entries = self._take_idle(min_idle_ms, count)
            left = None if count is None else count - len(entries)
            if left != 0:
                entries = _joined(entries, self._take_new(left, claim=True))
        if self._is_served:
            self.budget.end_stream(len(entries))
        self._see()
        cut = self._is_served and not entries.ids
        return StreamRead(self.key, entries, next=self.group.last_delivered_id, new=True, cut=cut)

    def _serve(self) -> None:
        """Begin this stream's part of the reply, once: there are entries for it."""
        if not self._is_served:
            self._is_served = True
            self.budget.begin_stream(self.key)

    def _take_new(self, count: int | None, *, claim: bool) -> Entries:
        after = self.group.last_delivered_id
        if self.stream.log.last_id <= after:
            return NO_ENTRIES
        self._serve()
        entries = take_after(self.room, self.stream, after, count, self.budget, claim=claim)
        if entries.ids:
            self._deliver(entries.ids)
        return entries

    def _deliver(self, ids: Sequence[StreamId]) -> None:
        execution, key, group = self.execution, self.key, self.group
        counted = entries_read_after(self.stream, group.last_delivered_id, group.entries_read, ids)
        execution.do(GroupMoved(key, group.name, ids[-1], counted))
        if not self.command.noack:
            execution.do(Delivered(key, group.name, self.command.consumer, pack_ids(ids), execution.now_ms))
            self._is_active = True

    def _see(self) -> None:
        if self._is_active or not self._is_new:
            consumer, now_ms = self.command.consumer, self.execution.now_ms
            self.execution.do(ConsumerSeen(self.key, self.group.name, consumer, now_ms, self._is_active))

    def _take_idle(self, min_idle_ms: int, count: int | None) -> Entries:
        found = self._idle(min_idle_ms, self._most(count))
        found = found.first(self.room.take_fitting(found.fragments))
        if not found.ids:
            return found
        self._serve()
        claimed = found.first(self.budget.spend(found, claim=True))
        self.room.give_back(found.fragments[len(claimed) :])
        if claimed.ids:
            self._take_over(claimed)
            self._is_active = True
        return claimed

    def _most(self, count: int | None) -> int:
        """How many entries to look for: one more than fit shows that there are more."""
        fitting = self.room.items_left + 1
        bound = smaller(count, self.budget.remaining)
        return fitting if bound is None else min(fitting, bound)

    def _idle(self, min_idle_ms: int, wanted: int) -> Entries:
        """Pending entries that are idle enough and not deleted, longest idle first, at most `wanted`. O(k).

        Deleted ones stay pending and are passed over (rule 38): where there are any, more are asked for,
        until enough are live.
        """
        asked = wanted
        while True:
            looked_at, found = self._longest_idle(min_idle_ms, asked)
            if len(found) >= wanted or looked_at < asked:
                return found.first(wanted)
            asked += 2 * (asked - len(found))

    def _longest_idle(self, min_idle_ms: int, asked: int) -> tuple[int, Entries]:
        """How many of at most `asked` pending entries are idle enough and fit, and the live ones of them."""
        order, now_ms = self.group.pending.order, self.execution.now_ms
        ids, idle_ms, counts = _longest_idle(order, now_ms, min_idle_ms, asked)
        fragments = self.stream.log.get_many(ids, self.room.left_bytes)
        found = Entries(ids, fragments, idle_ms, counts).first(len(fragments))
        return len(fragments), _without_deleted(found)

    def read_history(self, after: StreamId) -> StreamRead:
        """What is pending for this consumer above `after`; each live one counts as delivered again.

        Deleted ones are shown and left alone; the time of activity is not touched (rule 30).
        """
        consumer = self.group.consumers[self.command.consumer]
        most = self._most(self.command.limits.count)
        ids = list(islice(consumer.pending_ids(after + 1), most))
        self.budget.begin_stream(self.key)
        fragments = self.stream.log.get_many(ids, self.room.left_bytes)
        fitting = self.room.take_fitting(fragments)
        kept = self.budget.spend(Entries(ids[:fitting], fragments[:fitting]))
        self.budget.end_stream(kept)
        self.room.give_back(fragments[kept:fitting])
        entries = self._with_times(ids[:kept], fragments[:kept])
        live = _without_deleted(entries)
        if live.ids:
            self._take_over(live)
        self._see()
        return StreamRead(self.key, entries, next=ids[kept - 1] if kept else after, history=True)

    def _with_times(self, ids: Sequence[StreamId], fragments: Sequence[bytes | None]) -> Entries:
        idle_ms: list[int] = []
        counts: list[int] = []
        for unit, some in self.group.pending.by_unit(ids):
            idle_ms += [idle_since(unit.delivered_at_ms, self.execution.now_ms)] * len(some)
            counts += unit.counts_of(some)
        return Entries(ids, fragments, idle_ms, counts)

    def _take_over(self, live: Entries) -> None:
        """Make `live` entries this consumer's, delivered once more."""
        assert live.deliveries is not None
        counts = each_one_more(live.deliveries)
        key, group, consumer, now_ms = self.key, self.group.name, self.command.consumer, self.execution.now_ms
        self.execution.do(Claimed(key, group, consumer, live.ids, now_ms, counts))


def _longest_idle(
    order: DeliveryOrder, now_ms: int, min_idle_ms: int, wanted: int
) -> tuple[list[StreamId], list[int], list[int]]:
    """What is pending and idle enough, in order of delivery (rule 35): ids, at most so many, their idle times
    and their counts. O(units + ids), the ids in C."""
    ids: list[StreamId] = []
    idle_ms: list[int] = []
    counts: list[int] = []
    unit = order.head
    while unit is not None and len(ids) != wanted:
        age_ms = idle_since(unit.delivered_at_ms, now_ms)
        if age_ms < min_idle_ms:
            break
        some = list(islice(unit.live_ids(), wanted - len(ids)))
        ids += some
        idle_ms += [age_ms] * len(some)
        counts += unit.counts_of(some)
        unit = unit.next
    return ids, idle_ms, counts


def _without_deleted(entries: Entries) -> Entries:
    if None not in entries.fragments:
        return entries
    assert entries.idle_ms is not None
    assert entries.deliveries is not None
    live = [fragment is not None for fragment in entries.fragments]
    return Entries(
        list(compress(entries.ids, live)),
        list(compress(entries.fragments, live)),
        list(compress(entries.idle_ms, live)),
        list(compress(entries.deliveries, live)),
    )


def _joined(claimed: Entries, other: Entries) -> Entries:
    """What was claimed, and behind it more of it, or new entries."""
    if not claimed.ids:
        return other
    if not other.ids:
        return claimed
    zeros = [0] * len(other.ids)
    assert claimed.idle_ms is not None
    assert claimed.deliveries is not None
    return Entries(
        [*claimed.ids, *other.ids],
        [*claimed.fragments, *other.fragments],
        [*claimed.idle_ms, *(other.idle_ms or zeros)],
        [*claimed.deliveries, *(other.deliveries or zeros)],
    )


# --- waiting -----------------------------------------------------------------------------------------


def _wait(execution: Execution, command: ReadGroup, min_idle_ms: int | None) -> Wait:
    keys = tuple(source.key for source in command.streams)
    claim_at_ms = None
    if min_idle_ms is not None:
        claim_at_ms = min(_claimable_at_ms(execution, key, command.group, min_idle_ms) for key in keys)
    return Wait(keys, command.group, deadline_ms(execution, command), claim_at_ms)


def _claimable_at_ms(execution: Execution, key: bytes, group: bytes, min_idle_ms: int) -> int:
    """When the oldest pending entry that is not deleted becomes idle enough (rule 41)."""
    stream = execution.keyspace.streams[key]
    for unit in stream.groups[group].pending.order:
        if any(value in stream.log for value in unit.live_ids()):
            return unit.delivered_at_ms + min_idle_ms
    return execution.now_ms + min_idle_ms
