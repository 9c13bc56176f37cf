"""The server is killed and restarted with the same port and data while the client works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tailrace_client import Consumer, Item, RetryPolicy, Tailrace
from tests.support.server_process import ServerProcess

PATIENT = RetryPolicy(deadline_s=90)


class MortalServer:
    """A server that can be killed and restarted on the same port with the same data."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process = self._started(0)
        self.port = self._process.port
        self.kills = 0
        self._restarts: list[threading.Thread] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill_and_restart(self) -> None:
        """`kill -9`, and a new one while the client is already trying to reach it."""
        self._process.kill()
        self.kills += 1
        restart = threading.Thread(target=self._restart)
        self._restarts.append(restart)
        restart.start()

    def settle(self) -> None:
        """Wait until the last restart is done."""
        for restart in self._restarts:
            restart.join(60)

    def stop(self) -> None:
        self.settle()
        self._process.kill()

    def _restart(self) -> None:
        self._process = self._started(self.port)

    def _started(self, port: int) -> ServerProcess:
        options = ("--port", str(port), "--data-dir", str(self._directory / "data"))
        return ServerProcess(options, self._directory / "server.log")


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[MortalServer]:
    server = MortalServer(tmp_path)
    yield server
    server.stop()


def test_append_many_through_kills_of_the_server_appends_each_entry_once_and_in_order(
    mortal: MortalServer,
) -> None:
    def entries() -> Iterator[dict[str, str]]:
        for number in range(20_000):
            if number % 6_000 == 3_500:  # asked for while the server works on the chunk before
                mortal.settle()
                mortal.kill_and_restart()
            yield {"n": str(number)}

    with Tailrace(mortal.url, retry=PATIENT) as client:
        assert client.stream("s").append_many(entries(), chunk=1_000) == 20_000
        assert [fields["n"] for _, fields in client.stream("s").read()] == [str(n) for n in range(20_000)]
    assert mortal.kills == 3


def test_a_read_and_a_tail_go_on_after_a_kill(mortal: MortalServer) -> None:
    expected = [f"{number:050}" for number in range(60_000)]
    with Tailrace(mortal.url, retry=PATIENT) as client:
        stream = client.stream("s")
        stream.append_many(({"n": text} for text in expected), chunk=10_000)
        for entries in (stream.read(), stream.tail("0")):
            got = [fields["n"] for _, fields in islice(entries, 1_000)]
            mortal.kill_and_restart()
            got += [fields["n"] for _, fields in islice(entries, 59_000)]
            assert got == expected
            mortal.settle()
    assert mortal.kills == 2


def test_a_consumer_goes_on_after_a_kill_and_works_on_every_entry(mortal: MortalServer) -> None:
    with Tailrace(mortal.url, retry=PATIENT) as client:
        client.stream("s").append_many({"n": str(number)} for number in range(300))
        consumer = Consumer(client, "s", "g", "alice", claim_min_idle_ms=500, batch=50, wait_ms=100)
        done: set[str] = set()

        def handle(item: Item) -> None:
            if len(done) in {60, 170} and mortal.kills < 2:
                mortal.settle()
                mortal.kill_and_restart()
            done.add(item.fields["n"])
            if len(done) == 300:
                consumer.stop()

        consumer.run(handle)
        assert done == {str(number) for number in range(300)}
        assert client.stream("s").group("g").pending_summary().count == 0
    assert mortal.kills == 2
