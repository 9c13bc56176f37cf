"""One Redis server on loopback, with a port: a real process that tests start, kill, hang, and start again.

Owns one process and the connections that steer it. It never stops a server that it did not start.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from tests.support.redis_server import STOP_TIMEOUT_S, RedisConnection, Value

WITHIN_S: Final = 30.0
POLL_S: Final = 0.01
PORTS: Final = (10_000, 32_000)
# Several processes may run tests at once (pytest-xdist numbers them); each has ports of its own.
PROCESS: Final = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PROCESSES: Final = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
ARGUMENTS: Final = (
    *("--save", ""),
    *("--appendonly", "no"),
    *("--daemonize", "no"),
    *("--loglevel", "notice"),
    *("--repl-diskless-sync-delay", "0"),
    *("--enable-debug-command", "yes"),
)


def wait_until(holds: Callable[[], bool], what: str, within_s: float = WITHIN_S) -> None:
    """Return when `holds` returns True; fail the test with `what` if it does not in time."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        time.sleep(POLL_S)


_given: Final[set[int]] = set()
"""The ports that this process got before: a node that does not listen yet keeps its port."""


def free_ports(count: int) -> list[int]:
    """Return ports that no socket uses now and that no call returned before, below those that the system
    gives to outgoing connections."""
    with ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            port = random.randrange(PORTS[0] + PROCESS, PORTS[1], PROCESSES)
            if port in _given:
                continue
            with suppress(OSError):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
                ports.append(port)
                _given.add(port)
        return ports


class RedisNode:
    """One server in `directory`, whose path must be short. `port`: where clients connect.

    `options`: further words of the command line. `password`: what the test itself must send first.
    """

    def __init__(self, executable: str, directory: Path, *options: str, password: str = "") -> None:
        (self.port,) = free_ports(1)
        self.options = [*options]
        self._password = password
        self.executable = executable
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; return when it accepts commands."""
        with (self._directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.executable, *self._words()],
                stdout=log,
                stderr=log,
            )
        wait_until(self._answers, f"{self.address} answers")

    def _words(self) -> list[str]:
        place = ["--port", str(self.port), "--dir", str(self._directory), "--unixsocket", "s"]
        return [*ARGUMENTS, *place, *self.options]

    def _answers(self) -> bool:
        assert self.runs, (self._directory / "log").read_text()
        try:
            return self.run("PING") == b"PONG"
        except OSError:
            return False

    def run(self, *words: bytes | str | int) -> Value:
        """Return the reply to one command; an error is returned, not raised."""
        connection = RedisConnection(self._directory / "s")
        try:
            if self._password:
                connection.send_all([[b"AUTH", self._password.encode()]])
                connection.receive()
            connection.send_all([[word if isinstance(word, bytes) else str(word).encode() for word in words]])
            return connection.receive()
        finally:
            connection.close()

    def info(self, section: str) -> dict[str, str]:
        """Return one section of INFO."""
        return fields_of(self.run("INFO", section))

    def kill(self) -> None:
        """End the process as a crash does. Its memory is lost."""
        self._end(signal.SIGKILL)

    def hang(self) -> None:
        """Stop the process from answering; connections stay open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue after `hang`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End the process, also one that hangs."""
        if self.runs:
            self._end(signal.SIGKILL)

    def _end(self, by: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(by)
        self._process.wait(STOP_TIMEOUT_S)


def lines_of(reply: Value) -> Sequence[str]:
    """Return the lines of a text."""
    assert isinstance(reply, bytes)
    return reply.decode().splitlines()


def fields_of(reply: Value) -> dict[str, str]:
    """Return the lines `name:value` of a text."""
    return dict(line.split(":", 1) for line in lines_of(reply) if ":" in line)
