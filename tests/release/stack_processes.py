"""The processes of a stack: each has a name, a directory, a log, and a port that it listens on.

Owns the processes, and ends each by its id.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

WITHIN_S: Final = 60.0
Address = tuple[str, int]


class Processes:
    """The processes, from the beginning of the context to its end. `tokens`: the tokens file."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        self._how: dict[str, tuple[Sequence[str], Mapping[str, str], Address]] = {}
        self.tokens = scratch / "tokens.json"
        self.tailrace = str(Path(sys.executable).with_name("tailrace"))

    def place(self, name: str) -> Path:
        """Return the directory of a process."""
        place = self._scratch / name
        place.mkdir(exist_ok=True)
        return place

    def start(
        self, name: str, words: Sequence[str], environment: Mapping[str, str], address: Address
    ) -> None:
        """Start a process; return when it listens on its address."""
        self._how[name] = words, environment, address
        with (self.place(name) / "log").open("ab") as log:
            process = subprocess.Popen(words, env={**os.environ, **environment}, stdout=log, stderr=log)
        self._started[name] = process
        deadline = time.monotonic() + WITHIN_S
        while not _listens(address):
            assert process.poll() is None, f"{name} has ended:\n{self.log_of(name)}"
            assert time.monotonic() < deadline, f"{name} does not listen:\n{self.log_of(name)}"
            time.sleep(0.05)

    def start_again(self, name: str) -> None:
        """Start a killed process as before."""
        self.start(name, *self._how[name])

    def kill(self, name: str) -> None:
        """End a process as a crash does."""
        process = self._started.pop(name)
        process.kill()
        process.wait(WITHIN_S)

    def run_once(self, *words: str) -> str:
        """Run a command until it ends; return what it printed."""
        ended = subprocess.run(words, capture_output=True, text=True, timeout=WITHIN_S, check=False)
        assert ended.returncode == 0, f"{words} failed:\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def log_of(self, name: str) -> str:
        """Return what a process has logged."""
        return (self.place(name) / "log").read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started.values():
            process.terminate()
        for process in self._started.values():
            try:
                process.wait(WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _listens(address: Address) -> bool:
    try:
        socket.create_connection(address, 1).close()
    except OSError:
        return False
    return True
