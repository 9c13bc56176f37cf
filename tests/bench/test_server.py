"""The server that a bench starts."""

from __future__ import annotations

import pytest

from bench.server import started


def test_the_log_of_the_server_is_shown_where_a_bench_fails(capsys: pytest.CaptureFixture[str]) -> None:
    def measure() -> None:
        with started("none"):
            raise AssertionError("another length than was sent")

    with pytest.raises(AssertionError, match="another length"):
        measure()
    assert "data is in memory only" in capsys.readouterr().err
