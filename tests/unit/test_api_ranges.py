"""Reads, deletions, trims and plans of one stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tailrace.core.commands import Append, Trim, TrimStream
from tailrace.core.log.entry import fragment_from_flat
from tests.support.api_client import FIRST, KEY, NDJSON, SECOND, THIRD, ApiClient, assert_problem

ENTRIES = f"{KEY}/entries"


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


def ids(api: ApiClient, query: str) -> list[str]:
    return [entry["id"] for entry in api.get(f"{ENTRIES}?{query}").json()["entries"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [FIRST, SECOND, THIRD]),
        ("start=-&end=%2B", [FIRST, SECOND, THIRD]),
        (f"start=({FIRST}", [SECOND, THIRD]),
        (f"end=({THIRD}", [FIRST, SECOND]),
        ("start=1692632094485&end=1692632094485", [SECOND]),
        ("order=desc&count=2", [THIRD, SECOND]),
        (f"order=desc&end=({SECOND}", [FIRST]),
        (f"start={THIRD}&end={FIRST}", []),
    ],
)
def test_a_range_is_bounded_as_in_redis(api: ApiClient, query: str, expected: list[str]) -> None:
    assert ids(api, query) == expected


def test_a_plus_in_a_query_is_a_space_as_everywhere_and_refused(api: ApiClient) -> None:
    assert_problem(api.get(f"{ENTRIES}?end=+"), 400, "INVALID_ID")


def test_next_is_there_only_while_more_follows(api: ApiClient) -> None:
    page = api.get(f"{ENTRIES}?count=2").json()
    assert page["next"] == SECOND
    page = api.get(f"{ENTRIES}?count=2&start=({page['next']}").json()
    assert ([entry["id"] for entry in page["entries"]], page["next"]) == ([THIRD], None)
    assert api.get(f"{ENTRIES}?count=3").json()["next"] is None
    assert api.get(f"{ENTRIES}?order=desc&count=2").json()["next"] == SECOND


@pytest.mark.parametrize("query", ["start=x", "end=1-2-3", "start=2026-11-20T12:00:00Z", "start=((1"])
def test_a_bound_that_is_no_id_is_a_400(api: ApiClient, query: str) -> None:
    assert_problem(api.get(f"{ENTRIES}?{query}"), 400, "INVALID_ID")


def test_a_missing_stream_reads_as_an_empty_one(api: ApiClient) -> None:
    assert api.get("/v1/streams/none/entries").json() == {"entries": [], "next": None}
    assert api.get("/v1/streams/none/entries?after=$").json() == {"entries": [], "next": "0-0"}


def test_entries_come_as_pairs_or_base64_if_asked(api: ApiClient) -> None:
    (entry,) = api.get(f"{ENTRIES}?count=1&shape=pairs").json()["entries"]
    assert entry["pairs"][0] == ["rider", "Castilla"]
    (entry,) = api.get(f"{ENTRIES}?count=1&encoding=base64").json()["entries"]
    assert (entry["encoding"], entry["fields"]["cmlkZXI="]) == ("base64", "Q2FzdGlsbGE=")


# --- reading on ------------------------------------------------------------------------------------


def test_reading_after_an_id_always_says_where_to_go_on(api: ApiClient) -> None:
    page = api.get(f"{ENTRIES}?after={FIRST}&count=1").json()
    assert ([entry["id"] for entry in page["entries"]], page["next"]) == ([SECOND], SECOND)
    page = api.get(f"{ENTRIES}?after={THIRD}").json()
    assert page == {"entries": [], "next": THIRD}


def test_the_last_entry_and_the_end_are_positions(api: ApiClient) -> None:
    assert ids(api, "after=%2B") == [THIRD]
    assert api.get(f"{ENTRIES}?after=$").json() == {"entries": [], "next": THIRD}


def append_meanwhile(api: ApiClient) -> None:
    command = Append(b"race:france", (fragment_from_flat([b"a", b"b"]),))
    api.store.while_waiting = lambda: api.store.engine.execute(command, api.store.now_ms)


def test_a_wait_ends_with_the_first_entry(api: ApiClient) -> None:
    append_meanwhile(api)
    page = api.get(f"{ENTRIES}?after=$&wait_ms=5000").json()
    assert [entry["id"] for entry in page["entries"]] == ["1692632147973-0"]
    assert [wait.until_ms for wait in api.store.waits] == [api.store.now_ms + 5000]


def test_a_wait_that_is_over_is_an_empty_page_with_the_position_resolved(api: ApiClient) -> None:
    response = api.get(f"{ENTRIES}?after=$&wait_ms=300")
    assert (response.status_code, response.json()) == (200, {"entries": [], "next": THIRD})


@pytest.mark.parametrize(
    ("prefer", "applied", "wait_ms"),
    [
        ("wait=5", "wait=5", 5_000),
        ("respond-async, wait=7", "wait=7", 7_000),
        ("wait=100000", "wait=60", 60_000),
    ],
)
def test_a_preference_to_wait_is_followed_and_told(
    api: ApiClient, prefer: str, applied: str, wait_ms: int
) -> None:
    response = api.get(f"{ENTRIES}?after=$", headers={"Prefer": prefer})
    assert response.headers["preference-applied"] == applied
    assert [wait.until_ms for wait in api.store.waits] == [api.store.now_ms + wait_ms]


@pytest.mark.parametrize("headers", [{"Prefer": "wait=0"}, {"Prefer": "return=minimal"}, {}])
def test_without_a_time_to_wait_nothing_waits(api: ApiClient, headers: dict[str, str]) -> None:
    assert api.get(f"{ENTRIES}?after=$&wait_ms=0", headers=headers).json()["entries"] == []
    assert api.get(f"{ENTRIES}?after=$", headers=headers).json()["entries"] == []
    assert api.store.waits == []


def test_wait_ms_beats_the_preference(api: ApiClient) -> None:
    response = api.get(f"{ENTRIES}?after=$&wait_ms=0", headers={"Prefer": "wait=5"})
    assert "preference-applied" not in response.headers
    assert api.store.waits == []


@pytest.mark.parametrize("query", ["wait_ms=5", "after=1-0&start=1-0", "after=1-0&end=2-0&order=asc"])
def test_waiting_needs_a_position_and_a_position_excludes_bounds(api: ApiClient, query: str) -> None:
    assert_problem(api.get(f"{ENTRIES}?{query}"), 400, "INVALID_PARAMETER")


@pytest.mark.parametrize("query", ["start=-", "after=0"])
def test_a_strict_read_refuses_a_position_that_was_trimmed_away(api: ApiClient, query: str) -> None:
    assert len(ids(api, f"{query}&strict=true")) == 3
    api.run(TrimStream(b"race:france", Trim(max_length=1)))
    problem = assert_problem(api.get(f"{ENTRIES}?{query}&strict=true"), 410, "POSITION_TRIMMED")
    assert problem["first_id"] == THIRD
    assert ids(api, query) == [THIRD]


# --- one entry -------------------------------------------------------------------------------------


def test_an_entry_is_read_and_deleted_by_its_id(api: ApiClient) -> None:
    assert api.get(f"{ENTRIES}/{SECOND}").json()["fields"]["rider"] == "Norem"
    assert api.get(f"{ENTRIES}/{SECOND.replace('-', '%2D')}").json()["id"] == SECOND
    assert api.get(f"{ENTRIES}/1692632094485?shape=pairs").json()["pairs"][0] == ["rider", "Norem"]
    assert api.delete(f"{ENTRIES}/{SECOND}").status_code == 204
    assert_problem(api.get(f"{ENTRIES}/{SECOND}"), 404, "NO_SUCH_ENTRY")
    assert_problem(api.delete(f"{ENTRIES}/{SECOND}"), 404, "NO_SUCH_ENTRY")
    assert_problem(api.get(f"{ENTRIES}/x"), 400, "INVALID_ID")


# --- export ----------------------------------------------------------------------------------------


def test_an_export_is_what_an_import_takes(api: ApiClient) -> None:
    api.post(ENTRIES, {"pairs": [["a", "1"], ["a", "2"]]})
    api.post(ENTRIES, {"fields": {"YQ==": "/w=="}, "encoding": "base64"})
    exported = api.get(f"{ENTRIES}:export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    copied = api.post("/v1/streams/copy/entries:import?shape=entry", content=exported.content, headers=NDJSON)
    assert copied.json()["count"] == 5
    assert api.get("/v1/streams/copy/entries").json() == api.get(ENTRIES).json()


def test_an_export_of_fields_writes_whole_what_has_no_plain_fields(api: ApiClient) -> None:
    api.post(ENTRIES, {"pairs": [["a", "1"], ["a", "2"]]})
    lines = [json.loads(line) for line in api.get(f"{ENTRIES}:export?shape=fields").text.splitlines()]
    assert lines[0] == {"rider": "Castilla", "speed": "30.2", "position": "1", "location_id": "1"}
    assert lines[3]["pairs"] == [["a", "1"], ["a", "2"]]


@pytest.mark.parametrize("query", ["end=%2B", "shape=pairs", "shape=fields", "field=a"])
def test_a_line_of_an_export_is_one_line_for_every_client(api: ApiClient, query: str) -> None:
    value = "x\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029y"
    entry_id = api.post(ENTRIES, {"fields": {"a": value}}).json()["id"]
    [line] = api.get(f"{ENTRIES}:export?{query}&start={entry_id}").text.splitlines()
    entry = json.loads(line)
    assert value in (entry.get("fields", entry).get("a"), *entry.get("pairs", [[]])[0])


def test_an_export_in_pairs_and_base64(api: ApiClient) -> None:
    line = api.get(f"{ENTRIES}:export?shape=pairs&encoding=base64&end={FIRST}").json()
    assert (line["encoding"], line["pairs"][0]) == ("base64", ["cmlkZXI=", "Q2FzdGlsbGE="])


def test_an_export_writes_only_the_chosen_fields_in_their_order(api: ApiClient) -> None:
    path = "/v1/streams/chosen/entries"
    api.post(path, {"id": "1-0", "fields": {"rider": "Castilla", "speed": "30.2", "position": "1"}})
    api.post(path, {"id": "2-0", "pairs": [["rider", "A"], ["rider", "B"], ["speed", "1"]]})
    api.post(path, {"id": "3-0", "fields": {"other": "x"}})
    lines = api.get(f"{path}:export?field=speed&field=rider").text.splitlines()
    assert lines == [
        '{"id":"1-0","fields":{"speed":"30.2","rider":"Castilla"}}',
        '{"id":"2-0","pairs":[["speed","1"],["rider","A"],["rider","B"]]}',
        '{"id":"3-0","fields":{}}',
    ]
    assert api.get(f"{path}:export?field=speed&shape=fields&end=1").text == '{"speed":"30.2"}\n'


def test_an_export_has_no_bound_on_its_pages(api: ApiClient) -> None:
    count = 25_000
    api.post("/v1/streams/long/entries:import", content=b'{"a":"b"}\n' * count, headers=NDJSON)
    assert api.get("/v1/streams/long/entries:export?shape=fields").text == '{"a":"b"}\n' * count


def test_an_export_of_an_empty_range_is_empty(api: ApiClient) -> None:
    response = api.get(f"{ENTRIES}:export?start=2000000000000")
    assert (response.status_code, response.text) == (200, "")


# --- deleting and trimming -------------------------------------------------------------------------


def test_a_deletion_tells_what_became_of_each_id(api: ApiClient) -> None:
    body: Any = {"ids": [FIRST, "1-1", SECOND], "references": "acknowledged"}
    assert api.post(f"{ENTRIES}:delete", body).json() == {
        "deleted": 0,
        "results": [
            {"id": FIRST, "result": "referenced"},
            {"id": "1-1", "result": "not_found"},
            {"id": SECOND, "result": "referenced"},
        ],
    }
    answer = api.post(f"{ENTRIES}:delete", {"ids": [FIRST, "1-1"]}).json()
    assert (answer["deleted"], answer["results"][0]["result"]) == (1, "deleted")


def test_one_bad_id_and_nothing_is_deleted(api: ApiClient) -> None:
    assert_problem(api.post(f"{ENTRIES}:delete", {"ids": [FIRST, "x"]}), 400, "INVALID_ID")
    assert_problem(api.post(f"{ENTRIES}:delete", {"ids": []}), 422, "BODY_MISMATCH")
    assert api.get(f"{KEY}/length").json() == {"length": 3}


def test_a_trim_keeps_the_newest(api: ApiClient) -> None:
    assert api.post(f"{ENTRIES}:trim", {"max_length": 2}).json() == {"trimmed": 1}
    assert api.post(f"{ENTRIES}:trim", {"min_id": THIRD}).json() == {"trimmed": 1}
    assert api.post(f"{ENTRIES}:trim", {"max_length": 0, "approximate": True, "limit": 10}).status_code == 200
    assert_problem(api.post("/v1/streams/none/entries:trim", {"max_length": 1}), 404, "NO_SUCH_STREAM")


# --- planning --------------------------------------------------------------------------------------


def test_a_split_covers_the_range_in_parts_of_about_equal_counts(api: ApiClient) -> None:
    plan = api.get(f"{ENTRIES}:split?parts=2").json()
    assert (plan["count"], [part["count"] for part in plan["parts"]]) == (3, [1, 2])
    assert (plan["parts"][0]["start"], plan["parts"][1]["end"]) == ("0-0", f"{2**64 - 1}-{2**64 - 1}")
    assert_problem(api.get(f"{ENTRIES}:split"), 400, "INVALID_PARAMETER")


def test_seeking_finds_the_end_of_a_page(api: ApiClient) -> None:
    own = {"incarnation": api.get(KEY).json()["incarnation"]}
    assert api.get(f"{ENTRIES}:seek?count=2").json() == {"end": SECOND, "count": 2, **own}
    assert api.get(f"{ENTRIES}:seek?count=9&start=({FIRST}").json() == {"end": THIRD, "count": 2, **own}
    assert api.get(f"{ENTRIES}:seek?count=1&start=({THIRD}").json() == {"end": None, "count": 0, **own}
