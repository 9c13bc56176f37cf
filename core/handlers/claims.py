"""XCLAIM: claims named entries that are pending for other consumers (rules 47 to 51)."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.core.bounds.reply_room import entries_bytes
from tailrace.core.commands import Claim, ClaimOptions
from tailrace.core.deliveries import one_more
from tailrace.core.effects import GroupMoved
from tailrace.core.execution import Execution, parsed
from tailrace.core.handlers.claim_batch import ClaimBatch
from tailrace.core.handlers.consumers import touch_consumer
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.pending.rows import Delivery, latest_idle_ms
from tailrace.core.replies import ClaimReply
from tailrace.core.stream_id import StreamId


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
