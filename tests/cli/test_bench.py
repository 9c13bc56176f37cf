"""`tailrace bench`: its figures, and that its temporary stream is removed in every case."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import msgspec
import pytest

from tailrace.app.cli.loading.load import percentile
from tests.cli.shell import Background, Terminal, shell
from tests.support.server_process import ServerProcess, running_server
from tests.support.tokens import make_token

FEW = ("-n", "20", "-b", "5", "-c", "3")


def left_over(url: str) -> list[str]:
    return shell(url, "ls", "tailrace-bench:").stdout.decode().splitlines()


def test_every_test_prints_its_figures_and_the_stream_is_removed(base_url: str) -> None:
    answer = shell(base_url, "bench", *FEW, "--json")
    assert (answer.returncode, answer.stderr) == (0, b"")
    found = {each["test"]: each for each in map(msgspec.json.decode, answer.stdout.splitlines())}
    counts = {name: (each["operations"], each["entries"]) for name, each in found.items()}
    assert counts == {
        "append": (20, 20),
        "batch": (4, 20),
        "read": (20, counts["read"][1]),
        "wakeup": (20, 20),
        "group": (4, 20),
    }
    for each in found.values():
        assert 0 < each["p50_ms"] <= each["p95_ms"] <= each["p99_ms"] <= each["p999_ms"] <= each["max_ms"]
        assert each["entries"] > 0
    assert left_over(base_url) == []


def test_a_pipe_gets_one_row_a_test_and_a_terminal_a_table(base_url: str, tmp_path: Path) -> None:
    [row] = shell(base_url, "bench", "append", *FEW).stdout.decode().splitlines()
    assert row.split("\t")[:2] == ["append", "20"]
    with Terminal(base_url, "bench", "append", *FEW, state=tmp_path) as terminal:
        terminal.shown("p99.9 ms")
        assert terminal.wait() == 0


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_load_removes_its_stream(base_url: str, name: str) -> None:
    with Background(base_url, "bench", "batch", "append", "-n", "100000000", "-b", "10000") as running:
        while not left_over(base_url):
            """The first batch is stored."""
        running.process.send_signal(signal.Signals[name])
        assert running.process.wait(60) == 128 + signal.Signals[name]
        assert b"interrupted; the temporary stream tailrace-bench:" in running.stderr.read()
    assert left_over(base_url) == []


def test_a_server_that_ends_is_one_sentence(tmp_path: Path) -> None:
    with (
        running_server(tmp_path, "--durability", "none") as server,
        Background(server.base_url, "bench", "append", "-n", "100000000") as running,
    ):
        while not left_over(server.base_url):
            """The load has begun."""
        server.kill()
        assert running.process.wait(60) == 1
        [line] = running.stderr.read().decode().splitlines()
    assert line.startswith("tailrace: the connection was ")
    assert "could not be removed" in line


def test_a_token_that_may_not_remove_the_stream_is_refused_before_the_load(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.json"
    append, admin = make_token(tokens, "append"), make_token(tokens, "admin", "append", "consume", "read")
    with running_server(tmp_path, "--tokens-file", str(tokens)) as server:
        refused = shell(server.base_url, "bench", "append", *FEW, extra={"TAILRACE_TOKEN": append})
        allowed = shell(server.base_url, "bench", *FEW, extra={"TAILRACE_TOKEN": admin})
        listed = httpx.get(f"{server.base_url}/v1/streams", headers={"Authorization": f"Bearer {admin}"})
    assert refused.returncode == 1
    assert b"the token does not allow this" in refused.stderr
    assert allowed.returncode == 0
    assert listed.json()["streams"] == []


def test_an_unknown_test_is_named(server: ServerProcess) -> None:
    answer = shell(server.base_url, "bench", "fly")
    assert answer.returncode == 2
    assert b"'fly' is not a test" in answer.stderr


def test_a_percentile_is_the_smallest_value_that_enough_values_do_not_exceed() -> None:
    values = list(range(1, 101))
    assert [percentile(values, share) for share in (0.5, 0.99, 0.999, 1.0)] == [50, 99, 100, 100]
    assert percentile([7], 0.5) == 7
    assert percentile([], 0.5) is None
