"""Plots of what the benches measured, as SVG. The one module that needs matplotlib (extra `bench`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from bench.latencies import Latencies

PERCENTS = (*range(99), *(99 + step / 100 for step in range(100)))


def plot_latencies(path: Path, title: str, measured: Mapping[str, Latencies], bound_ms: float) -> None:
    """The latency that so many percent of the samples do not exceed, a line a name, and the bound."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, latencies in measured.items():
        axes.plot([latencies.percentile_ms(percent) for percent in PERCENTS], PERCENTS, label=name)
    axes.axvline(bound_ms, color="grey", linestyle="--", label=f"{bound_ms:g} ms")
    axes.set(title=title, xlabel="ms from send to receipt", ylabel="% of entries", xscale="log")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(path)
