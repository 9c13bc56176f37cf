"""Draws the figures of the benches as SVG. Only this module needs matplotlib (extra `bench`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.latencies import Latencies

PERCENTS: Final = (*range(99), *(99 + step / 100 for step in range(100)))


def plot_latencies(path: Path, title: str, measured: Mapping[str, Latencies], bound_ms: float) -> None:
    """Draw one line per name: the latency that each percentage of samples does not exceed. Also draw the
    bound."""
    figure, axes = _axes(title, ("ms from send to receipt", "% of entries"))
    for name, latencies in measured.items():
        axes.plot([latencies.percentile_ms(percent) for percent in PERCENTS], PERCENTS, label=name)
    axes.axvline(bound_ms, color="grey", linestyle="--", label=f"{bound_ms:g} ms")
    axes.legend()
    _save(path, figure)


def plot_lines(
    path: Path,
    title: str,
    labels: tuple[str, str],
    at: Sequence[float],
    lines: Mapping[str, Sequence[float]],
) -> None:
    """Draw one line per name over the values `at` on a logarithmic axis; the other axis begins at 0."""
    figure, axes = _axes(title, labels)
    for name, values in lines.items():
        axes.plot(at, values, marker="o", label=name)
    axes.set_ylim(bottom=0)
    axes.legend()
    _save(path, figure)


def plot_over_time(
    path: Path, title: str, minutes: Sequence[float], panels: Mapping[str, Mapping[str, Sequence[float]]]
) -> None:
    """Draw one panel per unit below each other, each with one line per name over the minutes."""
    figure = Figure(figsize=(8, 2.6 * len(panels)), layout="constrained")
    figure.suptitle(title)
    columns = figure.subplots(len(panels), sharex=True)
    for axes, (unit, lines) in zip(columns, panels.items(), strict=True):
        for name, values in lines.items():
            axes.plot(minutes, values, label=name, linewidth=1)
        axes.set(ylabel=unit)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, alpha=0.3)
        axes.legend(loc="upper right")
    columns[-1].set(xlabel="minutes")
    _save(path, figure)


def _axes(title: str, labels: tuple[str, str]) -> tuple[Any, Any]:
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1], xscale="log")
    axes.grid(visible=True, alpha=0.3)
    return figure, axes


def _save(path: Path, figure: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Text stays text, and equal figures give equal files, so that the files change little between versions.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tailrace"}):
        figure.savefig(path, metadata={"Date": None})
