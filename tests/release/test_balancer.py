"""The balancer of the gateways: which requests it sends to a second gateway when the first one fails."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest

NGINX: Final = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
FILE: Final = Path(__file__).parents[2] / "docker/gateways/nginx.conf"
STARTS_WITHIN_S: Final = 10
PATH: Final = "/v1/streams/race%2Ffrance"

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is missing: apt-get install nginx-light")


class LosingGateway:
    """Receives requests, and closes each connection in place of a response."""

    def __init__(self, received: list[str]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._received = received
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                self._received.append(lines.readline().decode().rpartition(" ")[0])
                while lines.readline().strip():
                    pass

    def close(self) -> None:
        # `close` alone does not end an `accept` that waits.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def balancer(place: Path, gateways: list[LosingGateway]) -> Iterator[int]:
    """Start nginx with the file's configuration before these gateways, and yield its port."""
    text = FILE.read_text()
    for number, gateway in enumerate(gateways, 1):
        text = text.replace(f"gateway-{number}:8080", f"127.0.0.1:{gateway.port}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    text, count = re.subn(r"listen 8080;", f"listen 127.0.0.1:{port};", text)
    assert count == 1
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {place}/{kind};" for kind in kinds)
    (place / "nginx.conf").write_text(text.replace("http {", f"http {{ access_log off; {places}", 1))
    globally = f"daemon off; pid {place}/pid; error_log {place}/error.log;"
    assert NGINX is not None
    words = [NGINX, "-p", str(place), "-c", str(place / "nginx.conf"), "-g", globally]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield port
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < deadline, "nginx does not listen"
            time.sleep(0.01)
        else:
            return


@pytest.mark.parametrize(("method", "times"), [("GET", 2), ("POST", 1), ("DELETE", 1)])
def test_a_request_that_a_gateway_may_have_carried_out_is_repeated_only_if_it_changes_nothing(
    tmp_path: Path, method: str, times: int
) -> None:
    received: list[str] = []
    with ExitStack() as stack:
        gateways = [LosingGateway(received) for _ in range(3)]
        for gateway in gateways:
            stack.callback(gateway.close)
        port = stack.enter_context(balancer(tmp_path, gateways))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        stack.callback(connection.close)
        connection.request(method, PATH, b"{}" if method == "POST" else None)
        assert connection.getresponse().status == http.HTTPStatus.BAD_GATEWAY
    assert received == [f"{method} {PATH}"] * times
