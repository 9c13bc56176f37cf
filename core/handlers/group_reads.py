"""XREADGROUP: new entries, one's own history, and the claim of what others left (rules 27 to 41).

For each stream in turn, with ``>``: first what has been pending too long, oldest first, then what was
never delivered. With an id: what is pending for this consumer above it. Every stream is checked
before the first is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from core.commands import ReadFrom, ReadGroup, Special
from core.effects import Claimed, ConsumerSeen, Delivered, GroupMoved
from core.errors import no_group_for_read
from core.execution import Execution, parsed_position
from core.group import Group
from core.handlers.consumers import see_consumer
from core.handlers.reads import deadline_ms, smaller, take_after
from core.lag import entries_read_after
from core.outcome import Wait
from core.pending_units import Unit
from core.replies import Entries, ReadReply, StreamRead
from core.reply_budget import ReplyBudget
from core.stream import Stream
from core.stream_id import MAX_ID, StreamId

DELIVERIES_MAX = (1 << 63) - 1
"""Where the delivery count stops (rule 36); XNACK FATAL sets it."""


def read_group(run: Execution, command: ReadGroup) -> ReadReply:
    """All streams asked for, in order. O(log n + m) a stream, whatever is pending and not idle.

    Raises NOGROUP where a stream or its group is missing, before anything is changed (rule 27).
    """
    positions = [_check(run, command, source) for source in command.streams]
    budget = ReplyBudget(command.limits)
    min_idle_ms = command.claim_min_idle_ms
    reads = []
    for source, after in zip(command.streams, positions, strict=True):
        reader = _StreamReader(run, command, source.key, budget)
        if isinstance(after, Special):
            reads.append(reader.read_new(min_idle_ms))
        else:
            # Redis forgets the threshold here for the streams that follow (rule 39).
            min_idle_ms = None
            reads.append(reader.read_history(after))
    reply = ReadReply(reads)
    if reply.is_empty and command.block_ms is not None:
        run.wait = _wait(run, command, min_idle_ms)
        run.retry = replace(command, until_ms=run.wait.until_ms)
    return reply


def _check(run: Execution, command: ReadGroup, source: ReadFrom) -> StreamId | Special:
    if run.keyspace.group(source.key, command.group) is None:
        raise no_group_for_read(source.key, command.group)
    position = parsed_position(source.after)
    # Redis writes ``>`` as the greatest id, so that id asks for new entries, too.
    return Special.NEW if position == MAX_ID else position


class _StreamReader:
    """One stream of one XREADGROUP. Its consumer is made, or seen, whatever comes (rules 28, 33)."""

    def __init__(self, run: Execution, command: ReadGroup, key: bytes, budget: ReplyBudget) -> None:
        self.run = run
        self.command = command
        self.key = key
        self.budget = budget
        self.stream: Stream = run.keyspace.streams[key]
        self.group: Group = self.stream.groups[command.group]
        self.consumer = see_consumer(run, key, self.group, command.consumer)

    def read_new(self, min_idle_ms: int | None) -> StreamRead:
        """Claimed entries, if asked for, then new ones; `count` bounds both together (rule 34)."""
        count = self.command.limits.count
        if min_idle_ms is None:
            entries = self._take_new(count, claim=False)
        else:
            claimed = self._take_idle(min_idle_ms, count)
            left = None if count is None else count - len(claimed)
            entries = _joined(claimed, self._take_new(left, claim=True))
        return StreamRead(self.key, entries, next=self.group.last_delivered_id, new=True)

    def _take_new(self, count: int | None, *, claim: bool) -> Entries:
        after = self.group.last_delivered_id
        entries = take_after(self.stream, self.key, after, count, self.budget, claim=claim)
        if entries.ids:
            self._deliver(entries.ids)
        return entries

    def _deliver(self, ids: Sequence[StreamId]) -> None:
        run, key, group = self.run, self.key, self.group
        counted = entries_read_after(self.stream, group.last_delivered_id, group.entries_read, ids)
        run.do(GroupMoved(key, group.name, ids[-1], counted))
        if not self.command.noack:
            run.do(Delivered(key, group.name, self.command.consumer, ids, run.now_ms))
            self._mark_active()

    def _mark_active(self) -> None:
        seen = ConsumerSeen(self.key, self.group.name, self.command.consumer, self.run.now_ms, active=True)
        self.run.do(seen)

    def _take_idle(self, min_idle_ms: int, count: int | None) -> Entries:
        wanted = smaller(count, self.budget.remaining)
        ids, fragments, units = self._idle(min_idle_ms, wanted)
        if not ids:
            return Entries((), ())
        self.budget.begin_stream(self.key)
        kept = self.budget.spend(ids, fragments, claim=True)
        claimed = self._with_times(ids[:kept], fragments[:kept], units[:kept])
        self._take_over(claimed, self.run.now_ms)
        self._mark_active()
        return claimed

    def _idle(self, min_idle_ms: int, wanted: int | None) -> tuple[list[StreamId], list[bytes], list[Unit]]:
        """Pending entries that are idle enough and not deleted, longest idle first. O(k).

        Deleted ones stay pending and are passed over (rule 38), so it may take more than one pass.
        """
        pairs = self._idle_pairs(min_idle_ms)
        ids: list[StreamId] = []
        fragments: list[bytes] = []
        units: list[Unit] = []
        while chunk := list(islice(pairs, None if wanted is None else wanted - len(ids))):
            found = self.stream.log.get_many([value for value, _ in chunk])
            for (value, unit), fragment in zip(chunk, found, strict=True):
                if fragment is not None:
                    ids.append(value)
                    fragments.append(fragment)
                    units.append(unit)
        return ids, fragments, units

    def _idle_pairs(self, min_idle_ms: int) -> Iterator[tuple[StreamId, Unit]]:
        """Pending ids in order of delivery, up to the first that is not idle enough (rule 35)."""
        now_ms = self.run.now_ms
        for unit in self.group.pending.order:
            if min_idle_ms and now_ms - unit.delivered_at_ms < min_idle_ms:
                return
            for value in unit.live_ids():
                yield value, unit

    def read_history(self, after: StreamId) -> StreamRead:
        """What is pending for this consumer above `after`; each live one counts as delivered again.

        Deleted ones are shown and left alone; the time of activity is not touched (rule 30).
        """
        wanted = smaller(self.command.limits.count, self.budget.remaining)
        ids = list(islice(self.consumer.pending_ids(after + 1), wanted))
        fragments = self.stream.log.get_many(ids)
        self.budget.begin_stream(self.key)
        kept = self.budget.spend(ids, fragments)
        units = [self._unit(value) for value in ids[:kept]]
        entries = self._with_times(ids[:kept], fragments[:kept], units)
        self._take_over(entries, self.run.now_ms)
        return StreamRead(self.key, entries, next=ids[kept - 1] if kept else after, history=True)

    def _unit(self, value: StreamId) -> Unit:
        unit = self.group.pending.get(value)
        assert unit is not None, "a consumer's entries are its group's"
        return unit

    def _with_times(
        self, ids: Sequence[StreamId], fragments: Sequence[bytes | None], units: Sequence[Unit]
    ) -> Entries:
        now_ms = self.run.now_ms
        idle_ms = [max(now_ms - unit.delivered_at_ms, 0) for unit in units]
        return Entries(ids, fragments, idle_ms, [unit.deliveries for unit in units])

    def _take_over(self, entries: Entries, at_ms: int) -> None:
        """Make the live ones of `entries` this consumer's, delivered once more."""
        assert entries.deliveries is not None
        ids, deliveries = [], []
        for value, fragment, count in zip(entries.ids, entries.fragments, entries.deliveries, strict=True):
            if fragment is not None:
                ids.append(value)
                deliveries.append(min(count + 1, DELIVERIES_MAX))
        if ids:
            claimed = Claimed(self.key, self.group.name, self.command.consumer, ids, at_ms, deliveries)
            self.run.do(claimed)


def _joined(claimed: Entries, new: Entries) -> Entries:
    if not claimed.ids:
        return new
    if not new.ids:
        return claimed
    zeros = [0] * len(new.ids)
    assert claimed.idle_ms is not None
    assert claimed.deliveries is not None
    return Entries(
        [*claimed.ids, *new.ids],
        [*claimed.fragments, *new.fragments],
        [*claimed.idle_ms, *zeros],
        [*claimed.deliveries, *zeros],
    )


# --- waiting -----------------------------------------------------------------------------------------


def _wait(run: Execution, command: ReadGroup, min_idle_ms: int | None) -> Wait:
    keys = tuple(source.key for source in command.streams)
    claim_at_ms = None
    if min_idle_ms is not None:
        claim_at_ms = min(_claimable_at_ms(run, key, command.group, min_idle_ms) for key in keys)
    return Wait(keys, command.group, deadline_ms(run, command), claim_at_ms)


def _claimable_at_ms(run: Execution, key: bytes, group: bytes, min_idle_ms: int) -> int:
    """When the oldest pending entry that is not deleted becomes idle enough (rule 41)."""
    stream = run.keyspace.streams[key]
    for unit in stream.groups[group].pending.order:
        if any(value in stream.log for value in unit.live_ids()):
            return unit.delivered_at_ms + min_idle_ms
    return run.now_ms + min_idle_ms
