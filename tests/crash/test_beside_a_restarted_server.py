"""Commands that run at the same time as a server restarted after `kill -9` do not harm its data.

SQLite learns from POSIX locks whether it is the first to open a database, and the first one truncates the
index of the write-ahead log. A process loses all its locks on a file when it closes any descriptor of that
file: so only SQLite may open and close the files of the server's database.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tailrace.core.storage.data_files import FILE_NAME
from tests.crash.crash_clients import Connection
from tests.support.server_process import ServerProcess, running_server, tailrace

ROUNDS: Final = 2
KEY: Final = "s"
FILES: Final = (FILE_NAME, f"{FILE_NAME}-shm")


def locks_held(server: ServerProcess, file: Path) -> int:
    """How many POSIX locks the server's process has on a file."""
    inode = str(file.stat().st_ino)
    rows = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return sum(
        "POSIX" in row and str(server.pid) in row and any(word.endswith(f":{inode}") for word in row)
        for row in rows
    )


def append(connection: Connection, count: int) -> None:
    for _ in range(count):
        connection.command("XADD", KEY, "*", "n", "x" * 100)


@contextmanager
def appending(server: ServerProcess, acknowledged: list[str]) -> Iterator[None]:
    """Append one entry after another while the body of the context runs."""
    stopped = threading.Event()

    def run() -> None:
        connection = Connection(server.port)
        while not stopped.is_set():
            acknowledged.append(connection.command("XADD", KEY, "*", "n", "x" * 100))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


@pytest.mark.parametrize("name", FILES)
def test_a_server_that_starts_on_a_log_of_a_killed_one_holds_its_locks(tmp_path: Path, name: str) -> None:
    with running_server(tmp_path) as server:
        append(Connection(server.port), 10)
        server.kill()
    assert (tmp_path / "data" / f"{FILE_NAME}-wal").stat().st_size
    with running_server(tmp_path) as server:
        append(Connection(server.port), 1)
        assert locks_held(server, tmp_path / "data" / name)


def test_backup_check_and_a_second_server_leave_a_restarted_server_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    acknowledged: list[str] = []
    for number in range(ROUNDS):
        copy = tmp_path / f"backup-{number}"
        with running_server(tmp_path) as server:
            connection = Connection(server.port)
            append(connection, 20)
            acknowledged = [row[0] for row in connection.command("XRANGE", KEY, "-", "+")]
            before = len(acknowledged)
            with appending(server, acknowledged):
                assert (checked := tailrace("check", str(data))).returncode == 0, checked.stderr
                assert (copied := tailrace("backup", str(data), str(copy))).returncode == 0, copied.stderr
                second = tailrace("serve", "--port", "0", "--data-dir", str(data))
                assert (second.returncode, "another server" in second.stderr) == (1, True)
            found = [row[0] for row in connection.command("XRANGE", KEY, "-", "+")]
            assert found == acknowledged
            server.signal(signal.SIGKILL)
            assert server.wait() == -signal.SIGKILL, "the server ended by itself"
        place = tmp_path / f"restored-{number}"
        place.mkdir()
        with running_server(place, "--data-dir", str(copy)) as restored:
            kept = [row[0] for row in Connection(restored.port).command("XRANGE", KEY, "-", "+")]
        assert len(kept) >= before
        assert kept == acknowledged[: len(kept)], "a backup is a prefix of what was acknowledged"
