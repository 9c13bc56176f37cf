"""XCLAIM and XAUTOCLAIM: claim entries that are pending for other consumers (rules 47 to 52).

`ClaimBatch` owns the reads of the pending entries list and of the log, and the effects of one claim: XCLAIM
names the entries, XAUTOCLAIM finds idle ones in id order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress, islice
from itertools import count as count_from
from operator import not_
from typing import Final

from tailrace.core.bounds.reply_budget import PendingWork
from tailrace.core.bounds.reply_room import ReplyRoom, entries_bytes
from tailrace.core.commands import AutoClaim, Claim, ClaimOptions
from tailrace.core.deliveries import one_more
from tailrace.core.effects import Claimed, ConsumerSeen, GroupMoved, PendingRemoved
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution, parsed
from tailrace.core.group import Group
from tailrace.core.handlers.consumers import touch_consumer
from tailrace.core.handlers.dead_letters import DeadLetters, MoveRoom, dead_letters_of
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.id_keys import ID_BYTES, are_among, id_key, id_keys, ids_of_keys, membership
from tailrace.core.limits import AUTOCLAIM_COUNT_MAX, XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.rows import Delivery, latest_idle_ms
from tailrace.core.replies import ClaimReply, Entries
from tailrace.core.stream import Stream
from tailrace.core.stream_id import ZERO_ID, StreamId

_FEW: Final = 3


class ClaimBatch:
    """Collects the claimed entries of one command and applies them as one effect.

    The keyspace changes in `finish`. If XCLAIM names an id twice, `apply` changes it earlier, because the
    second claim must see the result of the first.

    `group`: the group. `delivery_of`: returns the last delivery of an id, None if it is not pending.
    `is_live`: whether an id is in the log.
    """

    def __init__(
        self,
        execution: Execution,
        key: bytes,
        group: Group,
        consumer: bytes,
        delivered_at_ms: int,
        *,
        just_id: bool,
    ) -> None:
        self.stream: Stream = execution.keyspace.streams[key]
        self.delivery_of: Callable[[StreamId], Delivery | None] = group.pending.get
        self.is_live: Callable[[StreamId], bool] = self.stream.log.__contains__
        self._execution = execution
        self._key = key
        self.group = group
        # What XAUTOCLAIM may still do.
        self.work = PendingWork()
        self._consumer = consumer
        self._delivered_at_ms = delivered_at_ms
        # Fragments, new delivery counts and dropped entries, by the keys of their ids.
        self._fragment_of: dict[bytes, bytes | None] = {}
        self._deliveries_of: dict[bytes, int] = {}
        self._claimed_ids: list[StreamId] = []
        self._dropped: dict[bytes, None] = {}
        self._just_id = just_id
        # A claim of ids only is no delivery, so it moves no entry.
        self._letters = None if just_id else dead_letters_of(execution, key, group, MoveRoom())

    def prefetch(self, ids: Sequence[StreamId], fragments: Sequence[bytes | None] | None = None) -> None:
        """Look all `ids` up at once, so that `delivery_of` and `is_live` then take O(1) for each of them.

        `fragments`: the fragments of all `ids`, if the caller has read them. Up to `_FEW` ids are cheaper to
        look up one by one. O(ids log n).
        """
        few = len(ids) <= _FEW
        self.delivery_of = self.group.pending.get if few else self.group.pending.find_all(ids).get
        if fragments is not None:
            live = [value is not None for value in fragments]
            self.is_live = membership(list(compress(ids, live)))
        elif few:
            self.is_live = self.stream.log.__contains__
        else:
            self.is_live = membership(self.stream.log.live_among(ids))

    def note_fragments(self, ids: Sequence[StreamId], fragments: Sequence[bytes | None]) -> None:
        """Keep the fragments of `ids` for the reply, which has fields. O(ids) in C."""
        self._fragment_of = dict(zip(id_keys(ids), fragments, strict=True))

    def __contains__(self, value: StreamId) -> bool:
        """Whether `value` is claimed in this batch and not yet applied."""
        return value.to_bytes(ID_BYTES) in self._deliveries_of

    def add(self, value: StreamId, deliveries: int) -> None:
        """Claim the entry `value`. `deliveries`: its new delivery count."""
        self._deliveries_of[value.to_bytes(ID_BYTES)] = deliveries
        self._claimed_ids.append(value)

    def add_all(self, ids: Sequence[StreamId], deliveries: Sequence[int]) -> None:
        """Claim entries that are not in the batch. `deliveries`: their new delivery counts. O(m) in C."""
        self._deliveries_of.update(zip(id_keys(ids), deliveries, strict=True))
        self._claimed_ids += ids

    def drop_all(self, ids: Sequence[StreamId]) -> None:
        """Remove the deleted entries `ids`, all pending, from the pending entries list. O(m) in C."""
        self._dropped.update(dict.fromkeys(id_keys(ids)))

    def drop_if_pending(self, value: StreamId) -> None:
        """Remove the deleted entry `value` from the pending entries list if it is there."""
        if self.delivery_of(value) is not None:
            self._dropped[id_key(value)] = None

    def apply(self) -> None:
        """Apply the claims so far: `delivery_of` then returns the new deliveries."""
        self._flush()
        self.delivery_of = self.group.pending.get

    def cut_to(self, room: ReplyRoom) -> StreamId | None:
        """Give up the claims that do not fit into the reply. Returns the first id given up, or None.

        Reads the fragments of the reply, unless it has ids only. O(claims log n).
        """
        fragments: list[bytes | None] = [None] * len(self._claimed_ids)
        if not self._just_id:
            fragments = self.stream.log.get_many(self._claimed_ids, room.left_bytes)
            self.note_fragments(self._claimed_ids[: len(fragments)], fragments)
        kept = room.take_fitting(fragments)
        given_up = self._claimed_ids[kept:]
        del self._claimed_ids[kept:]
        for key in id_keys(given_up):
            del self._deliveries_of[key]
        return given_up[0] if given_up else None

    def finish(self, *, cursor: StreamId = ZERO_ID) -> ClaimReply:
        """Apply all claims and drops, and return the reply with both."""
        self._flush()
        dropped = list(ids_of_keys(self._dropped)) if self._dropped else []
        if dropped:
            self._execution.do(PendingRemoved(self._key, self.group.name, dropped))
        if self._claimed_ids:
            name, now_ms = self.group.name, self._execution.now_ms
            self._execution.do(ConsumerSeen(self._key, name, self._consumer, now_ms, active=True))
        fragments = () if self._just_id else self._fragments_of(self._claimed_ids)
        return ClaimReply(Entries(self._claimed_ids, fragments), self._just_id, cursor, dropped)

    def _move_exhausted(self, letters: DeadLetters) -> None:
        """Move the entries whose new delivery count exceeds the maximum, and give up their claims. Entries
        beyond the bounds of `letters` stay as they are. An entry that FORCE makes pending is delivered."""
        exhausted = [
            value
            for value, deliveries in zip(self._unapplied(), self._deliveries_of.values(), strict=True)
            if deliveries > letters.most and self.delivery_of(value) is not None
        ]
        if exhausted:
            letters.move(exhausted, self._fragments_of(exhausted))
            is_given_up = are_among(self._claimed_ids, exhausted)
            self._claimed_ids = list(compress(self._claimed_ids, map(not_, is_given_up)))
            for key in id_keys(exhausted):
                del self._deliveries_of[key]

    def _unapplied(self) -> list[StreamId]:
        """The ids that are claimed and not yet applied, in the order of their counts: the last ones."""
        return self._claimed_ids[len(self._claimed_ids) - len(self._deliveries_of) :]

    def _fragments_of(self, ids: Sequence[StreamId]) -> list[bytes | None]:
        return list(map(self._fragment_of.__getitem__, id_keys(ids)))

    def _flush(self) -> None:
        if self._letters is not None:
            self._move_exhausted(self._letters)
        if self._deliveries_of:
            ids, deliveries = self._unapplied(), list(self._deliveries_of.values())
            name, at_ms = self.group.name, self._delivered_at_ms
            self._execution.do(Claimed(self._key, name, self._consumer, ids, at_ms, deliveries))
            self._deliveries_of.clear()


def claim(execution: Execution, command: Claim) -> ClaimReply:
    """XCLAIM: return the claimed entries in the order in which the command names their ids. O(log n) an id.

    Raises NOGROUP if the stream or group is missing, and REPLY_TOO_LARGE before the first change.
    """
    group = require_key_and_group(execution, command.key, command.group)
    options = parsed(command.options)
    delivered_at_ms = _delivered_at_ms(execution, options)
    batch = ClaimBatch(
        execution, command.key, group, command.consumer, delivered_at_ms, just_id=options.just_id
    )
    counts = _NewCounts(execution, batch, options)
    _charge_reply(execution, batch, options, counts)
    if options.last_id is not None and options.last_id > group.last_delivered_id:
        execution.do(GroupMoved(command.key, command.group, options.last_id, group.entries_read))
    touch_consumer(execution, command.key, group, command.consumer)
    for value in options.ids:
        if value in batch:
            batch.apply()
        deliveries = counts.of(value)
        if deliveries is not None:
            batch.add(value, deliveries)
        elif not batch.is_live(value):
            batch.drop_if_pending(value)
    return batch.finish()


def _delivered_at_ms(execution: Execution, options: ClaimOptions) -> int:
    """The new delivery time: the requested time if it is between 0 and now, else now (rule 50)."""
    requested = options.delivered_at_ms
    if options.idle_ms is not None:
        requested = execution.now_ms - options.idle_ms
    if requested is None or not 0 <= requested <= execution.now_ms:
        return execution.now_ms
    return requested


def _charge_reply(execution: Execution, batch: ClaimBatch, options: ClaimOptions, counts: _NewCounts) -> None:
    """Look the ids up and charge the reply room. Raises REPLY_TOO_LARGE. O(log n) an id.

    The first read fetches all named entries. If they do not fit, a second read fetches only those that the
    command claims.
    """
    room, log = execution.room(), batch.stream.log
    room.require_any()
    if options.just_id:
        batch.prefetch(options.ids)
        room.charge_items(len(options.ids))
        return
    claimed: Sequence[StreamId] = options.ids
    fragments = log.get_many(options.ids, room.left_bytes)
    if len(fragments) == len(options.ids):
        batch.prefetch(options.ids, fragments)
    else:
        batch.prefetch(options.ids)
    if len(fragments) < len(options.ids) or entries_bytes(fragments) > room.left_bytes:
        claimed = [value for value in options.ids if counts.of(value) is not None]
        fragments = log.get_many(claimed, room.left_bytes)
        if len(fragments) < len(claimed):
            room.charge(entries_bytes(fragments))
    room.charge_entries(fragments)
    batch.note_fragments(claimed, fragments)


class _NewCounts:
    """The new delivery count of each entry that XCLAIM names, or None if it does not claim the entry."""

    def __init__(self, execution: Execution, batch: ClaimBatch, options: ClaimOptions) -> None:
        self._latest_ms = latest_idle_ms(execution.now_ms, options.min_idle_ms)
        self._batch = batch
        self._options = options
        # A group with an order by key makes nothing pending but by its reads.
        self._force = options.force and batch.group.order is None

    def of(self, value: StreamId) -> int | None:
        """The new count of the entry `value`. O(1) after `ClaimBatch.prefetch`."""
        if not self._batch.is_live(value):
            return None
        delivery: Delivery | None = self._batch.delivery_of(value)
        if delivery is None:
            # An entry that FORCE makes pending counts as delivered once before.
            return _next_count(1, self._options) if self._force else None
        if delivery.at_ms > self._latest_ms:
            return None
        return _next_count(delivery.deliveries, self._options)


def _next_count(deliveries: int, options: ClaimOptions) -> int:
    if options.retry_count is not None:
        return options.retry_count
    return count_after(deliveries, just_id=options.just_id)


def count_after(deliveries: int, *, just_id: bool) -> int:
    """Return the delivery count after a claim without RETRYCOUNT."""
    return deliveries if just_id else one_more(deliveries)


SCAN_CHUNK: Final = 1_000
"""How many pending entries XAUTOCLAIM looks up at once. It may end at any of them."""


def auto_claim(execution: Execution, command: AutoClaim) -> ClaimReply:
    """XAUTOCLAIM: claim up to `count` idle entries in id order, and drop the deleted ones that it finds.

    It examines at most ``count * XAUTOCLAIM_SCAN_FACTOR`` pending entries (rule 52), at most
    `XAUTOCLAIM_SCAN_MAX`, and about as many as `PENDING_STEPS_MAX` allows. If the reply has room for fewer
    entries, the cursor continues after the last one.

    Raises NOGROUP, LIMIT_EXCEEDED and REPLY_TOO_LARGE before the first change.
    """
    group = require_key_and_group(execution, command.key, command.group)
    _check_count(command)
    room = execution.room()
    room.require_any()
    touch_consumer(execution, command.key, group, command.consumer)
    batch = ClaimBatch(
        execution, command.key, group, command.consumer, execution.now_ms, just_id=command.just_id
    )
    pending_ids = group.pending.ids(command.start)
    budget = min(command.count, room.items_left + 1)
    attempts = min(command.count * XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX)
    left: Sequence[StreamId] = ()
    while budget and attempts and not batch.work.is_spent:
        chunk = list(islice(pending_ids, min(attempts, SCAN_CHUNK)))
        if not chunk:
            break
        attempts -= len(chunk)
        used, left = _examine(batch, group.pending, chunk, budget, command, execution.now_ms)
        budget -= used
    cursor = left[0] if left else next(pending_ids, ZERO_ID)
    cursor = batch.cut_to(room) or cursor
    return batch.finish(cursor=cursor)


def _check_count(command: AutoClaim) -> None:
    if command.count > AUTOCLAIM_COUNT_MAX:
        raise StreamError(
            ErrorCode.LIMIT_EXCEEDED,
            "ERR Insufficient memory, failed allocating transient memory, COUNT too high.",
        )


def _examine(
    batch: ClaimBatch,
    pending: PendingEntriesList,
    ids: Sequence[StreamId],
    budget: int,
    command: AutoClaim,
    now_ms: int,
) -> tuple[int, Sequence[StreamId]]:
    """Claim, drop or skip the pending entries `ids`, which rise, until `budget` are claimed or dropped.

    Returns how many are, and those of `ids` that were not examined. O(ids), mostly in C.
    """
    found, units = pending.described(ids)
    latest_ms = latest_idle_ms(now_ms, command.min_idle_ms)
    counts_after = {
        each: count_after(each.deliveries, just_id=command.just_id) if each.at_ms <= latest_ms else None
        for each in set(found)
    }
    counts = list(map(counts_after.__getitem__, found))
    log = batch.stream.log
    looks = log.cache.lookups
    live = are_among(ids, log.live_among(ids))
    batch.work.count(len(ids), units, log.cache.lookups - looks)
    uses = [count is not None or not alive for count, alive in zip(counts, live, strict=True)]
    end = next(islice(compress(count_from(1), uses), budget - 1, None), len(ids))
    del counts[end:], live[end:], uses[end:]
    batch.drop_all([value for value, alive in zip(ids, live, strict=False) if not alive])
    claims = [
        (value, count)
        for value, count, alive in zip(ids, counts, live, strict=False)
        if alive and count is not None
    ]
    batch.add_all([value for value, _ in claims], [count for _, count in claims])
    return sum(uses), ids[end:]
