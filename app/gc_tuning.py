"""The garbage collector's settings for a heap of long-lived objects.

What the server keeps (blocks, pending entries, indexes) is freed by reference counts: it has no cycles.
A full collection walks all of it, finds nothing, and every client waits meanwhile. So the collector ignores
what exists at the start, and rarely examines the old generations: only exceptions and tasks make cycles, and
these die young.
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG_OBJECTS: Final = 1_000
"""Allocations minus deallocations that start a young collection: a low number makes each one short. With
20 000 the share of wake-ups within 2 ms fell from 99.9 to 99.6 %."""

MIDDLE_ROUNDS: Final = 20
OLD_ROUNDS: Final = 100
"""Young collections before the middle generation is collected, and middle ones before the old."""


def tune_garbage_collector() -> None:
    """Call this once, after all long-lived objects exist."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, MIDDLE_ROUNDS, OLD_ROUNDS)
