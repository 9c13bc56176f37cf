"""Spark as processes of its own: drivers that can be killed, a standalone cluster on two loopback addresses.

It owns the processes that it starts and ends each with all its children, by process group.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pyspark

from tests.spark.queries import CHUNK_ROWS, WITHIN_S

ROOT: Final = Path(__file__).parents[2]
SPARK_HOME: Final = Path(pyspark.__file__).parent

PYTHONPATH: Final = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)])

QUICK: Final = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.buffer.size": "4096",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(CHUNK_ROWS // 10),
    "spark.executorEnv.PYTHONPATH": PYTHONPATH,
}
"""Settings of a driver under test: rows pass in portions far smaller than a chunk, so that a task stages
chunks before it has read all its rows."""


class Driver:
    """A running driver of `module`; what it prints are JSON objects, one a line."""

    def __init__(self, module: str, arguments: Sequence[str], log_file: Path) -> None:
        self.was_killed = False
        self._log_file = log_file
        with log_file.open("wb") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env=environment("127.0.0.1"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )

    @property
    def log_text(self) -> str:
        return self._log_file.read_text(errors="replace")

    @property
    def pid(self) -> int:
        """The process id, and the session id of all processes that it starts."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self, within_s: float = WITHIN_S) -> None:
        """Wait for its end, with any status. What it prints must fit into a pipe."""
        self._process.wait(within_s)

    def printed(self) -> list[dict[str, Any]]:
        """The objects that an ended driver printed; a killed one may have left half a line."""
        assert self._process.stdout
        lines = self._process.stdout.read().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def go(self) -> None:
        """Let it begin what it waits with for a line."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def next_object(self) -> dict[str, Any]:
        """The next object that it prints."""
        assert self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            assert selector.select(WITHIN_S), f"it printed nothing; logged: {self.log_text[-4000:]}"
        line = self._process.stdout.readline()
        assert line, f"it ended; logged: {self.log_text[-4000:]}"
        found: dict[str, Any] = json.loads(line)
        return found

    def finish(self) -> list[dict[str, Any]]:
        """Wait for its end; the objects that it printed."""
        printed, _ = self._process.communicate(timeout=WITHIN_S)
        assert self._process.returncode == 0, self.log_text[-4000:]
        return [json.loads(line) for line in printed.splitlines()]

    def kill(self) -> None:
        """`kill -9` of the driver, Python and Java both."""
        self.was_killed = True
        end_group(self._process)


@contextmanager
def driver(module: str, log_file: Path, settings: Mapping[str, str], **options: object) -> Iterator[Driver]:
    """A driver. `settings` are Spark settings in addition to `QUICK`, `options` the program's own."""
    arguments = [f"--{name}={value}" for name, value in options.items()]
    arguments += [f"--conf={name}={value}" for name, value in {**QUICK, **settings}.items()]
    process = Driver(module, arguments, log_file)
    try:
        yield process
    finally:
        process.kill()


def environment(host: str) -> dict[str, str]:
    """Of Spark's processes on an address."""
    return {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": PYTHONPATH,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": host,
    }


@contextmanager
def standalone_cluster(
    directory: Path, environment_at: Callable[[str], dict[str, str]] = environment
) -> Iterator[str]:
    """The master's URL of a cluster with two workers of one core, each on an address of its own, since a copy
    of a task runs on another host only. `environment_at` gives the variables of processes on an address."""
    with ExitStack() as stack:
        master = _daemon(
            "master.Master",
            directory,
            environment_at("127.0.0.1"),
            *("--port", "0", "--webui-port", "0", "--host", "127.0.0.1"),
        )
        url = stack.enter_context(_started(master, re.compile(r"Starting Spark master at (spark://\S+)")))
        for host in ("127.0.0.1", "127.0.0.2"):
            arguments = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            worker = _daemon(
                "worker.Worker",
                directory,
                environment_at(host),
                *arguments,
                "--work-dir",
                str(directory / f"work-{host}"),
                url,
            )
            stack.enter_context(_started(worker, re.compile(r"(Successfully registered) with master")))
        yield url


def end_group(process: subprocess.Popen[str]) -> None:
    """Kill the process and all that it started; harmless where they have ended."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(WITHIN_S)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _daemon(
    name: str, directory: Path, variables: Mapping[str, str], *arguments: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [SPARK_HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
        cwd=directory,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@contextmanager
def _started(process: subprocess.Popen[str], ready: re.Pattern[str]) -> Iterator[str]:
    """What the pattern found in the daemon's log, which says that it is ready."""
    assert process.stdout
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if found := ready.search(line):
                yield found[1]
                return
        raise AssertionError(f"it ended: {''.join(lines)}")
    finally:
        end_group(process)
