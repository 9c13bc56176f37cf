"""Names in paths, verbs after colons, and the response to a path without a route."""

from __future__ import annotations

import pytest

from tailrace.api.http.layers import raw_path_of
from tailrace.core.commands import StreamLength
from tests.support.api_client import ApiClient, assert_problem


@pytest.fixture
def api() -> ApiClient:
    return ApiClient()


@pytest.mark.parametrize(
    ("segment", "key"),
    [
        ("race:france", b"race:france"),
        ("a%2Fb", b"a/b"),
        ("%FF", b"\xff"),
        ("%00", b"\x00"),
        ("100%25", b"100%"),
        ("odd%3Asetid", b"odd:setid"),
        ("%E2%82%AC", "€".encode()),
        ("a+b", b"a+b"),
    ],
)
def test_a_key_of_any_bytes_is_reached_percent_encoded(api: ApiClient, segment: str, key: bytes) -> None:
    assert api.post(f"/v1/streams/{segment}/entries", {"fields": {"a": "b"}}).status_code == 201
    assert api.run(StreamLength(key)) == 1
    assert api.get(f"/v1/streams/{segment}/length").json() == {"length": 1}


def test_the_verb_stands_behind_the_last_unescaped_colon(api: ApiClient) -> None:
    group = "/v1/streams/a:b/groups/x%3Aack"
    assert api.put(group, {"create_stream": True}).json()["name"] == "x:ack"
    assert api.post(f"{group}:ack", {"ids": ["1-0"]}).json() == {"acknowledged": 0}
    assert api.post("/v1/streams/a:b:configure", {"idmp_maxsize": 7}).status_code == 204
    assert api.get("/v1/streams/a:b").json()["idempotency"]["maxsize"] == 7


def test_outside_of_post_the_whole_segment_is_the_name(api: ApiClient) -> None:
    assert api.put("/v1/streams/odd:setid").status_code == 201
    assert api.get("/v1/streams/odd:setid").json()["key"] == "odd:setid"


def test_a_name_of_512_bytes_is_taken_and_one_byte_more_is_refused(api: ApiClient) -> None:
    assert api.put(f"/v1/streams/{'%FF' * 512}").status_code == 201
    assert_problem(api.put(f"/v1/streams/{'%FF' * 513}"), 400, "INVALID_NAME")


def test_a_name_that_is_not_utf8_comes_back_in_base64(api: ApiClient) -> None:
    assert api.put("/v1/streams/%FF").json() == {"key": "/w==", "encoding": "base64", "created": True}
    listed = api.get("/v1/streams?prefix=%FF").json()
    assert [stream["key"] for stream in listed["streams"]] == ["/w=="]


def test_query_names_keep_every_byte(api: ApiClient) -> None:
    api.put("/v1/streams/%FE")
    api.put("/v1/streams/%FF")
    page = api.get("/v1/streams?start_after=%FE").json()
    assert [stream["key"] for stream in page["streams"]] == ["/w=="]
    assert page["next"] is None


def test_a_listing_goes_on_after_next(api: ApiClient) -> None:
    for key in ("a", "b", "c"):
        api.put(f"/v1/streams/{key}")
    first = api.get("/v1/streams?limit=2").json()
    assert (first["next"], len(first["streams"])) == ("b", 2)
    rest = api.get("/v1/streams?limit=2&start_after=b").json()
    assert [stream["key"] for stream in rest["streams"]] == ["c"]


def test_an_unknown_path_is_a_404_problem(api: ApiClient) -> None:
    assert_problem(api.get("/v1/nothing"), 404, "NOT_FOUND")
    assert_problem(api.get("/v1/streams/"), 404, "NOT_FOUND")
    assert_problem(api.post("/v1/streams/a/entries:unknown", {}), 404, "NOT_FOUND")


def test_a_wrong_method_is_a_405_that_names_all_the_right_ones(api: ApiClient) -> None:
    response = api.request("PATCH", "/v1/streams/a:setid")
    assert_problem(response, 405, "METHOD_NOT_ALLOWED")
    assert response.headers["allow"] == "DELETE, GET, HEAD, POST, PUT"
    assert api.get("/v1/command").headers["allow"] == "POST"
    assert_problem(api.post("/openapi.json", {}), 405, "METHOD_NOT_ALLOWED")


def test_without_a_raw_path_the_decoded_one_is_quoted_anew() -> None:
    assert raw_path_of({"path": "/v1/streams/a b:c"}) == "/v1/streams/a%20b:c"
    assert raw_path_of({"path": "/x", "raw_path": b"/v1/%FF?a=1"}) == "/v1/%FF"
