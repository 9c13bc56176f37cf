"""`kill -9` of the server between two transactions of a checkpoint that is written in parts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

from tests.crash.crash_clients import GONE, Connection
from tests.support.seeds import some_each_day
from tests.support.server_process import running_server

STREAMS: Final = 8
ENTRIES_MAX: Final = 1_000

PROGRAM: Final = """#!{python}
import os
import signal

from tailrace.app.store import checkpoints, storage
from tailrace.core.storage import publishing

steps = checkpoints.publishing
left = {steps}

def until_killed(connection, snapshot):
    global left
    for _ in steps(connection, snapshot):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        yield

checkpoints.publishing = until_killed
publishing.PART_ROWS = 3
publishing.FORGOTTEN_ROWS = 20
storage.JOURNAL_BYTES_MAX = 4000

from tailrace.app.cli import main

main()
"""
"""A server with frequent checkpoints, which is killed after so many of their transactions."""


def acknowledged_until_killed(port: int) -> tuple[dict[str, list[int]], tuple[str, int]]:
    """Append to some streams in turn. Return the acknowledged numbers, and what was under way at the end."""
    connection = Connection(port)
    acknowledged: dict[str, list[int]] = {f"s{number}": [] for number in range(STREAMS)}
    for number in range(ENTRIES_MAX):
        key = f"s{number % STREAMS}"
        try:
            connection.command("XADD", key, f"{number + 1}-0", "n", str(number))
        except GONE:
            return acknowledged, (key, number)
        acknowledged[key].append(number)
    raise AssertionError("the server was not killed")


@pytest.mark.parametrize("steps", some_each_day([1, 3, 4, 5, 7, 9, 30], 3))
def test_a_kill_between_two_steps_of_a_checkpoint_loses_nothing(tmp_path: Path, steps: int) -> None:
    program = tmp_path / "serve"
    program.write_text(PROGRAM.replace("{python}", sys.executable).replace("{steps}", str(steps)))
    program.chmod(0o755)
    with running_server(tmp_path, program=program) as server:
        acknowledged, (unknown_key, unknown) = acknowledged_until_killed(server.port)
        server.wait()
    with running_server(tmp_path) as restarted:
        connection = Connection(restarted.port)
        for key, numbers in acknowledged.items():
            found = [int(fields[1]) for _, fields in connection.command("XRANGE", key, "-", "+")]
            possible = [numbers, [*numbers, unknown]] if key == unknown_key else [numbers]
            assert found in possible, key
