"""Soak: an hour of mixed load at half of the server's maximum. Memory, descriptors, threads and latencies
must stay flat after the warm-up.

First the load runs as fast as it can, which shows the maximum. Then it runs at a share of the maximum. Every
few seconds the bench samples the server's process and the latencies since the last sample. It compares the
median of the last third of the time with the median of the third before. At the end every entry must
have reached the tail and must have been acknowledged once. Run it with ``make soak``, or with ``python -m
bench.soak --minutes 10`` for a short form.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import uvloop
from rich.progress import Progress

from bench.latencies import Latencies
from bench.server import Started, started
from bench.soak_load import STREAMS, Counts, StreamLoad

CALIBRATION_S: Final = 20.0
SAMPLES: Final = 360
SAMPLE_S_MIN: Final = 1.0
SHOWN_EVERY_S: Final = 60
MIB: Final = 2**20
GROWTH_MAX: Final = 1.05
DATA_GROWTH_MAX: Final = 1.5
P50_GROWTH_MAX: Final = 1.2
P99_GROWTH_MAX: Final = 1.5
COUNT_SLACK: Final = 2


class Sample(NamedTuple):
    """The server at one time. `at_s`: since the throttled load began; `busy_percent`: of one core."""

    at_s: float
    resident_mib: float
    descriptors: int
    threads: int
    busy_percent: float
    data_mib: float
    append: Latencies
    acknowledge: Latencies

    def line(self) -> str:
        """Return the sample as one line of text."""
        return (
            f"{self.at_s / 60:.1f} min: {self.resident_mib:.0f} MiB, {self.descriptors} descriptors, "
            f"{self.threads} threads, {self.busy_percent:.0f} % busy, {self.data_mib:.0f} MiB on disk, "
            f"p99 of appends {self.append.percentile_ms(99):.2f} ms"
        )


class Soaked(NamedTuple):
    """The result. `maximum_per_s`: appends a second without a throttle; `samples`: of the throttled load."""

    maximum_per_s: float
    samples: list[Sample]
    counts: Counts

    def checks(self) -> Iterator[tuple[str, str, bool]]:
        """Yield what was measured, the figures, and whether they are as they must be."""
        for name, value, growth_max, slack in _FLAT:
            middle, last = self._medians(value)
            yield name, f"{middle:.2f} -> {last:.2f}", last <= max(middle * growth_max, middle + slack)
        counts = self.counts.appended, self.counts.tailed, self.counts.acknowledged
        yield "entries appended, tailed, acknowledged", f"{counts}", len(set(counts)) == 1

    def _medians(self, value: Callable[[Sample], float]) -> tuple[float, float]:
        """Return the medians of the middle and of the last third of the samples."""
        third = max(len(self.samples) // 3, 1)
        middle, last = self.samples[-2 * third : -third] or self.samples, self.samples[-third:]
        return statistics.median(map(value, middle)), statistics.median(map(value, last))


_FLAT: Final[tuple[tuple[str, Callable[[Sample], float], float, float], ...]] = (
    ("resident memory, MiB", lambda sample: sample.resident_mib, GROWTH_MAX, 1),
    ("descriptors", lambda sample: sample.descriptors, 1, COUNT_SLACK),
    ("threads", lambda sample: sample.threads, 1, COUNT_SLACK),
    ("data directory, MiB", lambda sample: sample.data_mib, DATA_GROWTH_MAX, 1),
    ("p50 of an append, ms", lambda sample: sample.append.percentile_ms(50), P50_GROWTH_MAX, 0.2),
    ("p99 of an append, ms", lambda sample: sample.append.percentile_ms(99), P99_GROWTH_MAX, 1),
    ("p99 of an acknowledgment, ms", lambda sample: sample.acknowledge.percentile_ms(99), P99_GROWTH_MAX, 1),
)
"""Name and value, how many times as large it may be in the last third, and by how much larger in any case."""


class Plan(NamedTuple):
    """How long and how hard to load. `share`: of the maximum, which `calibration_s` seconds show."""

    minutes: float
    share: float = 0.5
    calibration_s: float = CALIBRATION_S


async def soak(server: Started, data_dir: Path, plan: Plan) -> Soaked:
    """Load the server, sample it, and end the load once every entry is acknowledged."""
    counts = Counts()
    loads = [StreamLoad(server.url, f"soak:{number}", counts) for number in range(STREAMS)]
    async with asyncio.TaskGroup() as running:
        for load in loads:
            running.create_task(load.run())
        await asyncio.sleep(plan.calibration_s)
        maximum_per_s = counts.appended / plan.calibration_s
        for load in loads:
            load.per_s = max(maximum_per_s * plan.share / STREAMS, 1)
        samples = [sample async for sample in _samples(server, data_dir, counts, plan.minutes * 60)]
        for load in loads:
            load.ends.set()
    return Soaked(maximum_per_s, samples, counts)


async def _samples(server: Started, data_dir: Path, counts: Counts, seconds: float) -> AsyncIterator[Sample]:
    """Yield samples until the time is over, and show how far it is."""
    period_s = max(seconds / SAMPLES, SAMPLE_S_MIN)
    began_s = time.monotonic()
    counts.latencies_taken()
    with Progress() as progress:
        task = progress.add_task("soak", total=seconds)
        while (at_s := time.monotonic() - began_s) < seconds:
            busy_s = server.busy_s()
            await asyncio.sleep(period_s)
            latencies = counts.latencies_taken()
            sample = Sample(
                time.monotonic() - began_s,
                server.resident_bytes() / MIB,
                server.descriptors(),
                server.threads(),
                100 * (server.busy_s() - busy_s) / (time.monotonic() - began_s - at_s),
                _bytes_in(data_dir) / MIB,
                *(Latencies(latencies[kind] or [0]) for kind in ("append", "acknowledge")),
            )
            progress.update(task, completed=sample.at_s)
            if int(sample.at_s / SHOWN_EVERY_S) > int(at_s / SHOWN_EVERY_S):
                progress.console.print(sample.line(), highlight=False, soft_wrap=True)
            yield sample


def _bytes_in(directory: Path) -> int:
    """Return the size of the files; 0 without a directory, as the durability `none` has none."""
    size = 0
    for file in directory.glob("*"):
        with suppress(FileNotFoundError):  # the server removes a file now and then
            size += file.stat().st_size
    return size


def plot(path: Path, soaked: Soaked) -> None:
    """Draw memory, descriptors and threads, data on disk, and latencies over time."""
    # matplotlib is installed only where plots are wanted.
    from bench.plots import plot_over_time  # noqa: PLC0415

    samples = soaked.samples
    panels: dict[str, dict[str, list[float]]] = {
        "MiB": {
            "resident memory": [sample.resident_mib for sample in samples],
            "data directory": [sample.data_mib for sample in samples],
        },
        "count": {
            "descriptors": [sample.descriptors for sample in samples],
            "threads": [sample.threads for sample in samples],
        },
        "ms": {
            f"{name}, p{percent}": [getattr(sample, name).percentile_ms(percent) for sample in samples]
            for name in ("append", "acknowledge")
            for percent in (50, 99)
        },
    }
    plot_over_time(path, "mixed load over time", [sample.at_s / 60 for sample in samples], panels)


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak, print the report, and return the exit status: 0 if everything is flat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--share", type=float, default=0.5, help="the load, as a share of the maximum (0.5)")
    parser.add_argument("--durability", default="always", help="the durability of the server (always)")
    parser.add_argument("--plots", type=Path, help="the directory for the plot")
    options = parser.parse_args(arguments)
    plan = Plan(options.minutes, options.share)
    with tempfile.TemporaryDirectory(prefix="tailrace-soak-") as scratch:
        data_dir = Path(scratch) / "data"
        with started(options.durability, data_dir=data_dir) as server:
            soaked = uvloop.run(soak(server, data_dir, plan))
    return report(soaked, plan, options.plots)


def report(soaked: Soaked, plan: Plan, plots: Path | None) -> int:
    """Print the result, and return the exit status."""
    print(
        f"maximum: {soaked.maximum_per_s:.0f} appends a second, each read, acknowledged and tailed; "
        f"load: {plan.share:.0%} of it for {plan.minutes:g} minutes; "
        f"{soaked.counts.claimed} claimed, {soaked.counts.trimmed} trimmed"
    )
    checks = list(soaked.checks())
    for name, figures, is_met in checks:
        print(f"{name:40} {figures:32} {'flat' if is_met else 'NOT FLAT'}")
    if plots is not None:
        plot(plots / "soak.svg", soaked)
    return 0 if all(is_met for *_, is_met in checks) else 1


if __name__ == "__main__":
    sys.exit(main())
