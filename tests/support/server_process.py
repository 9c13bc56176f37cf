"""`tailrace serve` as its users start it: a process, a ready line, logs on standard error, signals.

It owns the processes it starts, and ends each by its id. It knows nothing of what the server answers.
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

TAILRACE: Final = Path(sys.executable).with_name("tailrace")
READY_LINE: Final = re.compile(r"Tailrace \S+ is ready on (https?://\S+)\n")
READY_WITHIN_S: Final = 30
ENDS_WITHIN_S: Final = 30
COLOURS_OUTPUT: Final = frozenset({"FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS"})


def tailrace(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [TAILRACE, *arguments],
        env=_environment(environment),
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN_S,
        check=False,
    )


class ServerProcess:
    """A running server. `base_url` has no slash at its end."""

    def __init__(
        self,
        options: Sequence[str],
        log_file: Path,
        environment: Mapping[str, str] | None = None,
        program: Path = TAILRACE,
    ) -> None:
        self._log_file = log_file
        with log_file.open("wb") as stderr:
            self._process = subprocess.Popen(
                [program, "serve", *options],
                env=_environment(environment),
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        self.ready_line = self._wait_for_line()
        ready = READY_LINE.fullmatch(self.ready_line)
        assert ready, f"no ready line but {self.ready_line!r}; logged: {self.log_text}"
        self.base_url = ready[1]

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def port(self) -> int:
        return int(self.base_url.rpartition(":")[2])

    @property
    def resident_bytes(self) -> int:
        """The process's resident memory."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def log_text(self) -> str:
        return self._log_file.read_text()

    @property
    def log_records(self) -> list[dict[str, Any]]:
        """What was logged, where the server logs JSON."""
        return [msgspec.json.decode(line) for line in self.log_text.splitlines()]

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        """The exit status, once the server has ended."""
        return self._process.wait(ENDS_WITHIN_S)

    def remaining_output(self) -> str:
        """What was printed after the ready line, until the end."""
        assert self._process.stdout
        return self._process.stdout.read()

    def kill(self) -> None:
        """End it whatever it does; harmless where it has ended."""
        self._process.kill()
        self._process.wait(ENDS_WITHIN_S)
        assert self._process.stdout
        self._process.stdout.close()

    def _wait_for_line(self) -> str:
        assert self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(READY_WITHIN_S):
                self.kill()
                raise TimeoutError(f"not ready within {READY_WITHIN_S} s; logged: {self.log_text}")
        return self._process.stdout.readline()


@contextmanager
def running_server(
    directory: Path,
    *options: str,
    environment: Mapping[str, str] | None = None,
    program: Path = TAILRACE,
) -> Iterator[ServerProcess]:
    """A server of its own on a free port, killed at the end; `directory` takes its data and its log.

    `program` is another installed `tailrace` than the one that tests share.
    """
    standard = ("--port", "0", "--data-dir", str(directory / "data"))
    server = ServerProcess((*standard, *options), directory / "server.log", environment, program)
    try:
        yield server
    finally:
        server.kill()


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """This process's environment without settings for a server, and plain and wide enough for messages."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TAILRACE_") and name not in COLOURS_OUTPUT
    }
    return {**inherited, "COLUMNS": "200", **(extra or {})}
