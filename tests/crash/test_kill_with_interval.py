"""`kill -9` with `--durability interval`: only the end may be lost, and nothing of what was committed.

One client sends all writes in one order, so the state after a restart must be the result of the first of
them: no write is missing before one that is there, and no import is there in part. The imports of a second
fill several parts of a journal row (`app.store.rows`).
"""

from __future__ import annotations

import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from tests.crash.crash_clients import GONE, Connection
from tests.crash.scale import KILL_ROUNDS, SEED, say
from tests.support.server_process import ServerProcess, running_server

ROUNDS: Final = max(KILL_ROUNDS // 5, 2)
LINES: Final = 40
PADDING: Final = "x" * 10_000
PAGE: Final = 500
PAUSE_S: Final = 0.01


class Writer:
    """Sends numbered writes to two streams in turn. `acknowledged`: the last number that was answered."""

    def __init__(self, name: str) -> None:
        self._imports, self._appends = f"imports:{name}", f"appends:{name}"
        self.acknowledged = 0

    def run(self, port: int) -> None:
        """Send writes until the server has ended."""
        connection = Connection(port)
        try:
            while True:
                self._send(connection, self.acknowledged + 1)
                self.acknowledged += 1
                time.sleep(PAUSE_S)
        except GONE:
            return

    def _send(self, connection: Connection, number: int) -> None:
        if number % 3:
            line = msgspec.json.encode({"n": str(number), "padding": PADDING})
            assert connection.import_entries(self._imports, b"\n".join([line] * LINES))["count"] == LINES
        else:
            connection.command("XADD", self._appends, "*", "n", str(number))

    def found(self, connection: Connection) -> int:
        """Check that the streams are the result of the first writes; return the number of the last one."""
        imported = [
            (number, len(list(some))) for number, some in groupby(_numbers(connection, self._imports))
        ]
        appended = list(_numbers(connection, self._appends))
        assert all(count == LINES for _, count in imported), "an import is there in part"
        found = sorted([*(number for number, _ in imported), *appended])
        assert found == list(range(1, len(found) + 1)), "a write is missing before one that is there"
        return len(found)


def _numbers(connection: Connection, key: str) -> list[int]:
    """Return the field `n` of each entry of a stream."""
    numbers: list[int] = []
    start = "-"
    while rows := connection.command("XRANGE", key, start, "+", "COUNT", str(PAGE)):
        numbers += [int(fields[1]) for _, fields in rows]
        start = f"({rows[-1][0]}"
    return numbers


def commit_count(connection: Connection) -> int:
    """Return how many rows of the journal are durable."""
    return int(connection.get("/v1/server")["storage"]["commits"])


def killed(server: ServerProcess, writer: Writer, after_s: float) -> int:
    """Load the server, wait for two commits, kill it, and return which write is in one of them."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(writer.run, server.port)
        time.sleep(after_s)
        connection = Connection(server.port)
        acknowledged, before = writer.acknowledged, commit_count(connection)
        # The first commit may have begun before the write; the second one has it.
        while commit_count(connection) < before + 2:
            time.sleep(0.02)
        server.signal(signal.SIGKILL)
        server.wait()
        running.result()
    return acknowledged


def test_with_interval_only_the_end_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    say(f"CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    options = ("--durability", "interval")
    sent = kept = 0
    for number in range(ROUNDS):
        writer = Writer(str(number))
        with running_server(tmp_path, *options) as server:
            committed = killed(server, writer, chance.uniform(0, 1))
        with running_server(tmp_path, *options) as server:
            found = writer.found(Connection(server.port))
        assert committed <= found <= writer.acknowledged + 1
        sent, kept = sent + writer.acknowledged, kept + found
    say(
        f"{ROUNDS} kills: {sent} writes acknowledged, {sent - kept} lost at the end of a round, "
        "none before another"
    )
