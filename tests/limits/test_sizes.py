"""Requests that are too large, too deep or malformed get a 4xx with the reason, and change nothing.

The servers here are shared by the file's tests, and at its end each must answer as if nothing had been.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import pytest
import zstandard

from tailrace.core.limits import (
    BODY_BYTES_MAX,
    BODY_MEMBERS_MAX,
    FIELDS_PER_ENTRY_MAX,
    HEAD_BYTES_MAX,
    HEADERS_MAX,
    MIB,
    NAME_BYTES_MAX,
    URL_BYTES_MAX,
)
from tests.support.seeds import some_each_day
from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import Answer, Wire, request, wired

NDJSON: Final = "application/x-ndjson"
GROWTH_BYTES_MAX: Final = 512 * MIB
"""How much the server may grow after it was sent a gigabyte: a few bodies of the greatest size."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("sizes"), "--durability", "none") as process:
        yield process
        with wired(process.port) as wire:
            listed = wire.ask(request("GET", "/v1/streams"))
        assert (listed.status, json.loads(listed.body)["streams"]) == (200, [])
        assert "Traceback" not in process.log_text


@pytest.fixture
def wire(target: ServerProcess) -> Iterator[Wire]:
    with wired(target.port) as connection:
        yield connection


def assert_refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.problem["code"]) == (status, code), answer
    assert answer.problem["side_effects"] == "none"
    assert answer.headers["x-request-id"] == answer.problem["request_id"]


def assert_ended(wire: Wire, answer: Answer) -> None:
    assert answer.headers["connection"] == "close"
    assert wire.read_to_end() == b""


# --- the head ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_target_that_is_too_long_is_a_414(wire: Wire, method: str) -> None:
    answer = wire.ask(request(method, "/v1/streams/" + "x" * URL_BYTES_MAX))
    assert_refused(answer, 414, "URL_TOO_LONG")
    assert_ended(wire, answer)


def test_the_longest_target_is_read(wire: Wire) -> None:
    path = "/v1/streams?prefix="
    answer = wire.ask(request("GET", path + "x" * (URL_BYTES_MAX - len(path))))
    assert (answer.status, json.loads(answer.body)["streams"]) == (200, [])


def test_a_target_without_end_is_a_414(wire: Wire) -> None:
    wire.send(b"GET /")
    wire.send_while_taken(b"x" * 10_000, 1_000)
    answer = wire.receive()
    assert_refused(answer, 414, "URL_TOO_LONG")
    assert_ended(wire, answer)


@pytest.mark.parametrize(
    "headers",
    [[f"x-{number}: y" for number in range(HEADERS_MAX + 1)], [f"x-long: {'y' * HEAD_BYTES_MAX}"]],
    ids=["many", "long"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_headers_that_are_too_many_or_too_long_are_a_431(wire: Wire, method: str, headers: list[str]) -> None:
    answer = wire.ask(request(method, "/v1/streams/x/entries", b"", *headers))
    assert_refused(answer, 431, "HEAD_TOO_LARGE")
    assert_ended(wire, answer)


@pytest.mark.parametrize("raw", [b"x-a: ", b"x-a: b\r\n", b""], ids=["one", "many", "line ends"])
def test_a_head_without_end_is_a_431(wire: Wire, raw: bytes) -> None:
    if raw:
        wire.send(b"GET / HTTP/1.1\r\nhost: localhost\r\n" + raw)
    wire.send_while_taken((raw if raw.endswith(b"\n") else b"\r\n" if not raw else b"x") * 10_000, 1_000)
    answer = wire.receive()
    assert_refused(answer, 431, "HEAD_TOO_LARGE")
    assert_ended(wire, answer)


def test_a_trailer_without_end_is_a_431(wire: Wire) -> None:
    wire.send(request("POST", "/v1/streams/x/entries", b"", "transfer-encoding: chunked"))
    wire.send(b'4\r\n{"a"\r\n0\r\n')
    wire.send_while_taken(b"x-trailer: y\r\n" * 1_000, 1_000)
    assert_refused(wire.receive(), 431, "HEAD_TOO_LARGE")


def test_a_trailer_is_no_header(wire: Wire) -> None:
    """A trailer arrives after the headers were used: a media type in a trailer has no effect."""
    wire.send(request("POST", "/v1/command", b"", "transfer-encoding: chunked"))
    answer = wire.ask(b'8\r\n["PING"]\r\n0\r\ncontent-type: text/plain\r\naccept: text/html\r\n\r\n')
    assert json.loads(answer.body) == {"result": "PONG"}


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"NONSENSE / HTTP/1.1\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n12345",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n",
    ],
)
def test_what_is_no_http_is_a_400_problem(wire: Wire, raw: bytes) -> None:
    answer = wire.ask(raw)
    assert_refused(answer, 400, "BAD_REQUEST")
    assert_ended(wire, answer)


def test_a_refusal_waits_for_the_answers_before_it(wire: Wire) -> None:
    waiting = b'{"streams":[{"key":"x","after":"$"}],"wait_ms":200}'
    wire.send(request("POST", "/v1/read", waiting) + request("GET", "/healthz") + b"NONSENSE\r\n\r\n")
    assert [wire.receive().status for _ in range(3)] == [200, 200, 400]
    assert wire.read_to_end() == b""


# --- the body ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["entries", "entries:batch", "entries:import", "entries:trim"])
def test_a_body_that_says_it_is_a_gigabyte_is_a_413(wire: Wire, path: str) -> None:
    content_type = NDJSON if path.endswith("import") else "application/json"
    head = request(
        "POST", f"/v1/streams/x/{path}", b"", f"content-length: {1 << 30}", content_type=content_type
    )
    answer = wire.ask(head)
    assert_refused(answer, 413, "BODY_TOO_LARGE")
    assert_ended(wire, answer)


def test_who_sends_a_gigabyte_all_the_same_can_read_why_it_is_refused(wire: Wire) -> None:
    wire.send(request("POST", "/v1/streams/x/entries", b"", f"content-length: {1 << 30}"))
    wire.send_while_taken(bytes(MIB), 1_024)
    assert_refused(wire.receive(), 413, "BODY_TOO_LARGE")


def gigabyte_in_chunks(port: int) -> Answer:
    with wired(port) as wire:
        wire.send(request("POST", "/v1/streams/x/entries", b"", "transfer-encoding: chunked"))
        wire.send_while_taken(b"100000\r\n" + b"x" * MIB + b"\r\n", 1_024)
        return wire.receive()


def test_a_gigabyte_in_chunks_is_a_413_and_leaves_no_trace_in_memory(target: ServerProcess) -> None:
    before = target.resident_bytes
    with ThreadPoolExecutor(4) as pool:
        for answer in pool.map(gigabyte_in_chunks, [target.port] * 4):
            assert_refused(answer, 413, "BODY_TOO_LARGE")
    growth = target.resident_bytes - before
    print(f"4 x 1 GiB in chunks: resident memory grew by {growth / MIB:.0f} MiB")  # noqa: T201 - the figure
    assert growth < GROWTH_BYTES_MAX


def bombs() -> Iterator[tuple[str, bytes]]:
    """A gigabyte of zeros or lines, well packed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield "gzip", b"".join(packer.compress(bytes(MIB)) for _ in range(1_024)) + packer.flush()
    yield "gzip", gzip.compress(b'{"a":"b"}\n' * 100_000) * 1_000
    frames = zstandard.ZstdCompressor().compressobj()
    yield "zstd", b"".join(frames.compress(bytes(MIB)) for _ in range(1_024)) + frames.flush()
    yield "zstd", zstandard.compress(bytes(MIB)) * 1_024


def test_a_bomb_is_a_413_and_leaves_no_trace_in_memory(target: ServerProcess) -> None:
    before = target.resident_bytes
    for encoding, bomb in bombs():
        with wired(target.port) as wire:
            header = f"content-encoding: {encoding}"
            answer = wire.ask(
                request("POST", "/v1/streams/x/entries:import", bomb, header, content_type=NDJSON)
            )
            assert_refused(answer, 413, "BODY_TOO_LARGE")
    growth = target.resident_bytes - before
    print(f"4 bombs of 1 GiB: resident memory grew by {growth / MIB:.0f} MiB")  # noqa: T201 - the figure
    assert growth < GROWTH_BYTES_MAX


@pytest.mark.parametrize(
    ("encoding", "member"), [("gzip", gzip.compress(b"", mtime=0)), ("zstd", zstandard.compress(b""))]
)
def test_a_body_of_too_many_members_is_a_413_and_nobody_waits_for_it(
    target: ServerProcess, encoding: str, member: bytes
) -> None:
    header = f"content-encoding: {encoding}"
    body = member * (20 * BODY_MEMBERS_MAX)
    with wired(target.port) as wire, wired(target.port) as other:
        wire.send(request("POST", "/v1/streams/x/entries:import", body, header, content_type=NDJSON))
        assert other.ask(request("GET", "/healthz")).status == 200
        assert_refused(wire.receive(), 413, "LIMIT_EXCEEDED")


def test_the_bound_on_members_is_shown(wire: Wire) -> None:
    shown = json.loads(wire.ask(request("GET", "/v1/limits")).body)
    assert shown["body_members_max"] == BODY_MEMBERS_MAX


@pytest.mark.parametrize("encoding", ["br", "gzip, zstd"])
def test_an_encoding_that_is_not_known_is_a_415(wire: Wire, encoding: str) -> None:
    header = f"content-encoding: {encoding}"
    body = gzip.compress(b'{"a":"b"}')
    answer = wire.ask(request("POST", "/v1/streams/x/entries:import", body, header, content_type=NDJSON))
    assert_refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert answer.headers["accept-encoding"] == "gzip, zstd"


def test_compression_of_any_other_body_is_a_415(wire: Wire) -> None:
    body = gzip.compress(b'{"fields":{"a":"b"}}')
    answer = wire.ask(request("POST", "/v1/streams/x/entries", body, "content-encoding: gzip"))
    assert_refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_what_does_not_unpack_is_a_400(wire: Wire, encoding: str) -> None:
    good = gzip.compress(b'{"a":"b"}') if encoding == "gzip" else zstandard.compress(b'{"a":"b"}')
    for bad in (b"nonsense", good[:-3], good[:4]):
        header = f"content-encoding: {encoding}"
        answer = wire.ask(request("POST", "/v1/streams/x/entries:import", bad, header, content_type=NDJSON))
        assert_refused(answer, 400, "MALFORMED_BODY")


DEEP: Final = 200_000
JSON_ROUTES: Final = (
    ("POST", "/v1/streams/x/entries"),
    ("POST", "/v1/streams/x/entries:batch"),
    ("POST", "/v1/streams/x/entries:trim"),
    ("POST", "/v1/streams/x/entries:delete"),
    ("POST", "/v1/streams/x/groups/g:ack"),
    ("POST", "/v1/read"),
    ("POST", "/v1/read-group"),
    ("POST", "/v1/command"),
    ("POST", "/v1/command/pipeline"),
    ("POST", "/v1/command/multi-exec"),
    ("POST", "/v1/streams/x/entries:import"),
    ("PUT", "/v1/streams/x"),
)


def many(what: str, count: int, separator: str = ",") -> bytes:
    return separator.join(what % number for number in range(count)).encode()


class Million(NamedTuple):
    """A body with a million items. It is made for its test: all of them take seconds."""

    before: bytes
    item: str
    after: bytes

    def body(self) -> bytes:
        return self.before + many(self.item, 1_000_000) + self.after


STRANGE: Final[dict[str, bytes | Million]] = {
    "deep arrays": b"[" * DEEP,
    "deep objects": b'{"a":' * DEEP,
    "deep fields": b'{"fields":' + b'{"a":' * DEEP + b'"b"' + b"}" * DEEP + b"}",
    "bad UTF-8": b'{"fields":{"a":"\xff\xfe"}}',
    "a lone surrogate": b'{"fields":{"a":"\\ud800"}}',
    "a number without end": b'{"count":' + b"9" * 5_000_000 + b"}",
    "a million commas": b'{"fields":{"a":' + b"," * 1_000_000 + b"}}",
    "a million quotes": b'{"fields":{"a":' + b'",' * 1_000_000 + b"}}",
    "a million lines": b"{}\n" * 1_000_000,
    "a batch of nothing": b'{"entries":[' + b"{}," * 5_000_000 + b"{}]}",
    "a million fields": Million(b'{"fields":{', '"f%d":"v"', b"}}"),
    "a million numbers": Million(b'{"fields":{', '"f%d":1', b"}}"),
    "a million pairs": Million(b'{"pairs":[', '["f%d","v"]', b"]}"),
    "a million strangers": Million(b"{", '"f%d":"v"', b"}"),
    "a million wrong ids": Million(b'{"ids":[', "%d", b"]}"),
    "a million wrong streams": Million(b'{"streams":[', "%d", b"]}"),
    "a million wrong entries": Million(b'{"entries":[', "%d", b"]}"),
    "a million wrong words": Million(b"[", "%d.5", b"]"),
    "a million commands": Million(b"[", '["PING"]%.0d', b"]"),
    "a million nulls": b"[" + b",".join([b"null"] * 1_000_000) + b"]",
    "nothing": b"",
    "zeros": bytes(1_000),
}


@pytest.mark.parametrize("name", some_each_day(STRANGE, 3))
def test_a_strange_body_is_a_documented_4xx_on_every_route(target: ServerProcess, name: str) -> None:
    strange = STRANGE[name]
    body = strange.body() if isinstance(strange, Million) else strange
    before = target.resident_bytes
    statuses = set()
    for method, path in JSON_ROUTES:
        with wired(target.port) as wire:
            content_type = NDJSON if path.endswith("import") else "application/json"
            header = "x-request-id: strange"
            answer = wire.ask(request(method, path, body, header, content_type=content_type))
        optional_body = method == "PUT" and not body
        if not optional_body:
            assert answer.status in {400, 404, 413, 415, 422}, (path, answer)
            assert answer.problem["request_id"] == "strange"
            assert len(answer.body) < 100_000, path
            statuses.add(answer.status)
        else:
            with wired(target.port) as wire:
                wire.ask(request("DELETE", "/v1/streams/x"))
    growth = target.resident_bytes - before
    print(f"{name}: {sorted(statuses)}, grew by {growth / MIB:.0f} MiB")  # noqa: T201 - the figures
    assert growth < GROWTH_BYTES_MAX


def test_the_most_fields_are_taken_and_one_more_is_a_413(wire: Wire) -> None:
    path = "/v1/streams/most/entries"
    for count, status in ((FIELDS_PER_ENTRY_MAX, 201), (FIELDS_PER_ENTRY_MAX + 1, 413)):
        body = b'{"fields":{' + many('"f%d":"v"', count) + b"}}"
        assert wire.ask(request("POST", path, body)).status == status
    assert wire.ask(request("DELETE", "/v1/streams/most")).status == 204


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/streams/{}", None),
        ("GET", "/v1/streams/x/groups/{}", None),
        ("PUT", "/v1/streams/x/groups/g/consumers/{}", None),
        ("POST", "/v1/read", {"streams": [{"key": "{}", "after": "0"}]}),
        ("POST", "/v1/read-group", {"group": "{}", "consumer": "c", "streams": [{"key": "s", "id": ">"}]}),
    ],
)
def test_a_name_that_is_too_long_is_a_400(wire: Wire, method: str, path: str, body: object) -> None:
    name = "x" * (NAME_BYTES_MAX + 1)
    raw = b"" if body is None else json.dumps(body).replace("{}", name).encode()
    answer = wire.ask(request(method, path.replace("{}", name), raw))
    assert_refused(answer, 400, "INVALID_NAME")


def test_the_largest_body_is_taken(wire: Wire) -> None:
    line = b'{"a":"' + b"x" * 1_000_000 + b'"}\n'
    body = line * (BODY_BYTES_MAX // len(line))
    path = "/v1/streams/largest/entries:import"
    assert wire.ask(request("POST", path, body, content_type=NDJSON)).status == 201
    assert wire.ask(request("DELETE", "/v1/streams/largest")).status == 204
