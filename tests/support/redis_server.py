"""A real `redis-server`, started for a test run and stopped by its process id.

Owns the process and the connections over a Unix socket. It never stops a server that it did not start.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Self, TypeAlias

import hiredis

Value: TypeAlias = "int | bytes | hiredis.ReplyError | list[Value] | None"
"""A RESP2 reply: statuses and bulk strings are bytes; errors may be items of the list of replies."""

START_TIMEOUT_S: Final = 10.0
STOP_TIMEOUT_S: Final = 10.0
RECEIVE_BYTES: Final = 1 << 20
ARGUMENTS: Final = (
    ("--port", "0"),
    ("--save", ""),
    ("--appendonly", "no"),
    ("--daemonize", "no"),
    ("--loglevel", "warning"),
)
"""Options for a server without port and files: it listens on its socket and keeps data in memory only."""


REDIS_8_10: Final = Path(__file__).parents[2] / "build" / "redis-8.10.2" / "redis-server"
"""The path of the server that `make` builds."""

VALKEY: Final = Path(__file__).parents[2] / "build" / "valkey-9.1.2" / "valkey-server"
"""The path of the server that `make` fetches."""


def find_redis_server() -> str | None:
    """Return the path of `redis-server`, usually Debian's, or None if it is not installed."""
    return shutil.which("redis-server")


def find_redis_8_10() -> str | None:
    """Return the path of the Redis 8.10.2 that `make` builds, or None if it is not built."""
    return str(REDIS_8_10) if REDIS_8_10.is_file() else None


def find_valkey() -> str | None:
    """Return the path of the Valkey 9.1.2 that `make` fetches, or None if it was not fetched."""
    return str(VALKEY) if VALKEY.is_file() else None


def required() -> bool:
    """Return whether a missing server is a failure (under CI) instead of a reason to skip."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


class RedisConnection:
    """One connection over the server's socket. Raises if the socket does not exist yet."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._reader = hiredis.Reader()

    def close(self) -> None:
        self._socket.close()

    def send_all(self, commands: Iterable[Sequence[bytes]]) -> None:
        """Send commands without waiting for their replies."""
        self._socket.sendall(b"".join(_packed(commands)))

    def has_reply(self, within_s: float) -> bool:
        """Return whether data arrives within that time."""
        return bool(select.select([self._socket], [], [], within_s)[0])

    def receive(self) -> Value:
        """Return the next reply."""
        while (reply := self._reader.gets()) is False:
            received = self._socket.recv(RECEIVE_BYTES)
            if not received:
                raise ConnectionError("redis-server closed the connection")
            self._reader.feed(received)
        return reply  # type: ignore[no-any-return]


class RedisServer:
    """A server in `directory`, from construction to `close`. Use it as a context manager."""

    def __init__(self, executable: str, directory: Path) -> None:
        self._path = directory / "redis.sock"
        flags = [word for pair in ARGUMENTS for word in pair]
        self._process = subprocess.Popen(
            [executable, *flags, "--unixsocket", str(self._path), "--dir", str(directory)],
            stdout=subprocess.DEVNULL,
        )
        self._connection = self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> RedisConnection:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                return RedisConnection(self._path)
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self._stop()
                    raise
                time.sleep(0.01)

    @property
    def path(self) -> Path:
        """The server's Unix socket."""
        return self._path

    def another_connection(self) -> RedisConnection:
        """Return a further connection; the caller closes it."""
        return RedisConnection(self._path)

    def close(self) -> None:
        self._connection.close()
        self._stop()

    def _stop(self) -> None:
        self._process.terminate()
        self._process.wait(STOP_TIMEOUT_S)

    def run(self, *words: bytes | str | int) -> Value:
        """Return the reply to one command; an error is returned, not raised."""
        encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return self.run_all([encoded])[0]

    def run_all(self, commands: Sequence[Sequence[bytes]]) -> list[Value]:
        """Return the replies to all commands in order, sent in one pipeline."""
        self._connection.send_all(commands)
        return [self._connection.receive() for _ in commands]


def _packed(commands: Iterable[Sequence[bytes]]) -> Iterable[bytes]:
    for words in commands:
        yield b"*%d\r\n" % len(words)
        for word in words:
            yield b"$%d\r\n%b\r\n" % (len(word), word)
