"""Wire model of the limits of reads of groups and pending entries, a part of all limits of the server."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from tailrace.core import limits, pending_limits


def _bound(value: int, description: str) -> Any:
    return Field(value, description=description, examples=[value])


class PendingLimits(BaseModel):
    """The limits of reads that claim, repeat or show pending entries."""

    xautoclaim_scan_max: int = _bound(
        limits.XAUTOCLAIM_SCAN_MAX, "Pending entries that one scan for idle entries examines."
    )
    pending_steps_max: int = _bound(
        pending_limits.PENDING_STEPS_MAX,
        "Work of one group read with `claim_min_idle_ms`, one read of a consumer's history, or one scan for "
        "idle entries: 1 for each pending entry, 6 for each set of entries delivered or claimed "
        "together, and 8 for each block of the stream in which entries are looked up. The next request "
        "continues from there.",
    )
    info_full_parts_max: int = _bound(
        pending_limits.INFO_FULL_PARTS_MAX, "Groups and consumers that `XINFO STREAM` with `FULL` shows."
    )
