"""Results of a load: counts, rates and percentiles. It owns the figures; it never sends and never prints."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Final

_NS_PER_MS: Final = 1_000_000
_NS_PER_S: Final = 1_000_000_000
PERCENTILES: Final[Mapping[str, float]] = {
    "p50_ms": 0.5,
    "p95_ms": 0.95,
    "p99_ms": 0.99,
    "p999_ms": 0.999,
}


class Tally:
    """Counts the operations of one test, and keeps the duration of each."""

    def __init__(self) -> None:
        self.durations_ns = array("Q")
        self.entries = 0

    def add(self, duration_ns: int, entries: int) -> None:
        """Count one operation."""
        self.durations_ns.append(duration_ns)
        self.entries += entries


def result(name: str, what: str, tally: Tally, took_ns: int) -> dict[str, Any]:
    """Return the figures of one test. `what`: what one operation is."""
    durations = sorted(tally.durations_ns)
    seconds = max(took_ns, 1) / _NS_PER_S
    return {
        "test": name,
        "operation": what,
        "operations": len(durations),
        "entries": tally.entries,
        "seconds": round(seconds, 3),
        "operations_per_s": round(len(durations) / seconds, 1),
        "entries_per_s": round(tally.entries / seconds, 1),
        **{member: _ms(percentile(durations, share)) for member, share in PERCENTILES.items()},
        "max_ms": _ms(durations[-1] if durations else None),
    }


def percentile(ordered: Sequence[int], share: float) -> int | None:
    """Return the smallest value that `share` of the values do not exceed; None without values."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


def _ms(value_ns: int | None) -> float | None:
    return None if value_ns is None else round(value_ns / _NS_PER_MS, 3)
