"""`kill -9` under mixed load, many times with one data directory. The clients' logs decide what must survive.

A killed process leaves everything it wrote to the system, synced or not: this tests order, recovery and
what is promised to clients. What a power cut takes as well is tested in `test_power_loss`.
"""

from __future__ import annotations

import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.crash.client_log import id_of
from tests.crash.crash_clients import SHARED_KEY, BulkClient, Client, Connection, Reader
from tests.crash.scale import KILL_ROUNDS, SEED, say
from tests.support.server_process import ServerProcess, running_server

ROUNDS_TO_A_CHECKPOINT: Final = 20
"""At least every so many rounds the load grows the journal by what a checkpoint is taken for."""


class Load:
    """Clients that continue over all rounds, and the answers that they received."""

    def __init__(self, seed: int) -> None:
        self.clients = [Client(str(number), seed + number) for number in range(6)]
        self.bulk = BulkClient()
        self.reader = Reader()
        self.outcomes = {None: 0, True: 0, False: 0}

    def until_killed(self, server: ServerProcess, after_s: float) -> None:
        """Load the server, and kill it in the midst of it."""
        runs = [*(client.run for client in self.clients), self.bulk.run, self.reader.run]
        with ThreadPoolExecutor(len(runs)) as pool:
            running = [pool.submit(run, server.port) for run in runs]
            time.sleep(after_s)
            server.signal(signal.SIGKILL)
            server.wait()
            for each in running:
                each.result()

    def judge(self, server: ServerProcess) -> None:
        connection = Connection(server.port)
        for client in self.clients:
            self.outcomes[client.judge(connection)] += 1
        self.bulk.judge(connection)
        self._judge_shared(connection)

    def _judge_shared(self, connection: Connection) -> None:
        rows = connection.command("XRANGE", SHARED_KEY, "-", "+")
        found = {id_of(entry_id): fields[1] for entry_id, fields in rows}
        told = {entry_id: value for client in self.clients for entry_id, value in client.shared.items()}
        assert told.items() <= found.items(), "an acknowledged entry is lost"
        assert self.reader.shown.items() <= found.items(), "an entry that was shown is lost"
        unanswered = {value for client in self.clients for value in client.shared_unknown}
        extra = {value for entry_id, value in found.items() if entry_id not in told}
        assert extra <= unanswered, "an entry that nobody sent"
        assert len(set(found.values())) == len(found), "an entry is there twice"


def test_nothing_acknowledged_or_shown_is_lost_when_the_server_is_killed_under_load(
    tmp_path: Path,
) -> None:
    say(f"CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    load = Load(SEED)
    checkpoints = 0
    for number in range(KILL_ROUNDS + 1):
        with ExitStack() as stack:
            server = stack.enter_context(running_server(tmp_path, "--log-level", "info"))
            load.judge(server) if number else None
            if number < KILL_ROUNDS:
                load.until_killed(server, chance.uniform(0.05, 1.2))
            checkpoints += server.log_text.count('"event":"checkpoint"')
    answered = sum(client.answered for client in load.clients)
    say(
        f"{KILL_ROUNDS} kills: {answered} commands answered, {len(load.reader.shown)} entries shown, 0 lost; "
        f"{checkpoints} checkpoints; under way at a kill: "
        f"{load.outcomes[True]} done, {load.outcomes[False]} not done"
    )
    assert answered > 20 * KILL_ROUNDS
    assert checkpoints or KILL_ROUNDS < ROUNDS_TO_A_CHECKPOINT
