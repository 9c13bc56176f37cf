"""`tailrace serve` as users start it: a process with a ready line, logs on standard error, and signals.

Owns the processes that it starts, and ends each by its id. It contains nothing about the server's responses.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.support.warm_process import WarmProcess, run

TAILRACE: Final = Path(sys.executable).with_name("tailrace")
READY_LINE: Final = re.compile(r"Tailrace \S+ is ready on (https?://\S+)\n")
READY_WITHIN_S: Final = 30
ENDS_WITHIN_S: Final = 30
COLOURS_OUTPUT: Final = frozenset({"FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"})


def tailrace(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command until it exits."""
    done = run(arguments, _environment(environment), within_s=ENDS_WITHIN_S)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


class ServerProcess:
    """A running server. `base_url`: its address without a slash at the end.

    `program`: the file to execute; None: `tailrace` as a warm process.
    """

    def __init__(
        self,
        options: Sequence[str],
        log_file: Path,
        environment: Mapping[str, str] | None = None,
        program: Path | None = None,
    ) -> None:
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | WarmProcess
        ours, theirs = os.pipe()
        self._stdout = os.fdopen(ours)
        words, variables = ["serve", *options], _environment(environment)
        with os.fdopen(theirs, "wb") as stdout, log_file.open("wb") as stderr:
            if program is None:
                self._process = WarmProcess(words, variables, stdout=theirs, stderr=stderr.fileno())
            else:
                self._process = subprocess.Popen(
                    [program, *words], env=variables, stdout=stdout, stderr=stderr
                )
        self.ready_line = self._wait_for_line()
        ready = READY_LINE.fullmatch(self.ready_line)
        assert ready, f"no ready line but {self.ready_line!r}; logged: {self.log_text}"
        self.base_url = ready[1]

    @property
    def port(self) -> int:
        return int(self.base_url.rpartition(":")[2])

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def resident_bytes(self) -> int:
        """The resident memory of the process in bytes."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def log_text(self) -> str:
        return self._log_file.read_text()

    @property
    def log_records(self) -> list[dict[str, Any]]:
        """The log records, for a server that logs JSON."""
        return [msgspec.json.decode(line) for line in self.log_text.splitlines()]

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for the server to exit, and return its exit status."""
        return self._process.wait(ENDS_WITHIN_S)

    def remaining_output(self) -> str:
        """Return the output after the ready line, up to the exit."""
        return self._stdout.read()

    def kill(self) -> None:
        """Kill the process. Does nothing if it has exited."""
        self._process.kill()
        self._process.wait(ENDS_WITHIN_S)
        self._stdout.close()

    def _wait_for_line(self) -> str:
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            if not selector.select(READY_WITHIN_S):
                self.kill()
                raise TimeoutError(f"not ready within {READY_WITHIN_S} s; logged: {self.log_text}")
        return self._stdout.readline()


@contextmanager
def running_server(
    directory: Path,
    *options: str,
    environment: Mapping[str, str] | None = None,
    program: Path | None = None,
) -> Iterator[ServerProcess]:
    """Yield a server of its own on a free port, killed on exit. `directory`: the place of its data and its
    log.

    `program`: an installed `tailrace`, for tests that a warm process would falsify.
    """
    standard = ("--port", "0", "--data-dir", str(directory / "data"))
    server = ServerProcess((*standard, *options), directory / "server.log", environment, program)
    try:
        yield server
    finally:
        server.kill()


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """This process's environment without settings for a server, with plain, wide messages."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TAILRACE_") and name not in COLOURS_OUTPUT
    }
    return {**inherited, "COLUMNS": "200", **(extra or {})}
