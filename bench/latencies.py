"""Latencies as they are printed: percentiles, and the share of each millisecond as the guide prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

NS_PER_MS = 1_000_000
ROWS_MAX = 25


class Latencies:
    """Samples in nanoseconds, sorted."""

    def __init__(self, samples_ns: Sequence[int]) -> None:
        self._samples_ns = sorted(samples_ns)

    def __len__(self) -> int:
        return len(self._samples_ns)

    def percentile_ms(self, percent: float) -> float:
        """The latency that `percent` of the samples do not exceed."""
        last = len(self._samples_ns) - 1
        return self._samples_ns[min(int(len(self._samples_ns) * percent / 100), last)] / NS_PER_MS

    def within_percent(self, bound_ms: float) -> float:
        """How many of the samples take at most so long."""
        return 100 * sum(sample <= bound_ms * NS_PER_MS for sample in self._samples_ns) / len(self)

    def summary(self) -> str:
        """One line."""
        shown = " ".join(f"p{percent:g} {self.percentile_ms(percent):.2f}" for percent in (50, 99, 99.9, 100))
        return f"{len(self)} samples, ms: {shown}"

    def histogram(self) -> str:
        """A line for each millisecond that has samples; the last one gathers the rest."""
        counts = Counter(min(sample // NS_PER_MS, ROWS_MAX) for sample in self._samples_ns)
        return "\n".join(self._row(ms, counts[ms]) for ms in sorted(counts))

    def _row(self, ms: int, count: int) -> str:
        share = 100 * count / len(self)
        until = "more" if ms == ROWS_MAX else str(ms + 1)
        bar = "#" * round(share / 2)
        return f"Processed between {ms:2} and {until:>4} ms -> {share:6.2f}%  {bar}"
