"""One stream of one XREADGROUP: deliver new entries, claim idle ones, or show a history of a consumer.

Owns the part of the reply that one stream has, and its effects. `core.handlers.group_reads` checks the
command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Final

from tailrace.core.bounds.reply_budget import PendingWork, ReplyBudget
from tailrace.core.commands import ReadGroup
from tailrace.core.deliveries import each_one_more, idle_since
from tailrace.core.effects import Claimed, ConsumerCreated, ConsumerSeen, Delivered, GroupMoved
from tailrace.core.execution import Execution
from tailrace.core.filters import Filter
from tailrace.core.group import Group
from tailrace.core.handlers.dead_letters import LOOK_AHEAD, DeadLetters, MoveRoom, dead_letters_of
from tailrace.core.handlers.filtered_delivery import FilterScan, filter_of
from tailrace.core.handlers.idle_entries import first_idle, joined, without_deleted
from tailrace.core.handlers.leases import own_min_idle_ms
from tailrace.core.handlers.ordered_delivery import Choice
from tailrace.core.handlers.reads import take_after
from tailrace.core.key_order import KeyOrder
from tailrace.core.lag import entries_read_after
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.pending.consumer import Consumer
from tailrace.core.replies import NO_ENTRIES, Entries, StreamRead
from tailrace.core.stream import Stream
from tailrace.core.stream_id import MAX_ID, StreamId

_LOOKUP_CHUNK: Final = 1_000
"""How many entries are looked up at once."""


class OwnedEntries:
    """The entries of `consumer` in `group`. `work`: what the read may still do."""

    def __init__(
        self, log: EntryLog, group: Group, consumer: Consumer, now_ms: int, work: PendingWork
    ) -> None:
        self._log = log
        self._pending = group.pending
        self._consumer = consumer
        self._now_ms = now_ms
        self._work = work
        self._idle_ms: list[int] = []
        self._counts: list[int] = []

    def read(self, ids: Iterator[StreamId], max_bytes: int) -> Entries:
        """Return the first of `ids`, which are all ids of the consumer between them, as many as fit into
        `max_bytes` and into the work of the read, and at least one if there is one. O(log n + result)."""
        found, fragments = list[StreamId](), list[bytes | None]()
        while not self._work.is_spent and (some := list(islice(ids, _LOOKUP_CHUNK))):
            looks = self._log.cache.lookups
            read = self._log.get_many(some, max_bytes)
            self._work.count(len(some), self._describe(some), self._log.cache.lookups - looks)
            found += some
            fragments += read
            max_bytes -= sum(map(len, filter(None, read)))
            if len(read) < len(some):
                break
        return Entries(found, fragments, self._idle_ms, self._counts).first(len(fragments))

    def _describe(self, ids: Sequence[StreamId]) -> int:
        """Add the idle times and the delivery counts of `ids`, and return how much work they are."""
        found, units = self._pending.described(ids)
        self._counts += [each.deliveries for each in found]
        self._idle_ms += [idle_since(each.at_ms, self._now_ms) for each in found]
        return units


class GroupReader:
    """Reads one stream for one consumer of the group.

    The consumer is created or marked as seen even if the read returns no entries (rules 28, 33). It is
    marked as seen after the read, so that one effect also records whether the consumer was active.
    """

    def __init__(
        self, execution: Execution, command: ReadGroup, key: bytes, budget: ReplyBudget, moves: MoveRoom
    ) -> None:
        self._execution = execution
        self._command = command
        self._key = key
        self._budget = budget
        self._room = execution.room()
        self._stream: Stream = execution.keyspace.streams[key]
        self._group: Group = self._stream.groups[command.group]
        # The filter and the dead letters of the group, if it has some.
        self.wanted: Filter | None = None
        self._letters: DeadLetters | None = None
        if self._group.settings is not None:
            self.wanted = filter_of(self._group)
            self._letters = dead_letters_of(execution, key, self._group, moves)
        # The order by key of the group, if it has one.
        self._order = self._group.order
        # What the command may still examine. A read of new entries needs it if it looks at their fields.
        self.scan: FilterScan | None = None
        self.examines = self.wanted is not None or self._order is not None
        self._is_new_consumer = command.consumer not in self._group.consumers
        self._is_active = False
        self._has_begun = False
        if self._is_new_consumer:
            execution.do(ConsumerCreated(key, command.group, command.consumer, execution.now_ms))

    def read_new(self, min_idle_ms: int | None) -> StreamRead:
        """Claim idle entries if `min_idle_ms` is given or set for the group, then deliver new ones.

        COUNT bounds both together (rule 34). O(log n + entries returned); pending entries that are not idle
        cost nothing.
        """
        count = self._command.limits.count
        if min_idle_ms is None:
            min_idle_ms = own_min_idle_ms(self._command, self._group)
        if min_idle_ms is None:
            entries = self._deliver_new(count, claim=False)
        else:
            entries = self._claim_idle(min_idle_ms, count)
            left = None if count is None else count - len(entries.ids)
            if left != 0 and not self._budget.is_spent and self._room.has_any:
                entries = joined(entries, self._deliver_new(left, claim=True))
        if self._has_begun:
            self._budget.end_stream(len(entries.ids))
        self._see_consumer()
        cut = self._has_begun and not entries.ids
        return StreamRead(self._key, entries, next=self._group.last_delivered_id, new=True, cut=cut)

    def _begin(self) -> None:
        """Charge the budget for this stream's name, once, when the stream has entries to return."""
        if not self._has_begun:
            self._has_begun = True
            self._budget.begin_stream(self._key)

    def _deliver_new(self, count: int | None, *, claim: bool) -> Entries:
        if self._order is not None:
            return self._deliver_in_order(self._order, count, claim=claim)
        after = self._group.last_delivered_id
        if self._stream.log.last_id <= after:
            return NO_ENTRIES
        if self.wanted is not None and self.scan is not None:
            return self._deliver_matching(self.wanted, self.scan, count, claim=claim)
        self._begin()
        entries = take_after(self._room, self._stream, after, count, self._budget, claim=claim)
        if entries.ids:
            self._record_delivery(entries.ids, entries.ids)
        return entries

    def _deliver_matching(
        self, wanted: Filter, scan: FilterScan, count: int | None, *, claim: bool
    ) -> Entries:
        """Deliver entries that match, of those that the command may examine. The others count as read."""
        examined = scan.after(self._stream, self._group.last_delivered_id, wanted)
        found = examined.matching.first(self._wanted(count))
        kept = self._kept_of(found, claim=claim)
        if passed := examined.passed(len(kept)):
            self._record_delivery(passed, kept.ids)
        return kept

    def _deliver_in_order(self, order: KeyOrder, count: int | None, *, claim: bool) -> Entries:
        """Deliver entries whose keys are not in flight: held ones first, then new ones."""
        assert self.scan is not None, "the command examines entries"
        choice = Choice(order, self._stream, self._group.last_delivered_id, noack=self._command.noack)
        choice.choose(self.scan, self.wanted, self._wanted(count), self._room.left_bytes)
        chosen = choice.cut_to(len(self._kept_of(choice.found, claim=claim)))
        if chosen.passed or chosen.entries.ids:
            self._record_delivery(chosen.passed, chosen.entries.ids)
        for effect in chosen.effects(self._key, self._group.name):
            self._execution.do(effect)
        return chosen.entries

    def _record_delivery(self, passed: Sequence[StreamId], ids: Sequence[StreamId]) -> None:
        """Move the position over the entries `passed`, and make those of `ids` pending."""
        execution, key, group = self._execution, self._key, self._group
        if passed:
            read = entries_read_after(self._stream, group.last_delivered_id, group.entries_read, passed)
            execution.do(GroupMoved(key, group.name, passed[-1], read))
        if ids and not self._command.noack:
            consumer, now_ms = self._command.consumer, execution.now_ms
            execution.do(Delivered(key, group.name, consumer, pack_ids(ids), now_ms))
            self._is_active = True

    def _see_consumer(self) -> None:
        if self._is_active or not self._is_new_consumer:
            consumer, now_ms = self._command.consumer, self._execution.now_ms
            self._execution.do(ConsumerSeen(self._key, self._group.name, consumer, now_ms, self._is_active))

    def _claim_idle(self, min_idle_ms: int, count: int | None) -> Entries:
        wanted = self._wanted(count)
        if self._letters is None:
            found = self._first_idle(min_idle_ms, wanted)
        else:
            found = self._first_deliverable(self._letters, min_idle_ms, wanted)
        claimed = self._kept_of(found, claim=True)
        if claimed.ids:
            self._redeliver(claimed)
            self._is_active = True
        return claimed

    def _first_idle(self, min_idle_ms: int, wanted: int) -> Entries:
        now_ms, room, work = self._execution.now_ms, self._room, self._budget.work
        return first_idle(self._stream, self._group, now_ms, min_idle_ms, wanted, room.left_bytes, work)

    def _first_deliverable(self, letters: DeadLetters, min_idle_ms: int, wanted: int) -> Entries:
        """As `_first_idle`, of the entries that the group may deliver once more. Moves those before them. If
        the command cannot move them all, the result ends before the first one that is left."""
        found = self._first_idle(min_idle_ms, wanted)
        while exhausted := letters.exhausted_among(found, wanted):
            if not letters.move(exhausted.ids, exhausted.fragments) or letters.is_spent:
                found = self._first_idle(min_idle_ms, wanted)
                return found.first(letters.deliverable_count(found))
            found = self._first_idle(min_idle_ms, max(wanted, LOOK_AHEAD))
        return found.first(wanted)

    def _wanted(self, count: int | None) -> int:
        """How many entries to look for: one more than fits shows that there are more."""
        most, remaining = self._room.items_left + 1, self._budget.remaining
        if remaining < most:  # noqa: PLR1730 - a call of min costs more
            most = remaining
        return most if count is None or count > most else count

    def _kept_of(self, found: Entries, *, claim: bool) -> Entries:
        """Return the first of `found`, as many as the reply may contain, and count them. O(entries)."""
        if not found.ids:
            return found
        self._begin()
        fitting = self._room.take_fitting(found.fragments)
        if fitting < len(found.ids):
            found = found.first(fitting)
        kept = self._budget.spend(found, claim=claim)
        if kept == fitting:
            return found
        self._room.give_back(found.fragments[kept:])
        return found.first(kept)

    def read_history(self, after: StreamId) -> StreamRead:
        """Return this consumer's pending entries above `after`; each live one counts as delivered again.

        An entry that the group may not deliver again becomes a dead letter, and the reply does not have it.
        Deleted entries are shown and stay unchanged. The consumer's time of activity stays unchanged, too
        (rule 30). O(log n + entries returned).
        """
        consumer = self._group.consumers[self._command.consumer]
        wanted = self._wanted(self._command.limits.count)
        end = MAX_ID + 1
        if self._letters is not None:
            end = self._letters.clear_history(consumer, after + 1, wanted)
        owned = self._group.pending.ids_of(consumer, after + 1)
        self._budget.begin_stream(self._key)
        now_ms, work = self._execution.now_ms, self._budget.work
        reader = OwnedEntries(self._stream.log, self._group, consumer, now_ms, work)
        ids = takewhile(end.__gt__, islice(owned, wanted))
        found = reader.read(ids, self._room.left_bytes)
        found = found.first(self._room.take_fitting(found.fragments))
        entries = found.first(self._budget.spend(found))
        self._budget.end_stream(len(entries.ids))
        self._room.give_back(found.fragments[len(entries.ids) :])
        live = without_deleted(entries)
        if live.ids:
            self._redeliver(live)
        self._see_consumer()
        return StreamRead(self._key, entries, next=entries.ids[-1] if entries.ids else after, history=True)

    def _redeliver(self, live: Entries) -> None:
        """Assign `live` pending entries to this consumer, delivered once more."""
        assert live.deliveries is not None
        counts = each_one_more(live.deliveries)
        group, consumer, now_ms = self._group.name, self._command.consumer, self._execution.now_ms
        self._execution.do(Claimed(self._key, group, consumer, live.ids, now_ms, counts))
