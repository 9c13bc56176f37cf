"""Latencies in the form that the benches print: percentiles, and the share within a bound."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

NS_PER_MS: Final = 1_000_000


async def settled(latencies_ns: Sequence[int], expected: int, within_s: float) -> None:
    """Wait until there are `expected` samples, for at most `within_s` seconds."""
    deadline = time.monotonic() + within_s
    # Polled, because signalling an event would add work to each receipt.
    while len(latencies_ns) < expected and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


class Latencies:
    """Latency samples in nanoseconds, sorted."""

    def __init__(self, samples_ns: Sequence[int]) -> None:
        self._samples_ns = sorted(samples_ns)

    def __len__(self) -> int:
        return len(self._samples_ns)

    def percentile_ms(self, percent: float) -> float:
        """Return the latency in milliseconds that `percent` of the samples do not exceed."""
        last = len(self._samples_ns) - 1
        return self._samples_ns[min(int(len(self._samples_ns) * percent / 100), last)] / NS_PER_MS

    def within_percent(self, bound_ms: float) -> float:
        """Return the percentage of samples that do not exceed the bound."""
        return 100 * sum(sample <= bound_ms * NS_PER_MS for sample in self._samples_ns) / len(self)

    def summary(self) -> str:
        """Return all samples on one line of text."""
        shown = " ".join(f"p{percent:g} {self.percentile_ms(percent):.2f}" for percent in (50, 99, 99.9, 100))
        return f"{len(self)} samples, ms: {shown}"
