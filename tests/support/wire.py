"""One HTTP connection at the level of bytes, for requests and reads that no HTTP client would make.

Owns a socket and reads complete responses from it. Only `request` sends a request.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.support.server_process import running_server

TIMEOUT_S = 30
"""Longer than any deadline of a server under test: after this time the test fails."""


class Answer(NamedTuple):
    """One response, with the names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> Any:
        assert self.headers["content-type"] == "application/problem+json", self
        content = json.loads(self.body)
        assert content["status"] == self.status
        return content


class Wire:
    """A connection to a local port. `received_bytes`: how many unread bytes the system may buffer."""

    def __init__(self, port: int, *, received_bytes: int | None = None) -> None:
        self.socket = socket.socket()
        if received_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received_bytes)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(("127.0.0.1", port))
        self._buffer = b""

    def send(self, raw: bytes) -> Self:
        self.socket.sendall(raw)
        return self

    def send_while_taken(self, raw: bytes, times: int) -> int:
        """Send `raw` up to `times` times, until the server closes the connection; return how often it was
        sent.
        """
        for number in range(times):
            try:
                self.socket.sendall(raw)
            except (BrokenPipeError, ConnectionResetError):
                return number
        return times

    def send_until_cut(self, raw: bytes) -> bool:
        """Send `raw` repeatedly until the server closes the connection. Returns False if the server never
        does.
        """
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            if not self.send_while_taken(raw, 1):
                return True
            time.sleep(0.05)
        return False

    def receive(self) -> Answer:
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0))
        while len(self._buffer) < length:
            self._more()
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return Answer(int(status.split()[1]), headers, body)

    def ask(self, raw: bytes) -> Answer:
        return self.send(raw).receive()

    def read_line(self) -> bytes:
        """Return the next line of a body, without its end."""
        while b"\n" not in self._buffer:
            self._more()
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def read_to_end(self) -> bytes:
        """Return all bytes until the server closes or resets the connection."""
        rest, self._buffer = self._buffer, b""
        try:
            while data := self.socket.recv(65_536):
                rest += data
        except ConnectionResetError:
            pass
        return rest

    def read_answer_or_end(self) -> bytes:
        """Return the first bytes that arrive; empty if the server closes or resets the connection."""
        try:
            return self.socket.recv(65_536)
        except ConnectionResetError:
            return b""

    def is_closed(self) -> bool:
        return not self._buffer and self.socket.recv(1) == b""

    def _more(self) -> None:
        data = self.socket.recv(65_536)
        assert data, f"closed after {self._buffer!r}"
        self._buffer += data

    def end(self) -> None:
        """Close our side for sending. Does nothing if the server has closed the connection."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.socket.close()


@contextmanager
def wired(port: int, **options: Any) -> Iterator[Wire]:
    wire = Wire(port, **options)
    try:
        yield wire
    finally:
        wire.close()


@contextmanager
def wired_to_own_server(directory: Path, *options: str) -> Iterator[Wire]:
    """Yield a connection to a server without files that only this test uses."""
    with (
        running_server(directory, "--durability", "none", *options) as server,
        wired(server.port) as wire,
    ):
        yield wire


def request(
    method: str, path: str, body: bytes = b"", *extra: str, content_type: str | None = "application/json"
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "host: localhost", *extra]
    if body:
        lines.append(f"content-length: {len(body)}")
    if content_type is not None:
        lines.append(f"content-type: {content_type}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
