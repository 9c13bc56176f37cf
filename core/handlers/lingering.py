"""Waiting reads that gather entries: they return when enough are available, or have lingered long enough.

A read with a `Batch` counts the entries that it would return, and continues to wait if they are too few. It
takes none of them meanwhile, so other readers of a group may take them; then it begins to linger again with
the next entry. The count comes from the block index, so a wake-up costs little.
"""

from __future__ import annotations

from msgspec.structs import replace

from tailrace.core.commands import Batch, Read, ReadGroup
from tailrace.core.execution import Execution


def waits_for_more(command: Read | ReadGroup) -> bool:
    """Return whether the read may wait although entries are available. O(1)."""
    return command.batch is not None and command.block_ms is not None


def lingering(execution: Execution, command: Read | ReadGroup, available: int) -> Batch | None:
    """Return the batch with which the read continues to wait, None if it returns what is available.

    `available`: how many entries the read could return, counted up to `min_count`. Lingering begins with the
    first attempt that finds an entry. It begins again if the entries are gone, and if the clock stepped back,
    so it never lasts longer than `linger_ms` by the clock.
    """
    batch, now_ms = command.batch, execution.now_ms
    assert batch is not None
    if available >= batch.min_count or (command.until_ms is not None and command.until_ms <= now_ms):
        return None
    if not available or batch.linger_ms is None:
        return replace(batch, until_ms=None)
    until_ms = batch.until_ms
    if until_ms is None or until_ms - now_ms > batch.linger_ms:
        until_ms = now_ms + batch.linger_ms
    return None if until_ms <= now_ms else replace(batch, until_ms=until_ms)
