"""Operations on whole streams over HTTP."""

from __future__ import annotations

import pytest

from tailrace.api.schemas.limits import Limits
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.core import limits
from tests.support.api_client import FIRST, KEY, THIRD, ApiClient, assert_problem


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


def test_a_stream_is_created_once(api: ApiClient) -> None:
    assert api.put("/v1/streams/new").status_code == 201
    again = api.put("/v1/streams/new", {"idmp_duration_s": 5})
    assert (again.status_code, again.json()) == (200, {"key": "new", "created": False})
    assert api.get("/v1/streams/new").json()["idempotency"]["duration_s"] == 5


def test_settings_out_of_range_are_a_422(api: ApiClient) -> None:
    assert_problem(api.put("/v1/streams/new", {"idmp_duration_s": 0}), 422, "BODY_MISMATCH")
    assert_problem(api.post(f"{KEY}:configure", {"idmp_maxsize": 10_001}), 422, "BODY_MISMATCH")


def test_configuring_nothing_is_refused(api: ApiClient) -> None:
    assert_problem(api.post(f"{KEY}:configure", {}), 400, "INVALID_ARGUMENT")


def test_configuring_a_missing_stream_is_a_404(api: ApiClient) -> None:
    assert_problem(api.post("/v1/streams/none:configure", {"idmp_maxsize": 1}), 404, "NO_SUCH_STREAM")


def test_an_empty_stream_has_no_first_id_and_no_entries(api: ApiClient) -> None:
    api.put("/v1/streams/new")
    state = api.get("/v1/streams/new").json()
    assert (state["length"], state["first_id"], state["first_entry"], state["last_entry"]) == (
        0,
        None,
        None,
        None,
    )
    headers = api.request("HEAD", "/v1/streams/new").headers
    assert ("x-first-id" in headers, headers["x-stream-length"]) == (False, "0")


def test_a_stream_tells_its_counters(api: ApiClient) -> None:
    state = api.get(KEY).json()
    assert (state["length"], state["groups"], state["entries_added"]) == (3, 1, 3)
    assert (state["first_id"], state["last_id"], state["recorded_first_id"]) == (FIRST, THIRD, FIRST)
    assert (state["first_entry"]["id"], state["last_entry"]["id"]) == (FIRST, THIRD)
    assert "entries" not in state


def test_the_full_state_shows_entries_and_who_holds_what(api: ApiClient) -> None:
    state = api.get(f"{KEY}?full=true&count=1").json()
    assert [entry["id"] for entry in state["entries"]] == [FIRST]
    (group,) = state["group_details"]
    (consumer,) = group["consumers"]
    assert (group["name"], group["pending"], group["nacked"], group["lag"]) == ("judges", 2, 0, 1)
    assert [entry["id"] for entry in group["pending_entries"]] == [FIRST]
    assert (consumer["name"], consumer["pending"]) == ("alice", 2)


def test_the_first_look_at_the_full_state_shows_the_incarnation(api: ApiClient) -> None:
    full = api.get(f"{KEY}?full=true").json()
    assert full["incarnation"] == api.get(KEY).json()["incarnation"]


def test_head_answers_in_headers_only(api: ApiClient) -> None:
    response = api.request("HEAD", KEY)
    headers = response.headers
    assert (headers["x-stream-length"], headers["x-first-id"], headers["x-last-id"]) == ("3", FIRST, THIRD)
    assert response.content == b""
    assert api.request("HEAD", "/v1/streams/none").status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/entries/1-0"),
        ("DELETE", "/entries/1-0"),
        ("GET", "/groups"),
    ],
)
def test_a_missing_stream_is_a_404(api: ApiClient, method: str, path: str) -> None:
    assert_problem(api.request(method, f"/v1/streams/none{path}"), 404, "NO_SUCH_STREAM")


def test_a_deleted_stream_is_gone(api: ApiClient) -> None:
    assert api.delete(KEY).status_code == 204
    assert_problem(api.get(KEY), 404, "NO_SUCH_STREAM")


def test_the_position_is_set_and_what_contradicts_the_entries_is_refused(api: ApiClient) -> None:
    body = {"last_id": "1700000000000-0", "entries_added": 9, "max_deleted_id": "1-0"}
    assert api.post(f"{KEY}:setid", body).status_code == 204
    state = api.get(KEY).json()
    assert (state["last_id"], state["entries_added"], state["max_deleted_id"]) == (
        "1700000000000-0",
        9,
        "1-0",
    )
    assert_problem(api.post(f"{KEY}:setid", {"last_id": "1-0"}), 400, "INVALID_ARGUMENT")
    contradiction = {"last_id": "1700000000001-0", "max_deleted_id": "1700000000002-0"}
    assert_problem(api.post(f"{KEY}:setid", contradiction), 400, "INVALID_ARGUMENT")
    assert_problem(api.post(f"{KEY}:setid", {"last_id": "x"}), 400, "INVALID_ID")
    assert_problem(api.post("/v1/streams/none:setid", {"last_id": "1-0"}), 404, "NO_SUCH_STREAM")


def test_the_limits_are_those_of_the_engine_and_none_is_left_out(api: ApiClient) -> None:
    shown = api.get("/v1/limits").json()
    named = {name.lower() for name in vars(limits) if name.endswith(("_MAX", "_DEFAULT"))}
    assert set(shown) == set(Limits.model_fields) >= named
    assert all(shown[name] == getattr(limits, name.upper()) for name in named)
    assert all(shown[name] == value for name, value in DEFAULT_LIMITS)
