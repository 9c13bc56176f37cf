"""XCLAIM and XAUTOCLAIM: taking over entries that others left pending (rules 47 to 52)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress, islice
from typing import Final

from tailrace.core.bounds.reply_room import ReplyRoom, entries_bytes
from tailrace.core.commands import AutoClaim, Claim, ClaimOptions
from tailrace.core.deliveries import one_more
from tailrace.core.effects import Claimed, ConsumerSeen, GroupMoved, PendingRemoved
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution, parsed
from tailrace.core.group import Group
from tailrace.core.handlers.consumers import touch_consumer
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.idle import idle_since
from tailrace.core.limits import AUTOCLAIM_COUNT_MAX, XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX
from tailrace.core.pending.run import Run
from tailrace.core.pending.units import RUN_OR_BUNCH_LENGTH_MIN, Unit
from tailrace.core.replies import ClaimReply, Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import ZERO_ID, StreamId

LOOKED_UP_TOGETHER: Final = 1_000
"""Pending entries that XAUTOCLAIM finds out about at a time: it may stop at any of them."""


def claim(execution: Execution, command: Claim) -> ClaimReply:
    """The entries taken over, in the order in which their ids were given. O(log n) an id."""
    group = require_key_and_group(execution, command.key, command.group)
    options = parsed(command.options)
    taken = _Takeover(execution, command.key, group, command.consumer, _delivered_at_ms(execution, options))
    counts = _Counts(execution, taken, options)
    _charge(execution, taken, options, counts)
    if options.last_id is not None and options.last_id > group.last_delivered_id:
        execution.do(GroupMoved(command.key, command.group, options.last_id, group.entries_read))
    touch_consumer(execution, command.key, group, command.consumer)
    for value in options.ids:
        if taken.has_taken(value):
            taken.carry_out()
            counts.forget()
        deliveries = counts.of(value)
        if deliveries is not None:
            taken.take(value, deliveries)
        elif not taken.is_live(value):
            taken.drop(value)
    return taken.reply(just_id=options.just_id)


def _charge(execution: Execution, taken: _Takeover, options: ClaimOptions, counts: _Counts) -> None:
    """Look the ids up, and take the room of the reply. Raises REPLY_TOO_LARGE, before anything is changed.
    O(log n) an id."""
    room, log = execution.room(), taken.stream.log
    room.require_any()
    if options.just_id:
        taken.look_up(options.ids)
        room.charge_items(len(options.ids))
        return
    claimed: Sequence[StreamId] = options.ids
    fragments = log.get_many(options.ids, room.left_bytes)
    if len(fragments) == len(options.ids):
        taken.look_up(options.ids, fragments)
    else:
        taken.look_up(options.ids)
    if len(fragments) < len(options.ids) or entries_bytes(fragments) > room.left_bytes:
        # What is not idle enough is not in the reply.
        claimed = [value for value in options.ids if counts.of(value) is not None]
        fragments = log.get_many(claimed, room.left_bytes)
        if len(fragments) < len(claimed):
            room.charge(entries_bytes(fragments))
    room.charge_entries(fragments)
    taken.fragment_of = dict(zip(claimed, fragments, strict=True))


def _delivered_at_ms(execution: Execution, options: ClaimOptions) -> int:
    """The new time of delivery: now, unless an earlier one that makes sense was asked for (rule 50)."""
    asked = options.delivered_at_ms
    if options.idle_ms is not None:
        asked = execution.now_ms - options.idle_ms
    if asked is None or not 0 <= asked <= execution.now_ms:
        return execution.now_ms
    return asked


class _Counts:
    """The new delivery count of each entry of an XCLAIM, None where the entry is not claimed. The entries of
    a run have time and count in common, so each run is looked at once."""

    def __init__(self, execution: Execution, taken: _Takeover, options: ClaimOptions) -> None:
        self._now_ms = execution.now_ms
        self._taken = taken
        self._options = options
        self._of_runs: dict[Run, int | None] = {}

    def of(self, value: StreamId) -> int | None:
        """The new count of the entry `value`. O(1) where it was looked up."""
        taken = self._taken
        if not taken.is_live(value):
            return None
        unit = taken.unit_of(value)
        if isinstance(unit, Run):
            if unit not in self._of_runs:
                self._of_runs[unit] = self._of_unit(unit, value)
            return self._of_runs[unit]
        return self._of_unit(unit, value)

    def _of_unit(self, unit: Unit | None, value: StreamId) -> int | None:
        options = self._options
        if unit is None:
            # What FORCE makes counts as delivered once already.
            return _next_count(1, options) if options.force else None
        if not _is_idle(unit, self._now_ms, options.min_idle_ms):
            return None
        return _next_count(unit.deliveries_of(value), options)

    def forget(self) -> None:
        """Look at the runs again: they have changed."""
        self._of_runs.clear()


def _is_idle(unit: Unit, now_ms: int, min_idle_ms: int) -> bool:
    """Unowned entries always are (rule 47), and with a threshold of 0 all entries are."""
    return unit.consumer is None or idle_since(unit.delivered_at_ms, now_ms) >= min_idle_ms


def _next_count(deliveries: int, options: ClaimOptions) -> int:
    if options.retry_count is not None:
        return options.retry_count
    return _counted(deliveries, just_id=options.just_id)


def auto_claim(execution: Execution, command: AutoClaim) -> ClaimReply:
    """Up to `count` idle entries in id order, and the deleted ones met on the way, which are dropped.

    Fewer where the reply has no room for them: the cursor goes on from there. Examines at most
    ``count * XAUTOCLAIM_SCAN_FACTOR`` pending entries (rule 52), and at most `XAUTOCLAIM_SCAN_MAX`.
    """
    group = require_key_and_group(execution, command.key, command.group)
    if command.count > AUTOCLAIM_COUNT_MAX:
        raise StreamError(
            ErrorCode.LIMIT_EXCEEDED,
            "ERR Insufficient memory, failed allocating transient memory, COUNT too high.",
        )
    room = execution.room()
    room.require_any()
    touch_consumer(execution, command.key, group, command.consumer)
    taken = _Takeover(execution, command.key, group, command.consumer, execution.now_ms)
    pending_ids = group.pending.ids(command.start)
    budget = min(command.count, room.items_left + 1)
    attempts = min(command.count * XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX)
    some: list[StreamId] = []
    while budget and attempts and (some := list(islice(pending_ids, min(attempts, LOOKED_UP_TOGETHER)))):
        attempts -= len(some)
        taken.look_up(some)
        while some and budget:
            budget -= taken.examine(some.pop(0), command.min_idle_ms, just_id=command.just_id)
    cursor = some[0] if some else next(pending_ids, ZERO_ID)
    cursor = taken.cut_to(room, just_id=command.just_id) or cursor
    return taken.reply(just_id=command.just_id, cursor=cursor)


class _Takeover:
    """Entries gathered for one consumer and, once, carried out together.

    Nothing changes before `reply`, but where XCLAIM names an id again: then what was gathered is
    carried out first, since the second look must see it.
    """

    def __init__(
        self, execution: Execution, key: bytes, group: Group, consumer: bytes, delivered_at_ms: int
    ) -> None:
        self.execution = execution
        self.key = key
        self.group = group
        self.consumer = consumer
        self.delivered_at_ms = delivered_at_ms
        self.stream: Stream = execution.keyspace.streams[key]
        self.unit_of: Callable[[StreamId], Unit | None] = group.pending.get
        self.is_live: Callable[[StreamId], bool] = self.stream.log.__contains__
        self.fragment_of: dict[StreamId, bytes | None] = {}
        self._batch: dict[StreamId, int] = {}
        self._ids: list[StreamId] = []
        self._dropped: dict[StreamId, None] = {}

    def look_up(self, ids: Sequence[StreamId], fragments: Sequence[bytes | None] | None = None) -> None:
        """Find out about `ids` together, before they are looked at one by one; a few cost less alone.
        `fragments`: those of all `ids`, where they are known already."""
        few = len(ids) < RUN_OR_BUNCH_LENGTH_MIN
        self.unit_of = self.group.pending.get if few else self.group.pending.units_of(ids).get
        if fragments is not None:
            live = [value is not None for value in fragments]
            self.is_live = set(compress(ids, live)).__contains__
        elif few:
            self.is_live = self.stream.log.__contains__
        else:
            self.is_live = self.stream.log.live_among(ids).__contains__

    def has_taken(self, value: StreamId) -> bool:
        """Whether `value` is among what is gathered."""
        return value in self._batch

    def carry_out(self) -> None:
        """Carry out what is gathered, before the same entry is looked at once more."""
        self._flush()
        # The flush moved entries to other units.
        self.unit_of = self.group.pending.get

    def drop(self, value: StreamId) -> None:
        """Drop `value`, which was deleted, where it is pending."""
        if self.unit_of(value) is not None:
            self._dropped[value] = None

    def examine(self, value: StreamId, min_idle_ms: int, *, just_id: bool) -> int:
        """XAUTOCLAIM's look at one pending entry: how much of its COUNT that took."""
        unit = self.unit_of(value)
        assert unit is not None, "the scan gives pending entries"
        if not self.is_live(value):
            self._dropped[value] = None
            return 1
        if not _is_idle(unit, self.execution.now_ms, min_idle_ms):
            return 0
        self.take(value, _counted(unit.deliveries_of(value), just_id=just_id))
        return 1

    def take(self, value: StreamId, deliveries: int) -> None:
        """Gather one entry with its new delivery count."""
        self._batch[value] = deliveries
        self._ids.append(value)

    def cut_to(self, room: ReplyRoom, *, just_id: bool) -> StreamId | None:
        """Give up what the reply has no room for: the first id given up, None where all of it fits."""
        fragments: list[bytes | None] = [None] * len(self._ids)
        if not just_id:
            fragments = self.stream.log.get_many(self._ids, room.left_bytes)
            self.fragment_of = dict(zip(self._ids, fragments, strict=False))
        kept = room.take_fitting(fragments)
        given_up = self._ids[kept:]
        del self._ids[kept:]
        for value in given_up:
            del self._batch[value]
        return given_up[0] if given_up else None

    def _flush(self) -> None:
        if self._batch:
            ids, deliveries = list(self._batch), list(self._batch.values())
            name, at_ms = self.group.name, self.delivered_at_ms
            self.execution.do(Claimed(self.key, name, self.consumer, ids, at_ms, deliveries))
            self._batch.clear()

    def reply(self, *, just_id: bool, cursor: StreamId = ZERO_ID) -> ClaimReply:
        """Carry all of it out; the entries taken, and the deleted ones that were dropped."""
        self._flush()
        dropped = list(self._dropped)
        if dropped:
            self.execution.do(PendingRemoved(self.key, self.group.name, dropped))
        if self._ids:
            name, now_ms = self.group.name, self.execution.now_ms
            self.execution.do(ConsumerSeen(self.key, name, self.consumer, now_ms, active=True))
        fragments = () if just_id else list(map(self.fragment_of.__getitem__, self._ids))
        return ClaimReply(Entries(self._ids, fragments), just_id, cursor, dropped)


def _counted(deliveries: int, *, just_id: bool) -> int:
    return deliveries if just_id else one_more(deliveries)
