"""Which requests are hot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tailrace.api.operations.reads import REPEATED_BYTES_MAX, group_read_command, read_command
from tailrace.api.operations.table import XADD
from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.turns import ROWS_PER_PIECE
from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    Append,
    AutoClaim,
    Claim,
    Command,
    InfoGroups,
    InfoStream,
    NegativeAcknowledge,
    PendingRange,
    PendingSummary,
    Range,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    ScheduleEntries,
    StreamLength,
)
from tailrace.core.errors import StreamError
from tailrace.core.limits import PAGE_BYTES_MAX, TURN_REPLY_BYTES_MAX
from tailrace.core.replies import NO_ENTRIES, Entries, RangeReply, ReadReply, StreamRead
from tailrace.core.stream_id import MAX_ID
from tests.support.hot import route_of

HEADERS = [
    (b"host", b"localhost"),
    (b"content-type", b"application/json"),
    (b"content-length", b"2"),
]
NDJSON = [*HEADERS[:1], (b"content-type", b"application/x-ndjson"), HEADERS[2]]
ENTRIES = b"/v1/streams/race:france/entries"
ENTRY = b'{"fields":{"a":"1"}}'
READ = b'{"group":"g","consumer":"c","streams":[{"key":"s","id":">"}]}'


@pytest.mark.parametrize(
    ("target", "headers", "body", "kind"),
    [
        (ENTRIES, HEADERS, ENTRY, Append),
        (b"/v1/streams/a%2Fb/entries", HEADERS, ENTRY, Append),
        (ENTRIES + b":batch", HEADERS, b'{"entries":[' + ENTRY + b"]}", Append),
        (ENTRIES + b":import", NDJSON, b'{"a":"1"}', Append),
        (b"/v1/read-group", HEADERS, READ, ReadGroup),
        (b"/v1/streams/s/groups/g:ack", HEADERS, b'{"ids":["1-1"]}', Acknowledge),
        (b"/v1/streams/s/groups/a:b:ack", HEADERS, b'{"ids":["1-1"]}', Acknowledge),
        (b"/v1/read", HEADERS, b'{"streams":[{"key":"s","after":"0"}]}', Read),
        (b"/v1/streams/s/groups/g:nack", HEADERS, b'{"ids":["1-1"]}', NegativeAcknowledge),
        (
            b"/v1/streams/s/groups/g:claim",
            HEADERS,
            b'{"consumer":"c","ids":["1-1"],"min_idle_ms":5}',
            Claim,
        ),
        (b"/v1/streams/s/groups/g:autoclaim", HEADERS, b'{"consumer":"c","min_idle_ms":5}', AutoClaim),
    ],
)
def test_a_request_for_a_hot_operation_is_recognised(
    target: bytes, headers: list[tuple[bytes, bytes]], body: bytes, kind: type[Command]
) -> None:
    route = route_of(b"POST", target, headers)
    assert route is not None
    assert type(route.read(body)[1]) is kind


def test_a_producer_means_something_to_an_append_and_nothing_to_any_other_operation() -> None:
    producer = [(b"idempotency-key", b"k"), (b"producer-id", b"p")]
    keyed = route_of(b"POST", ENTRIES, [*HEADERS, *producer])
    assert keyed is not None
    command = keyed.read(ENTRY)[1]
    assert isinstance(command, Append)
    assert command.idempotency is not None
    other = route_of(b"POST", b"/v1/read-group", [*HEADERS, *producer])
    assert other is not None
    assert type(other.read(READ)[1]) is ReadGroup


@pytest.mark.parametrize(
    "extra",
    [
        (b"cookie", b"a=b"),
        (b"origin", b"http://localhost"),
        (b"sec-fetch-site", b"same-origin"),
        (b"sec-fetch-mode", b"cors"),
        (b"referer", b"http://localhost/"),
        (b"x-forwarded-for", b"203.0.113.7"),
        (b"forwarded", b"for=203.0.113.7"),
        (b"traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        (b"accept", b"application/json, text/plain, */*"),
        (b"accept-language", b"*"),
        (b"connection", b"Keep-Alive"),
        (b"x-anything", b"\xff"),
    ],
)
def test_a_header_that_changes_nothing_leaves_a_request_hot(extra: tuple[bytes, bytes]) -> None:
    assert route_of(b"POST", ENTRIES, [*HEADERS, extra]) is not None


def test_a_media_type_may_have_parameters() -> None:
    typed = [HEADERS[0], (b"content-type", b"Application/JSON; charset=utf-8"), HEADERS[2]]
    assert route_of(b"POST", ENTRIES, typed) is not None


def test_a_token_leaves_a_request_hot() -> None:
    shown = (b"authorization", b"Bearer x")
    assert route_of(b"POST", ENTRIES, [*HEADERS, shown]) is not None
    assert route_of(b"POST", ENTRIES, [*HEADERS, shown, shown]) is None


@pytest.mark.parametrize(
    "extra",
    [
        (b"origin", b"http://elsewhere.example"),
        (b"sec-fetch-site", b"cross-site"),
        (b"consistency", b"eventual"),
        (b"min-replicas", b"1"),
        (b"tailrace-trace", b"entry"),
        (b"prefer", b"wait=1"),
        (b"expect", b"100-continue"),
        (b"transfer-encoding", b"chunked"),
        (b"content-encoding", b"gzip"),
        (b"upgrade", b"websocket"),
        (b"connection", b"close"),
        (b"accept", b"text/html"),
        (b"host", b"again"),
    ],
)
def test_any_header_that_could_change_the_answer_leaves_it_to_the_documented_route(
    extra: tuple[bytes, bytes],
) -> None:
    assert route_of(b"POST", ENTRIES, [*HEADERS, extra]) is None


@pytest.mark.parametrize(
    ("method", "target", "headers"),
    [
        (b"GET", ENTRIES, HEADERS),
        (b"HEAD", ENTRIES, HEADERS[:1]),
        (b"POST", ENTRIES + b"?a=b", HEADERS),
        (b"POST", ENTRIES + b":trim", HEADERS),
        (b"POST", ENTRIES + b"/", HEADERS),
        (b"POST", b"/v1/streams//entries", HEADERS),
        (b"POST", b"/v1/streams/" + b"a" * 513 + b"/entries", HEADERS),
        (b"POST", b"/v1/streams/s/groups/g%3Aack", HEADERS),
        (b"POST", ENTRIES, HEADERS[:2]),
        (b"POST", ENTRIES, [HEADERS[0], HEADERS[2]]),
        (b"POST", ENTRIES, NDJSON),
        (b"POST", ENTRIES, [*HEADERS[:2], (b"content-length", b"%d" % (XADD.body_bytes_max + 1))]),
        (b"POST", ENTRIES, [*HEADERS[:2], (b"content-length", b"-1")]),
    ],
)
def test_everything_else_is_left_to_the_documented_route(
    method: bytes, target: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    assert route_of(method, target, headers) is None


@pytest.mark.parametrize(
    ("target", "body"),
    [
        (ENTRIES, b"{"),
        (ENTRIES, b'{"fields":{"a":1}}'),
        (ENTRIES, b'{"id":"x","fields":{"a":"1"}}'),
        (b"/v1/read-group", READ[:-1] + b',"wait_ms":-5}'),
    ],
)
def test_an_invalid_body_is_refused(target: bytes, body: bytes) -> None:
    route = route_of(b"POST", target, HEADERS)
    assert route is not None
    with pytest.raises(RequestRefused):
        route.read(body)[1]


def test_entries_can_be_deleted_with_their_acknowledgment() -> None:
    route = route_of(b"POST", b"/v1/streams/s/groups/g:ack", HEADERS)
    assert route is not None
    command = route.read(b'{"ids":["1-1"],"delete":true}')[1]
    assert isinstance(command, AcknowledgeAndDelete)


def test_a_delayed_append_is_hot() -> None:
    route = route_of(b"POST", ENTRIES, HEADERS)
    assert route is not None
    assert isinstance(route.read(ENTRY[:-1] + b',"delay_ms":5}')[1], ScheduleEntries)


def test_a_read_that_may_wait_is_hot_and_a_read_that_gathers_entries_is_not() -> None:
    route = route_of(b"POST", b"/v1/read-group", HEADERS)
    assert route is not None
    asked = route.read(READ[:-1] + b',"wait_ms":5}')[1]
    assert isinstance(asked, ReadGroup)
    assert asked.block_ms == 5
    nothing = ReadReply([StreamRead(b"s", NO_ENTRIES, next=0, new=True)])
    assert route.answer_of(nothing, asked) is not None
    assert route.read(READ[:-1] + b',"wait_ms":5,"min_count":2}')[1] is None


PLAIN = HEADERS[:1]
GROUP = b"/v1/streams/s/groups/g"


@pytest.mark.parametrize(
    ("target", "command"),
    [
        (ENTRIES + b"?count=5", Range(b"race:france", count=5, max_bytes=PAGE_BYTES_MAX)),
        (
            ENTRIES + b"?count=5&order=desc&start=1-1&end=%2B&strict=true",
            Range(
                b"race:france",
                1 << 64 | 1,
                MAX_ID,
                5,
                reverse=True,
                max_bytes=PAGE_BYTES_MAX,
                strict=True,
            ),
        ),
        (
            ENTRIES + b"?after=0&wait_ms=5",
            Read((ReadFrom(b"race:france", 0),), ReadLimits(20_000, page_bytes=PAGE_BYTES_MAX), 5),
        ),
        (ENTRIES + b"/1-1", Range(b"race:france", 1 << 64 | 1, 1 << 64 | 1, 1)),
        (b"/v1/streams/s/length", StreamLength(b"s")),
        (b"/v1/streams/s", InfoStream(b"s")),
        (GROUP, InfoGroups(b"s")),
        (GROUP + b"/pending", PendingRange(b"s", b"g")),
        (
            GROUP + b"/pending?consumer=%FF&count=7&min_idle_ms=3&start=-&end=(1",
            PendingRange(b"s", b"g", 0, (1 << 65) - 2, 7, 3, b"\xff"),
        ),
        (GROUP + b"/pending:summary", PendingSummary(b"s", b"g", ROWS_PER_PIECE)),
    ],
)
def test_a_plain_read_of_one_stream_is_hot(target: bytes, command: Command) -> None:
    route = route_of(b"GET", target, PLAIN)
    assert route is not None
    assert route.read(b"")[1] == command


@pytest.mark.parametrize(
    "extra",
    [
        (b"content-length", b"0"),
        (b"content-type", b"application/json"),
        (b"if-none-match", b"*"),
        (b"producer-id", b"p"),
    ],
)
def test_a_header_of_a_body_leaves_a_read_without_a_body_hot(extra: tuple[bytes, bytes]) -> None:
    assert route_of(b"GET", ENTRIES + b"?count=5", [*PLAIN, extra]) is not None


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        (ENTRIES + b"?count=5", HEADERS),
        (ENTRIES + b"?count=5", [*PLAIN, (b"content-length", b"1")]),
        (ENTRIES + b"?count=5", [*PLAIN, (b"accept", b"text/html")]),
        (ENTRIES + b"?", PLAIN),
        (ENTRIES + b"?count", PLAIN),
        (ENTRIES + b"?count=5&count=5", PLAIN),
        (ENTRIES + b"?count=5&filter=a", PLAIN),
        (ENTRIES + b"?count=5&end=+", PLAIN),
        (b"/v1/streams/s/length?a=b", PLAIN),
        (b"/v1/streams/s/groups/g/consumers", PLAIN),
        (b"/v1/streams", PLAIN),
    ],
)
def test_another_read_of_one_stream_is_not_hot(target: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    assert route_of(b"GET", target, headers) is None


@pytest.mark.parametrize(
    "target",
    [
        ENTRIES,
        ENTRIES + b"?count=5001",
        ENTRIES + b"?count=0",
        ENTRIES + b"?count=-1",
        ENTRIES + b"?count=1&order=up",
        ENTRIES + b"?count=1&start=%FF",
        ENTRIES + b"?count=1&strict=yes",
        ENTRIES + b"?count=1&wait_ms=1",
        ENTRIES + b"?after=0&start=0",
        ENTRIES + b"?after=0&wait_ms=60001",
        ENTRIES + b"/%FF",
        GROUP + b"/pending?count=1001",
    ],
)
def test_a_query_that_is_not_hot_is_no_command(target: bytes) -> None:
    route = route_of(b"GET", target, PLAIN)
    assert route is not None
    assert route.read(b"")[1] is None


@pytest.mark.parametrize(
    "target", [ENTRIES + b"?count=1&start=x", ENTRIES + b"/x", GROUP + b"/pending?consumer="]
)
def test_an_invalid_value_of_a_plain_query_is_refused(target: bytes) -> None:
    route = route_of(b"GET", target, PLAIN)
    assert route is not None
    with pytest.raises(RequestRefused):
        route.read(b"")[1]


@pytest.mark.parametrize(
    ("target", "reply", "code"),
    [
        (ENTRIES + b"/1-1", RangeReply(NO_ENTRIES), "NO_SUCH_ENTRY"),
        (ENTRIES + b"/1-1", RangeReply(NO_ENTRIES, exists=False), "NO_SUCH_STREAM"),
        (GROUP, [], "NOGROUP"),
    ],
)
def test_a_read_of_what_is_missing_is_refused(target: bytes, reply: Any, code: str) -> None:
    route = route_of(b"GET", target, PLAIN)
    assert route is not None
    command = route.read(b"")[1]
    assert isinstance(command, Command)
    with pytest.raises((StreamError, RequestRefused)) as refusal:
        route.answer_of(reply, command)
    assert isinstance(refusal.value, StreamError | RequestRefused)
    assert refusal.value.code == code


PLAIN_READ = b'{"streams":[%b]}'
GROUP_READ = b'{"group":"g","consumer":"c","streams":[%b]}'


@pytest.mark.parametrize(
    ("command_of", "body"), [(read_command, PLAIN_READ), (group_read_command, GROUP_READ)]
)
def test_a_read_that_a_consumer_repeats_is_decoded_once(
    command_of: Callable[[bytes], Command], body: bytes
) -> None:
    streams = [b'{"key":"%d"}' % number for number in range(90)]
    if body is PLAIN_READ:
        streams = [stream[:-1] + b',"after":"0"}' for stream in streams]
    short, long = body % streams[0], body % b",".join(streams)
    assert len(long) > REPEATED_BYTES_MAX
    assert command_of(short) is command_of(bytes(bytearray(short)))
    assert command_of(long) == command_of(long)
    assert command_of(long) is not command_of(long)


def test_a_command_in_words_is_hot_if_its_reply_is_short() -> None:
    route = route_of(b"POST", b"/v1/command", HEADERS)
    assert route is not None
    for words, is_hot in (
        ('["XLEN","k"]', True),
        ('["XACK","k","g","1-1"]', True),
        ('["XRANGE","k","-","+","COUNT",100]', True),
        ('["XRANGE","k","-","+","COUNT",101]', False),
        ('["XRANGE","k","-","+"]', False),
        ('["XREAD","COUNT",50,"STREAMS","a","b","0","0"]', True),
        ('["XREAD","COUNT",51,"STREAMS","a","b","0","0"]', False),
        ('["XREAD","STREAMS","a","0"]', False),
        ('["XINFO","STREAM","k"]', False),
        ('["XGROUP","CREATE","k","g","0"]', False),
        ('["SCAN","0"]', False),
        ('["PING"]', False),
    ):
        assert (route.read(words.encode())[1] is not None) is is_hot, words


def test_a_reply_in_words_that_turns_out_long_is_for_the_documented_route() -> None:
    route = route_of(b"POST", b"/v1/command", HEADERS)
    assert route is not None
    route, command = route.read(b'["XRANGE","k","-","+","COUNT",2]')
    assert command is not None
    for size, is_hot in ((10, True), (TURN_REPLY_BYTES_MAX, False)):
        reply = RangeReply(Entries((1,), (b'{"a":"%b"}' % (b"x" * size),)))
        assert (route.answer_of(reply, command) is not None) is is_hot
