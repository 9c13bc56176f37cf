"""XAUTOCLAIM: claims idle entries of other consumers in id order (rule 52)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, islice
from itertools import count as count_from
from typing import Final

from tailrace.core.bounds.pending_work import PACKED_PER_UNIT
from tailrace.core.commands import AutoClaim
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.handlers.claim_batch import ClaimBatch
from tailrace.core.handlers.claims import count_after, is_idle
from tailrace.core.handlers.consumers import touch_consumer
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.id_keys import are_among
from tailrace.core.idle import idle_since
from tailrace.core.limits import AUTOCLAIM_COUNT_MAX, XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.strip import Strip
from tailrace.core.pending.units import Unit
from tailrace.core.replies import ClaimReply
from tailrace.core.stream_id import ZERO_ID, StreamId

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

    Returns how many are, and those of `ids` that were not examined. O(ids) in C but for scattered entries.
    """
    counts: list[int | None] = []
    unit_count = 0
    for run, some in pending.by_run(ids):
        if isinstance(run, Strip):
            unit_count += len(some) // PACKED_PER_UNIT
            counts += _strip_counts(run, some, command, now_ms)
        elif run is not None:
            unit_count += 1
            counts += [_auto_count(run, some[0], command, now_ms)] * len(some)
        else:
            units = pending.units_at(some)
            unit_count += len(units)
            counts += [
                _auto_count(unit, value, command, now_ms) for unit, value in zip(units, some, strict=True)
            ]
    log = batch.stream.log
    looks = log.cache.lookups
    live = are_among(ids, log.live_among(ids))
    batch.work.count(len(ids), unit_count, log.cache.lookups - looks)
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
    """Do the same as `_auto_count` for each of the entries `ids` of `strip`."""
    _, times, counts = strip.columns(ids)
    for at_ms, count in zip(times, counts, strict=True):
        is_idle = idle_since(at_ms, now_ms) >= command.min_idle_ms
        yield count_after(count, just_id=command.just_id) if is_idle else None


def _auto_count(unit: Unit, value: StreamId, command: AutoClaim, now_ms: int) -> int | None:
    """Return the new delivery count of the entry `value` of `unit`; None if it is not idle enough."""
    if not is_idle(unit, now_ms, command.min_idle_ms):
        return None
    return count_after(unit.deliveries_of(value), just_id=command.just_id)
