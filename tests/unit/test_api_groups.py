"""Groups, consumers, group reads and pending entries over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.api.wire.turns import ROWS_PER_PIECE
from tailrace.core.commands import DeleteEntries
from tailrace.core.stream_id import parse_id
from tests.support.api_client import (
    FIRST,
    GROUP,
    IDLE_MS,
    KEY,
    SECOND,
    THIRD,
    ApiClient,
    assert_problem,
)


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


def read(api: ApiClient, consumer: str = "alice", **more: object) -> Any:
    streams = more.pop("streams", [{"key": "race:france"}])
    body = {"group": "judges", "consumer": consumer, "streams": streams, **more}
    return api.post("/v1/read-group", body)


# --- groups ----------------------------------------------------------------------------------------


def test_a_group_is_created_at_the_end_unless_it_says_where(api: ApiClient) -> None:
    created = api.put(f"{KEY}/groups/late")
    assert (created.status_code, created.json()["last_delivered_id"]) == (201, THIRD)
    assert api.put(f"{KEY}/groups/early", {"after": "0"}).json()["lag"] == 3
    body = {"after": FIRST, "entries_read": 1}
    assert api.put(f"{KEY}/groups/middle", body).json()["entries_read"] == 1


def test_a_group_that_exists_is_a_409(api: ApiClient) -> None:
    assert_problem(api.put(GROUP), 409, "BUSYGROUP")


def test_a_group_needs_a_stream_unless_it_makes_one(api: ApiClient) -> None:
    assert_problem(api.put("/v1/streams/none/groups/g"), 404, "NO_SUCH_STREAM")
    assert api.put("/v1/streams/none/groups/g", {"create_stream": True}).status_code == 201
    assert_problem(api.put("/v1/streams/none/groups/h", {"after": "-"}), 400, "INVALID_ID")


def test_groups_are_listed_and_found_by_name(api: ApiClient) -> None:
    group = {
        "name": "judges",
        "consumers": 1,
        "pending": 2,
        "last_delivered_id": SECOND,
        "entries_read": 2,
        "lag": 1,
    }
    [listed] = api.get(f"{KEY}/groups").json()["groups"]
    found = api.get(GROUP).json()
    # A gateway shows no lag in time.
    assert listed.pop("lag_ms", 0) >= 0
    assert found.pop("lag_ms", 0) >= 0
    assert listed == found == group
    assert_problem(api.get(f"{KEY}/groups/none"), 404, "NOGROUP")


def test_the_lag_of_a_group_that_began_at_the_end_is_counted_and_xinfo_shows_none_as_redis(
    api: ApiClient,
) -> None:
    api.put(f"{KEY}/groups/late")
    for name in "ab":
        api.post(f"{KEY}/entries", {"fields": {"name": name}})
    [_, shown] = api.post("/v1/command", ["XINFO", "GROUPS", "race:france"]).json()["result"]
    assert shown[-2:] == ["lag", None]
    [_, detail] = api.get(KEY, params={"full": "true"}).json()["group_details"]
    found = api.get(f"{KEY}/groups/late").json()
    # A gateway knows only what the engine shows; it shows no lag in time either.
    assert found["lag"] == detail["lag"] == (2 if "lag_ms" in found else None)


def test_a_group_is_moved(api: ApiClient) -> None:
    assert api.post(f"{GROUP}:setid", {"after": "-", "entries_read": 0}).status_code == 204
    assert api.get(GROUP).json()["last_delivered_id"] == "0-0"
    assert api.post(f"{GROUP}:setid", {"after": "$"}).status_code == 204
    assert api.get(GROUP).json()["last_delivered_id"] == THIRD
    assert_problem(api.post(f"{KEY}/groups/none:setid", {"after": "$"}), 404, "NOGROUP")


def test_a_destroyed_group_is_gone(api: ApiClient) -> None:
    assert api.delete(GROUP).status_code == 204
    assert_problem(api.delete(GROUP), 404, "NOGROUP")


# --- consumers -------------------------------------------------------------------------------------


def test_consumers_are_made_once_and_listed(api: ApiClient) -> None:
    assert api.put(f"{GROUP}/consumers/bob").status_code == 201
    again = api.put(f"{GROUP}/consumers/bob")
    assert (again.status_code, again.json()) == (200, {"name": "bob", "created": False})
    assert api.get(f"{GROUP}/consumers").json()["consumers"] == [
        {"name": "alice", "pending": 2, "idle_ms": IDLE_MS, "inactive_ms": IDLE_MS},
        {"name": "bob", "pending": 0, "idle_ms": 0, "inactive_ms": None},
    ]


def test_a_consumer_with_pending_entries_goes_only_by_force_or_transfer(api: ApiClient) -> None:
    consumer = f"{GROUP}/consumers/alice"
    assert_problem(api.delete(consumer), 409, "CONSUMER_HAS_PENDING")
    assert api.delete(f"{consumer}?transfer_to=bo%62").json() == {"pending_dropped": 0}
    assert api.get(f"{GROUP}/pending:summary").json()["consumers"] == [{"name": "bob", "pending": 2}]
    assert api.delete(f"{GROUP}/consumers/bob?force=true").json() == {"pending_dropped": 2}
    assert_problem(api.delete(consumer), 404, "NO_SUCH_CONSUMER")
    assert_problem(api.delete(f"{consumer}?transfer_to="), 400, "INVALID_NAME")


def test_a_transfer_to_the_consumer_itself_drops_its_entries_only_by_force(api: ApiClient) -> None:
    consumer = f"{GROUP}/consumers/alice?transfer_to=alice"
    assert_problem(api.delete(consumer), 409, "CONSUMER_HAS_PENDING")
    assert api.get(f"{GROUP}/pending:summary").json()["consumers"] == [{"name": "alice", "pending": 2}]
    assert api.delete(f"{consumer}&force=true").json() == {"pending_dropped": 2}
    assert api.get(f"{GROUP}/pending:summary").json()["consumers"] == []


# --- reading ---------------------------------------------------------------------------------------


def test_new_entries_carry_zeros_and_become_pending(api: ApiClient) -> None:
    (stream,) = read(api).json()["streams"]
    (entry,) = stream["entries"]
    assert (entry["id"], entry["idle_ms"], entry["deliveries"]) == (THIRD, 0, 0)
    assert (stream["key"], stream["next"]) == ("race:france", THIRD)
    assert api.get(GROUP).json()["pending"] == 3
    assert read(api).json()["streams"][0]["entries"] == []


def test_a_history_read_gives_the_consumers_own_with_what_was_deleted(api: ApiClient) -> None:
    api.run(DeleteEntries(b"race:france", (parse_id(SECOND.encode()),)))
    (stream,) = read(api, streams=[{"key": "race:france", "id": "0"}]).json()["streams"]
    live, deleted = stream["entries"]
    assert (live["id"], live["idle_ms"], live["deliveries"]) == (FIRST, IDLE_MS, 1)
    assert (deleted["id"], deleted["deleted"], "fields" in deleted) == (SECOND, True, False)


def test_a_read_with_claim_takes_over_what_is_idle_and_then_what_is_new(api: ApiClient) -> None:
    (stream,) = read(api, "bob", claim_min_idle_ms=IDLE_MS).json()["streams"]
    assert [(entry["id"], entry["idle_ms"], entry["deliveries"]) for entry in stream["entries"]] == [
        (FIRST, IDLE_MS, 1),
        (SECOND, IDLE_MS, 1),
        (THIRD, 0, 0),
    ]


def test_a_group_read_without_ack_leaves_nothing_pending(api: ApiClient) -> None:
    assert len(read(api, noack=True).json()["streams"][0]["entries"]) == 1
    assert api.get(GROUP).json()["pending"] == 2


def test_a_group_read_without_the_group_is_a_404(api: ApiClient) -> None:
    assert_problem(read(api, streams=[{"key": "none"}]), 404, "NOGROUP")
    assert_problem(read(api, streams=[{"key": "race:france", "id": "$"}]), 400, "INVALID_ID")


def test_a_group_read_waits(api: ApiClient) -> None:
    read(api)
    assert read(api, wait_ms=100).json()["streams"][0]["entries"] == []
    assert [wait.group for wait in api.store.waits] == [b"judges"]


def test_names_in_a_body_may_be_base64(api: ApiClient) -> None:
    body = {
        "group": "anVkZ2Vz",
        "consumer": "/w==",
        "encoding": "base64",
        "streams": [{"key": "cmFjZTpmcmFuY2U=", "encoding": "base64"}],
    }
    assert len(api.post("/v1/read-group", body).json()["streams"][0]["entries"]) == 1
    names = [consumer["name"] for consumer in api.get(f"{GROUP}/consumers").json()["consumers"]]
    assert names == ["alice", "/w=="]
    pending = api.get(f"{GROUP}/pending?consumer=%FF").json()["pending"]
    assert [(entry["consumer"], entry["encoding"]) for entry in pending] == [("/w==", "base64")]
    assert_problem(api.post("/v1/read-group", {**body, "group": "%"}), 400, "INVALID_NAME")
    assert_problem(api.post("/v1/read-group", {**body, "consumer": ""}), 400, "INVALID_NAME")


def test_a_plain_read_answers_every_stream_in_order(api: ApiClient) -> None:
    body = {"streams": [{"key": "none", "after": "$"}, {"key": "race:france", "after": SECOND}]}
    answer = api.post("/v1/read?shape=pairs", body).json()
    assert [stream["key"] for stream in answer["streams"]] == ["none", "race:france"]
    assert [stream["next"] for stream in answer["streams"]] == ["0-0", THIRD]
    assert "idle_ms" not in answer["streams"][1]["entries"][0]


def test_a_read_is_bounded_by_count_budget_and_bytes(api: ApiClient) -> None:
    body: Any = {"streams": [{"key": "race:france", "after": "0"}] * 2}

    def counts(**bounds: int) -> list[int]:
        streams = api.post("/v1/read", {**body, **bounds}).json()["streams"]
        return [len(stream["entries"]) for stream in streams]

    assert counts() == [3, 3]
    assert counts(count=2) == [2, 2]
    assert counts(count=2, max_count=3) == [2, 1]
    assert counts(max_bytes=1) == [1, 0]
    assert_problem(api.post("/v1/read", {**body, "count": 3, "max_count": 2}), 422, "BODY_MISMATCH")


def test_a_read_prefers_to_wait_as_the_header_says(api: ApiClient) -> None:
    body = {"streams": [{"key": "race:france", "after": "$"}]}
    response = api.post("/v1/read", body, headers={"Prefer": "wait=2"})
    assert response.headers["preference-applied"] == "wait=2"
    assert len(api.store.waits) == 1


def test_a_strict_read_of_a_trimmed_position_is_a_410(api: ApiClient) -> None:
    api.post(f"{KEY}/entries:trim", {"max_length": 1})
    body = {"streams": [{"key": "race:france", "after": "0"}], "strict": True}
    assert assert_problem(api.post("/v1/read", body), 410, "POSITION_TRIMMED")["first_id"] == THIRD


# --- pending ---------------------------------------------------------------------------------------


def test_pending_entries_are_listed_page_by_page(api: ApiClient) -> None:
    page = api.get(f"{GROUP}/pending?count=1").json()
    assert page == {
        "pending": [
            {
                "id": FIRST,
                "consumer": "alice",
                "idle_ms": IDLE_MS,
                "deliveries": 1,
                "delivered_at_ms": api.store.now_ms - IDLE_MS,
            }
        ],
        "next": FIRST,
    }
    rest = api.get(f"{GROUP}/pending?start=({FIRST}").json()
    assert ([entry["id"] for entry in rest["pending"]], rest["next"]) == ([SECOND], None)
    assert api.get(f"{GROUP}/pending?min_idle_ms={IDLE_MS + 1}").json()["pending"] == []
    assert api.get(f"{GROUP}/pending?consumer=bob").json()["pending"] == []
    assert_problem(api.get(f"{KEY}/groups/none/pending"), 404, "NOGROUP")


def test_the_summary_counts_by_consumer(api: ApiClient) -> None:
    assert api.get(f"{GROUP}/pending:summary").json() == {
        "count": 2,
        "min_id": FIRST,
        "max_id": SECOND,
        "consumers": [{"name": "alice", "pending": 2}],
    }


def test_the_summary_names_all_of_many_consumers(api: ApiClient) -> None:
    names = [f"worker-{number:04}" for number in range(ROWS_PER_PIECE + 1)]
    for name in names:
        api.post(f"{KEY}/entries", {"fields": {"a": "1"}})
        read(api, name, count=1)
    summary = api.get(f"{GROUP}/pending:summary").json()
    assert [owner["name"] for owner in summary["consumers"]] == ["alice", *names]
    assert sum(owner["pending"] for owner in summary["consumers"]) == summary["count"]


def test_acknowledged_entries_are_no_longer_pending(api: ApiClient) -> None:
    assert api.post(f"{GROUP}:ack", {"ids": [FIRST, "1-1"]}).json() == {"acknowledged": 1}
    assert api.get(GROUP).json()["pending"] == 1
    assert_problem(api.post(f"{GROUP}:ack", {"ids": [SECOND, "x"]}), 400, "INVALID_ID")
    assert_problem(api.post(f"{GROUP}:ack", {"ids": [SECOND], "references": "keep"}), 422, "BODY_MISMATCH")
    assert api.get(GROUP).json()["pending"] == 1


def test_acknowledging_with_delete_deletes_too(api: ApiClient) -> None:
    body = {"ids": [FIRST, THIRD], "delete": True, "references": "delete"}
    assert api.post(f"{GROUP}:ack", body).json() == {
        "acknowledged": 1,
        "results": [{"id": FIRST, "result": "deleted"}, {"id": THIRD, "result": "not_found"}],
    }
    assert api.get(f"{KEY}/length").json() == {"length": 2}


def test_what_is_given_back_has_no_owner(api: ApiClient) -> None:
    assert api.post(f"{GROUP}:nack", {"ids": [FIRST], "retry_count": 7}).json() == {"nacked": 1}
    (entry, _) = api.get(f"{GROUP}/pending").json()["pending"]
    assert (entry["consumer"], entry["idle_ms"], entry["deliveries"]) == (None, None, 7)
    assert_problem(api.post(f"{KEY}/groups/none:nack", {"ids": [FIRST]}), 404, "NOGROUP")


def test_entries_are_taken_over_by_id(api: ApiClient) -> None:
    body = {"consumer": "bob", "min_idle_ms": IDLE_MS, "ids": [FIRST, THIRD]}
    answer = api.post(f"{GROUP}:claim", body).json()
    assert [entry["id"] for entry in answer["entries"]] == [FIRST]
    answer = api.post(f"{GROUP}:claim", {**body, "min_idle_ms": 0, "just_id": True, "idle_ms": 5}).json()
    assert answer == {"ids": [FIRST]}
    assert api.get(f"{GROUP}/pending?consumer=bob").json()["pending"][0]["idle_ms"] == 5
    bad = {**body, "idle_ms": 1, "delivered_at_ms": 1}
    assert_problem(api.post(f"{GROUP}:claim", bad), 422, "BODY_MISMATCH")
    assert_problem(api.post(f"{GROUP}:claim", {**body, "last_id": "x"}), 400, "INVALID_ID")


def test_entries_are_taken_over_by_scanning(api: ApiClient) -> None:
    body: Any = {"consumer": "bob", "min_idle_ms": 1, "count": 1}
    first = api.post(f"{GROUP}:autoclaim", body).json()
    assert (first["cursor"], [entry["id"] for entry in first["entries"]]) == (SECOND, [FIRST])
    rest = api.post(f"{GROUP}:autoclaim", {**body, "start": first["cursor"], "just_id": True}).json()
    assert rest == {"cursor": "0-0", "ids": [SECOND], "deleted_ids": []}
    assert_problem(api.post(f"{GROUP}:autoclaim", {**body, "count": 0}), 422, "BODY_MISMATCH")
