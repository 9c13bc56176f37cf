"""Hot reads without a body return the responses of their documented routes, and leave every other form of
the request to them. Only the date and the request id may differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.server_process import ServerProcess
from tests.support.wire import Answer, Wire, request, wired

_numbers = count()

ENTRIES = (
    '{"id":"1-1","fields":{"rider":"Castilla"}}',
    '{"id":"2-1","pairs":[["a","1"],["a","2"]]}',
    '{"id":"2-2","fields":{"AA==":"/w=="},"encoding":"base64"}',
    '{"id":"3-1","fields":{"rider":"Norem"}}',
)


@pytest.fixture(scope="module")
def shared(server: ServerProcess) -> Iterator[tuple[Wire, str]]:
    """A connection, and a stream with four entries, two of which a group has pending, and a deleted one."""
    key = f"hot reads/{next(_numbers)}:é"
    path = f"/v1/streams/{_quoted(key)}"
    with wired(server.port) as wire:
        for entry in ENTRIES:
            assert wire.ask(request("POST", f"{path}/entries", entry.encode())).status == 201
        assert wire.ask(request("PUT", f"{path}/groups/g", b'{"after":"0"}')).status == 201
        body = {"group": "g", "consumer": "alice", "count": 2, "streams": [{"key": key}]}
        assert wire.ask(request("POST", "/v1/read-group", json.dumps(body).encode())).status == 200
        yield wire, path


@pytest.fixture
def wire(shared: tuple[Wire, str]) -> Wire:
    return shared[0]


@pytest.fixture
def path(shared: tuple[Wire, str]) -> str:
    return shared[1]


def _quoted(key: str) -> str:
    return key.replace(" ", "%20").replace("/", "%2F").replace("é", "%C3%A9")


def get(path: str, *extra: str) -> bytes:
    return request("GET", path, b"", *extra, content_type=None)


def comparable(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    headers = {name: value for name, value in answer.headers.items() if name not in {"date", "x-request-id"}}
    body = re.sub(rb'"request_id":"[0-9a-f]+"', b'"request_id":""', answer.body)
    # Times pass between the two requests.
    body = re.sub(rb'"(idle_ms|inactive_ms|lag_ms|delivered_at_ms)":\d+', rb'"\1":0', body)
    if body != answer.body:
        headers.pop("content-length")
    return answer.status, headers, body


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/entries?count=2", 200),
        ("/entries?count=2&order=desc", 200),
        ("/entries?count=2&order=asc&start=2-1&end=3", 200),
        ("/entries?count=02&start=%282-1&end=%2B&strict=false", 200),
        ("/entries?count=2&start=(2-1&end=(3-1&strict=true", 200),
        ("/entries?count=2&start=9", 200),
        ("/entries", 200),
        ("/entries?", 200),
        ("/entries?count=5001", 200),
        ("/entries?end=+&count=1", 400),
        ("/entries?end=%2b&start=-&count=1&", 200),
        ("/entries?count=1&&start=-", 200),
        ("/entries?count=%31", 200),
        ("/entries?count=+1", 200),
        ("/entries?count=1&shape=pairs", 200),
        ("/entries?count=3&encoding=base64", 200),
        ("/entries?count=1&filter=fields.rider%20%3D%3D%20%22Norem%22", 200),
        ("/entries?count=0", 400),
        ("/entries?count=x", 400),
        ("/entries?count=", 400),
        ("/entries?count=1&count=2", 400),
        ("/entries?coutn=1", 400),
        ("/entries?count=1&start=x", 400),
        ("/entries?count=1&start=%ff", 400),
        ("/entries?count=1&start=(18446744073709551615-18446744073709551615", 400),
        ("/entries?count=1&order=up", 400),
        ("/entries?count=1&strict=yes", 200),
        ("/entries?count=1&strict=1", 200),
        ("/entries?count=1&token=secret", 400),
        ("/entries?after=0", 200),
        ("/entries?after=2-1&count=1", 200),
        ("/entries?after=%24", 200),
        ("/entries?after=$&wait_ms=0", 200),
        ("/entries?after=%2B", 200),
        ("/entries?after=3-1&wait_ms=5", 200),
        ("/entries?after=2&wait_ms=60001", 400),
        ("/entries?after=&count=1", 400),
        ("/entries?after=1&start=1", 400),
        ("/entries?after=x", 400),
        ("/entries?wait_ms=5", 400),
        ("/entries?count=1&wait_ms=0", 200),
        ("/entries/1-1", 200),
        ("/entries/2-1", 200),
        ("/entries/2-2", 200),
        ("/entries/2%2D2", 200),
        ("/entries/1-1?shape=pairs", 200),
        ("/entries/9-9", 404),
        ("/entries/x", 400),
        ("/entries/%ff", 400),
        ("/entries/", 404),
        ("/entries/1-1/", 404),
        ("/length", 200),
        ("/length?a=b", 400),
        ("", 200),
        ("?full=true", 200),
        ("/groups/g", 200),
        ("/groups/nobody", 404),
        ("/groups/g?x=1", 400),
        ("/groups/g/pending", 200),
        ("/groups/g/pending?count=1", 200),
        ("/groups/g/pending?count=1&start=(1-1&end=%2B", 200),
        ("/groups/g/pending?consumer=alice&min_idle_ms=0", 200),
        ("/groups/g/pending?consumer=a%20b", 200),
        ("/groups/g/pending?consumer=a+b", 200),
        ("/groups/g/pending?consumer=%ff&count=1000", 200),
        ("/groups/g/pending?consumer=", 400),
        ("/groups/g/pending?count=1001", 200),
        ("/groups/g/pending?min_idle_ms=9223372036854775808", 400),
        ("/groups/g/pending?start=x", 400),
        ("/groups/nobody/pending", 404),
        ("/groups/g/pending:summary", 200),
        ("/groups/nobody/pending:summary", 404),
    ],
)
def test_an_answer_is_that_of_the_documented_route(wire: Wire, path: str, target: str, status: int) -> None:
    documented = wire.ask(get(path + target, "prefer: nothing"))
    assert documented.status == status, documented.body
    for _ in range(3):
        # The second and third request may find their head cached.
        assert comparable(wire.ask(get(path + target))) == comparable(documented)


@pytest.mark.parametrize(
    "target",
    ["", "/entries?count=1", "/entries/1-1", "/length", "/groups/g", "/groups/g/pending:summary"],
)
def test_a_missing_stream_is_answered_alike(wire: Wire, target: str) -> None:
    for name in ("missing", "%2Fmissing", "..", "%zz", "a" * 513):
        hot, documented = (
            wire.ask(get(f"/v1/streams/{name}{target}", *extra)) for extra in ((), ("x-n: 1",))
        )
        assert comparable(hot) == comparable(documented)


@pytest.mark.parametrize("target", ["", "/entries?count=1", "/entries/1-1", "/length", "/groups/g/pending"])
def test_another_form_of_the_request_gets_the_documented_answer(wire: Wire, path: str, target: str) -> None:
    plain = comparable(wire.ask(get(path + target)))
    for extra in (
        "accept: application/json",
        "accept-encoding: gzip",
        "content-length: 0",
        "if-none-match: *",
    ):
        assert comparable(wire.ask(get(path + target, extra))) == plain
    assert wire.ask(get(path + target, "accept: text/html")).status == 406
    wire.send(get(path + target).replace(b"GET", b"HEAD", 1))
    assert wire.socket.recv(9).startswith(b"HTTP/1.1 ")
    while b"\r\n\r\n" not in wire.socket.recv(65_536):
        pass
    assert comparable(wire.ask(get(path + target))) == plain


def test_reads_and_appends_that_a_client_pipelines_are_answered_in_order(wire: Wire, path: str) -> None:
    key = f"/v1/streams/pipelined:{next(_numbers)}"
    append = request("POST", f"{key}/entries", b'{"fields":{"a":"1"}}')
    reads = [get(f"{key}/length"), get(f"{key}/entries?count=9"), get(f"{path}/groups/nobody")]
    wire.send(b"".join([append, *reads] * 4))
    for number in range(1, 5):
        assert wire.receive().status == 201
        assert json.loads(wire.receive().body) == {"length": number}
        assert len(json.loads(wire.receive().body)["entries"]) == number
        assert wire.receive().status == 404


def test_a_hot_read_that_waits_gets_the_entry_that_arrives(server: ServerProcess, wire: Wire) -> None:
    key = f"/v1/streams/waited:{next(_numbers)}"
    with wired(server.port) as reader:
        reader.send(get(f"{key}/entries?after=0&wait_ms=60000"))
        wire.ask(request("POST", f"{key}/entries", b'{"id":"7-7","fields":{"a":"1"}}'))
        page = json.loads(reader.receive().body)
    assert page == {"entries": [{"id": "7-7", "fields": {"a": "1"}}], "next": "7-7"}
