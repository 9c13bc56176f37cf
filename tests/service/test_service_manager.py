"""The server under systemd: what it tells the service manager, and the unit in `docker/systemd`."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tailrace.app.service_manager import ServiceManager
from tests.support.server_process import running_server

UNIT: Final = Path(__file__).parents[2] / "docker/systemd/tailrace.service"
WATCHDOG_US: Final = 2_000_000


class Manager:
    """A socket as systemd has one, and what arrives at it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        self.socket.settimeout(30)

    def next(self, *, without: str = "WATCHDOG=1") -> list[str]:
        """Return the lines of the next message that is not `without`."""
        while (message := self.socket.recv(4096).decode()) == without:
            pass
        return message.split("\n")


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    address = str(tmp_path / "notify") if request.param == "path" else f"@tailrace-test-{os.getpid()}"
    it = Manager(address)
    yield it
    it.socket.close()


def test_the_manager_learns_of_each_state_and_that_the_loop_runs(manager: Manager, tmp_path: Path) -> None:
    environment = {"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": str(WATCHDOG_US)}
    with running_server(tmp_path, environment=environment) as server:
        ready = ["READY=1", f"STATUS=ready on {server.base_url}"]
        assert manager.next() == ready
        assert manager.next(without="") == ["WATCHDOG=1"]
        server.signal(signal.SIGHUP)
        kind, moment = manager.next()
        assert kind == "RELOADING=1"
        assert moment.startswith("MONOTONIC_USEC=")
        assert manager.next() == ready
        server.signal(signal.SIGTERM)
        assert manager.next()[0] == "STOPPING=1"
        assert server.wait() == 0


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"WATCHDOG_USEC": "2000000"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "soon"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"},
    ],
)
def test_without_a_watchdog_of_this_process_nothing_is_sent_at_intervals(environment: dict[str, str]) -> None:
    assert ServiceManager(environment).alive_period_s is None


def test_a_manager_that_is_away_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": "/nowhere/at/all", "WATCHDOG_USEC": str(WATCHDOG_US)})
    assert manager.alive_period_s == 1.0
    for now_s in (1.0, 1.5, 1.99):
        manager.look(now_s)
    assert caplog.messages == ["the service manager was not told: WATCHDOG=1"]


def test_the_unit_is_valid_and_its_commands_exist(tmp_path: Path) -> None:
    """`systemd-analyze verify` reads every line. The program of the unit is the one under test."""
    program = str(Path(sys.executable).with_name("tailrace"))
    analyze = shutil.which("systemd-analyze")
    assert analyze is not None, "install systemd"
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/tailrace/bin/tailrace", program))
    run = subprocess.run(
        [analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    started = next(line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart="))
    assert shlex.split(started.removeprefix("ExecStart="))[1:] == ["serve"]


def test_the_unit_lets_the_server_read_the_boot_id() -> None:
    """Without it, a crash of the process alone counts as a power cut."""
    settings = [line for line in UNIT.read_text().splitlines() if not line.startswith("#")]
    assert not [line for line in settings if line.startswith("ProcSubset=")]
