"""Waiting readers (rules 41 to 46): long-polls and `/v1/command` at a running server."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.server_process import running_server
from tests.support.waiting_readers import WITHIN_S, Server, until

WAIT_S = 8
"""How long a reader waits if nothing wakes it. An earlier reply means that it was woken."""
"""How much later than its time a wake-up may be seen here: the machine is shared, and a thread looks on."""

_numbers = count()


@pytest.fixture(scope="module")
def api(base_url: str) -> Iterator[Server]:
    with Server(base_url) as client:
        yield client


@pytest.fixture
def key() -> str:
    return f"waiting:{next(_numbers)}"


@pytest.fixture(autouse=True)
def nobody_waits(api: Server) -> Iterator[None]:
    yield
    until(lambda: api.blocked() == 0)


def read_body(key: str, after: str = "$", wait_ms: int = WAIT_S * 1000, **more: Any) -> dict[str, Any]:
    return {"streams": [{"key": key, "after": after}], "wait_ms": wait_ms, **more}


def group_body(
    key: str, consumer: str = "alice", wait_ms: int = WAIT_S * 1000, **more: Any
) -> dict[str, Any]:
    streams = [{"key": key, "id": ">"}]
    return {"group": "g", "consumer": consumer, "streams": streams, "wait_ms": wait_ms, **more}


def entries(answer: Future[httpx.Response] | httpx.Response) -> list[Any]:
    """The entries of the one stream that was read, once the answer is there."""
    response = answer if isinstance(answer, httpx.Response) else answer.result(WITHIN_S)
    assert response.status_code == 200, response.text
    content = response.json()
    found: list[Any] = (content["streams"][0] if "streams" in content else content)["entries"]
    return found


def ids(answer: Future[httpx.Response] | httpx.Response) -> list[str]:
    return [entry["id"] for entry in entries(answer)]


# --- plain reads -------------------------------------------------------------------------------------


def test_a_plain_read_is_answered_at_the_first_entry_by_each_way_of_asking(api: Server, key: str) -> None:
    readers = [
        api.waiting("/v1/read", read_body(key)),
        api.waiting_get(f"/v1/streams/{key}/entries?after=$&wait_ms=8000"),
        api.waiting_get(f"/v1/streams/{key}/entries?after=$", Prefer="wait=8"),
    ]
    redis = api.waiting_command(f"XREAD BLOCK 0 STREAMS {key} $")
    begun_s = time.monotonic()
    added = api.command("XADD", key, "*", "rider", "Castilla")
    assert [ids(reader) for reader in readers] == [[added]] * 3
    assert redis.result(WITHIN_S).json() == {"result": [[key, [[added, ["rider", "Castilla"]]]]]}
    assert time.monotonic() - begun_s < WAIT_S


def test_every_plain_reader_of_a_stream_is_given_the_entry(api: Server, key: str) -> None:
    readers = [api.waiting("/v1/read", read_body(key)) for _ in range(8)]
    added = api.command("XADD", key, "*", "a", "1")
    assert [ids(reader) for reader in readers] == [[added]] * 8


def test_appends_of_one_transaction_wake_once_with_all_their_entries(api: Server, key: str) -> None:
    reader = api.waiting("/v1/read", read_body(key))
    redis = api.waiting_command(f"XREAD BLOCK 0 STREAMS {key} $")
    api.transaction(f"XADD {key} 1-0 a 1", f"XADD {key} 2-0 a 2", f"XADD {key} 3-0 a 3")
    assert ids(reader) == ["1-0", "2-0", "3-0"]
    assert [entry[0] for entry in redis.result(WITHIN_S).json()["result"][0][1]] == ["1-0", "2-0", "3-0"]


def test_an_entry_that_is_gone_when_its_transaction_ends_wakes_nobody(api: Server, key: str) -> None:
    reader = api.waiting("/v1/read", read_body(key))
    api.transaction(f"XADD {key} 1-0 a 1", f"XDEL {key} 1-0")
    api.transaction(f"XADD {key} 2-0 a 1", f"DEL {key}")
    assert api.blocked() == 1
    api.command("XADD", key, "3-0", "a", "1")
    assert ids(reader) == ["3-0"]


def test_the_dollar_is_resolved_when_the_read_arrives(api: Server, key: str) -> None:
    api.command("XADD", key, "5-0", "a", "1")
    reader = api.waiting("/v1/read", read_body(key))
    api.transaction(f"XADD {key} 6-0 a 2", f"XADD {key} 7-0 a 3", f"XDEL {key} 7-0")
    assert ids(reader) == ["6-0"]


def test_a_plain_reader_waits_on_through_deletion_and_keeps_its_position(api: Server, key: str) -> None:
    api.command("XADD", key, "5-0", "a", "1")
    reader = api.waiting("/v1/read", read_body(key))
    api.command("DEL", key)
    api.command("XADD", key, "1-0", "a", "1")
    assert api.blocked() == 1
    api.command("XADD", key, "6-0", "a", "1")
    assert ids(reader) == ["6-0"]


def test_a_timeout_is_a_200_without_entries_and_with_the_position_to_go_on_from(
    api: Server, key: str
) -> None:
    api.command("XADD", key, "5-0", "a", "1")
    begun_s = time.monotonic()
    response = api.post("/v1/read", read_body(key, wait_ms=120))
    assert time.monotonic() - begun_s >= 0.12
    assert response.status_code == 200
    assert response.json() == {"streams": [{"key": key, "entries": [], "next": "5-0"}]}
    assert api.command("XREAD", "BLOCK", "20", "STREAMS", key, "$") is None


def test_a_wake_up_in_vain_does_not_prolong_the_wait(api: Server, key: str) -> None:
    api.command("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    first = api.waiting("/v1/read-group", group_body(key, "first"))
    begun_s = time.monotonic()
    second = api.waiting("/v1/read-group", group_body(key, "second", wait_ms=2000))
    time.sleep(1)
    api.command("XADD", key, "1-0", "a", "1")
    assert ids(first) == ["1-0"]
    assert ids(second) == []
    assert 1.99 < time.monotonic() - begun_s < 3


def test_a_reader_of_several_streams_is_woken_by_any_of_them(api: Server, key: str) -> None:
    streams = [{"key": f"{key}:{name}", "after": "$"} for name in "ab"]
    reader = api.waiting("/v1/read", {"streams": streams, "wait_ms": 8000})
    api.command("XADD", f"{key}:b", "1-0", "a", "1")
    found = reader.result(WITHIN_S).json()["streams"]
    assert [(read["key"], len(read["entries"]), read["next"]) for read in found] == [
        (f"{key}:a", 0, "0-0"),
        (f"{key}:b", 1, "1-0"),
    ]


def test_a_strict_reader_is_told_when_what_it_waits_for_was_trimmed_before_it_looked(
    api: Server, key: str
) -> None:
    api.command("XADD", key, "1-0", "a", "1")
    reader = api.waiting("/v1/read", read_body(key, strict=True))
    api.transaction(f"XADD {key} 2-0 a 1", f"XADD {key} 3-0 a 1", f"XTRIM {key} MAXLEN 1")
    response = reader.result(WITHIN_S)
    assert (response.status_code, response.json()["code"]) == (410, "POSITION_TRIMMED")
    assert response.json()["first_id"] == "3-0"


def test_a_strict_reader_continues_where_it_has_read_all_that_was_trimmed(api: Server, key: str) -> None:
    for number in (1, 2, 3):
        api.command("XADD", key, f"{number}-0", "a", "1")
    api.command("XDEL", key, "2-0")
    assert ids(api.post("/v1/read", read_body(key, "0", strict=True))) == ["1-0", "3-0"]
    api.command("XTRIM", key, "MAXLEN", 0)
    api.command("XADD", key, "4-0", "a", "1")
    assert ids(httpx.get(f"{api.base_url}/v1/streams/{key}/entries?after=3-0&strict=true")) == ["4-0"]
    api.command("XTRIM", key, "MAXLEN", 0)
    api.command("XADD", key, "5-0", "a", "1")
    assert ids(api.post("/v1/read", read_body(key, "4-0", strict=True))) == ["5-0"]
    assert strict_pages(api, f"{key}:pages") == [["1-0", "2-0"], ["3-0", "4-0"], ["5-0"]]
    lost = api.post("/v1/read", read_body(key, "2-0", strict=True))
    assert (lost.status_code, lost.json()["code"]) == (410, "POSITION_TRIMMED")


def strict_pages(api: Server, key: str) -> list[list[str]]:
    """The ids on the pages of a reader that trims what it has read."""
    for number in range(1, 6):
        api.command("XADD", key, f"{number}-0", "a", "1")
    pages = [["0-0"]]
    while pages[-1][-1] != "5-0":
        pages.append(ids(api.post("/v1/read", read_body(key, pages[-1][-1], strict=True, count=2))))
        api.command("XTRIM", key, "MINID", f"{pages[-1][-1]}1")
    return pages[1:]


# --- group reads -------------------------------------------------------------------------------------


@pytest.fixture
def group(api: Server, key: str) -> str:
    api.command("XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
    return key


def test_one_reader_of_a_group_takes_an_entry_and_those_who_waited_longer_come_first(
    api: Server, group: str
) -> None:
    readers = [api.waiting("/v1/read-group", group_body(group, name)) for name in ("a", "b", "c")]
    for number, reader in enumerate(readers, start=1):
        api.command("XADD", group, f"{number}-0", "a", "1")
        assert ids(reader) == [f"{number}-0"]
        assert api.blocked() == len(readers) - number


def test_the_first_reader_of_a_group_takes_all_and_with_a_count_leaves_the_rest(
    api: Server, group: str
) -> None:
    first = api.waiting("/v1/read-group", group_body(group, "a", count=2))
    second = api.waiting("/v1/read-group", group_body(group, "b"))
    third = api.waiting("/v1/read-group", group_body(group, "c"))
    api.transaction(*[f"XADD {group} {number}-0 a 1" for number in range(1, 6)])
    assert ids(first) == ["1-0", "2-0"]
    assert ids(second) == ["3-0", "4-0", "5-0"]
    api.command("XADD", group, "6-0", "a", "1")
    assert ids(third) == ["6-0"]


def test_readers_of_different_groups_are_each_given_the_entry(api: Server, group: str) -> None:
    api.command("XGROUP", "CREATE", group, "other", "0")
    readers = [
        api.waiting("/v1/read-group", group_body(group)),
        api.waiting("/v1/read-group", {**group_body(group), "group": "other"}),
        api.waiting("/v1/read", read_body(group)),
    ]
    api.command("XADD", group, "1-0", "a", "1")
    assert [ids(reader) for reader in readers] == [["1-0"]] * 3


@pytest.mark.parametrize("word", ["XGROUP DESTROY {key} g", "DEL {key}", "RENAME {key} {key}:away"])
def test_a_group_reader_is_told_nogroup_when_what_it_waits_for_is_gone(
    api: Server, group: str, word: str
) -> None:
    reader = api.waiting("/v1/read-group", group_body(group))
    redis = api.waiting_command(f"XREADGROUP GROUP g c BLOCK 0 STREAMS {group} >")
    api.command(*word.format(key=group).split())
    assert (reader.result(WITHIN_S).status_code, reader.result().json()["code"]) == (404, "NOGROUP")
    assert redis.result(WITHIN_S).json()["error"] == (
        f"NOGROUP No such key '{group}' or consumer group 'g' in XREADGROUP with GROUP option"
    )


# --- claims ------------------------------------------------------------------------------------------


def deliver_to_dead(api: Server, key: str) -> float:
    """Deliver one entry to a consumer that then stops. Return the time before the delivery, in seconds."""
    api.command("XADD", key, "1-0", "a", "1")
    begun_s = time.monotonic()
    api.command("XREADGROUP", "GROUP", "g", "dead", "STREAMS", key, ">")
    return begun_s


def test_an_entry_is_claimed_at_the_moment_it_becomes_idle_enough(api: Server, group: str) -> None:
    delivered_s = deliver_to_dead(api, group)
    (entry,) = entries(api.post("/v1/read-group", group_body(group, claim_min_idle_ms=300)))
    waited_ms = (time.monotonic() - delivered_s) * 1000
    assert 299 <= waited_ms < WAIT_S * 1000
    assert entry["id"] == "1-0"
    assert 300 <= entry["idle_ms"] < WAIT_S * 1000
    assert entry["deliveries"] == 1


def test_the_reader_with_the_earliest_threshold_claims_first(api: Server, group: str) -> None:
    deliver_to_dead(api, group)
    late = api.waiting("/v1/read-group", group_body(group, "late", claim_min_idle_ms=60_000, wait_ms=3000))
    early = api.waiting("/v1/read-group", group_body(group, "early", claim_min_idle_ms=1500))
    assert ids(early) == ["1-0"]
    assert ids(late) == []


def test_a_nacked_entry_is_claimed_at_once(api: Server, group: str) -> None:
    deliver_to_dead(api, group)
    reader = api.waiting("/v1/read-group", group_body(group, claim_min_idle_ms=3_600_000))
    begun_s = time.monotonic()
    api.command("XNACK", group, "g", "FAIL", "IDS", 1, "1-0")
    assert ids(reader) == ["1-0"]
    assert time.monotonic() - begun_s < WAIT_S


def test_a_reader_without_claim_is_not_woken_by_a_nack(api: Server, group: str) -> None:
    deliver_to_dead(api, group)
    reader = api.waiting("/v1/read-group", group_body(group))
    api.command("XNACK", group, "g", "FAIL", "IDS", 1, "1-0")
    api.command("XADD", group, "2-0", "a", "1")
    assert ids(reader) == ["2-0"]


# --- clients that leave, a server that ends ----------------------------------------------------------


def request_bytes(body: bytes, path: str = "/v1/read-group") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize("way", ["read-group", "command"])
def test_a_client_that_leaves_stops_waiting_at_once_and_takes_nothing(
    api: Server, group: str, way: str
) -> None:
    place = urlsplit(api.base_url)
    body = f'{{"group":"g","consumer":"gone","streams":[{{"key":"{group}"}}],"wait_ms":60000}}'
    if way == "command":
        body = f'["XREADGROUP","GROUP","g","gone","BLOCK","0","STREAMS","{group}",">"]'
    with socket.create_connection((place.hostname, place.port)) as connection:
        connection.sendall(request_bytes(body.encode(), f"/v1/{way}"))
        until(lambda: api.blocked() == 1)
    until(lambda: api.blocked() == 0, within_s=1)
    api.command("XADD", group, "1-0", "a", "1")
    assert api.command("XPENDING", group, "g") == [0, None, None, None]
    assert ids(api.post("/v1/read-group", group_body(group, "present"))) == ["1-0"]


def test_a_connection_serves_the_next_request_after_a_wait(api: Server, key: str) -> None:
    with httpx.Client(base_url=api.base_url) as client:
        for _ in range(3):
            assert client.post("/v1/read", json=read_body(key, wait_ms=20)).status_code == 200


READERS = 1000
GRACE_S = 30
"""Far longer than needed: readers that are released at once get their answer long before."""


def test_at_shutdown_a_thousand_waiting_readers_are_each_told_and_it_ends_before_the_grace_does(
    tmp_path: Path,
) -> None:
    options = ("--shutdown-grace-s", str(GRACE_S), "--log-level", "warning")
    with running_server(tmp_path, *options) as process, ExitStack() as stack:
        with Server(process.base_url) as api:
            readers = [stack.enter_context(waiting_connection(process.port)) for _ in range(READERS)]
            until(lambda: api.blocked() == READERS)
        begun_s = time.monotonic()
        process.signal(signal.SIGTERM)
        answers = [read_all(reader) for reader in readers]
        assert process.wait() == 0
        assert time.monotonic() - begun_s < GRACE_S
        assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 503 Service Unavailable"}
        assert all(b'"code":"NOT_ACCEPTING"' in answer for answer in answers)
        assert "Traceback" not in process.log_text


def waiting_connection(port: int) -> socket.socket:
    """A connection on which a read of a stream waits."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=WITHIN_S)
    body = b'{"streams":[{"key":"s","after":"$"}],"wait_ms":60000}'
    connection.sendall(request_bytes(body, "/v1/read"))
    return connection


def read_all(connection: socket.socket) -> bytes:
    """Return everything that the server sends until it closes the connection."""
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
    return received


def get(api: Server, url: str) -> httpx.Response:
    return httpx.get(api.base_url + url)


def create_again(api: Server, key: str, *ids: str) -> None:
    api.transaction(f"DEL {key}", *[f"XADD {key} {each} a {each}" for each in ids])


def test_a_read_with_an_incarnation_refuses_a_position_of_an_earlier_stream(api: Server, key: str) -> None:
    create_again(api, key, "9-0")
    url = f"/v1/streams/{key}/entries"
    told = api.post("/v1/read", {"streams": [{"key": key, "after": "0", "incarnation": ""}]}).json()
    known = told["streams"][0]["incarnation"]
    create_again(api, key, "1-0", "20-0")
    place = {"key": key, "after": "9-0", "incarnation": known}
    refused = [api.post("/v1/read", {"streams": [place]})]
    refused += [
        get(api, f"{url}?after=9-0&incarnation={known}{more}")
        for more in ("", "&filter=true", "&wait_ms=1000")
    ]
    for response in refused:
        assert (response.status_code, response.json()["code"]) == (410, "POSITION_TRIMMED")
        assert response.json()["next"] == "0-18446744073709551615"
    later = refused[0].json()["incarnation"]
    assert later != known
    for more in ("", "&filter=true"):
        page = get(api, f"{url}?after={refused[0].json()['next']}&incarnation={later}{more}")
        assert [entry["id"] for entry in page.json()["entries"]] == ["1-0", "20-0"]
        assert page.headers["X-Incarnation"] == later


def test_a_waiting_read_with_an_incarnation_is_refused_when_its_stream_is_created_again(
    api: Server, key: str
) -> None:
    create_again(api, key, "9-0")
    place = {"key": key, "after": "$", "incarnation": ""}
    reader = api.waiting("/v1/read", {"streams": [place], "wait_ms": WAIT_S * 1000})
    create_again(api, key, "1-0")
    response = reader.result(WITHIN_S)
    assert (response.status_code, response.json()["code"]) == (410, "POSITION_TRIMMED")


def test_only_a_read_that_asks_for_it_is_answered_with_the_incarnation(api: Server, key: str) -> None:
    create_again(api, key, "9-0")
    url = f"/v1/streams/{key}/entries?after=0"
    both = [{"key": key, "after": "0"}, {"key": key, "after": "0", "incarnation": ""}]
    without, with_it = api.post("/v1/read", {"streams": both}).json()["streams"]
    assert "incarnation" not in without
    known = with_it["incarnation"]
    assert "X-Incarnation" not in get(api, url).headers
    assert get(api, f"{url}&incarnation=").headers["X-Incarnation"] == known
    assert get(api, f"/v1/streams/{key}/entries?incarnation={known}").status_code == 400
