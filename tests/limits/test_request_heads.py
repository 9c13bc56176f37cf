"""Ambiguous heads, and heads of another HTTP version: the hot way and the documented route refuse them in the
same way."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import Answer, Wire, wired

BODY = b'{"fields":{"a":"b"}}'
SMUGGLED = b"DELETE /v1/streams/kept HTTP/1.1\r\nhost: localhost\r\n\r\n"
"""A request that a proxy would not see."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("heads"), "--durability", "none") as process:
        with wired(process.port) as wire:
            assert wire.ask(head(path="/v1/streams/kept/entries")).status == 201
        yield process
        with wired(process.port) as wire:
            listed = wire.ask(head(b"GET", path="/v1/streams", body=b"")).body
        assert [stream["key"] for stream in json.loads(listed)["streams"]] == ["kept"]
        assert "Traceback" not in process.log_text


@pytest.fixture
def wire(target: ServerProcess) -> Iterator[Wire]:
    with wired(target.port) as connection:
        yield connection


@pytest.fixture(params=[b"", b"prefer: nothing\r\n"], ids=["hot", "documented"])
def route(request: pytest.FixtureRequest) -> bytes:
    """A header that chooses who answers an append."""
    value: bytes = request.param
    return value


def head(
    method: bytes = b"POST",
    *lines: bytes,
    path: str = "/v1/streams/refused/entries",
    version: bytes = b"HTTP/1.1",
    host: bytes = b"host: localhost\r\n",
    body: bytes = BODY,
    length: bool = True,
) -> bytes:
    sized = b"content-type: application/json\r\n" if body else b""
    if body and length:
        sized += b"content-length: %d\r\n" % len(body)
    rest = b"".join(line if line.endswith(b"\r\n") else line + b"\r\n" for line in lines if line)
    return b"%b %b %b\r\n%b%b%b\r\n%b" % (method, path.encode("latin-1"), version, host, sized, rest, body)


def assert_refused(wire: Wire, answer: Answer, status: int, code: str = "BAD_REQUEST") -> None:
    assert (answer.status, answer.problem["code"]) == (status, code), answer
    assert answer.problem["side_effects"] == "none"
    assert answer.headers["connection"] == "close"
    assert wire.read_to_end() == b""


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b"host: localhost\r\nhost: localhost\r\n",
        b"host: localhost\r\nHost: elsewhere.example\r\n",
        b"host: [\r\n",
        b"host: ]:1\r\n",
        b"host: a b\r\n",
        b"host: localhost, localhost\r\n",
        b"host: user@localhost\r\n",
        b"host: localhost/path\r\n",
        b"host: localhost:port\r\n",
        b"host: \xff\r\n",
    ],
)
def test_a_request_has_exactly_one_host(wire: Wire, route: bytes, host: bytes) -> None:
    assert_refused(wire, wire.ask(head(b"POST", route, host=host) + SMUGGLED), 400)


@pytest.mark.parametrize(
    "host", [b"[::1]:8080", b"127.0.0.1", b"LOCALHOST:1", b"", b"a_b", b"[fe80::1%25eth0]"]
)
def test_a_valid_host_is_accepted(wire: Wire, host: bytes) -> None:
    assert wire.ask(head(b"GET", path="/healthz", host=b"host: " + host + b"\r\n", body=b"")).status == 200


@pytest.mark.parametrize("host", [b"[::::]", b"[x]:1", b"elsewhere.example"])
def test_a_host_that_is_no_name_of_this_machine_is_a_421(wire: Wire, route: bytes, host: bytes) -> None:
    answer = wire.ask(head(b"POST", route, host=b"host: " + host + b"\r\n"))
    assert (answer.status, answer.problem["code"]) == (421, "HOST_NOT_ALLOWED")


def test_http_1_0_needs_no_host(wire: Wire) -> None:
    assert wire.ask(head(b"GET", path="/healthz", version=b"HTTP/1.0", host=b"", body=b"")).status == 200


@pytest.mark.parametrize(
    "origin", [b"http://[", b"http://[::1", b"http://]", b"//", b"null", b"\xff", b"[::1]"]
)
def test_an_invalid_origin_counts_as_a_foreign_one(wire: Wire, route: bytes, origin: bytes) -> None:
    answer = wire.ask(head(b"POST", route, b"origin: " + origin))
    assert (answer.status, answer.problem["code"]) == (403, "ORIGIN_NOT_ALLOWED")


@pytest.mark.parametrize("version", [b"HTTP/0.9", b"HTTP/2.0"])
def test_another_version_of_http_is_a_505(wire: Wire, route: bytes, version: bytes) -> None:
    answer = wire.ask(head(b"POST", route, version=version) + SMUGGLED)
    assert_refused(wire, answer, 505, "HTTP_VERSION_NOT_SUPPORTED")


def test_a_request_line_without_a_version_is_a_505(wire: Wire) -> None:
    assert_refused(wire, wire.ask(b"GET /healthz\r\n\r\n"), 505, "HTTP_VERSION_NOT_SUPPORTED")


@pytest.mark.parametrize("headers", [b"", b"host: localhost\r\n"])
def test_the_preface_of_http_2_is_a_505_that_names_the_versions_to_send(wire: Wire, headers: bytes) -> None:
    answer = wire.ask(b"PRI * HTTP/2.0\r\n" + headers + b"\r\nSM\r\n\r\n")
    assert_refused(wire, answer, 505, "HTTP_VERSION_NOT_SUPPORTED")
    assert answer.problem["detail"] == "HTTP/2.0 is not supported: send HTTP/1.1 or HTTP/1.0"


def test_the_preface_of_http_2_after_a_request_is_a_505(wire: Wire) -> None:
    assert wire.ask(head(b"GET", path="/healthz", body=b"")).status == 200
    answer = wire.ask(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert_refused(wire, answer, 505, "HTTP_VERSION_NOT_SUPPORTED")


def test_the_method_of_the_preface_with_another_version_is_a_400(wire: Wire) -> None:
    assert_refused(wire, wire.ask(b"PRI * HTTP/1.1\r\nhost: localhost\r\n\r\n"), 400)


@pytest.mark.parametrize("path", ["localhost:80", "/healthz", "http://localhost/"])
def test_connect_is_a_501(wire: Wire, path: str) -> None:
    answer = wire.ask(head(b"CONNECT", path=path, body=b"") + SMUGGLED)
    assert_refused(wire, answer, 501, "NOT_IMPLEMENTED")


@pytest.mark.parametrize(
    "path",
    [
        "*",
        "http://[",
        "http://localhost:80:80/healthz",
        "http://elsewhere.example/healthz",
        "http://localhost:81/healthz",
        "http://user@localhost/healthz",
        "ftp://localhost/healthz",
        "localhost",
        "/healthz#part",
        "http://localhost/healthz#part",
        "/v1/streams/a#b/entries",
    ],
)
@pytest.mark.parametrize("method", [b"GET", b"POST"])
def test_a_target_that_is_not_a_path_is_refused(wire: Wire, method: bytes, path: str) -> None:
    assert_refused(wire, wire.ask(head(method, path=path) + SMUGGLED), 400)


@pytest.mark.parametrize(
    "path", ["http://localhost/healthz", "HTTP://LOCALHOST/healthz", "https://localhost/healthz"]
)
def test_a_target_with_the_host_of_the_request_is_its_path(wire: Wire, path: str) -> None:
    assert wire.ask(head(b"GET", path=path, body=b"")).body == b'{"status":"ok"}'


@pytest.mark.parametrize("path", ["http://localhost", "http://localhost?x=y"])
def test_a_target_without_a_path_is_the_root(wire: Wire, path: str) -> None:
    root = wire.ask(head(b"GET", path="/", body=b""))
    assert root.status == 200
    assert wire.ask(head(b"GET", path=path, body=b"")).body == root.body


def test_an_absolute_target_means_the_same_stream_on_both_paths(wire: Wire, route: bytes) -> None:
    path = "http://localhost/v1/streams/kept/entries"
    assert wire.ask(head(b"POST", route, path=path)).status == 201


def test_options_of_the_whole_server_is_answered(wire: Wire) -> None:
    assert wire.ask(head(b"OPTIONS", path="*", body=b"")).status == 404


CHUNKED = b"14\r\n" + BODY + b"\r\n0\r\n\r\n"


@pytest.mark.parametrize("coding", [b"gzip", b"gzip, chunked", b"identity", b"xchunked"])
def test_a_transfer_coding_that_is_not_chunked_is_a_501(wire: Wire, route: bytes, coding: bytes) -> None:
    lines = (route, b"transfer-encoding: " + coding)
    answer = wire.ask(head(b"POST", *lines, body=CHUNKED, length=False) + SMUGGLED)
    assert_refused(wire, answer, 501, "NOT_IMPLEMENTED")


@pytest.mark.parametrize(
    ("lines", "version"),
    [
        ([b"transfer-encoding: chunked"], b"HTTP/1.0"),
        ([b"transfer-encoding: chunked", b"transfer-encoding: chunked"], b"HTTP/1.1"),
        ([b"transfer-encoding: chunked, gzip"], b"HTTP/1.1"),
        ([b"transfer-encoding: "], b"HTTP/1.1"),
        ([b"transfer-encoding: chunked", b"content-length: 20"], b"HTTP/1.1"),
        ([b"content-length: 20", b"transfer-encoding: chunked"], b"HTTP/1.1"),
        ([b"content-length: 20", b"content-length: 20"], b"HTTP/1.1"),
        ([b"content-length: 20, 20"], b"HTTP/1.1"),
        ([b"content-length: +20"], b"HTTP/1.1"),
        ([b"content-length: "], b"HTTP/1.1"),
        ([b"content-length: 2 0"], b"HTTP/1.1"),
        ([b"content-length: 99999999999999999999"], b"HTTP/1.1"),
        ([b"content-length : 20"], b"HTTP/1.1"),
        ([b"content-length: 20", b"x: a\r\n b"], b"HTTP/1.1"),
        ([b"content-length: 20", b"x: a\0b"], b"HTTP/1.1"),
        ([b"content-length: 20", b"x: a\rb"], b"HTTP/1.1"),
        ([b"content-length: 20", b"x: a\nb: c"], b"HTTP/1.1"),
        ([b"content-length: 20", b": a"], b"HTTP/1.1"),
    ],
)
def test_a_head_whose_framing_is_in_doubt_is_refused(
    wire: Wire, route: bytes, lines: list[bytes], version: bytes
) -> None:
    raw = head(b"POST", route, *lines, version=version, length=False)
    assert_refused(wire, wire.ask(raw + SMUGGLED), 400)


def test_line_feeds_alone_end_no_line(wire: Wire, route: bytes) -> None:
    assert_refused(wire, wire.ask(head(b"POST", route).replace(b"\r\n", b"\n")), 400)


def test_bytes_beyond_ascii_in_a_header_are_opaque(wire: Wire, route: bytes) -> None:
    raw = head(b"POST", route, b"user-agent: caf\xe9", path="/v1/streams/kept/entries")
    assert wire.ask(raw).status == 201


# --- a wish for another protocol -----------------------------------------------------------------------

H2C = (b"connection: Upgrade, HTTP2-Settings", b"upgrade: h2c", b"http2-settings: AAEAAEAAAAIAAAAB")
KEPT = "/v1/streams/kept/entries"


@pytest.mark.parametrize(
    "raw",
    [
        head(b"POST", *H2C, path=KEPT),
        head(b"POST", *H2C, b"transfer-encoding: chunked", path=KEPT, body=CHUNKED, length=False),
        head(b"POST", b"connection: upgrade", b"upgrade: websocket", path=KEPT),
        head(b"POST", b"connection: upgrade", b"upgrade: TLS/1.0, h2c", path=KEPT),
        head(b"POST", b"upgrade: h2c", path=KEPT),
    ],
    ids=["h2c", "chunked", "websocket", "list", "without connection"],
)
@pytest.mark.parametrize("pieces", [1, 2, 1_000])
def test_an_upgrade_to_an_unsupported_protocol_is_ignored_and_the_body_kept(
    wire: Wire, raw: bytes, pieces: int
) -> None:
    size = -(-len(raw) // pieces)
    for begin in range(0, len(raw), size):
        wire.send(raw[begin : begin + size])
    assert wire.receive().status == 201
    assert wire.ask(head(b"GET", path="/healthz", body=b"")).status == 200


def test_requests_after_an_ignored_upgrade_are_answered_in_order(wire: Wire) -> None:
    append, health = head(b"POST", *H2C, path=KEPT), head(b"GET", *H2C, path="/healthz", body=b"")
    wire.send((append + health) * 200)
    assert [wire.receive().status for _ in range(400)] == [201, 200] * 200


def test_a_request_with_an_ignored_upgrade_is_refused_like_any_other(wire: Wire) -> None:
    raw = head(b"POST", *H2C, b"content-length: 20", b"content-length: 20", path=KEPT, length=False)
    assert_refused(wire, wire.ask(raw), 400)


# --- refusals in their turn ----------------------------------------------------------------------------

WAITING = b'{"streams":[{"key":"none","after":"$"}],"wait_ms":100}'


@pytest.mark.parametrize("count", [1, 2])
def test_a_broken_body_behind_requests_that_wait_is_refused_in_its_turn(wire: Wire, count: int) -> None:
    broken = head(b"POST", b"transfer-encoding: chunked", body=b"zz\r\n", length=False)
    wire.send(head(b"POST", path="/v1/read", body=WAITING) * count + broken)
    assert [wire.receive().status for _ in range(count)] == [200] * count
    assert_refused(wire, wire.receive(), 400)


def test_a_broken_body_gets_no_interim_answer_behind_its_refusal(wire: Wire) -> None:
    lines = (b"expect: 100-continue", b"transfer-encoding: chunked")
    answer = wire.ask(head(b"POST", *lines, body=b"zz\r\n", length=False))
    assert_refused(wire, answer, 400)
