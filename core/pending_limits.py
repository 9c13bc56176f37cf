"""The limits of reads of groups and pending entries, with their reasons. `GET /v1/limits` shows them."""

from __future__ import annotations

from typing import Final

PENDING_STEPS_MAX: Final = 40_000
"""Work of one XREADGROUP with CLAIM or of a consumer's history, or of one XAUTOCLAIM, in steps of about 1.5
us: about 0.06 s of the writer's time. `core.bounds.pending_work` counts them. This allows `READ_ENTRIES_MAX`
entries that were delivered together, and about 2 600 entries that were claimed one at a time in no order. The
next read continues from there."""

INFO_FULL_PARTS_MAX: Final = 5_000
"""Groups and consumers that XINFO STREAM FULL shows. Each takes the writer about 12 us."""
