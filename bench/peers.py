"""Starts the peers for a measurement: Redis, and webdis in front of it.

Both are Debian's packages `redis-server` and `webdis`, on loopback, with a temporary data directory.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

FSYNC: Final = {"none": None, "interval": "everysec", "always": "always"}
"""Redis's `appendfsync` with the same guarantee as each durability of Tailrace; None: no file."""

STARTS_WITHIN_S: Final = 20


def program(name: str) -> str:
    """Return the path of a program. If it is missing, the measurement ends with a message."""
    path = shutil.which(name)
    if path is None:
        raise SystemExit(f"{name} is needed for this measurement: apt-get install {name}")
    return path


@contextmanager
def redis(durability: str) -> Iterator[int]:
    """Yield the port of a new Redis with this durability."""
    with redis_process(durability) as (port, _):
        yield port


@contextmanager
def redis_process(durability: str, executable: str | None = None) -> Iterator[tuple[int, int]]:
    """Yield the port and the process id of such a Redis. `executable`: another one than Debian's."""
    port = _free_port()
    fsync = FSYNC[durability]
    persistence = ["--appendonly", "no"] if fsync is None else ["--appendonly", "yes", "--appendfsync", fsync]
    with tempfile.TemporaryDirectory() as directory:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory]
        with _running([executable or program("redis-server"), *options, *persistence], port) as process_id:
            yield port, process_id


class Webdis(NamedTuple):
    """A webdis that the bench started. `process_ids`: of webdis and of its Redis."""

    url: str
    process_ids: tuple[int, int]


@contextmanager
def webdis(durability: str) -> Iterator[Webdis]:
    """Yield a new webdis in front of such a Redis."""
    port = _free_port()
    with redis_process(durability) as (redis_port, redis_id), tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "webdis.json"
        config.write_text(
            json.dumps(
                {
                    "redis_host": "127.0.0.1",
                    "redis_port": redis_port,
                    "http_host": "127.0.0.1",
                    "http_port": port,
                    "threads": 2,
                    "pool_size": 20,
                    "daemonize": False,
                    "websockets": False,
                    "logfile": f"{directory}/webdis.log",
                    "verbosity": 0,
                    "acl": [],
                }
            )
        )
        with _running([program("webdis"), str(config)], port) as process_id:
            yield Webdis(f"http://127.0.0.1:{port}", (process_id, redis_id))


@contextmanager
def _running(command: list[str], port: int) -> Iterator[int]:
    """Yield the process id."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_listener(port, process)
        yield process.pid
    finally:
        process.terminate()
        process.wait(30)


def _await_listener(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"a peer did not start: {process.args!r}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
