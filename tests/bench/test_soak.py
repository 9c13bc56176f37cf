"""The soak in a few seconds: every entry is read, acknowledged and tailed once, and the samples are drawn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.latencies import Latencies
from bench.server import started
from bench.soak import Plan, Sample, Soaked, report, soak
from bench.soak_load import Counts

NAME = "resident memory, MiB"


def sample(resident_mib: float) -> Sample:
    quick = Latencies([1_000_000])
    return Sample(0, resident_mib, 50, 2, 10, 10, quick, quick)


def test_every_entry_is_acknowledged_and_tailed_once(tmp_path: Path) -> None:
    plan = Plan(minutes=0.05, share=0.5, calibration_s=0.5)
    with started("none", data_dir=tmp_path / "data") as server:
        soaked = asyncio.run(soak(server, tmp_path / "data", plan))
    report(soaked, plan, tmp_path / "plots")
    counts = soaked.counts
    assert counts.appended > 0
    assert counts.appended == counts.tailed == counts.acknowledged
    assert counts.claimed <= counts.appended
    assert soaked.samples
    assert (tmp_path / "plots/soak.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(("last", "is_flat"), [(104.0, True), (106.0, False), (90.0, True)])
def test_memory_is_flat_if_the_last_third_is_at_most_a_twentieth_above_the_middle(
    last: float, *, is_flat: bool
) -> None:
    samples = [sample(size) for size in (10.0, 100.0, last) for _ in range(10)]
    found = {name: is_met for name, _, is_met in Soaked(1.0, samples, Counts()).checks()}
    assert found[NAME] is is_flat
    assert all(is_met for name, is_met in found.items() if name != NAME)


def test_a_lost_entry_is_found() -> None:
    counts = Counts()
    counts.appended, counts.tailed, counts.acknowledged = 3, 3, 2
    *_, (name, figures, is_met) = Soaked(1.0, [sample(100.0)], counts).checks()
    assert (name, figures, is_met) == ("entries appended, tailed, acknowledged", "(3, 3, 2)", False)
