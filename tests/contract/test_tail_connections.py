"""Connections of tails: clients that disconnect or do not read, and the end of the server."""

from __future__ import annotations

import json
import signal
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.support.server_process import ServerProcess, running_server
from tests.support.sse_client import Event, Tail, open_tail, parse_events
from tests.support.tails import add
from tests.support.waiting_readers import Server, until


def raw_tail(process: ServerProcess, path: str) -> socket.socket:
    """A connection that asks for a tail and is free not to read it; its buffer is small."""
    place = urlsplit(process.base_url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((place.hostname, place.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: t\r\n\r\n".encode())
    return connection


def resident_mib(process: ServerProcess) -> float:
    status = Path(f"/proc/{process._process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def test_clients_that_do_not_read_hold_up_no_other_and_grow_no_memory(tmp_path: Path) -> None:
    with running_server(tmp_path, "--log-level", "warning") as process, Server(process.base_url) as api:
        stuck = [raw_tail(process, "/v1/streams/s/entries:tail?after=0-0") for _ in range(50)]
        until(lambda: api.blocked() == len(stuck))
        body = json.dumps({"entries": [{"fields": {"a": "x" * 1000}}] * 1000})
        with open_tail(f"{process.base_url}/v1/streams/s/entries:tail") as tail:
            before_mib = resident_mib(process)
            seen = 0
            for _ in range(30):
                added = httpx.post(
                    f"{process.base_url}/v1/streams/s/entries:batch",
                    content=body,
                    headers={"Content-Type": "application/json"},
                )
                assert added.status_code == 201
            while seen < 30_000:
                seen += len(tail.named("entries").data)
        # The stream itself takes some 30 MiB; fifty copies of it would take 1500.
        assert resident_mib(process) - before_mib < 300
        for connection in stuck:
            connection.close()


def read_all(connection: socket.socket) -> str:
    connection.settimeout(10)
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
    return received.decode()


def test_at_shutdown_every_tail_is_told_and_its_answer_is_whole(tmp_path: Path) -> None:
    with running_server(tmp_path, "--log-level", "warning") as process, Server(process.base_url) as api:
        api.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
        add(api, "s", "1-0")
        paths = [
            "/v1/streams/s/entries:tail",
            "/v1/tail?stream=s&stream=t",
            "/v1/streams/s/entries:tail?group=g&consumer=full&prefetch=1",
        ]
        with httpx.Client(timeout=10) as client:
            tails: list[Any] = [client.stream("GET", process.base_url + path) for path in paths]
            open_tails = [Tail(context.__enter__()) for context in tails]
            assert open_tails[2].named("entries").ids == ["1-0"]
            process.signal(signal.SIGTERM)
            for tail in open_tails:
                problem = tail.named("end").data
                assert (problem["code"], problem["retryable"]) == ("NOT_ACCEPTING", True)
                assert tail.is_over()
            for context in tails:
                context.__exit__(None, None, None)
        assert process.wait() == 0
        assert "Traceback" not in process.log_text


def test_a_thousand_tails_are_told_at_shutdown_and_it_ends_before_the_grace_does(tmp_path: Path) -> None:
    grace_s = 30
    options = ("--shutdown-grace-s", str(grace_s), "--log-level", "warning")
    with running_server(tmp_path, *options) as process:
        with Server(process.base_url) as api:
            tails = [raw_tail(process, "/v1/streams/s/entries:tail") for _ in range(1000)]
            until(lambda: api.blocked() == len(tails))
        begun_s = time.monotonic()
        process.signal(signal.SIGTERM)
        texts = [read_all(tail) for tail in tails]
        assert process.wait() == 0
        assert time.monotonic() - begun_s < grace_s
        assert all("event: end\n" in text for text in texts)
        for tail in tails:
            tail.close()


def test_what_this_client_reads_is_what_the_standard_says() -> None:
    assert parse_events(": c\nretry: 5\nid: 1\ndata: []\n\nevent: gap\ndata: {}\n\n") == [
        Event(comments=["c"]),
        Event(retry_ms=5, id="1", data=[]),
        Event("gap", data={}),
    ]
