"""Requests by operation: how many were answered how, and how long the server took for them.

Filled once a request by the two ways that a request can take (`app.request_observer`,
`app.protocols.hot_observer`), read at the scrape. It never looks into a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import add

from tailrace.app.observability.counters.histogram import DURATION_UNIT_NS, Histogram, durations


class RequestFigures:
    """All operations that were asked for since the start. `answers`: how long they took, by the operation's
    name and the answer's status."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, int], Histogram] = {}

    def note(self, operation: str, status: int, duration_ns: int) -> None:
        """Count one answered request. `Histogram.add`, written out: this is on the way of every request,
        and a call costs as much as the rest. About 0.2 us."""
        try:
            histogram = self.answers[operation, status]
        except KeyError:
            histogram = self.answers[operation, status] = durations()
        histogram.counts[((duration_ns - 1) // DURATION_UNIT_NS).bit_length()] += 1
        histogram.total += duration_ns

    def durations_of(self, operation: str) -> Histogram:
        """How long the answers of all statuses took."""
        return sum_of(each for (name, _), each in self.answers.items() if name == operation)


def sum_of(histograms: Iterable[Histogram]) -> Histogram:
    """All of them as one."""
    whole = durations()
    for histogram in histograms:
        whole.counts = list(map(add, whole.counts, histogram.counts))
        whole.total += histogram.total
    return whole
