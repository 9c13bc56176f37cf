"""`tailrace serve` as a process: its start, its ready line and its end."""

from __future__ import annotations

import http.client
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from tests.support.server_process import ServerProcess, running_server, tailrace

ENTRY = b'{"fields":{"rider":"Castilla"}}'
JSON = {"content-type": "application/json"}

GRACE_S = 30
"""Far more than a stop takes."""


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[ServerProcess]:
    with running_server(tmp_path, "--shutdown-grace-s", str(GRACE_S)) as process:
        yield process


def append(connection: http.client.HTTPConnection, key: str) -> tuple[int, bytes]:
    connection.request("POST", f"/v1/streams/{key}/entries", ENTRY, JSON)
    response = connection.getresponse()
    return response.status, response.read()


def test_the_ready_line_names_an_address_that_answers(own_server: ServerProcess) -> None:
    assert own_server.port > 0
    assert httpx.get(f"{own_server.base_url}/healthz").status_code == HTTPStatus.OK
    assert httpx.get(f"{own_server.base_url}/readyz").status_code == HTTPStatus.OK


def test_the_ready_line_is_all_that_is_printed(own_server: ServerProcess) -> None:
    httpx.get(f"{own_server.base_url}/healthz")
    own_server.signal(signal.SIGTERM)
    assert own_server.wait() == 0
    assert own_server.remaining_output() == ""


def test_the_start_says_where_data_is_kept_and_how_safely(own_server: ServerProcess, tmp_path: Path) -> None:
    notice = own_server.log_records[0]
    assert (notice["event"], notice["durability"]) == ("data is stored", "always")
    assert notice["data_dir"] == str(tmp_path / "data")
    assert (tmp_path / "data").is_dir()


@pytest.mark.parametrize("durability", ["always", "interval"])
def test_what_was_acknowledged_is_there_after_a_stop_and_a_start(tmp_path: Path, durability: str) -> None:
    for started in (1, 2, 3):
        with running_server(tmp_path, "--durability", durability) as server:
            answer = httpx.post(f"{server.base_url}/v1/streams/kept/entries", content=ENTRY, headers=JSON)
            assert answer.status_code == HTTPStatus.CREATED
            length = httpx.get(f"{server.base_url}/v1/streams/kept/length").json()
            assert length == {"length": started}
            server.signal(signal.SIGTERM)
            assert server.wait() == 0


def test_a_data_directory_in_use_is_one_clear_line_and_status_one(
    own_server: ServerProcess, tmp_path: Path
) -> None:
    assert own_server.port
    result = tailrace("serve", "--port", "0", "--data-dir", str(tmp_path / "data"))
    assert result.returncode == 1
    assert result.stderr == f"tailrace: another server uses the data directory {tmp_path / 'data'}\n"


def test_a_damaged_data_directory_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tailrace.db").write_bytes(b"no database" * 1000)
    result = tailrace("serve", "--port", "0", "--data-dir", str(tmp_path / "data"))
    assert result.returncode == 1
    assert "is damaged: the database file: file is not a database" in result.stderr


def test_in_memory_only_says_so_and_makes_no_file(tmp_path: Path) -> None:
    with running_server(tmp_path, "--durability", "none", environment={"TAILRACE_CACHE_MIB": "9"}) as server:
        unknown, notice = (record["event"] for record in server.log_records)
    assert unknown.endswith("and is ignored; did you mean TAILRACE_CACHE_MB?")
    assert notice == "data is in memory only and is lost when this process ends"
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_by_signal_is_a_success_and_a_hangup_ends_nothing(
    own_server: ServerProcess, number: signal.Signals
) -> None:
    own_server.signal(signal.SIGHUP)
    _wait_until(lambda: "SIGHUP" in own_server.log_text)
    assert httpx.get(f"{own_server.base_url}/healthz").status_code == HTTPStatus.OK
    own_server.signal(number)
    assert own_server.wait() == 0


def test_an_idle_connection_does_not_delay_the_end(own_server: ServerProcess) -> None:
    with httpx.Client(base_url=own_server.base_url) as client:
        client.get("/healthz")
        started = time.monotonic()
        own_server.signal(signal.SIGTERM)
        assert own_server.wait() == 0
    assert time.monotonic() - started < GRACE_S


def test_a_request_that_never_ends_is_cut_after_the_grace_time(tmp_path: Path) -> None:
    with (
        running_server(tmp_path, "--shutdown-grace-s", "1") as server,
        socket.create_connection(("127.0.0.1", server.port)) as connection,
    ):
        connection.sendall(b"POST /v1/streams/s/entries HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n\r\n{")
        time.sleep(0.2)
        server.signal(signal.SIGTERM)
        assert server.wait() == 0


def test_a_stop_under_load_answers_each_request_wholly_or_not_at_all(own_server: ServerProcess) -> None:
    statuses: list[int] = []
    stopped = threading.Event()

    def keep_appending(_: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", own_server.port, timeout=10)
        while not stopped.is_set():
            try:
                statuses.append(append(connection, "load")[0])
            except (OSError, http.client.HTTPException):
                return

    with ThreadPoolExecutor(8) as clients:
        running = clients.map(keep_appending, range(8))
        _wait_until(lambda: len(statuses) > 100)
        own_server.signal(signal.SIGTERM)
        exit_status = own_server.wait()
        stopped.set()
        list(running)
    assert exit_status == 0
    assert set(statuses) <= {HTTPStatus.CREATED, HTTPStatus.SERVICE_UNAVAILABLE}


def test_sixty_four_clients_at_once_get_distinct_ids_that_rise_for_each(server: ServerProcess) -> None:
    clients, appends = 64, 20

    def append_some(_: int) -> list[tuple[int, ...]]:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        answers = [append(connection, "race:crowd") for _ in range(appends)]
        assert {status for status, _ in answers} == {HTTPStatus.CREATED}
        return [tuple(map(int, body.split(b'"')[3].split(b"-"))) for _, body in answers]

    with ThreadPoolExecutor(clients) as pool:
        ids_of_clients = list(pool.map(append_some, range(clients)))
    assert all(ids == sorted(ids) for ids in ids_of_clients)
    assert len({value for ids in ids_of_clients for value in ids}) == clients * appends
    length = httpx.get(f"{server.base_url}/v1/streams/race:crowd/length").json()
    assert length["length"] == clients * appends


def test_a_connection_serves_many_requests(server: ServerProcess) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.connect()
    first_socket = connection.sock
    for _ in range(3):
        assert append(connection, "race:kept")[0] == HTTPStatus.CREATED
        assert connection.sock is first_socket


def test_a_port_in_use_is_one_clear_line_and_status_one(server: ServerProcess) -> None:
    result = tailrace("serve", "--port", str(server.port), "--durability", "none")
    assert result.returncode == 1
    assert result.stdout == ""
    assert (
        result.stderr == f"tailrace: cannot listen on 127.0.0.1 port {server.port}: address already in use\n"
    )


def test_options_can_come_from_the_environment_and_arguments_win(tmp_path: Path) -> None:
    environment = {
        "TAILRACE_LOG_FORMAT": "console",
        "TAILRACE_PORT": "1",
        "TAILRACE_DURABILITY": "none",
    }
    with running_server(tmp_path, environment=environment) as server:
        assert server.port != 1
        assert " warning data is in memory only" in server.log_text


def test_an_ipv6_loopback_address_is_written_in_brackets(tmp_path: Path) -> None:
    with running_server(tmp_path, "--host", "::1") as server:
        assert server.base_url.startswith("http://[::1]:")
        assert httpx.get(f"{server.base_url}/healthz").status_code == HTTPStatus.OK


def _wait_until(condition: Callable[[], bool], within_s: float = 10) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
