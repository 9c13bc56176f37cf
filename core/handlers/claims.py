"""XCLAIM and XAUTOCLAIM: claim entries that are pending for other consumers (rules 47 to 52)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, islice
from itertools import count as count_from
from typing import Final

from tailrace.core.bounds.reply_room import entries_bytes
from tailrace.core.commands import AutoClaim, Claim, ClaimOptions
from tailrace.core.deliveries import one_more
from tailrace.core.effects import GroupMoved
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution, parsed
from tailrace.core.handlers.claim_batch import ClaimBatch
from tailrace.core.handlers.consumers import touch_consumer
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.id_keys import are_among
from tailrace.core.idle import idle_since
from tailrace.core.limits import AUTOCLAIM_COUNT_MAX, XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.run import Run
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Unit
from tailrace.core.replies import ClaimReply
from tailrace.core.stream_id import ZERO_ID, StreamId

SCAN_CHUNK: Final = 1_000
"""How many pending entries XAUTOCLAIM looks up at once. It may stop at any of them."""


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
            counts.forget()
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
    """The new delivery count of each entry that XCLAIM names, or None if it does not claim the entry.

    All entries of a run have the same delivery time and count, so each run is judged once.
    """

    def __init__(self, execution: Execution, batch: ClaimBatch, options: ClaimOptions) -> None:
        self._now_ms = execution.now_ms
        self._batch = batch
        self._options = options
        # A group with an order by key makes nothing pending but by its reads.
        self._force = options.force and batch.group.order is None
        self._of_runs: dict[Run, int | None] = {}

    def of(self, value: StreamId) -> int | None:
        """The new count of the entry `value`. O(1) after `ClaimBatch.prefetch`."""
        if not self._batch.is_live(value):
            return None
        unit = self._batch.unit_of(value)
        if isinstance(unit, Run):
            if unit not in self._of_runs:
                self._of_runs[unit] = self._in_unit(unit, value)
            return self._of_runs[unit]
        return self._in_unit(unit, value)

    def _in_unit(self, unit: Unit | None, value: StreamId) -> int | None:
        options = self._options
        if unit is None:
            # An entry that FORCE makes pending counts as delivered once before.
            return _next_count(1, options) if self._force else None
        if not _is_idle(unit, self._now_ms, options.min_idle_ms):
            return None
        return _next_count(unit.deliveries_of(value), options)

    def forget(self) -> None:
        """Forget the counts of runs, because the runs have changed."""
        self._of_runs.clear()


def _is_idle(unit: Unit, now_ms: int, min_idle_ms: int) -> bool:
    """Whether the unit may be claimed. An unowned unit is idle at any threshold (rule 47), unless it is
    delayed."""
    if unit.consumer is None:
        return not unit.is_held
    return idle_since(unit.delivered_at_ms, now_ms) >= min_idle_ms


def _next_count(deliveries: int, options: ClaimOptions) -> int:
    if options.retry_count is not None:
        return options.retry_count
    return _count_after(deliveries, just_id=options.just_id)


def _count_after(deliveries: int, *, just_id: bool) -> int:
    return deliveries if just_id else one_more(deliveries)


def auto_claim(execution: Execution, command: AutoClaim) -> ClaimReply:
    """XAUTOCLAIM: claim up to `count` idle entries in id order, and drop the deleted ones that it finds.

    It examines at most ``count * XAUTOCLAIM_SCAN_FACTOR`` pending entries (rule 52), and at most
    `XAUTOCLAIM_SCAN_MAX`. If the reply has room for fewer entries, the cursor continues after the last one.
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
    while budget and attempts and (chunk := list(islice(pending_ids, min(attempts, SCAN_CHUNK)))):
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

    Returns how many are, and those of `ids` that were not examined. O(ids) in C but for scattered entries.
    """
    counts: list[int | None] = []
    for run, some in pending.by_run(ids):
        if isinstance(run, Strip):
            counts += _strip_counts(run, some, command, now_ms)
        elif run is not None:
            counts += [_auto_count(run, some[0], command, now_ms)] * len(some)
        else:
            units = pending.units_at(some)
            counts += [
                _auto_count(unit, value, command, now_ms) for unit, value in zip(units, some, strict=True)
            ]
    live = are_among(ids, batch.stream.log.live_among(ids))
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


def _strip_counts(
    strip: Strip, ids: Sequence[StreamId], command: AutoClaim, now_ms: int
) -> Iterator[int | None]:
    """As `_auto_count` for each of the entries `ids` of `strip`."""
    _, times, counts = strip.columns(ids)
    for at_ms, count in zip(times, counts, strict=True):
        is_idle = idle_since(at_ms, now_ms) >= command.min_idle_ms
        yield _count_after(count, just_id=command.just_id) if is_idle else None


def _auto_count(unit: Unit, value: StreamId, command: AutoClaim, now_ms: int) -> int | None:
    """The new delivery count of the entry `value` of `unit`, None if it is not idle enough."""
    if not _is_idle(unit, now_ms, command.min_idle_ms):
        return None
    return _count_after(unit.deliveries_of(value), just_id=command.just_id)
