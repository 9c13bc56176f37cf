"""`tailrace stats` and `slowlog`: figures between two samples, live and once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from tailrace.app.cli.observing.stats import percentile_ms
from tests.cli.shell import Terminal, shell
from tests.support.server_process import ServerProcess, running_server


def facts(url: str, *arguments: str) -> dict[str, str]:
    answer = shell(url, "stats", "-i", "0.1", *arguments)
    assert (answer.returncode, answer.stderr) == (0, b"")
    return dict(line.split("\t", 1) for line in answer.stdout.decode().splitlines())


def test_stats_in_a_pipe_are_a_title_and_a_value_a_line(base_url: str) -> None:
    found = facts(base_url, "--once")
    assert int(found["memory bytes"]) > 1_000_000
    assert int(found["connections"]) >= 1
    assert float(found["requests"]) > 0
    assert found["commit p99 ms"] == "-" or float(found["commit p99 ms"]) > 0


def test_stats_as_json_are_one_object_with_units_in_its_names(base_url: str) -> None:
    answer = shell(base_url, "stats", "--json", "-i", "0.1")
    [line] = answer.stdout.splitlines()
    found = msgspec.json.decode(line)
    assert found["memory_bytes"] > 1_000_000
    assert {"entries_appended_per_s", "commit_p50_ms", "commit_p99_ms", "connections"} <= found.keys()


def test_live_stats_are_updated_until_q_is_pressed(base_url: str, tmp_path: Path) -> None:
    with Terminal(base_url, "stats", "-i", "0.1", state=tmp_path) as terminal:
        terminal.shown("commit p99")
        terminal.shown("waiting readers")
        terminal.type("q")
        assert terminal.wait() == 0


def test_a_percentile_is_within_the_bucket_that_reaches_it() -> None:
    buckets = {0.001: 50, 0.002: 90, 0.004: 100, float("inf"): 100}
    assert percentile_ms(buckets, 0.5) == 1.0
    assert percentile_ms(buckets, 0.7) == 1.5
    assert percentile_ms(buckets, 0.95) == 3.0
    assert percentile_ms({0.001: 0, float("inf"): 1}, 0.5) == 1.0
    assert percentile_ms({0.001: 0, float("inf"): 0}, 0.5) is None
    assert percentile_ms({}, 0.5) is None


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server that records all operations."""
    with running_server(tmp_path, "--durability", "none", "--slow-log-ms", "0") as server:
        yield server


def test_slow_operations_are_listed_and_cleared(slow: ServerProcess) -> None:
    httpx.post(f"{slow.base_url}/v1/streams/slow%20one/entries", json={"fields": {"a": "b"}})
    rows = [
        line.split("\t") for line in shell(slow.base_url, "slowlog", "-n", "128").stdout.decode().splitlines()
    ]
    [append] = [row for row in rows if row[2] == "xadd"]
    assert append[6].startswith('xadd "slow one"')
    [newest] = shell(slow.base_url, "slowlog", "-n", "1", "--json").stdout.splitlines()
    assert {"id", "engine_ms", "commit_ms", "commands"} <= msgspec.json.decode(newest).keys()
    assert shell(slow.base_url, "slowlog", "--clear").stdout == b"slow log cleared\n"
    left = shell(slow.base_url, "slowlog", "-n", "128").stdout.decode().splitlines()
    assert "xadd" not in {row.split("\t")[2] for row in left}
