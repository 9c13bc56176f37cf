"""Tails that read as a consumer of a group: pending entries, the window of `prefetch`, claims, and ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from urllib.parse import quote

import httpx
import pytest

from tests.support.sse_client import Event, open_tail
from tests.support.tails import add, tail_url, tails_url
from tests.support.waiting_readers import Server, until

_numbers = count()


@pytest.fixture(scope="module")
def api(base_url: str) -> Iterator[Server]:
    with Server(base_url) as client:
        yield client


@pytest.fixture
def key() -> str:
    return f"group-tail:{next(_numbers)}"


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


def test_a_tail_whose_client_leaves_ends_at_once_and_takes_nothing_more(api: Server, group: str) -> None:
    with open_tail(consumer_url(api, group)):
        until(lambda: api.blocked() == 1)
    until(lambda: api.blocked() == 0, within_s=1)
    add(api, group, "1-0")
    assert pending(api, group) == 0
