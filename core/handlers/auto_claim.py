"""XAUTOCLAIM: claims idle entries of other consumers in id order (rule 52)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, islice
from itertools import count as count_from
from typing import Final

from tailrace.core.commands import AutoClaim
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.handlers.claim_batch import ClaimBatch
from tailrace.core.handlers.claims import count_after
from tailrace.core.handlers.consumers import touch_consumer
from tailrace.core.handlers.groups import require_key_and_group
from tailrace.core.id_keys import are_among
from tailrace.core.limits import AUTOCLAIM_COUNT_MAX, XAUTOCLAIM_SCAN_FACTOR, XAUTOCLAIM_SCAN_MAX
from tailrace.core.pending.pending_list import PendingEntriesList
from tailrace.core.pending.rows import latest_idle_ms
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
