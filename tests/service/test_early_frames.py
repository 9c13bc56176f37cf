"""Frames that a client sends before it has the response to its handshake are handled after this response."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.server_process import ServerProcess, running_server

HANDSHAKE: Final = (
    b"GET /v1/ws HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
PATIENCE_S: Final = 20
RESPONSE: Final = b"HTTP/1.1 101 Switching Protocols\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("early"), "--durability", "none") as server:
        yield server
        assert "Traceback" not in server.log_text


def frame(opcode: int, payload: bytes) -> bytes:
    """Return a frame of a client, with a mask that changes nothing."""
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload


PING, CLOSE, BROKEN = frame(9, b"early"), frame(8, b"\x03\xe8"), b"\xc1\x80" + bytes(4)
PONG: Final = b"\x8a\x05early"
REQUEST: Final = frame(1, b'{"id":1,"op":"ping"}')


@pytest.mark.parametrize(
    ("frames", "last"),
    [
        (REQUEST, b'{"id":1,"ok":{}}'),
        (PING + REQUEST, b'{"id":1,"ok":{}}'),
        (CLOSE, b"\x88\x02\x03\xe8"),
        (PING + CLOSE, b"\x88\x02\x03\xe8"),
        (BROKEN, b"\x03\xeareserved bits must be 0"),
    ],
    ids=["request", "ping", "close", "ping and close", "broken"],
)
@pytest.mark.parametrize("cut", [0, 3])
def test_frames_sent_with_the_handshake_are_handled_after_its_response(
    server: ServerProcess, frames: bytes, last: bytes, cut: int
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S) as connection:
        connection.sendall(HANDSHAKE + frames[: len(frames) - cut])
        got = b""
        if cut:
            while not got.startswith(RESPONSE):
                got += connection.recv(1 << 16)
            connection.sendall(frames[len(frames) - cut :])
        while not got.endswith(last):
            more = connection.recv(1 << 16)
            assert more, f"ended after {got!r}"
            got += more
    assert got.startswith(RESPONSE)
    assert (PING in frames) is (PONG in got)
