"""The chaos run in small, and that its count notices what must not be."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tailrace_client import Tailrace
from tests.spark import chaos
from tests.spark.chaos_counts import counts_of
from tests.spark.chaos_plan import DECOYS_FROM, Fault, plan_of, with_decoys
from tests.spark.chaos_run import Outcome
from tests.support.server_process import running_server


def test_the_count_tells_rows_that_are_lost_doubled_in_both_parts_or_strange(tmp_path: Path) -> None:
    decoy = DECOYS_FROM + 1
    cases = {
        "right": ([0, 1, decoy], [2, 3, DECOYS_FROM], []),
        "lost": ([0, 1], [3], []),
        "doubled": ([0, 1, 1], [2, 3], []),
        "doubled decoy": ([0, 1, decoy], [2, 3, decoy], []),
        "both": ([0, 1], [2, 3], [1]),
        "strange": ([0, 1, 4], [2, 3], []),
    }
    found = {}
    with running_server(tmp_path) as server, Tailrace(server.base_url) as tailrace:
        for name, (archived, live, again) in cases.items():
            ids = write_archive(tmp_path / name, archived)
            stream = tailrace.stream(name)
            stream.create()
            for number in again:
                stream.append({"n": str(number)}, id=ids[archived.index(number)])
            for number in live:
                stream.append({"n": str(number)})
            found[name] = counts_of(server.base_url, name, tmp_path / name, rows=4)
    assert [name for name, counts in found.items() if counts.is_right] == ["right"]
    assert (found["right"].archived, found["right"].live, found["right"].decoys) == (3, 3, 2)
    assert found["lost"].lost == 1
    assert found["doubled"].doubled == found["doubled decoy"].doubled == 1
    assert (found["both"].both, found["both"].doubled) == (1, 1)
    assert found["strange"].strange == 1


def write_archive(path: Path, numbers: Iterable[int]) -> list[str]:
    """One step with a file of these rows; their ids."""
    ids = [f"1-{place}" for place, _ in enumerate(numbers, 1)]
    fields = pa.array([[("n", str(number))] for number in numbers], pa.map_(pa.string(), pa.string()))
    (path / "_tailrace").mkdir(parents=True)
    pq.write_table(pa.table({"_id": ids, "fields": fields}), path / "a.parquet")
    (path / "_tailrace" / "0.json").write_text(json.dumps({"files": [{"path": "a.parquet", "bytes": 1}]}))
    return ids


def test_the_same_seed_plans_the_same_faults_and_every_fault_comes_before_the_rows_are_used_up() -> None:
    times = {Fault.DRIVER: 3, Fault.WORKER: 2, Fault.SERVER: 0, Fault.TRIM: 1}
    plan = plan_of(7, 10_000, times)
    assert plan == plan_of(7, 10_000, times) != plan_of(8, 10_000, times)
    assert [fault for _, fault in plan.points].count(Fault.DRIVER) == 3
    assert len(plan.points) == 6
    assert all(0 < entries < 15_000 for entries, _ in plan.points)


def test_decoys_are_numbers_of_their_own() -> None:
    numbers = with_decoys(20, 30)
    assert [number for number in numbers if number < DECOYS_FROM] == list(range(20, 30))
    assert [number for number in numbers if number >= DECOYS_FROM] == [DECOYS_FROM + 25]


def test_a_run_without_counts_or_with_something_wrong_is_not_right() -> None:
    outcome = Outcome(plan_of(1, 1_000, {}))
    assert not outcome.is_right
    outcome.wrongs.append("it never ended")
    assert "WRONG: it never ended" in chaos.table(outcome)
    assert "NOT every row once" in chaos.table(outcome)


@pytest.mark.long
def test_every_row_arrives_once_though_each_part_is_killed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = ["--driver-kills=1", "--worker-kills=1", "--server-kills=1", "--trims=1"]
    status = chaos.main(["--rows=6000", "--seed=1", f"--directory={tmp_path}", *once])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "driver kills" in printed
    assert "server kills" in printed
    assert "every row once" in printed
