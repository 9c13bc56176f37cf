"""`tailrace.testing`: the server, its clock, and the fixture as a user's pytest loads it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tailrace.testing import TestServer, server

MINUTE_MS = 60_000
PROGRAM = """
def test_first(tailrace):
    with tailrace.client() as client:
        client.stream("orders").append({"total": "5"})

def test_second(tailrace):
    assert httpx.get(tailrace.url + "/v1/streams/orders").status_code == 404
"""


@pytest.fixture
def running() -> Iterator[TestServer]:
    with server() as each:
        yield each


def send(running: TestServer, *words: str) -> object:
    answer = httpx.post(f"{running.url}/v1/command", json=list(words), timeout=30)
    return answer.raise_for_status().json()["result"]


def test_each_server_starts_without_data_on_a_port_of_its_own(running: TestServer) -> None:
    send(running, "XADD", "orders", "1-1", "total", "5")
    with server() as other:
        assert other.url != running.url
        assert send(other, "XLEN", "orders") == 0
    assert send(running, "XLEN", "orders") == 1


def test_settings_of_the_environment_do_not_change_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAILRACE_REQUESTS_PER_S", "no number")
    with server() as running:
        assert send(running, "XLEN", "orders") == 0


def test_an_entry_can_be_claimed_after_the_clock_has_moved(running: TestServer) -> None:
    with running.client() as client:
        stream = client.stream("orders")
        group = stream.group("mail")
        group.create("0", create_stream=True)
        appended = stream.append({"total": "5"})
        assert [entry.id for entry in group.read("first")] == [appended]
        assert group.claim("second", appended, min_idle_ms=MINUTE_MS) == []
        running.clock.advance(MINUTE_MS)
        assert group.claim("second", appended, min_idle_ms=MINUTE_MS) == [(appended, {"total": "5"})]


@pytest.mark.parametrize("claim", [(), ("CLAIM", "3600000")])
def test_a_waiting_read_ends_when_the_clock_reaches_its_deadline(
    running: TestServer, claim: tuple[str, ...]
) -> None:
    send(running, "XGROUP", "CREATE", "orders", "mail", "0", "MKSTREAM")
    send(running, "XADD", "orders", "1-1", "total", "5")
    send(running, "XREADGROUP", "GROUP", "mail", "first", "STREAMS", "orders", ">")
    words = ("XREADGROUP", "GROUP", "mail", "second", "BLOCK", "7200000", *claim, "STREAMS", "orders", ">")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(send, running, *words)
        running.until_waiting()
        running.clock.advance(3_600_000 if claim else 7_200_001)
        assert ("1-1" in str(answer.result(20))) is bool(claim)


def test_ids_follow_the_clock(running: TestServer) -> None:
    first = str(send(running, "XADD", "orders", "*", "total", "5"))
    running.clock.advance(MINUTE_MS)
    second = str(send(running, "XADD", "orders", "*", "total", "5"))
    assert int(second.partition("-")[0]) - int(first.partition("-")[0]) >= MINUTE_MS


def test_the_clock_does_not_move_back(running: TestServer) -> None:
    with pytest.raises(ValueError, match=r"advance\(-1\): the clock only moves forward"):
        running.clock.advance(-1)


def test_the_clock_of_a_stopped_server_does_not_move() -> None:
    with server() as running:
        pass
    with pytest.raises(RuntimeError, match="has stopped"):
        running.clock.advance(1)


def test_pytest_finds_the_fixture_and_each_test_gets_an_empty_server(tmp_path: Path) -> None:
    (tmp_path / "test_orders.py").write_text("import httpx\n" + PROGRAM)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout


def test_the_plugin_loads_no_part_of_the_server() -> None:
    program = (
        "import sys, tailrace.pytest_plugin; print([n for n in sys.modules if n.startswith('tailrace.')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['tailrace.pytest_plugin']"
