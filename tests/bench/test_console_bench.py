"""The bench of the console, short: every view is measured on a small server. Its figures mean nothing."""

from __future__ import annotations

import pytest

from bench.console import VIEWS, Size, measure, row
from bench.latencies import NS_PER_MS, Latencies


def test_every_view_and_the_tail_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    measure(Size(streams=1_100, entries=100_100), repeats=1, quiet_s=0.2, open_s=0)
    lines = capsys.readouterr().out.splitlines()
    assert [line[:22].strip() for line in lines[1:]] == [*VIEWS, "append to tail"]
    assert all("ms of CPU" in line for line in lines[1:-1])


def test_some_views_are_measured_alone(capsys: pytest.CaptureFixture[str]) -> None:
    size = Size(streams=100, entries=10)
    measure(size, repeats=1, quiet_s=0.2, open_s=0, views=("streams",))
    lines = capsys.readouterr().out.splitlines()
    assert [line[:22].strip() for line in lines[1:]] == ["streams", "append to tail"]


@pytest.mark.parametrize(
    ("shown_ms", "others_ms", "is_met"), [(1_000, 15, True), (1_001, 10, False), (500, 16, False)]
)
def test_a_view_within_a_second_must_not_slow_the_other_client(
    shown_ms: float, others_ms: int, *, is_met: bool
) -> None:
    quiet, others = Latencies([10 * NS_PER_MS]), Latencies([others_ms * NS_PER_MS])
    line, found = row("server", shown_ms, 12.0, quiet, others)
    assert found is is_met
    assert f"{others_ms / 10:.2f} x" in line
