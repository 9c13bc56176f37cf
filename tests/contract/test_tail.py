"""Tails of one stream and of several over Server-Sent Events, through an HTTP client and a running server."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import count

import httpx
import pytest

from tests.support.sse_client import Event, open_tail
from tests.support.tails import add, tail_url, tails_url
from tests.support.waiting_readers import Server

_numbers = count()


@pytest.fixture(scope="module")
def api(base_url: str) -> Iterator[Server]:
    with Server(base_url) as client:
        yield client


@pytest.fixture
def key() -> str:
    return f"tail:{next(_numbers)}"


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


def test_entries_deleted_from_within_a_stream_are_no_gap_for_a_tail_of_all_of_it(
    api: Server, key: str
) -> None:
    add(api, key, "1-0", "2-0", "3-0")
    api.command("XDEL", key, "2-0")
    with open_tail(tail_url(api, key, "after=0-0")) as tail:
        assert tail.named("entries").ids == ["1-0", "3-0"]


def test_a_tail_that_has_read_all_has_no_gap_when_the_stream_is_trimmed_to_nothing(
    api: Server, key: str
) -> None:
    add(api, key, "1-0", "2-0", "3-0")
    with open_tail(tail_url(api, key, "after=0-0")) as tail:
        assert tail.named("entries").ids == ["1-0", "2-0", "3-0"]
        api.command("XTRIM", key, "MAXLEN", 0)
        add(api, key, "4-0")
        assert tail.named("entries").ids == ["4-0"]
        api.transaction(f"XADD {key} 5-0 a b", f"XADD {key} 6-0 a b", f"XTRIM {key} MAXLEN 1")
        assert tail.named("gap").data == {"key": key, "from": "4-0", "to": "6-0"}
        assert tail.named("entries").ids == ["6-0"]


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
        found = [tail.named("entries") for _ in range(2)]
    assert {event.data["key"][-1]: event.ids for event in found} == {"a": ["1-0", "2-0"], "b": ["2-0"]}


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


# --- a stream that is created again ------------------------------------------------------------------


def create_again(api: Server, key: str, *ids: str) -> None:
    api.transaction(f"DEL {key}", *[f"XADD {key} {each} a {each}" for each in ids])


def test_a_tail_of_a_stream_that_is_created_again_with_lower_ids_sends_all_of_it(
    api: Server, key: str
) -> None:
    add(api, key, "9-0")
    with open_tail(tail_url(api, key)) as tail:
        create_again(api, key, "1-0", "20-0")
        gap = tail.named("gap").data
        assert (gap["from"], gap["to"]) == ("9-0", "1-0")
        assert tail.named("entries").ids == ["1-0", "20-0"]


@pytest.mark.parametrize("after", ["$", "9-0"])
def test_a_tail_whose_stream_is_deleted_is_told_and_goes_on_with_the_next_one(
    api: Server, key: str, after: str
) -> None:
    add(api, key, "9-0")
    with open_tail(tail_url(api, key, f"after={after}")) as tail:
        api.command("DEL", key)
        add(api, key, "1-0")
        assert tail.named("gap").data["from"] == "9-0"
        add(api, key, "2-0")
        ids: list[str] = []
        while "2-0" not in ids:
            ids += tail.named("entries").ids


def test_a_position_beyond_the_last_id_belongs_to_an_earlier_stream(api: Server, key: str) -> None:
    add(api, key, "9-0")
    create_again(api, key, "1-0")
    with open_tail(tail_url(api, key), **{"Last-Event-ID": "9-0"}) as tail:
        assert tail.named("gap").data["to"] == "1-0"
        assert tail.named("entries").ids == ["1-0"]
    others = f"{key}:other"
    with open_tail(tails_url(api, key, others), **{"Last-Event-ID": f"{key}=9-0&{others}=5-0"}) as tail:
        assert [tail.named("gap").data["to"] for _ in range(2)] == ["1-0", "0-1"]
        assert tail.named("entries").ids == ["1-0"]
        add(api, others, "3-0")
        assert tail.named("entries").ids == ["3-0"]


def test_an_incarnation_distinguishes_a_position_from_one_of_a_longer_later_stream(
    api: Server, key: str
) -> None:
    add(api, key, "9-0")
    with open_tail(tail_url(api, key)) as tail:
        incarnation = tail.response.headers["X-Incarnation"]
    url = tail_url(api, key, f"incarnation={incarnation}")
    with open_tail(url, **{"Last-Event-ID": "8-0"}) as tail:
        assert tail.named("entries").ids == ["9-0"]
    create_again(api, key, "1-0", "20-0")
    with open_tail(url, **{"Last-Event-ID": "9-0"}) as tail:
        later = tail.named("gap").data["incarnation"]
        assert later not in (None, incarnation)
        assert tail.named("entries").ids == ["1-0", "20-0"]


def test_a_tail_that_opened_before_its_stream_existed_tells_the_incarnation_once(
    api: Server, key: str
) -> None:
    with open_tail(tail_url(api, key)) as tail:
        assert "X-Incarnation" not in tail.response.headers
        add(api, key, "5-0")
        event = tail.named("entries")
        known = httpx.head(f"{api.base_url}/v1/streams/{key}").headers["X-Incarnation"]
        assert (event.id, event.incarnation) == ("5-0", known)
        add(api, key, "6-0")
        assert tail.named("entries").incarnation is None
    create_again(api, key, "1-0", "20-0")
    url = tail_url(api, key, f"incarnation={event.incarnation}")
    with open_tail(url, **{"Last-Event-ID": "6-0"}) as tail:
        assert tail.named("gap").data["to"] == "1-0"
        assert tail.named("entries").ids == ["1-0", "20-0"]
        add(api, key, "21-0")
        assert tail.named("entries").incarnation is None, "the gap told it"


def test_the_ids_of_a_tail_of_several_streams_say_which_streams_they_were(api: Server, key: str) -> None:
    others = f"{key}:other"
    add(api, key, "9-0")
    with open_tail(tails_url(api, key, others)) as tail:
        add(api, others, "5-0")
        position = tail.named("entries").id or ""
    with open_tail(tails_url(api, key, others), **{"Last-Event-ID": position}) as tail:
        add(api, key, "10-0")
        event = tail.named("entries")
        assert event.ids == ["10-0"]
        position = event.id or ""
    for each in (key, others):
        create_again(api, each, "1-0", "20-0")
    with open_tail(tails_url(api, key, others), **{"Last-Event-ID": position}) as tail:
        gaps = [tail.named("gap").data for _ in range(2)]
        assert sorted((gap["from"], gap["to"]) for gap in gaps) == [("10-0", "1-0"), ("5-0", "1-0")]
        assert [tail.named("entries").ids for _ in range(2)] == [["1-0", "20-0"]] * 2


def test_a_start_that_the_stream_has_not_reached_is_kept_and_not_told_as_a_position(
    api: Server, key: str
) -> None:
    add(api, key, "1-0")
    with open_tail(tail_url(api, key, "after=5-0")) as tail:
        assert tail.opening.id is None
        add(api, key, "4-0", "6-0")
        assert tail.named("entries").ids == ["6-0"]
