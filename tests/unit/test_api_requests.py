"""The checks of every request: parameters, media types, sizes, request ids, failures."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Scope

from tailrace.api.http.layers import BodyLimit, RawPath, RequestId
from tailrace.api.ports import StoreUnavailable
from tailrace.api.wire.negotiation import accepts
from tailrace.core.limits import BODY_BYTES_MAX, REQUEST_ELEMENTS_MAX
from tests.support.api_client import JSON, KEY, ApiClient, assert_problem


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


def test_an_unknown_query_parameter_is_refused_by_name(api: ApiClient) -> None:
    problem = assert_problem(api.get(f"{KEY}/entries?cuont=1"), 400, "INVALID_PARAMETER")
    told = "unknown parameter; did you mean `count`?"
    assert problem["errors"] == [{"parameter": "cuont", "in": "query", "detail": told}]
    assert_problem(api.post(f"{KEY}/entries?ids=true", {"fields": {"a": "b"}}), 400, "INVALID_PARAMETER")


def test_a_query_parameter_given_twice_is_refused(api: ApiClient) -> None:
    problem = assert_problem(api.get(f"{KEY}/entries?count=1&count=2"), 400, "INVALID_PARAMETER")
    assert "more than once" in problem["detail"]


@pytest.mark.parametrize(
    "query", ["count=0", "count=x", "count=100001", "order=up", "strict=maybe", "wait_ms=60001", "shape=x"]
)
def test_a_bad_query_parameter_is_a_400_that_says_which(api: ApiClient, query: str) -> None:
    problem = assert_problem(api.get(f"{KEY}/entries?{query}"), 400, "INVALID_PARAMETER")
    assert problem["errors"][0]["parameter"] == query.partition("=")[0]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"fields":{"a":"\\ud800"}}', b"nonsense"])
def test_a_body_that_is_no_json_is_a_400(api: ApiClient, body: bytes) -> None:
    response = api.post(f"{KEY}/entries", content=body, headers=JSON)
    assert_problem(response, 400, "MALFORMED_BODY")
    assert_problem(api.post("/v1/read", content=body, headers=JSON), 400, "MALFORMED_BODY")


@pytest.mark.parametrize("depth", [1_000, 1_000_000])
def test_a_body_that_nests_without_end_is_refused(api: ApiClient, depth: int) -> None:
    for url in (f"{KEY}/entries", f"{KEY}/entries:batch", "/v1/command", "/v1/command/pipeline", "/v1/read"):
        for opening in (b"[", b'{"fields":'):
            response = api.post(url, content=opening * depth, headers=JSON)
            assert response.status_code in {400, 422}, (url, opening, response.text)


def test_a_body_that_does_not_fit_is_a_422_with_every_place(api: ApiClient) -> None:
    problem = assert_problem(api.post("/v1/read", {"streams": [{"key": 1}], "x": 2}), 422, "BODY_MISMATCH")
    assert {error["pointer"] for error in problem["errors"]} == {"/streams/0/key", "/streams/0/after", "/x"}


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_of_another_type_is_a_415(api: ApiClient, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = api.post(f"{KEY}/entries", content=b'{"fields":{"a":"b"}}', headers=headers)
    assert_problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert response.headers["accept"] == "application/json"


def test_parameters_of_the_content_type_do_not_matter(api: ApiClient) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    response = api.post(f"{KEY}/entries", content=b'{"fields":{"a":"b"}}', headers=headers)
    assert response.status_code == 201


@pytest.mark.parametrize(
    ("accept", "media_type", "expected"),
    [
        ("*/*", "application/json", True),
        ("application/*", "application/json", True),
        ("text/html, */*;q=0.1", "application/json", True),
        ("text/html", "application/json", False),
        ("application/json;q=0, */*", "application/json", False),
        ("application/json; q=0.000", "application/json", False),
        ("application/x-ndjson", "application/x-ndjson", True),
    ],
)
def test_the_most_specific_accepted_range_decides(accept: str, media_type: str, *, expected: bool) -> None:
    assert accepts(accept, media_type) is expected


def test_an_answer_that_is_not_acceptable_is_a_406(api: ApiClient) -> None:
    assert_problem(api.get(KEY, headers={"Accept": "text/html"}), 406, "NOT_ACCEPTABLE")


def test_a_usable_request_id_is_kept_and_any_other_replaced(api: ApiClient) -> None:
    assert api.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    issued = api.get("/healthz", headers={"X-Request-Id": "no good\tid"}).headers["x-request-id"]
    assert len(issued) == 32


def test_a_declared_length_above_the_limit_is_refused_before_the_body_is_read(api: ApiClient) -> None:
    headers = {**JSON, "Content-Length": str(BODY_BYTES_MAX + 1)}
    response = api.post(f"{KEY}/entries", content=b"{}", headers=headers)
    assert_problem(response, 413, "BODY_TOO_LARGE")


def test_a_body_that_grows_above_the_limit_is_cut_off() -> None:
    api = ApiClient()
    [layer] = [layer for layer in api.app.user_middleware if "bytes_max" in layer.kwargs]
    layer.kwargs["bytes_max"] = 64

    async def chunks() -> object:
        for _ in range(8):
            yield b" " * 16

    response = api.post(f"{KEY}/entries", content=chunks(), headers=JSON)
    assert_problem(response, 413, "BODY_TOO_LARGE")


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
def test_what_is_no_http_request_passes_the_layers_untouched(kind: str) -> None:
    seen: list[Scope] = []

    async def inner(scope: Scope, _receive: object, _send: object) -> None:
        seen.append(scope)

    async def receive() -> Message:
        return {}

    async def send(_message: Message) -> None:
        return None

    layers = RequestId(BodyLimit(RawPath(inner), 1))
    asyncio.run(layers({"type": kind, "path": "/a"}, receive, send))
    assert seen == [{"type": kind, "path": "/a"}]


def test_a_store_that_takes_nothing_is_a_503_that_says_when_to_come_back(api: ApiClient) -> None:
    api.store.closed_by = StoreUnavailable("draining", retry_after_s=3)
    response = api.get(KEY)
    problem = assert_problem(response, 503, "NOT_ACCEPTING")
    assert (response.headers["retry-after"], problem["retryable"], problem["detail"]) == (
        "3",
        True,
        "draining",
    )


def test_a_store_that_needs_a_restart_promises_nothing(api: ApiClient) -> None:
    api.store.closed_by = StoreUnavailable("the disk failed")
    response = api.get("/readyz")
    assert assert_problem(response, 503, "NOT_ACCEPTING")["retryable"] is False
    assert "retry-after" not in response.headers
    assert api.get("/healthz").json() == {"status": "ok"}


def test_a_ready_store_is_told(api: ApiClient) -> None:
    assert api.get("/readyz").json() == {"status": "ready"}


def test_a_defect_is_a_500_that_claims_nothing(api: ApiClient) -> None:
    api.store.engine = None  # type: ignore[assignment]
    problem = assert_problem(api.get(KEY), 500, "INTERNAL")
    assert problem["side_effects"] == "unknown"


def test_the_root_leads_to_the_page_that_explains_the_api(api: ApiClient) -> None:
    response = api.get("/")
    assert (response.status_code, response.headers["location"]) == (307, "/docs")
    page = api.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "http://" not in page.text
    assert "https://" not in page.text


def test_the_asyncapi_document_is_served_and_the_page_links_it(api: ApiClient) -> None:
    response = api.get("/asyncapi.json")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json()["channels"]["websocket"]["address"] == "/v1/ws"
    page = api.get("/docs").text
    assert 'href: "/asyncapi.json"' in page
    assert 'href: "/metrics"' in page


@pytest.mark.parametrize("path", ["/v1/streams/s/groups/g:ack", "/v1/read", "/v1/streams/s/entries:trim"])
def test_a_body_has_a_bounded_number_of_members_and_items(
    path: str,
) -> None:
    body = {str(number): number for number in range(REQUEST_ELEMENTS_MAX + 1)}
    problem = assert_problem(ApiClient.with_race().post(path, body), 413, "LIMIT_EXCEEDED")
    assert f"at most {REQUEST_ELEMENTS_MAX} are allowed" in problem["detail"]
