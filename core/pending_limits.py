"""The limit of the work of reads of pending entries, with its reason. `GET /v1/limits` shows it."""

from __future__ import annotations

from typing import Final

PENDING_STEPS_MAX: Final = 40_000
"""Work of one XREADGROUP with CLAIM or of a consumer's history, or of one XAUTOCLAIM, in steps of about 1.5
us: about 0.06 s of the writer's time. `core.bounds.pending_work` counts them. This allows `READ_ENTRIES_MAX`
entries that were delivered together, and about 2 600 entries that were claimed one at a time in no order. The
next read continues from there."""
