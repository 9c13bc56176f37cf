"""A client that ends its side of the connection after a request, as `nc -N` does, gets its response."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import Wire, request

ENTRIES = 20_000
LINES = b'{"rider":"Castilla"}\n' * ENTRIES
ENTRY = b'{"fields":{"rider":"Castilla"}}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("half"), "--durability", "always") as process:
        yield process


def answer_after_the_end(server: ServerProcess, raw: bytes) -> bytes:
    """All that the server writes in reply to `raw`, after which the client ended its side at once."""
    wire = Wire(server.port)
    wire.send(raw).end()
    answer = wire.read_to_end()
    wire.close()
    return answer


def test_every_way_of_the_server_answers_a_client_that_sends_no_more(server: ServerProcess) -> None:
    path = "/v1/streams/s/entries:import"
    imported = request("POST", path, LINES, content_type="application/x-ndjson")
    assert answer_after_the_end(server, imported).startswith(b"HTTP/1.1 201 ")
    hot = request("POST", "/v1/streams/s/entries", ENTRY)
    assert answer_after_the_end(server, hot).startswith(b"HTTP/1.1 201 ")
    length = answer_after_the_end(server, request("GET", "/v1/streams/s/length"))
    assert length.endswith(b'{"length":%d}' % (ENTRIES + 1))
    exported = answer_after_the_end(server, request("GET", "/v1/streams/s/entries:export"))
    assert exported.count(b'"id":') == ENTRIES + 1
    assert exported.endswith(b"\r\n0\r\n\r\n")
