"""The example pipeline: every reading once, late ones left out of windows, the poison row set aside; in one
session, and by `spark-submit` on a standalone cluster."""

from __future__ import annotations

import subprocess
import sys
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tailrace_client import Tailrace
from tailrace_spark import read_history
from tests.spark.spark_processes import SPARK_HOME, environment
from tests.support.server_process import running_server

RACE = Path(__file__).parents[2] / "spark_client" / "examples" / "race.py"
READINGS_A_FILE = 3_000
FILES = 5
SUBMIT_ENDS_WITHIN_S = 900


@pytest.fixture
def race(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example, with fewer readings."""
    specification = util.spec_from_file_location("race", RACE)
    assert specification is not None
    assert specification.loader is not None
    module = util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "race", module)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "READINGS_A_FILE", READINGS_A_FILE)
    return module


def test_the_pipeline_counts_each_reading_once_leaves_late_ones_out_and_sets_the_poison_row_aside(
    spark: SparkSession, race: ModuleType, tmp_path: Path
) -> None:
    readings = FILES * READINGS_A_FILE
    assert race.write_readings(tmp_path / "readings") == readings + 2
    with running_server(tmp_path) as server:
        race.run(spark, race.Places(server.base_url, str(tmp_path)))
        history = read_history(spark, server.base_url, race.CHECKPOINTS, str(tmp_path / "archive"))
        assert history.count() == history.select("_id").distinct().count() == readings + 1
        with Tailrace(server.base_url) as tailrace:
            assert tailrace.stream(race.CHECKPOINTS).length() == 0
            [(_, refused)] = tailrace.stream(race.REFUSED).read()
            assert refused["line"] == "{}"
            pace = [fields for _, fields in tailrace.stream(race.PACE).read()]
    assert_windows_are_right(pace, readings)


def assert_windows_are_right(pace: list[dict[str, Any]], readings: int) -> None:
    """Each window of each rider once, with a reading a second and without the late one's 99.9."""
    windows = [(fields["from"], fields["rider"]) for fields in pace]
    assert len(windows) == len(set(windows)) > 0
    assert {fields["readings"] for fields in pace} == {"300"}
    assert all(28 <= float(fields["mean_speed"]) <= 33 for fields in pace)
    # All windows that ended a watermark before the last batch but one, of five riders.
    seconds = readings // 5
    assert len(windows) >= 5 * ((seconds - READINGS_A_FILE // 5 - 600) // 300)


@pytest.mark.long
def test_the_pipeline_runs_by_spark_submit_on_a_standalone_cluster(standalone: str, tmp_path: Path) -> None:
    with running_server(tmp_path) as server:
        submitted = subprocess.run(
            [
                SPARK_HOME / "bin" / "spark-submit",
                f"--master={standalone}",
                "--conf=spark.ui.enabled=false",
                "--conf=spark.sql.shuffle.partitions=2",
                RACE,
                f"--url={server.base_url}",
                f"--directory={tmp_path}",
            ],
            env=environment("127.0.0.1"),
            capture_output=True,
            text=True,
            timeout=SUBMIT_ENDS_WITHIN_S,
            check=False,
        )
    assert submitted.returncode == 0, submitted.stderr[-4000:]
    assert "history of the readings: 100001" in submitted.stdout
    assert "race:refused: 1" in submitted.stdout
    assert "readings still in the stream: 0" in submitted.stdout
