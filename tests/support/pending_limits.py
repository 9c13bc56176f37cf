"""The limits from which on a pending entries list works in another way, for tests with few entries."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest

from tailrace.core.pending import pending_list, segment, segment_index, segment_table

LIMITS: Final[dict[tuple[Any, str], tuple[int, ...]]] = {
    (segment, "SEGMENT_MAX"): (3, 6, 1_024),
    (segment, "ROWS_MAX"): (4, 6, 255),
    (segment, "_ADDED_MAX"): (1, 3, 255),
    (segment, "_RANGE_MIN"): (2, 64),
    (segment, "_SERIALS_SHORT"): (3, 1 << 32),
    (segment, "_FEW"): (0, 4),
    (segment_table, "SEGMENT_MAX"): (3, 6, 1_024),
    (segment_table, "ROWS_MAX"): (4, 255),
    (segment_table, "_ROWS_MAX"): (2, 3),
    (segment_table, "_SPARSE"): (1, 2, 8),
    (segment_table, "_JOINED_MAX"): (3, 128),
    (segment_table, "_FEW"): (0, 1, 4),
    (segment_table, "_THIN"): (1, 4),
    (segment_table, "_THINNED_MIN"): (2, 32),
    (segment_index, "_SWEPT_MIN"): (1, 16),
    (pending_list, "BATCH_MIN"): (2, 8),
    (pending_list, "BATCH_MAX"): (3, 1_000),
    (pending_list, "_SPREAD"): (1, 16),
    (pending_list, "_ROWS_PER_UNIT"): (1, 8),
}
"""The values of each limit that a program may run with."""


def set_limits(patch: pytest.MonkeyPatch, random: Random) -> None:
    """Choose a value for each limit."""
    for (module, name), values in LIMITS.items():
        patch.setattr(module, name, random.choice(values))
