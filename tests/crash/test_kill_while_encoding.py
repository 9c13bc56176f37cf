"""`kill -9` of the server, and of the copy that encodes a checkpoint, while the copy runs."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.crash.crash_clients import Connection
from tests.support.server_process import ServerProcess, running_server

ENTRIES: Final = 50
WITHIN_S: Final = 30

PROGRAM: Final = """#!{python}
import time
from pathlib import Path

from tailrace.app.store import checkpoints, storage

rows = checkpoints.stream_rows

def waiting(keyspace, keys):
    while not Path({go!r}).exists():
        time.sleep(0.001)
    yield from rows(keyspace, keys)

checkpoints.stream_rows = waiting
checkpoints.PARTS_ENCODED_HERE_MAX = 0
storage.JOURNAL_BYTES_MAX = 1000

from tailrace.app.cli import main

main()
"""
"""A server whose checkpoints are frequent and encoded by a copy, which waits for a file."""


@contextmanager
def server_with_a_waiting_copy(directory: Path) -> Iterator[tuple[ServerProcess, Connection, int]]:
    """Yield the server with `ENTRIES` acknowledged entries, a connection, and the copy's process id."""
    program = directory / "serve"
    program.write_text(PROGRAM.format(python=sys.executable, go=str(directory / "go")))
    program.chmod(0o755)
    with running_server(directory, program=program) as server:
        connection = Connection(server.port)
        try:
            add(connection, 0)
            yield server, connection, copy_of(server)
        finally:
            (directory / "go").touch()


def add(connection: Connection, first: int) -> None:
    for number in range(first, first + ENTRIES):
        connection.command("XADD", "s", f"{number + 1}-0", "n", str(number))


def copy_of(server: ServerProcess) -> int:
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    deadline = time.monotonic() + WITHIN_S
    while not (found := children.read_text().split()):
        assert time.monotonic() < deadline, "no copy was started"
        time.sleep(0.001)
    return int(found[0])


def numbers(connection: Connection) -> list[int]:
    return [int(fields[1]) for _, fields in connection.command("XRANGE", "s", "-", "+")]


def test_a_server_that_is_killed_while_a_copy_encodes_starts_at_once_with_all_entries(tmp_path: Path) -> None:
    with server_with_a_waiting_copy(tmp_path) as (server, connection, copy):
        add(connection, ENTRIES)
        server.signal(signal.SIGKILL)
        server.wait()
        # The copy still lives, and does not keep the lock of the directory.
        os.kill(copy, 0)
        with running_server(tmp_path) as restarted:
            assert numbers(Connection(restarted.port)) == list(range(2 * ENTRIES))


def test_a_server_whose_copy_is_killed_serves_on_takes_the_checkpoint_and_keeps_all_entries(
    tmp_path: Path,
) -> None:
    with server_with_a_waiting_copy(tmp_path) as (server, connection, copy):
        os.kill(copy, signal.SIGKILL)
        (tmp_path / "go").touch()
        add(connection, ENTRIES)
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
    with running_server(tmp_path) as restarted:
        assert numbers(Connection(restarted.port)) == list(range(2 * ENTRIES))
