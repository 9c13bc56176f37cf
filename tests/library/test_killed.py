"""A program that is killed loses nothing that a call has returned, and its directory opens again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import tailrace

PROGRAM = """
import sys
import tailrace

store = tailrace.open(sys.argv[1])
store.create_group("orders", "mail")
while True:
    print("+", store.append("orders", {"total": "5"}), flush=True)
    (entry,) = store.read_group("orders", "mail", "alice")
    store.ack("orders", "mail", entry.id)
    print("-", entry.id, flush=True)
"""
ROUNDS = 3
LINES = 60


def test_nothing_that_was_returned_is_lost_by_kill_9(tmp_path: Path) -> None:
    appended: set[str] = set()
    acknowledged: set[str] = set()
    for number in range(ROUNDS):
        lines = killed_after(tmp_path, LINES + 7 * number)
        appended |= {entry_id for mark, entry_id in lines if mark == "+"}
        acknowledged |= {entry_id for mark, entry_id in lines if mark == "-"}
        with tailrace.open(tmp_path) as store:
            assert appended <= {entry.id for entry in store.range("orders")}
            # The next round starts without pending entries.
            left = store.read_group("orders", "mail", "bob", claim_min_idle_ms=0)
            assert not acknowledged & {entry.id for entry in left}
            store.ack("orders", "mail", *(entry.id for entry in left))


def killed_after(directory: Path, count: int) -> list[tuple[str, str]]:
    """Run the program, kill it after `count` lines, and return all complete lines."""
    command = [sys.executable, "-c", PROGRAM, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(count)]
        running.send_signal(signal.SIGKILL)
        lines += running.stdout.readlines()
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return [(mark, entry_id) for mark, entry_id in pairs]
