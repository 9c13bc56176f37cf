"""SIGTERM under load with waiting readers: every request gets an answer, and no acknowledged entry is
lost."""

from __future__ import annotations

import http.client
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from tests.crash.client_log import Id, id_of
from tests.crash.crash_clients import GONE, JSON, Connection
from tests.support.server_process import ServerProcess, running_server

WRITERS: Final = 8
READERS: Final = 20
GRACE_S: Final = 30


def write(port: int, acknowledged: list[Id]) -> set[int]:
    """Append until the server has ended. Return the statuses."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    statuses = set()
    try:
        while True:
            connection.request("POST", "/v1/streams/s/entries", b'{"fields":{"n":"1"}}', JSON)
            response = connection.getresponse()
            answer = msgspec.json.decode(response.read())
            statuses.add(response.status)
            if response.status == HTTPStatus.CREATED:
                acknowledged.append(id_of(answer["id"]))
    except GONE:
        return statuses


def wait_for_data(port: int) -> int:
    """Return the status of a read that waits and never gets an entry."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=70)
    connection.request("GET", "/v1/streams/quiet/entries?after=$&wait_ms=60000")
    return connection.getresponse().status


def wait_until_waiting(server: ServerProcess) -> None:
    info = ""
    while f"blocked_clients:{READERS}" not in info:
        info = Connection(server.port).command("INFO", "clients")
        time.sleep(0.05)


def test_a_stop_under_load_tells_waiting_readers_ends_in_time_and_loses_nothing(tmp_path: Path) -> None:
    acknowledged: list[Id] = []
    with running_server(tmp_path, "--shutdown-grace-s", str(GRACE_S), "--log-level", "warning") as server:
        Connection(server.port).command("XADD", "quiet", "*", "n", "1")
        with ThreadPoolExecutor(WRITERS + READERS) as pool:
            readers = [pool.submit(wait_for_data, server.port) for _ in range(READERS)]
            wait_until_waiting(server)
            writers = [pool.submit(write, server.port, acknowledged) for _ in range(WRITERS)]
            threading.Event().wait(0.7)
            started = time.monotonic()
            server.signal(signal.SIGTERM)
            assert server.wait() == 0
            took = time.monotonic() - started
            statuses = set().union(*(each.result() for each in writers))
            told = {each.result() for each in readers}
    assert took < GRACE_S
    assert statuses <= {HTTPStatus.CREATED, HTTPStatus.SERVICE_UNAVAILABLE}
    assert told == {HTTPStatus.SERVICE_UNAVAILABLE}
    assert len(acknowledged) > WRITERS
    with running_server(tmp_path) as server:
        rows = Connection(server.port).command("XRANGE", "s", "-", "+")
    assert {id_of(row[0]) for row in rows} >= set(acknowledged)
