"""The server to measure: a running one, or one that is started for the measurement."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.request import Request, urlopen

READY: Final = re.compile(r"http://\S+")
STOPS_WITHIN_S: Final = 600
LOG_CHARACTERS: Final = 20_000
JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"


class Started(NamedTuple):
    """A server that the bench started. `began_s`: the start time of its process, by `time.monotonic`."""

    url: str
    process_id: int
    began_s: float

    def resident_bytes(self) -> int:
        """Its current resident memory in bytes."""
        return self._status("VmRSS") * 1024

    def threads(self) -> int:
        """Return how many threads it has."""
        return self._status("Threads")

    def descriptors(self) -> int:
        """Return how many file descriptors it has open."""
        return sum(1 for _ in Path(f"/proc/{self.process_id}/fd").iterdir())

    def _status(self, name: str) -> int:
        status = Path(f"/proc/{self.process_id}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith(f"{name}:")]
        return int(line.split()[1])

    def busy_s(self) -> float:
        """Its processor time in seconds, in user and system mode."""
        return busy_s(self.process_id)

    def command(self, *words: str) -> Any:
        """Return the reply to one Redis command."""
        return self.post("/v1/command", json.dumps(words).encode())["result"]

    def post(self, path: str, body: bytes, media_type: str = JSON) -> Any:
        """Return the response to a POST, which must be a success."""
        request = Request(self.url + path, body, {"content-type": media_type})  # noqa: S310 - it is http
        with urlopen(request) as response:  # noqa: S310
            return json.load(response)


def busy_s(*process_ids: int) -> float:
    """Return the processor time of these processes in seconds, in user and system mode, with their threads.

    The clock of each process counts nanoseconds; `/proc/PID/stat` counts ticks of 10 ms, in which a short
    measurement is 0.
    """
    return sum(time.clock_gettime(_clock_of(process_id)) for process_id in process_ids)


def _clock_of(process_id: int) -> int:
    """Return the id of a process's clock, as `clock_getcpuclockid` of the C library makes it."""
    return ~process_id << 3 | 2


@contextmanager
def started(
    durability: str = "none",
    *options: str,
    data_dir: Path | None = None,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Started]:
    """Yield a new server, stopped on exit, with a temporary data directory unless `data_dir` is given.

    It logs warnings only, unless `options` override this. `python`: another interpreter to run it.
    """
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-") as scratch:
        directory = data_dir or Path(scratch) / "data"
        standard = ["--data-dir", str(directory), "--durability", durability]
        with _served([*standard, *options], python, environment) as server:
            yield server


@contextmanager
def gateway(store: str, *options: str) -> Iterator[Started]:
    """Yield a new server in front of the engine at the URL `store`, stopped on exit."""
    with _served(["--store", store, *options], sys.executable, None) as server:
        yield server


@contextmanager
def _served(options: Sequence[str], python: str, environment: Mapping[str, str] | None) -> Iterator[Started]:
    with tempfile.TemporaryDirectory(prefix="tailrace-bench-") as scratch:
        log_file = Path(scratch) / "server.log"
        command = [
            python,
            "-c",
            "from tailrace.app.cli import main; main()",
            "serve",
            "--port",
            "0",
            *options,
        ]
        if "--log-level" not in options:
            command += ["--log-level", "warning"]
        variables = {**os.environ, **(environment or {})}
        began_s = time.monotonic()
        with (
            log_file.open("w") as log,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=variables
            ) as process,
        ):
            try:
                yield Started(_ready_url(process, log_file), process.pid, began_s)
            except Exception:
                # The log is deleted with its directory, and may have the reason.
                print(f"the server logged:\n{log_file.read_text()[-LOG_CHARACTERS:]}", file=sys.stderr)
                raise
            finally:
                process.terminate()
                process.wait(STOPS_WITHIN_S)


def _ready_url(process: subprocess.Popen[str], log_file: Path) -> str:
    assert process.stdout
    ready = READY.search(process.stdout.readline())
    if ready is None:
        process.wait(STOPS_WITHIN_S)
        raise SystemExit(f"the server did not start:\n{log_file.read_text()}")
    return ready[0]


@contextmanager
def server_at(url: str | None, durability: str = "none") -> Iterator[str]:
    """Yield `url` if it is given, else the URL of a new server that is stopped on exit."""
    if url is not None:
        yield url.rstrip("/")
        return
    with started(durability) as server:
        yield server.url
