"""The garbage collector's settings for a heap of long-lived objects.

The long-lived objects of the server (blocks, pending entries, indexes) have no reference cycles, so reference
counting frees them. A full collection examines all of them and frees nothing, while every client waits. So
the collector ignores the objects that exist at the start, and rarely examines the old generations: only
exceptions and tasks create cycles, and they are short-lived.
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG_OBJECTS: Final = 1_000
"""Allocations minus deallocations that start a young collection: a low number makes each one short. With
20 000 the share of wake-ups within 2 ms fell from 99.9 to 99.6 %."""

MIDDLE_ROUNDS: Final = 20
OLD_ROUNDS: Final = 100
"""The number of young collections before a middle one, and of middle collections before an old one."""


def tune_garbage_collector() -> None:
    """Call this once, after all long-lived objects exist."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, MIDDLE_ROUNDS, OLD_ROUNDS)
