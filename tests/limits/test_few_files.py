"""A server with few open files serves as many clients as it states, even if more clients connect."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx
import pytest

from tailrace.app.process_tuning import budget_of
from tests.support.server_process import TAILRACE, ServerProcess, running_server

OPEN_FILES_MAX: Final = 64
CROWD: Final = 100


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    program = tmp_path / "few-files"
    program.write_text(f'#!/bin/sh\nulimit -n {OPEN_FILES_MAX}\nexec "{TAILRACE}" "$@"\n')
    program.chmod(0o755)
    with running_server(tmp_path, program=program) as process:
        yield process


def test_the_server_says_how_many_connections_it_can_take(server: ServerProcess) -> None:
    expected = budget_of(OPEN_FILES_MAX, 16_384).connections_max
    assert httpx.get(f"{server.base_url}/v1/limits").json()["connections_max"] == expected
    [warning] = [each for each in server.log_records if each["level"] == "warning"]
    assert (warning["connections_max"], warning["open_files_max"]) == (expected, OPEN_FILES_MAX)


def test_a_crowd_beyond_that_leaves_the_store_and_those_who_are_served_alone(server: ServerProcess) -> None:
    # By itself, httpx closes a connection that was idle for 5 s, and the server has no place for another one.
    kept = httpx.Limits(keepalive_expiry=None)
    with httpx.Client(base_url=server.base_url, limits=kept) as client, ExitStack() as crowd:
        assert client.get("/healthz").status_code == HTTPStatus.OK
        for _ in range(CROWD):
            with suppress(ConnectionResetError):
                crowd.enter_context(socket.create_connection(("127.0.0.1", server.port)))
        for _ in range(5):
            appended = client.post("/v1/streams/s/entries", json={"fields": {"n": "1"}})
            assert appended.status_code == HTTPStatus.CREATED
        assert "tailrace_data_bytes" in client.get("/metrics").text
        open_files = list(Path(f"/proc/{server.pid}/fd").iterdir())
        assert len(open_files) < OPEN_FILES_MAX
    assert "Too many open files" not in server.log_text
