"""A plain head means what the parser finds in it, and a head that is not plain goes to the parser."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import TypeAlias

import pytest

from tailrace.api.application import create_api
from tailrace.api.operations.headers import CLIENT_BYTES_MAX
from tailrace.app.protocols.heads import BLOCK_BYTES_MAX, BLOCKS_MAX, PLAIN_HEAD_BYTES_MAX, PlainHeads
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Range
from tailrace.core.engine import Engine
from tests.support.engine_store import START_MS
from tests.support.pipelines import answers_in, settled
from tests.support.protocol import connected, until

ENTRIES = b"/v1/streams/race/entries"
ENTRY = b'{"fields":{"rider":"Castilla"}}'
KEY, PRODUCER = b"Idempotency-Key: 1", b"Producer-Id: gate"
JSON = b"Content-Type: application/json"
HOST = b"Host: localhost"


def post(*lines: bytes, body: bytes = ENTRY, path: bytes = ENTRIES, length: bytes | None = None) -> bytes:
    size = b"Content-Length: %d" % len(body) if length is None else length
    return b"\r\n".join((b"POST " + path + b" HTTP/1.1", *lines, size, b"", body))


def keyed(key: bytes, producer: bytes = PRODUCER, **other: bytes) -> bytes:
    return post(HOST, b"Idempotency-Key: " + key, producer, JSON, **other)


FIRST = keyed(b"1")
LONGER = b'{"fields":{"rider":"Castilla","speed":"41"}}'


class Connection:
    """A connection to a new store. `parsed`: how many reads its parser got."""

    def __init__(self) -> None:
        self._engine = Engine()
        store = EngineStore(self._engine, clock=lambda: START_MS)
        self._protocol, self._transport = connected(store, create_api(store, version="1"))
        self.parsed = 0
        feed = self._protocol._reader.feed

        def counted(data: bytes) -> None:
            self.parsed += 1
            feed(data)

        self._protocol._reader.feed = counted  # type: ignore[method-assign]

    async def send(self, *parts: bytes) -> list[bytes]:
        """Deliver parts of a request, each as a read of its own. Return the answers."""
        for part in parts:
            await until(lambda: self._transport.is_reading_now)
            self._protocol.data_received(part)
        await settled(self._protocol, self._transport)
        answers = answers_in(self._transport)
        self._transport.written.clear()
        return answers

    @property
    def heads(self) -> PlainHeads:
        """The reader of plain heads of the server."""
        return self._protocol.hot.heads

    @property
    def streams(self) -> dict[bytes, object]:
        """The entries of each stream, and what it remembers of producers."""
        return {
            key: (
                self._engine.execute(Range(key), START_MS).reply.entries.fragments,  # type: ignore[union-attr]
                {
                    producer: {name: (made.ids, made.fingerprint) for name, made in keys.items()}
                    for producer, keys in stream.idempotency.timed.producers.items()
                },
                dict(stream.idempotency.epochs.producers),
            )
            for key, stream in self._engine.keyspace.streams.items()
        }


Seen: TypeAlias = tuple[list[list[bytes]], dict[bytes, object]]


def sent(reads: Sequence[bytes]) -> tuple[Seen, int]:
    """Deliver reads to one connection. Return the answers and the streams, and how many reads the parser
    got."""

    async def story() -> tuple[Seen, int]:
        connection = Connection()
        answers = [await connection.send(data) for data in reads]
        return (answers, connection.streams), connection.parsed

    return asyncio.run(story())


def parsed(reads: Sequence[bytes]) -> Seen:
    """Deliver reads in two parts each, which only the parser reads. Return the answers and the streams."""

    async def story() -> Seen:
        connection = Connection()
        answers = [await connection.send(data[:1], data[1:]) for data in reads]
        assert connection.parsed >= 2 * len(reads)
        return answers, connection.streams

    return asyncio.run(story())


@pytest.mark.parametrize(
    "later",
    [
        keyed(b"2"),
        keyed(b"a-long-key.of:any!characters,~;\"'"),
        keyed(b"k" * 600),
        keyed(b"1", body=LONGER),
        keyed(b"2", b"Producer-Id: another"),
        keyed(b"22", b"Producer-Id: gate-2", body=LONGER),
        keyed(b"Idempotency-Key:", b"Producer-Id: Content-Length:"),
        keyed(b"2", body=b'{"fields":{"rider":"\\r\\nIdempotency-Key: 7\\r\\n"}}'),
        keyed(b"2", body=b'{"fields":'),
        keyed(b"2", body=b"\r\nidempotency-key: 3\r\n\r\n"),
    ],
)
def test_an_append_with_a_key_needs_no_parser(later: bytes) -> None:
    reads = [FIRST, later, later, FIRST]
    seen, parser_reads = sent(reads)
    assert seen == parsed(reads)
    assert parser_reads == 0


@pytest.mark.parametrize("path", [ENTRIES, ENTRIES + b":batch", b"/v1/streams/other%2Fone/entries"])
@pytest.mark.parametrize(
    "lines",
    [
        (HOST, KEY, PRODUCER, JSON),
        (JSON, PRODUCER, KEY, HOST),
        (HOST, KEY.lower(), PRODUCER.upper(), JSON),
        (HOST, KEY, b"Producer-Epoch: 3", PRODUCER, b"Producer-Layout: two parts", JSON),
        (HOST, KEY, PRODUCER, JSON, b"Authorization: Bearer none"),
    ],
)
def test_every_order_and_case_of_the_lines_is_plain(path: bytes, lines: Sequence[bytes]) -> None:
    entry = b'{"entries":[%b]}' % ENTRY if path.endswith(b"batch") else ENTRY
    other = [line.replace(b": 1", b": 22").replace(b": GATE", b": DOOR") for line in lines]
    reads = [post(*each, path=path, body=entry) for each in (lines, other, lines, lines, other)]
    seen, parser_reads = sent(reads)
    assert seen == parsed(reads)
    assert parser_reads == 0
    assert [answers[0][:3] for answers in seen[0]] == [b"201", b"201", b"200", b"200", b"200"]


@pytest.mark.parametrize(
    "later",
    [
        keyed(b"2 "),
        keyed(b" 2"),
        keyed(b"\t2"),
        keyed(b"2\t"),
        keyed(b"2 3"),
        keyed(b""),
        keyed(b"caf\xe9"),
        keyed(b"2\x7f"),
        keyed(b"2\x01"),
        keyed(b"2\x00"),
        keyed(b"2\r3"),
        keyed(b"2\n3"),
        keyed(b"2\r\n 3"),
        keyed(b"2\r\nIdempotency-Key: 3"),
        keyed(b"1\r\nIdempotency-Key: 1"),
        keyed(b"2\r\nidempotency-key: 3"),
        keyed(b"2\r\nPrefer: nothing"),
        keyed(b"2\r\nX-Request-Id: mine"),
        keyed(b"2\r\nContent-Encoding: gzip"),
        keyed(b"2\r\nExpect: 100-continue"),
        keyed(b"2\r\nConnection: close"),
        keyed(b"2\r\nContent-Length: 3"),
        keyed(b"2\r\nContent-Length: 31"),
        keyed(b"2", b"Producer-Id: "),
        keyed(b"2", b"Producer-Id: two words"),
        keyed(b"2", b"Producer-Id: gate\r\nProducer-Id: other"),
        keyed(b"2", b"Producer-Id : gate"),
        keyed(b"2", b"Producer-Id:gate"),
        keyed(b"2", b"X-Producer-Id: gate"),
        keyed(b"2", b"PRODUCER-ID: gate"),
        keyed(b"2", length=b"Content-Length: 031"),
        keyed(b"2", length=b"Content-Length: +31"),
        keyed(b"2", length=b"Content-Length: 0"),
        keyed(b"2", length=b"Content-Length: 31 "),
        keyed(b"2", length=b"Content-Length: 31, 31"),
        keyed(b"2", length=b"Content-Length: 0x1f"),
        keyed(b"2", length=b"content-length: 31"),
        keyed(b"2", length=b"Transfer-Encoding: chunked", body=b"1f\r\n%b\r\n0\r\n\r\n" % ENTRY),
        keyed(
            b"2",
            length=b"Content-Length: 31\r\nTransfer-Encoding: chunked",
            body=b"1f\r\n%b\r\n0\r\n\r\n" % ENTRY,
        ),
        keyed(b"2", path=b"/v1/streams/other/entries"),
        keyed(b"2", path=b"/v1/streams/race/entries:batch"),
        post(HOST, PRODUCER, JSON),
        post(HOST, KEY, JSON),
        post(HOST, PRODUCER, KEY, JSON),
        post(HOST, HOST, KEY, PRODUCER, JSON),
        b"\r\n" + keyed(b"2"),
        b"\r\n\r\n" + keyed(b"2"),
        keyed(b"2").replace(b"POST", b"PUT", 1),
        keyed(b"2").replace(b"HTTP/1.1", b"HTTP/1.0", 1),
        keyed(b"2").replace(b"HTTP/1.1\r\n", b"HTTP/1.1\n", 1),
        keyed(b"2").replace(b" /v1", b" http://localhost/v1", 1),
    ],
)
def test_any_head_means_what_the_parser_finds_in_it(later: bytes) -> None:
    reads = [FIRST, keyed(b"3"), later]
    seen, _ = sent(reads)
    assert seen == parsed(reads)


@pytest.mark.parametrize("parts", [(1, 2), (2, 1, 2), (3, 3)])
def test_pipelined_appends_with_keys_run_in_order(parts: Sequence[int]) -> None:
    async def story(connection: Connection, reads: Sequence[bytes]) -> list[bytes]:
        return [answer for data in reads for answer in await connection.send(data)]

    requests = [
        keyed(b"key-%d" % number, body=LONGER if number % 2 else ENTRY) for number in range(sum(parts))
    ]
    left = iter(requests)
    reads = [FIRST, *(b"".join(islice(left, count)) for count in parts)]
    whole, apart = Connection(), Connection()
    assert asyncio.run(story(whole, reads)) == asyncio.run(story(apart, [FIRST, *requests]))
    assert whole.streams == apart.streams
    assert whole.parsed == 0


def test_a_body_that_is_not_complete_yet_is_left_to_the_parser() -> None:
    async def story(connection: Connection) -> list[bytes]:
        await connection.send(FIRST)
        return await connection.send(keyed(b"2")[:-1], b"}")

    connection = Connection()
    assert [answer[:3] for answer in asyncio.run(story(connection))] == [b"201"]
    assert connection.parsed == 2


BROWSER = (
    b"Host: localhost:8080",
    b"Connection: keep-alive",
    b'sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"',
    b"sec-ch-ua-mobile: ?0",
    b"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
    JSON + b"; charset=utf-8",
    b"Accept: application/json, text/plain, */*",
    b"Origin: http://localhost:8080",
    b"Sec-Fetch-Site: same-origin",
    b"Sec-Fetch-Mode: cors",
    b"Referer: http://localhost:8080/app",
    b"Accept-Encoding: gzip, deflate, br, zstd",
    b"Cookie: session=1; theme=dark",
    b"X-Forwarded-For: 203.0.113.7",
    b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    b"x-empty:",
)


def test_the_head_of_a_browser_behind_a_proxy_needs_no_parser() -> None:
    reads = [post(*BROWSER), post(*BROWSER, path=b"/v1/streams/other/entries"), post(*reversed(BROWSER))]
    seen, parser_reads = sent(reads)
    assert seen == parsed(reads)
    assert [answers[0][:3] for answers in seen[0]] == [b"201"] * 3
    assert parser_reads == 0


@pytest.mark.parametrize(
    "line",
    [
        b"X-A: \x7f",
        b"X-A: \xe9",
        b"X-A: a\x00b",
        b"X-A: a\rb",
        b"X-A : b",
        b" X-A: b",
        b"X-A",
        b": b",
        b"X\xe9: b",
        b"X-A: b ",
        b"X-A:  b",
        b"X-A:\tb",
        b"X-A: b\r\n folded",
        b"Transfer-Encoding: chunked",
        b"Connection: close",
        b"Connection: upgrade\r\nUpgrade: h2c",
        b"Proxy-Connection: close",
        b"Last-Event-ID: 1\r\nLast-Event-ID: 2",
        b"Upstash-Encoding: base64\r\nUpstash-Encoding: base64",
        b"Origin: http://elsewhere.example",
        b"Sec-Fetch-Site: cross-site",
        b"Accept: text/html",
        b"Accept: */*\r\nAccept: text/html",
        b"X-Request-Id: one\r\nX-Request-Id: two",
        b"Host: other",
        b"Content-Encoding: gzip",
        b"Content-Length: 31",
    ],
)
def test_a_line_that_is_not_plain_goes_to_the_parser(line: bytes) -> None:
    reads = [post(HOST, JSON), post(HOST, JSON, line)]
    seen, parser_reads = sent(reads)
    assert seen == parsed(reads)
    assert parser_reads > 0


@pytest.mark.parametrize("name", [b"Connection", b"Proxy-Connection"])
@pytest.mark.parametrize("cut", [None, 1], ids=["whole", "in parts"])
def test_the_answer_to_a_request_that_ends_the_connection_says_so(name: bytes, cut: int | None) -> None:
    raw = post(HOST, JSON, name + b": close")
    protocol, transport = connected(EngineStore(Engine()))

    async def story() -> None:
        for part in (raw,) if cut is None else (raw[:cut], raw[cut:]):
            protocol.data_received(part)
        await until(lambda: transport.is_ended)

    asyncio.run(story())
    assert b"connection: close" in b"".join(transport.written)


def test_clients_with_long_headers_are_not_remembered() -> None:
    async def story(connection: Connection) -> int:
        for length in (1, CLIENT_BYTES_MAX):
            head = post(HOST, JSON, b"Authorization: Bearer " + b"x" * length)
            assert connection.heads.find(head, 0) is not None
        return len(connection.heads._clients._clients)

    assert asyncio.run(story(Connection())) == 1


def test_remembered_blocks_are_bounded() -> None:
    async def story(connection: Connection) -> tuple[int, int]:
        heads = connection.heads
        for length in (1, BLOCK_BYTES_MAX):
            assert heads.find(post(HOST, JSON, b"X-Number: " + b"1" * length), 0) is not None
        short = len(heads._blocks)
        for number in range(BLOCKS_MAX + 2):
            assert heads.find(post(HOST, JSON, b"X-Number: %d" % number), 0) is not None
        return short, len(heads._blocks)

    short, after_many = asyncio.run(story(Connection()))
    assert short == 1
    assert after_many < BLOCKS_MAX


@pytest.mark.parametrize(
    "line", [KEY + b"%d", b"TraceParent: %d", b"traceState:%d", b"X-Request-Id: %d", b"Producer-Epoch: %d"]
)
def test_a_header_that_varies_takes_no_place_among_the_remembered_blocks(line: bytes) -> None:
    async def story(connection: Connection) -> int:
        for number in range(9):
            lines = [HOST, PRODUCER, JSON, b"X-A: a"]
            lines.insert(number % 4, line % number)
            assert connection.heads.find(post(*lines), 0) is not None
        return len(connection.heads._blocks)

    assert asyncio.run(story(Connection())) == 1


def test_a_head_that_is_longer_than_usual_goes_to_the_parser() -> None:
    reads = [post(HOST, JSON, b"X-A: " + b"x" * PLAIN_HEAD_BYTES_MAX)]
    seen, parser_reads = sent(reads)
    assert parser_reads > 0
    assert seen == parsed(reads)


def test_a_request_of_several_reads_is_left_to_the_parser() -> None:
    async def story(connection: Connection) -> list[bytes]:
        body = b'{"fields":{"rider":"%b"}}' % (b"x" * 300_000)
        whole = keyed(b"2", body=body)
        return await connection.send(whole[:256_000], whole[256_000:])

    connection = Connection()
    assert [answer[:3] for answer in asyncio.run(story(connection))] == [b"201"]
    assert connection.parsed > 0
