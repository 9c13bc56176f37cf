"""The hot way and the documented route return equal responses. Only the date, the request id, and ids that
the server chose may differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import count

import pytest

from tests.support.server_process import ServerProcess
from tests.support.wire import Answer, Wire, wired

ENTRY = b'{"fields":{"rider":"Castilla"}}'
NDJSON = "application/x-ndjson"
_numbers = count()


@pytest.fixture
def wire(server: ServerProcess) -> Iterator[Wire]:
    with wired(server.port) as connection:
        yield connection


@pytest.fixture
def key() -> str:
    return f"hot:{next(_numbers)}"


def request(
    path: str, body: bytes, *extra: str, content_type: str = "application/json", length: bool = True
) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: localhost", f"content-type: {content_type}", *extra]
    if length:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def both(wire: Wire, path: str, body: bytes, content_type: str = "application/json") -> tuple[Answer, Answer]:
    """The same request twice: as a hot one, and with a header that changes nothing but is not hot."""
    hot = wire.ask(request(path, body, content_type=content_type))
    documented = wire.ask(request(path, body, "prefer: nothing", content_type=content_type))
    return hot, documented


def comparable(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    varying = {"date", "x-request-id"}
    headers = {name: value for name, value in answer.headers.items() if name not in varying}
    body = re.sub(rb'"request_id":"[0-9a-f]+"', b'"request_id":""', answer.body)
    return answer.status, headers, re.sub(rb"\d{13}-\d+", b"ID", body)


@pytest.mark.parametrize(
    ("path", "body", "content_type"),
    [
        ("entries", ENTRY, "application/json"),
        ("entries", b'{"pairs":[["a","1"],["a","2"]],"trim":{"max_length":5}}', "application/json"),
        ("entries", b'{"fields":{"a":1}}', "application/json"),
        ("entries", b'{"fields":{"a":"1","a":"2"}}', "application/json"),
        ("entries", b"{", "application/json"),
        ("entries", b"", "application/json"),
        ("entries", b'{"id":"0-0","fields":{"a":"1"}}', "application/json"),
        ("entries", b'{"id":"nonsense","fields":{"a":"1"}}', "application/json"),
        ("entries", ENTRY[:-1] + b',"if_last_id":"5-5"}', "application/json"),
        ("entries", ENTRY, "text/append"),
        ("entries", ENTRY[:-1] + b',"nomkstream":true}', "application/json"),
        ("entries", ENTRY[:-1] + b"]", "application/json"),
        ("entries", ENTRY + b"}", "application/json"),
        ("entries", b'{"fields": {"a": "1" } }', "application/json"),
        ("entries", b'{"fields":{"a":"\\u0061"}}', "application/json"),
        ("entries", b'{"fields":{"a":"\\u0061","b":"a","\\u0061":"2"}}', "application/json"),
        ("entries", b'{"fields":{}}', "application/json"),
        ("entries", b'{"fields":{"a":"1"},"fields":{"b":"2"}}', "application/json"),
        ("entries:batch", b'{"entries":[{"fields":{"a":"1"}},{"fields":{"a":"2"}}]}', "application/json"),
        ("entries:batch", b'{"entries":[]}', "application/json"),
        ("entries:import", b'{"a":"1"}\n{"a":"2"}\n', NDJSON),
        ("entries:import", b'{"a":"1"}\n{"a":2}\n', NDJSON),
        ("entries:import", b"", NDJSON),
        ("entries:import", b'{"a":"1"}', "application/json"),
        ("entries:nonsense", ENTRY, "application/json"),
        ("groups/g:ack", b'{"ids":["1-1"]}', "application/json"),
        ("groups/g:ack", b'{"ids":["nonsense"]}', "application/json"),
        ("groups/g:ack", b'{"ids":[]}', "application/json"),
        ("groups/g:ack", b'{"ids":["1-1","1","01-1","1-18446744073709551615"]}', "application/json"),
        ("groups/g:ack", b'{"ids":["1-1","1-18446744073709551616"]}', "application/json"),
        ("groups/g:ack", b'{"ids":["1-1\\n1-1","1"]}', "application/json"),
        ("groups/g:ack", b'{"ids":["1","-1"]}', "application/json"),
        ("groups/g:ack", b'{"ids":["1-1"],"delete":true}', "application/json"),
        ("groups/g%3Aack", b"{}", "application/json"),
        ("groups/nobody:ack", b'{"ids":["1-1"]}', "application/json"),
        ("groups/nobody:ack", b'{"ids":["1-1"],"delete":true}', "application/json"),
        ("groups/nobody:ack", b'{"ids":["nonsense"]}', "application/json"),
        ("groups/g:nack", b'{"ids":["1-1"]}', "application/json"),
        ("groups/g:nack", b'{"ids":["1-1"],"mode":"silent","retry_count":3}', "application/json"),
        ("groups/g:nack", b'{"ids":["1-1"],"mode":"loud"}', "application/json"),
        ("groups/g:nack", b'{"ids":["1-1"],"mod":"fail"}', "application/json"),
        ("groups/g:nack", b'{"ids":["nonsense"]}', "application/json"),
        ("groups/nobody:nack", b'{"ids":["1-1"]}', "application/json"),
        ("groups/g:claim", b'{"consumer":"a","min_idle_ms":0,"ids":["1-1"]}', "application/json"),
        ("groups/g:claim", b'{"consumer":"a","min_idle_ms":0,"ids":["nonsense"]}', "application/json"),
        ("groups/g:claim", b'{"consumer":"","min_idle_ms":0,"ids":["1-1"]}', "application/json"),
        ("groups/g:claim", b'{"consumer":"a","min_idle_ms":-1,"ids":["1-1"]}', "application/json"),
        ("groups/g:claim", b'{"consumer":"/w==","encoding":"base64","ids":["1-1"]}', "application/json"),
        ("groups/nobody:claim", b'{"consumer":"a","min_idle_ms":0,"ids":["1-1"]}', "application/json"),
        ("groups/g:autoclaim", b'{"consumer":"a","min_idle_ms":0}', "application/json"),
        ("groups/g:autoclaim", b'{"consumer":"a","min_idle_ms":0,"start":"(1"}', "application/json"),
        ("groups/g:autoclaim", b'{"consumer":"a","min_idle_ms":0,"start":"x"}', "application/json"),
        ("groups/g:autoclaim", b'{"consumer":"a","min_idle_ms":0,"count":0}', "application/json"),
        ("groups/nobody:autoclaim", b'{"consumer":"a","min_idle_ms":0}', "application/json"),
    ],
)
def test_an_answer_is_that_of_the_documented_route(
    wire: Wire, key: str, path: str, body: bytes, content_type: str
) -> None:
    wire.ask(request(f"/v1/streams/{key}/entries", ENTRY))
    assert wire.ask(_group_of(key)).status == 201
    hot, documented = both(wire, f"/v1/streams/{key}/{path}", body, content_type)
    assert comparable(hot) == comparable(documented)
    again = wire.ask(request(f"/v1/streams/{key}/{path}", body, content_type=content_type))
    assert comparable(again) == comparable(documented), "a head that was seen before is answered otherwise"


def _group_of(key: str) -> bytes:
    return f"PUT /v1/streams/{key}/groups/g HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()


@pytest.mark.parametrize("extra", ["accept: */*", "prefer: nothing"])
def test_an_acknowledgment_without_its_group_is_a_404_on_both_ways(wire: Wire, key: str, extra: str) -> None:
    path, body = f"/v1/streams/{key}/groups/g:ack", b'{"ids":["1-1"]}'
    missing = wire.ask(request(path, body, extra))
    assert (missing.status, json.loads(missing.body)["missing"]) == (404, "stream")
    wire.ask(request(f"/v1/streams/{key}/entries", ENTRY))
    missing = wire.ask(request(path, body, extra))
    assert (missing.status, json.loads(missing.body)["missing"]) == (404, "group")
    wire.ask(_group_of(key))
    assert wire.ask(request(path, body, extra)).body == b'{"acknowledged":0}'


def test_a_head_seen_before_is_carried_out_once_whatever_stands_around_it(wire: Wire, key: str) -> None:
    path = f"/v1/streams/{key}/entries"
    append = request(path, ENTRY)
    for _ in range(3):
        assert wire.ask(append).status == 201
    assert wire.ask(request(path, ENTRY, "prefer: nothing")).status == 201
    wire.send(append + append)
    assert [wire.receive().status, wire.receive().status] == [201, 201]
    wire.send(append[:-5])
    wire.send(append[-5:])
    assert wire.receive().status == 201
    assert wire.ask(append).status == 201
    wire.send(b"GET " + path.encode() + b"/../length HTTP/1.1\r\nhost: local")
    wire.send(b"host\r\n\r\n")
    wire.receive()
    assert json.loads(wire.ask(_length_of(key)).body) == {"length": 8}


def test_a_head_seen_before_with_a_body_that_is_refused_leaves_the_connection_in_order(
    wire: Wire, key: str
) -> None:
    path = f"/v1/streams/{key}/entries"
    good, bad = ENTRY[:-1] + b',"if_last_id":"0-0"}', b'{"fields":{"rider":1}}'.ljust(50)
    assert len(good) <= 50
    assert wire.ask(request(path, good.ljust(50))).status == 201
    assert wire.ask(request(path, good.ljust(50))).status == 412
    assert wire.ask(request(path, bad)).status == 422
    assert wire.ask(request(path, ENTRY.ljust(50))).status == 201
    assert json.loads(wire.ask(_length_of(key)).body) == {"length": 2}


def test_what_arrives_behind_a_head_seen_before_is_answered_behind_it(wire: Wire, key: str) -> None:
    path = f"/v1/streams/{key}/entries"
    assert wire.ask(request(path, ENTRY)).status == 201
    for _ in range(50):
        wire.send(request(path, ENTRY))
        wire.send(_length_of(key))
        wire.send(request(path, b"{".ljust(len(ENTRY))))
    statuses = [wire.receive().status for _ in range(150)]
    assert statuses == [201, 200, 400] * 50


@pytest.mark.parametrize(
    ("path", "body", "content_type"),
    [
        ("entries", ENTRY, "application/json"),
        ("entries:batch", b'{"entries":[{"fields":{"a":"1"}},{"fields":{"a":"2"}}]}', "application/json"),
        ("entries:import", b'{"a":"1"}\n{"a":"2"}\n', NDJSON),
    ],
)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"producer-epoch": "3", "producer-layout": "two parts"},
        {"producer-epoch": "-3"},
        {"idempotency-key": ""},
        {"producer-id": None},
    ],
    ids=str,
)
def test_a_producer_is_answered_as_by_the_documented_route(
    wire: Wire, key: str, path: str, body: bytes, content_type: str, changes: dict[str, str | None]
) -> None:
    answers = []
    for way, extra in {"hot": (), "documented": ("prefer: nothing",)}.items():
        headers = {"idempotency-key": "k", "producer-id": f"p-{way}", **changes}
        lines = (f"{name}: {value}" for name, value in headers.items() if value is not None)
        raw = request(f"/v1/streams/{key}-{way}/{path}", body, *lines, *extra, content_type=content_type)
        answers.append([comparable(wire.ask(raw)) for _ in range(3)])
        other = raw.replace(b'"a":"1"', b'"a":"3"').replace(b"Castilla", b"Castello")
        answers[-1].append(comparable(wire.ask(other)))
        info = wire.ask(f"GET /v1/streams/{key}-{way} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        answers[-1].append((info.status, {}, json.dumps(json.loads(info.body).get("idempotency")).encode()))
    assert answers[0] == answers[1]
    if not changes:
        assert [status for status, _, _ in answers[0]] == [201, 200, 200, 422, 200]
        assert answers[0][1][1]["idempotent-replayed"] == "true"


WORDS: Sequence[Sequence[object]] = (
    ("XADD", "KEY", "1-1", "a", "1"),
    ("xadd", "KEY", "2-1", "a", "2", "b", ""),
    ("XADD", "KEY", "1-1", "a", "1"),
    ("XADD", "KEY", "MAXLEN", "~", 100, "3-1", "a", {"base64": "/w=="}),
    ("XADD", "KEY", "MAXLEN", 0, "4-1", "a", "1"),
    ("XADD", "KEY", "*", "a"),
    ("XADD", "KEY", "x", "a", "1"),
    ("XADD", "KEY-other", "NOMKSTREAM", "*", "a", "1"),
    ("XLEN", "KEY"),
    ("XLEN",),
    ("XRANGE", "KEY", "-", "+"),
    ("XRANGE", "KEY", "-", "+", "COUNT", 2),
    ("XRANGE", "KEY", "-", "+", "COUNT", 0),
    ("XREVRANGE", "KEY", "+", "-", "COUNT", "1"),
    ("XRANGE", "KEY", "x", "+", "COUNT", "1"),
    ("XGROUP", "CREATE", "KEY", "g", "0"),
    ("XREAD", "COUNT", 5, "STREAMS", "KEY", "1"),
    ("XREAD", "COUNT", 5, "BLOCK", 1, "STREAMS", "KEY", "$"),
    ("XREADGROUP", "GROUP", "g", "c", "COUNT", 2, "STREAMS", "KEY", ">"),
    ("XREADGROUP", "GROUP", "g", "c", "COUNT", 2, "STREAMS", "KEY", "0"),
    ("XREADGROUP", "GROUP", "g", "c", "COUNT", 9, "BLOCK", "1", "STREAMS", "KEY", ">"),
    ("XREADGROUP", "GROUP", "g", "c", "COUNT", 9, "BLOCK", "1", "STREAMS", "KEY", ">"),
    ("XREADGROUP", "GROUP", "nobody", "c", "COUNT", 9, "STREAMS", "KEY", ">"),
    ("XAUTOCLAIM", "KEY", "g", "d", 0, "0", "COUNT", 1),
    ("XPENDING", "KEY", "g"),
    ("XACK", "KEY", "g", "1-1", "5-5"),
    ("XACK", "KEY", "nobody", "1-1"),
    ("XACKDEL", "KEY", "g", "ACKED", "IDS", 1, "2-1"),
    ("XNACK", "KEY", "g", "FAIL", "IDS", 1, "3-1"),
    ("XINFO", "STREAM", "KEY"),
    ("PING",),
    ("NONSENSE", "KEY"),
    ("XADD", ["KEY"]),
    (),
)


def test_commands_in_words_are_answered_alike(wire: Wire, key: str) -> None:
    for words in WORDS:
        answers = []
        for name, extra in ((f"{key}-h", ()), (f"{key}-d", ("prefer: nothing",))):
            body = json.dumps(words).replace("KEY", name).encode()
            answer = wire.ask(request("/v1/command", body, *extra))
            status, headers, content = comparable(answer)
            content = re.sub(rb"\d{13}", b"MS", content.replace(name.encode(), b"KEY"))
            answers.append((status, headers, re.sub(rb'"incarnation","[^"]+"', b"", content)))
        assert answers[0] == answers[1], words


def _length_of(key: str) -> bytes:
    return f"GET /v1/streams/{key}/length HTTP/1.1\r\nhost: localhost\r\nprefer: nothing\r\n\r\n".encode()


def test_an_append_to_a_stream_that_must_exist_is_refused_alike(wire: Wire, key: str) -> None:
    hot, documented = both(wire, f"/v1/streams/{key}/entries", ENTRY[:-1] + b',"nomkstream":true}')
    assert hot.status == 404
    assert comparable(hot) == comparable(documented)


@pytest.mark.parametrize("consumer", ["alice", "bob"])
def test_a_group_is_read_and_acknowledged_alike(wire: Wire, key: str, consumer: str) -> None:
    create = request(f"/v1/streams/{key}/groups/g", b'{"after":"0","create_stream":true}')
    wire.ask(create.replace(b"POST", b"PUT", 1))
    wire.ask(request(f"/v1/streams/{key}/entries:import", b'{"a":"1"}\n{"a":"1"}', content_type=NDJSON))
    body = {"group": "g", "consumer": consumer, "count": 1, "streams": [{"key": key, "id": ">"}]}
    hot, documented = both(wire, "/v1/read-group", json.dumps(body).encode())
    assert hot.status == 200
    assert comparable(hot) == comparable(documented)
    for answer in (hot, documented):
        ids = [entry["id"] for entry in json.loads(answer.body)["streams"][0]["entries"]]
        acked = wire.ask(request(f"/v1/streams/{key}/groups/g:ack", json.dumps({"ids": ids}).encode()))
        assert json.loads(acked.body) == {"acknowledged": 1}
    nobody = json.dumps({**body, "group": "none"}).encode()
    refused = both(wire, "/v1/read-group", nobody)
    assert refused[0].status == 404
    assert comparable(refused[0]) == comparable(refused[1])


def test_pending_entries_are_claimed_and_returned_alike(wire: Wire, key: str) -> None:
    wire.ask(_new_group_of(key))
    for number in range(1, 7):
        append = b'{"id":"%d-1","fields":{"a":"1"}}' % number
        assert wire.ask(request(f"/v1/streams/{key}/entries", append)).status == 201
    read = {"group": "g", "consumer": "alice", "streams": [{"key": key}]}
    assert wire.ask(request("/v1/read-group", json.dumps(read).encode())).status == 200
    for action, body in (
        ("claim", b'{"consumer":"bob","min_idle_ms":0,"ids":["1-1","2-1"]}'),
        ("claim", b'{"consumer":"bob","min_idle_ms":0,"ids":["1-1","9-9"],"just_id":true}'),
        ("claim", b'{"consumer":"bob","min_idle_ms":3600000,"ids":["1-1"]}'),
        ("claim", b'{"consumer":"bob","min_idle_ms":0,"ids":["8-1"],"force":true}'),
        ("autoclaim", b'{"consumer":"bob","min_idle_ms":0,"count":2}'),
        ("autoclaim", b'{"consumer":"bob","min_idle_ms":0,"count":2,"start":"4-1","just_id":true}'),
    ):
        hot, documented = both(wire, f"/v1/streams/{key}/groups/g:{action}", body)
        assert hot.status == 200, hot.body
        assert comparable(hot) == comparable(documented)
    for nack in (b'{"ids":["1-1","2-1"]}', b'{"ids":["1-1"],"mode":"fatal"}'):
        hot, documented = both(wire, f"/v1/streams/{key}/groups/g:nack", nack)
        assert hot.status == 200, hot.body
        assert comparable(hot) == comparable(documented)


@pytest.mark.parametrize("wait_ms", [None, 0, 20])
def test_streams_are_read_alike(wire: Wire, key: str, wait_ms: int | None) -> None:
    wire.ask(request(f"/v1/streams/{key}/entries:import", b'{"a":"1"}\n{"a":"1"}', content_type=NDJSON))
    for position in (
        {"after": "0-0"},
        {"after": "0-0", "count": 1},
        {"after": "$"},
        {"after": "+"},
        {"after": "nonsense"},
        {"after": "5-5", "strict": True},
    ):
        wanted = {"streams": [{"key": key, "after": position.pop("after")}], **position}
        if wait_ms is not None:
            wanted["wait_ms"] = wait_ms
        hot, documented = both(wire, "/v1/read", json.dumps(wanted).encode())
        assert comparable(hot) == comparable(documented)


def _new_group_of(key: str) -> bytes:
    create = request(f"/v1/streams/{key}/groups/g", b'{"after":"0","create_stream":true}')
    return create.replace(b"POST", b"PUT", 1)


def _waiting_read(key: str, wait_ms: int) -> bytes:
    body = {"group": "g", "consumer": "x", "wait_ms": wait_ms, "streams": [{"key": key}]}
    return request("/v1/read-group", json.dumps(body).encode())


def test_a_read_that_may_wait_returns_at_once_what_there_is(wire: Wire, key: str) -> None:
    wire.ask(_new_group_of(key))
    wire.ask(request(f"/v1/streams/{key}/entries", ENTRY))
    answer = wire.ask(_waiting_read(key, 60_000))
    [entry] = json.loads(answer.body)["streams"][0]["entries"]
    assert (entry["fields"], entry["deliveries"]) == ({"rider": "Castilla"}, 0)


def test_a_read_that_waits_waits(wire: Wire, key: str) -> None:
    wire.ask(_new_group_of(key))
    answer = wire.ask(_waiting_read(key, 30))
    assert json.loads(answer.body)["streams"][0]["entries"] == []


def test_a_waiting_read_gets_the_entry_that_is_appended_meanwhile(
    server: ServerProcess, wire: Wire, key: str
) -> None:
    wire.ask(_new_group_of(key))
    wire.send(_waiting_read(key, 60_000))
    with wired(server.port) as other:
        assert other.ask(request(f"/v1/streams/{key}/entries", ENTRY)).status == 201
    [entry] = json.loads(wire.receive().body)["streams"][0]["entries"]
    assert (entry["fields"], entry["deliveries"]) == ({"rider": "Castilla"}, 0)


@pytest.mark.parametrize("name", ["a%2Fb", "%FF", "race:france", "x%3Aack", "a" * 512])
def test_names_are_decoded_alike(wire: Wire, name: str) -> None:
    hot, documented = both(wire, f"/v1/streams/hot-{name[:506]}/entries", ENTRY)
    assert hot.status == 201
    assert comparable(hot) == comparable(documented)


@pytest.mark.parametrize("name", ["a" * 513, "%00" * 600])
def test_names_that_are_too_long_are_refused_alike(wire: Wire, name: str) -> None:
    hot, documented = both(wire, f"/v1/streams/{name}/entries", ENTRY)
    assert hot.status == 400
    assert comparable(hot) == comparable(documented)


def test_a_request_id_is_kept_or_replaced_alike(wire: Wire, key: str) -> None:
    path = f"/v1/streams/{key}/entries"
    assert wire.ask(request(path, ENTRY, "x-request-id: mine-7")).headers["x-request-id"] == "mine-7"
    assert re.fullmatch(
        "[0-9a-f]{32}", wire.ask(request(path, ENTRY, "x-request-id: {}")).headers["x-request-id"]
    )


@pytest.mark.parametrize("extra", ["idempotency-key: k\r\nproducer-id: p", "content-encoding: identity"])
def test_headers_that_mean_something_are_heeded(wire: Wire, key: str, extra: str) -> None:
    path = f"/v1/streams/{key}/entries:import"
    first = wire.ask(request(path, b'{"a":"1"}', *extra.split("\r\n"), content_type=NDJSON))
    again = wire.ask(request(path, b'{"a":"1"}', *extra.split("\r\n"), content_type=NDJSON))
    assert first.status == 201
    assert again.status == (200 if "key" in extra else 201)


def test_an_unacceptable_answer_is_refused(wire: Wire, key: str) -> None:
    path = f"/v1/streams/{key}/entries"
    assert wire.ask(request(path, ENTRY, "accept: text/html")).status == 406
    assert wire.ask(request(path, ENTRY, "accept: text/html", "accept: text/xml")).status == 406


def test_an_empty_accept_is_as_none_and_several_are_one_list(wire: Wire, key: str) -> None:
    path = f"/v1/streams/{key}/entries"
    assert wire.ask(request(path, ENTRY, "accept: ")).status == 201
    assert wire.ask(request(path, ENTRY, "accept: text/html", "accept: application/json")).status == 201


UPGRADE = "\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: "


@pytest.mark.parametrize(
    ("head", "status", "caching"),
    [
        ("GET /v1/streams/%s HTTP/1.1", 200, "no-store"),
        ("GET /v1/streams/%s HTTP/1.1\r\nprefer: nothing", 200, "no-store"),
        ("GET /v1/streams/%s/entries HTTP/1.1", 200, "no-store"),
        ("GET /v1/streams/%s/entries HTTP/1.1\r\nprefer: nothing", 200, "no-store"),
        ("GET /v1/streams/%s/entries:export HTTP/1.0", 200, "no-store"),
        ("HEAD /v1/streams/%s HTTP/1.1", 200, "no-store"),
        ("GET /v1/streams/%s/nowhere HTTP/1.1", 404, "no-store"),
        ("GET /v1/streams/%s HTTP/2.7", 400, "no-store"),
        ("GET /metrics?%s HTTP/1.1", 200, "no-store"),
        ("GET /?%s HTTP/1.1", 200, "no-cache"),
        (
            "GET /v1/ws?%s HTTP/1.1\r\nsec-websocket-protocol: none" + UPGRADE + 21 * "A" + "Q==",
            400,
            "no-store",
        ),
    ],
)
def test_no_cache_may_store_an_answer_unless_it_is_a_file(
    wire: Wire, key: str, head: str, status: int, caching: str
) -> None:
    assert wire.ask(request(f"/v1/streams/{key}/entries", ENTRY)).headers["cache-control"] == "no-store"
    answer = wire.ask((head % key).encode() + b"\r\nhost: localhost\r\n\r\n")
    assert (answer.status, answer.headers["cache-control"]) == (status, caching)


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("entries", b'{"fields":{"a":"1"},"fields":{"b":"2"}}', "/fields"),
        ("entries", b'{"fields":{"a":"1"},"id":"*","\\u0069d":"*"}', "/id"),
        ("entries", b'{"fields":{"a":"\\""},"trim":{"max_length":1,"max_length":2}}', "/trim/max_length"),
        ("entries:batch", b'{"entries":[{"fields":{"a":"1"},"fields":{"a":"2"}}]}', "/entries/0/fields"),
        ("entries:batch", b'{"entries":[],"entries":[{"fields":{"a":"2"}}]}', "/entries"),
        (
            "entries:batch",
            b'{"entries":[{"fields":{"a":"%b"}},{"id":null,"id":null,"pairs":[["a","1"]]}]}'
            % (b"x" * 300_000),
            "/entries/1/id",
        ),
        ("entries:import?shape=entry", b'{"fields":{"a":"1"}}\n{"pairs":[],"pairs":[["a","1"]]}', "/pairs"),
        ("groups/g:ack", b'{"ids":["1-1"],"ids":["2-1"]}', "/ids"),
        ("groups/g:nack", b'{"ids":["1-1"],"ids":["2-1"]}', "/ids"),
        ("groups/g:claim", b'{"consumer":":","min_idle_ms":0,"ids":["1-1"],"ids":["1-1"]}', "/ids"),
        ("/v1/read", b'{"streams":[{"key":"a:b","after":"0","after":"1"}]}', "/streams/0/after"),
        ("/v1/read-group", b'{"group":"g","group":"g","consumer":"c","streams":[{"key":"k"}]}', "/group"),
        ("/v1/command", b'["ECHO",{"base64":"YQ==","base64":"Yg=="}]', "/1/base64"),
    ],
)
def test_a_repeated_member_is_malformed_on_both_ways(
    wire: Wire, key: str, path: str, body: bytes, place: str
) -> None:
    target = path if path.startswith("/") else f"/v1/streams/{key}/{path}"
    hot, documented = both(wire, target, body, NDJSON if "import" in path else "application/json")
    assert (hot.status, hot.problem["code"]) == (400, "MALFORMED_BODY"), hot.body
    assert hot.problem["errors"][0]["pointer"] == place
    assert comparable(hot) == comparable(documented)
    assert json.loads(wire.ask(_length_of(key)).body).get("length") in {None, 0}


@pytest.mark.parametrize(
    "body",
    [
        b'{"fields": {"id": "\\"id\\":", "fields": "x"}, "id": null, "trim": {"max_length": 5}}',
        b'{ "fields" : {"a":"1"} , "id" : "*" , "nomkstream" : false }',
    ],
)
def test_a_member_with_the_name_of_a_field_or_without_effect_is_no_repetition(
    wire: Wire, key: str, body: bytes
) -> None:
    hot, documented = both(wire, f"/v1/streams/{key}/entries", body)
    assert (hot.status, documented.status) == (201, 201), hot.body


@pytest.mark.parametrize("way", ["accept: */*", "x-not-hot: 1"])
@pytest.mark.parametrize(
    ("name", "value"), [("Idempotency-Key", "k"), ("Producer-Id", "p"), ("Content-Type", "application/json")]
)
def test_a_repeated_header_with_one_value_is_refused_also_behind_an_answer(
    wire: Wire, key: str, way: str, name: str, value: str
) -> None:
    path = f"/v1/streams/{key}/entries"
    twice = request(path, ENTRY, way, f"{name}: {value}", f"{name.lower()}: {value}")
    wire.send(request(path, ENTRY) + twice)
    assert wire.receive().status == 201
    refused = wire.receive()
    assert (refused.status, refused.problem["code"]) == (400, "INVALID_PARAMETER")
    [error] = refused.problem["errors"]
    assert (error["parameter"], error["in"]) == (name, "header")
    assert wire.is_closed()


# --- the protocol ------------------------------------------------------------------------------------


def test_pipelined_requests_are_answered_in_order_whatever_their_kind(wire: Wire, key: str) -> None:
    path = f"/v1/streams/{key}/entries"
    length = f"GET /v1/streams/{key}/length HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
    bad = request(path, b"{")
    documented = request(path, ENTRY, "prefer: nothing")
    wire.send(
        b"".join(
            [
                request(path, ENTRY),
                length,
                request(path, ENTRY),
                bad,
                documented,
                length,
                request(path, ENTRY),
            ]
        )
    )
    answers = [wire.receive() for _ in range(7)]
    assert [answer.status for answer in answers] == [201, 200, 201, 400, 201, 200, 201]
    assert [json.loads(answers[index].body)["length"] for index in (1, 5)] == [1, 3]


def test_a_request_may_come_in_pieces(wire: Wire, key: str) -> None:
    raw = request(f"/v1/streams/{key}/entries", ENTRY)
    for index in range(len(raw)):
        wire.send(raw[index : index + 1])
    assert wire.receive().status == 201


def test_a_chunked_body_and_an_expectation_are_understood(wire: Wire, key: str) -> None:
    path = f"/v1/streams/{key}/entries"
    chunked = request(path, b"", "transfer-encoding: chunked", length=False)
    wire.send(chunked + b"%x\r\n%b\r\n0\r\n\r\n" % (len(ENTRY), ENTRY))
    assert wire.receive().status == 201
    wire.send(request(path, ENTRY, "expect: 100-continue"))
    assert wire.receive().status == 100
    assert wire.receive().status == 201


def test_a_connection_that_is_to_close_closes(wire: Wire, key: str) -> None:
    answer = wire.ask(request(f"/v1/streams/{key}/entries", ENTRY, "connection: close"))
    assert (answer.status, answer.headers["connection"]) == (201, "close")
    assert wire.read_to_end() == b""


def test_an_older_http_is_answered(wire: Wire, key: str) -> None:
    raw = request(f"/v1/streams/{key}/entries", ENTRY).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    assert wire.ask(raw).status == 201
    assert wire.read_to_end() == b""


def test_a_body_of_unknown_length_ends_with_the_connection_in_an_older_http(
    server: ServerProcess, wire: Wire, key: str
) -> None:
    wire.ask(request(f"/v1/streams/{key}/entries", ENTRY))
    older = "GET /v1/streams/%s/%s HTTP/1.0\r\nhost: localhost\r\n\r\n"
    answer = wire.ask((older % (key, "entries:export")).encode())
    assert (answer.status, answer.headers["connection"]) == (200, "close")
    assert not {"transfer-encoding", "content-length"} & answer.headers.keys()
    [line] = wire.read_to_end().splitlines()
    assert json.loads(line)["fields"] == {"rider": "Castilla"}
    with wired(server.port) as tailing:
        tail = tailing.ask((older % (key, "entries:tail?after=0")).encode())
        assert "transfer-encoding" not in tail.headers
        assert tailing.read_line().startswith(b"retry: ")


def test_a_client_that_goes_while_it_is_answered_harms_nobody(server: ServerProcess, key: str) -> None:
    for _ in range(20):
        with wired(server.port) as leaving:
            leaving.send(request(f"/v1/streams/{key}/entries", ENTRY) * 3)
    with wired(server.port) as staying:
        assert staying.ask(request(f"/v1/streams/{key}/entries", ENTRY)).status == 201
