"""Tails over Server-Sent Events, through an HTTP client and a running server."""

from __future__ import annotations

import base64
import json
import signal
import socket
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest

from tests.support.server_process import ServerProcess, running_server
from tests.support.sse_client import Event, Tail, open_tail, parse_events
from tests.support.waiting_readers import Server, until

_numbers = count()


@pytest.fixture(scope="module")
def api(base_url: str) -> Iterator[Server]:
    with Server(base_url) as client:
        yield client


@pytest.fixture
def key() -> str:
    return f"tail:{next(_numbers)}"


def tail_url(api: Server, key: str, query: str = "") -> str:
    return f"{api.base_url}/v1/streams/{quote(key, safe='')}/entries:tail?{query}"


def tails_url(api: Server, *keys: str, query: str = "") -> str:
    streams = "&".join(f"stream={quote(key, safe='')}" for key in keys)
    return f"{api.base_url}/v1/tail?{streams}&{query}"


def add(api: Server, key: str, *ids: str) -> None:
    api.transaction(*[f"XADD {key} {each} a {each}" for each in ids])


# --- one stream --------------------------------------------------------------------------------------


def test_a_tail_begins_at_once_with_the_retry_time_and_the_position_it_begins_at(
    api: Server, key: str
) -> None:
    add(api, key, "5-0")
    with open_tail(tail_url(api, key)) as tail:
        assert (tail.opening.retry_ms, tail.opening.id) == (2000, "5-0")
        assert tail.response.headers["cache-control"] == "no-store"
        assert tail.response.headers["x-accel-buffering"] == "no"


def test_entries_come_as_they_are_appended_and_the_id_is_the_last_entrys(api: Server, key: str) -> None:
    with open_tail(tail_url(api, key)) as tail:
        add(api, key, "1-0")
        assert tail.next() == Event("entries", "1-0", [{"id": "1-0", "fields": {"a": "1-0"}}])
        add(api, key, "2-0", "3-0")
        assert tail.next() == Event(
            "entries",
            "3-0",
            [{"id": "2-0", "fields": {"a": "2-0"}}, {"id": "3-0", "fields": {"a": "3-0"}}],
        )


@pytest.mark.parametrize(
    ("after", "expected"), [("0-0", ["1-0", "2-0", "3-0"]), ("2", ["3-0"]), ("%2B", ["3-0"]), ("$", ["4-0"])]
)
def test_a_tail_begins_after_the_position_that_is_asked_for(
    api: Server, key: str, after: str, expected: list[str]
) -> None:
    add(api, key, "1-0", "2-0", "3-0")
    with open_tail(tail_url(api, key, f"after={after}")) as tail:
        if after == "$":
            add(api, key, "4-0")
        assert tail.named("entries").ids == expected


def test_the_last_event_id_beats_after_and_resumes_without_loss_or_doubles(api: Server, key: str) -> None:
    seen: list[str] = []
    headers: dict[str, str] = {}
    for number in range(1, 6):
        with open_tail(tail_url(api, key, "after=$"), **headers) as tail:
            add(api, key, f"{number}-1")
            while f"{number}-1" not in seen:
                event = tail.named("entries")
                seen += event.ids
                headers = {"Last-Event-ID": str(event.id)}
        add(api, key, f"{number}-2")
    assert seen == ["1-1", "1-2", "2-1", "2-2", "3-1", "3-2", "4-1", "4-2", "5-1"]


def test_a_client_that_lost_its_connection_before_the_first_event_misses_nothing(
    api: Server, key: str
) -> None:
    with open_tail(tail_url(api, key)) as tail:
        position = tail.opening.id
    assert position is not None
    add(api, key, "1-0")
    with open_tail(tail_url(api, key), **{"Last-Event-ID": position}) as tail:
        assert tail.named("entries").ids == ["1-0"]


def test_entries_are_written_in_the_form_that_is_asked_for(api: Server, key: str) -> None:
    raw = base64.b64encode(b"\xff").decode()
    api.command("XADD", key, "1-0", "a", "1")
    api.post("/v1/command", ["XADD", key, "2-0", "a", {"base64": raw}])
    with open_tail(tail_url(api, key, "after=0&shape=pairs")) as tail:
        plain, bytes_ = tail.named("entries").data
        assert plain == {"id": "1-0", "pairs": [["a", "1"]]}
        assert bytes_ == {"id": "2-0", "pairs": [["YQ==", raw]], "encoding": "base64"}
    with open_tail(tail_url(api, key, "after=0&encoding=base64")) as tail:
        assert tail.named("entries").data[0] == {
            "id": "1-0",
            "fields": {"YQ==": "MQ=="},
            "encoding": "base64",
        }


def test_line_ends_in_values_do_not_break_an_event(api: Server, key: str) -> None:
    with open_tail(tail_url(api, key)) as tail:
        fields = {"a\r\n": "x\n\ndata: y\r", "b": "\u2028\u2029\x85\x0b\x0c\x1c", "Ȩ": "‧\u202a"}
        api.post(f"/v1/streams/{key}/entries", {"fields": fields})
        assert tail.named("entries").data[0]["fields"] == fields


def test_a_large_backlog_comes_in_bounded_events_and_whole(api: Server, key: str) -> None:
    rows = [{"fields": {"n": str(number)}} for number in range(5000)]
    api.post(f"/v1/streams/{key}/entries:batch", {"entries": rows})
    numbers: list[int] = []
    with open_tail(tail_url(api, key, "after=0-0")) as tail:
        while len(numbers) < len(rows):
            event = tail.named("entries")
            assert len(event.data) <= 1000
            assert event.id == event.data[-1]["id"]
            numbers += [int(entry["fields"]["n"]) for entry in event.data]
    assert numbers == list(range(5000))


def test_a_position_that_was_trimmed_away_is_reported_as_a_gap_and_reading_goes_on(
    api: Server, key: str
) -> None:
    add(api, key, *[f"{number}-0" for number in range(1, 10)])
    api.command("XTRIM", key, "MAXLEN", "3")
    with open_tail(tail_url(api, key, "after=2-0")) as tail:
        gap = tail.named("gap")
        assert gap.data == {"key": key, "from": "2-0", "to": "7-0"}
        assert tail.named("entries").ids == ["7-0", "8-0", "9-0"]
    assert gap.id is not None
    with open_tail(tail_url(api, key), **{"Last-Event-ID": gap.id}) as tail:
        assert tail.named("entries").ids == ["7-0", "8-0", "9-0"]


def test_a_gap_shows_while_the_tail_waits(api: Server, key: str) -> None:
    add(api, key, "1-0")
    with open_tail(tail_url(api, key)) as tail:
        api.transaction(f"XADD {key} 2-0 a b", f"XADD {key} 3-0 a b", f"XTRIM {key} MAXLEN 1")
        assert tail.named("gap").data == {"key": key, "from": "1-0", "to": "3-0"}
        assert tail.named("entries").ids == ["3-0"]


def test_entries_trimmed_out_of_the_middle_are_one_gap_and_the_rest_follows(api: Server, key: str) -> None:
    add(api, key, "1-0", "2-0", "3-0", "4-0", "5-0")
    api.command("XGROUP", "CREATE", key, "g", "0")
    api.command("XREADGROUP", "GROUP", "g", "c", "COUNT", 4, "STREAMS", key, ">")
    api.command("XACK", key, "g", "3-0")
    api.command("XTRIM", key, "MAXLEN", 0, "ACKED")
    with open_tail(tail_url(api, key, "after=1-0")) as tail:
        assert tail.named("gap").data == {"key": key, "from": "1-0", "to": "5-1"}
        assert tail.named("entries").ids == ["2-0", "4-0", "5-0"]
        add(api, key, "6-0")
        assert tail.named("entries").ids == ["6-0"]


def test_deleted_entries_are_no_gap(api: Server, key: str) -> None:
    add(api, key, "1-0", "2-0", "3-0")
    api.command("XDEL", key, "2-0")
    with open_tail(tail_url(api, key, "after=1-0")) as tail:
        assert tail.named("entries").ids == ["3-0"]


# --- several streams ---------------------------------------------------------------------------------


def test_events_of_several_streams_each_carry_one_and_a_position_of_all(api: Server, key: str) -> None:
    one, other = f"{key}&=%", f"{key}/é"
    with open_tail(tails_url(api, one, other)) as tail:
        api.command("XADD", other, "1-0", "a", "b")
        event = tail.named("entries")
        assert event.data == {
            "key": other,
            "entries": [{"id": "1-0", "fields": {"a": "b"}}],
            "next": "1-0",
        }
    api.command("XADD", one, "1-0", "a", "b")
    api.command("XADD", other, "2-0", "a", "b")
    assert event.id is not None
    with open_tail(tails_url(api, one, other, query="after=$"), **{"Last-Event-ID": event.id}) as tail:
        events = [tail.named("entries"), tail.named("entries")]
    assert {event.data["key"]: event.ids for event in events} == {one: ["1-0"], other: ["2-0"]}


def test_each_stream_may_have_a_position_of_its_own(api: Server, key: str) -> None:
    for name in ("a", "b"):
        add(api, key + name, "1-0", "2-0")
    with open_tail(tails_url(api, key + "a", key + "b", query="after=0-0&after=1-0")) as tail:
        assert tail.named("entries").ids == ["1-0", "2-0"]
        assert tail.named("entries").ids == ["2-0"]


def test_a_gap_of_several_streams_names_its_stream_and_holds_up_no_other(api: Server, key: str) -> None:
    for name in ("a", "b", "c"):
        add(api, key + name, "1-0", "2-0", "3-0")
    api.command("XTRIM", key + "a", "MAXLEN", 1)
    api.command("XTRIM", key + "c", "MAXLEN", 2)
    with open_tail(tails_url(api, key + "a", key + "b", key + "c", query="after=0-0")) as tail:
        gaps = [tail.named("gap").data, tail.named("gap").data]
        assert [(gap["key"][-1], gap["to"]) for gap in gaps] == [("a", "3-0"), ("c", "2-0")]
        found = [tail.named("entries") for _ in range(3)]
    assert {event.data["key"][-1]: len(event.ids) for event in found} == {"a": 1, "b": 3, "c": 2}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("stream=a&stream=a", "twice"),
        ("stream=a&stream=b&after=1&after=2&after=3", "one for each"),
        ("", "stream"),
        ("stream=", "1 to 512 bytes"),
        ("stream=a&group=g", "`consumer` is missing"),
        ("stream=a&consumer=c", "`group` is missing"),
        ("stream=a&noack=true&claim_min_idle_ms=5", "only with `group`"),
        ("stream=a&group=g&consumer=c&prefetch=0", "prefetch"),
        ("stream=a&prefetsh=1", "unknown parameter"),
        ("stream=a&after=x", "which is not an entry id"),
    ],
)
def test_a_tail_that_makes_no_sense_is_a_400_before_it_begins(api: Server, query: str, told: str) -> None:
    response = httpx.get(f"{api.base_url}/v1/tail?{query}")
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert told in response.json()["detail"]


@pytest.mark.parametrize("last_event_id", ["x", "a=x", "a", "a=1-0&"])
def test_a_last_event_id_that_no_event_had_is_a_400(api: Server, last_event_id: str) -> None:
    headers = {"Last-Event-ID": last_event_id}
    response = httpx.get(f"{api.base_url}/v1/tail?stream=a", headers=headers)
    assert (response.status_code, response.json()["code"]) == (400, "INVALID_ID")


def test_a_client_that_takes_no_event_stream_is_a_406(api: Server, key: str) -> None:
    response = httpx.get(tail_url(api, key), headers={"Accept": "application/json"})
    assert (response.status_code, response.json()["code"]) == (406, "NOT_ACCEPTABLE")


# --- a group's consumer ------------------------------------------------------------------------------


@pytest.fixture
def group(api: Server, key: str) -> str:
    api.command("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    return key


def consumer_url(api: Server, key: str, query: str = "") -> str:
    return tail_url(api, key, f"group=g&consumer=alice&{query}")


def pending(api: Server, key: str) -> int:
    found: int = api.command("XPENDING", key, "g")[0]
    return found


def ack(api: Server, key: str, *ids: str) -> None:
    response = api.post(f"/v1/streams/{key}/groups/g:ack", {"ids": list(ids)})
    assert response.status_code == 200, response.text


def test_a_tail_of_a_group_that_is_not_there_is_a_404(api: Server, key: str) -> None:
    response = httpx.get(consumer_url(api, key))
    assert (response.status_code, response.json()["code"]) == (404, "NOGROUP")


def test_a_consumers_entries_say_how_often_and_when_they_were_delivered_and_are_pending(
    api: Server, group: str
) -> None:
    with open_tail(consumer_url(api, group)) as tail:
        add(api, group, "1-0")
        event = tail.named("entries")
    assert event == Event(
        "entries", "1-0", [{"id": "1-0", "fields": {"a": "1-0"}, "idle_ms": 0, "deliveries": 0}]
    )
    assert api.command("XPENDING", group, "g") == [1, "1-0", "1-0", [["alice", "1"]]]


def test_no_more_than_the_window_is_pending_and_an_ack_on_any_connection_opens_it(
    api: Server, group: str
) -> None:
    add(api, group, *[f"{number}-0" for number in range(1, 8)])
    with open_tail(consumer_url(api, group, "prefetch=3")) as tail:
        assert tail.named("entries").ids == ["1-0", "2-0", "3-0"]
        time.sleep(0.2)
        assert pending(api, group) == 3
        ack(api, group, "2-0")
        assert tail.named("entries").ids == ["4-0"]
        assert pending(api, group) == 3
        ack(api, group, "1-0", "3-0", "4-0")
        assert tail.named("entries").ids == ["5-0", "6-0", "7-0"]


def test_entries_that_go_to_another_consumer_leave_the_window(api: Server, group: str) -> None:
    add(api, group, "1-0", "2-0", "3-0")
    with open_tail(consumer_url(api, group, "prefetch=1")) as tail:
        assert tail.named("entries").ids == ["1-0"]
        api.command("XCLAIM", group, "g", "bob", 0, "1-0")
        assert tail.named("entries").ids == ["2-0"]
        api.command("XNACK", group, "g", "FAIL", "IDS", 1, "2-0")
        assert tail.named("entries").ids == ["3-0"]


def test_what_was_pending_before_does_not_count_in_the_window(api: Server, group: str) -> None:
    add(api, group, "1-0", "2-0", "3-0")
    api.command("XREADGROUP", "GROUP", "g", "alice", "COUNT", 2, "STREAMS", group, ">")
    with open_tail(consumer_url(api, group, "prefetch=1")) as tail:
        assert tail.named("entries").ids == ["3-0"]


def test_with_noack_nothing_is_pending_and_no_window_holds(api: Server, group: str) -> None:
    with open_tail(consumer_url(api, group, "noack=true&prefetch=1")) as tail:
        for number in (1, 2, 3):
            add(api, group, f"{number}-0")
            assert tail.named("entries").ids == [f"{number}-0"]
    assert pending(api, group) == 0


def test_a_tail_claims_what_others_left_when_it_is_idle_enough(api: Server, group: str) -> None:
    add(api, group, "1-0")
    api.command("XREADGROUP", "GROUP", "g", "dead", "STREAMS", group, ">")
    with open_tail(consumer_url(api, group, "claim_min_idle_ms=200")) as tail:
        (entry,) = tail.named("entries").data
        assert entry["idle_ms"] >= 200
        assert entry["deliveries"] == 1
    assert api.command("XPENDING", group, "g")[3] == [["alice", "1"]]


def test_a_consumer_that_comes_back_is_given_what_it_did_not_receive_and_then_new_entries(
    api: Server, group: str
) -> None:
    add(api, group, "1-0", "2-0", "3-0")
    api.command("XREADGROUP", "GROUP", "g", "alice", "STREAMS", group, ">")
    api.command("XDEL", group, "3-0")
    add(api, group, "4-0")
    with open_tail(consumer_url(api, group, "after=0-0"), **{"Last-Event-ID": "1-0"}) as tail:
        assert tail.opening.id == "1-0"
        first = tail.named("entries")
        assert first.ids == ["2-0", "3-0"]
        assert first.data[0]["deliveries"] == 1
        assert first.data[1]["deleted"] is True
        assert tail.named("entries").ids == ["4-0"]


def test_two_consumers_share_the_entries_between_them(api: Server, group: str) -> None:
    urls = [tail_url(api, group, f"group=g&consumer={name}&prefetch=1") for name in ("a", "b")]
    with open_tail(urls[0]) as one, open_tail(urls[1]) as other:
        until(lambda: api.blocked() == 2)
        add(api, group, "1-0", "2-0")
        assert sorted(one.named("entries").ids + other.named("entries").ids) == ["1-0", "2-0"]


def test_a_tail_over_several_streams_of_a_group_has_one_window(api: Server, key: str) -> None:
    for name in ("a", "b"):
        api.command("XGROUP", "CREATE", key + name, "g", "0", "MKSTREAM")
        add(api, key + name, "1-0", "2-0", "3-0")
    url = tails_url(api, key + "a", key + "b", query="group=g&consumer=alice&prefetch=4&after=0-0")
    with open_tail(url) as tail:
        assert tail.named("entries").ids == ["1-0", "2-0", "3-0"]
        assert tail.named("entries").ids == ["1-0"]
        ack(api, key + "a", "1-0", "2-0")
        event = tail.named("entries")
        assert (event.data["key"], event.ids) == (key + "b", ["2-0", "3-0"])
        assert event.id == f"{quote(key, safe='')}a=3-0&{quote(key, safe='')}b=3-0"


@pytest.mark.parametrize("query", ["", "prefetch=1"])
def test_when_the_group_is_gone_the_tail_ends_with_nogroup(api: Server, group: str, query: str) -> None:
    add(api, group, "1-0")
    with open_tail(consumer_url(api, group, query)) as tail:
        tail.named("entries")
        api.command("XGROUP", "DESTROY", group, "g")
        event = tail.named("end")
        assert (event.data["code"], event.data["status"], event.data["retryable"]) == ("NOGROUP", 404, False)
        assert event.data["request_id"] == tail.response.headers["x-request-id"]
        assert tail.is_over()


# --- connections -------------------------------------------------------------------------------------


def test_a_tail_whose_client_leaves_ends_at_once_and_takes_nothing_more(api: Server, group: str) -> None:
    with open_tail(consumer_url(api, group)):
        until(lambda: api.blocked() == 1)
    until(lambda: api.blocked() == 0, within_s=1)
    add(api, group, "1-0")
    assert pending(api, group) == 0


def raw_tail(process: ServerProcess, path: str) -> socket.socket:
    """A connection that asks for a tail and is free not to read it; its buffer is small."""
    place = urlsplit(process.base_url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((place.hostname, place.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: t\r\n\r\n".encode())
    return connection


def resident_mib(process: ServerProcess) -> float:
    status = Path(f"/proc/{process._process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def test_clients_that_do_not_read_hold_up_no_other_and_grow_no_memory(tmp_path: Path) -> None:
    with running_server(tmp_path, "--log-level", "warning") as process, Server(process.base_url) as api:
        stuck = [raw_tail(process, "/v1/streams/s/entries:tail?after=0-0") for _ in range(50)]
        until(lambda: api.blocked() == len(stuck))
        body = json.dumps({"entries": [{"fields": {"a": "x" * 1000}}] * 1000})
        with open_tail(f"{process.base_url}/v1/streams/s/entries:tail") as tail:
            before_mib = resident_mib(process)
            seen = 0
            for _ in range(30):
                added = httpx.post(
                    f"{process.base_url}/v1/streams/s/entries:batch",
                    content=body,
                    headers={"Content-Type": "application/json"},
                )
                assert added.status_code == 201
            while seen < 30_000:
                seen += len(tail.named("entries").data)
        # The stream itself takes some 30 MiB; fifty copies of it would take 1500.
        assert resident_mib(process) - before_mib < 300
        for connection in stuck:
            connection.close()


def read_all(connection: socket.socket) -> str:
    connection.settimeout(10)
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
    return received.decode()


def test_at_shutdown_every_tail_is_told_and_its_answer_is_whole(tmp_path: Path) -> None:
    with running_server(tmp_path, "--log-level", "warning") as process, Server(process.base_url) as api:
        api.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
        add(api, "s", "1-0")
        paths = [
            "/v1/streams/s/entries:tail",
            "/v1/tail?stream=s&stream=t",
            "/v1/streams/s/entries:tail?group=g&consumer=full&prefetch=1",
        ]
        with httpx.Client(timeout=10) as client:
            tails: list[Any] = [client.stream("GET", process.base_url + path) for path in paths]
            open_tails = [Tail(context.__enter__()) for context in tails]
            assert open_tails[2].named("entries").ids == ["1-0"]
            process.signal(signal.SIGTERM)
            for tail in open_tails:
                problem = tail.named("end").data
                assert (problem["code"], problem["retryable"]) == ("NOT_ACCEPTING", True)
                assert tail.is_over()
            for context in tails:
                context.__exit__(None, None, None)
        assert process.wait() == 0
        assert "Traceback" not in process.log_text


def test_a_thousand_tails_are_told_at_shutdown_and_it_ends_before_the_grace_does(tmp_path: Path) -> None:
    grace_s = 30
    options = ("--shutdown-grace-s", str(grace_s), "--log-level", "warning")
    with running_server(tmp_path, *options) as process:
        with Server(process.base_url) as api:
            tails = [raw_tail(process, "/v1/streams/s/entries:tail") for _ in range(1000)]
            until(lambda: api.blocked() == len(tails))
        begun_s = time.monotonic()
        process.signal(signal.SIGTERM)
        texts = [read_all(tail) for tail in tails]
        assert process.wait() == 0
        assert time.monotonic() - begun_s < grace_s
        assert all("event: end\n" in text for text in texts)
        for tail in tails:
            tail.close()


def test_what_this_client_reads_is_what_the_standard_says() -> None:
    assert parse_events(": c\n\nretry: 5\nid: 1\n\nevent: gap\ndata: {}\n\n") == [
        Event(comments=["c"]),
        Event(retry_ms=5, id="1"),
        Event("gap", data={}),
    ]
