"""HEAD works wherever GET does: it returns the same status and headers, has no body, does not wait and
changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from starlette.routing import Route

from tailrace.api.application import create_api
from tests.support.api_client import GROUP, KEY, ApiClient, the_document
from tests.support.engine_store import EngineStore
from tests.support.server_process import ServerProcess, running_server

OWN: Final = "/v1/streams/race%3Afrance"
"""The path whose HEAD is an operation of its own."""

OF_THE_MOMENT: Final = {"date", "x-request-id", "content-length"}
"""Headers that may differ between two answers; idle times, for one, grow."""

GETS: Final = {
    name: operation for name, operation in the_document().operations.items() if operation.method == "GET"
}
PAGES: Final = ("/", "/docs", "/openapi.json", "/asyncapi.json", "/metrics", "/problems/noperm")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("head")) as running:
        yield running


@pytest.fixture
def client(server: ServerProcess) -> Iterator[httpx.Client]:
    """A client of one connection, so that an answer with a body too many would spoil the next."""
    limits = httpx.Limits(max_connections=1)
    with httpx.Client(base_url=server.base_url, timeout=20, limits=limits) as opened:
        opened.delete(OWN)
        for ms, rider in ((1692632086370, "Castilla"), (1692632094485, "Norem")):
            opened.post(
                f"{OWN}/entries", json={"fields": {"rider": rider}, "id": f"{ms}-0"}
            ).raise_for_status()
        opened.put(f"{OWN}/groups/judges", json={"after": "0"}).raise_for_status()
        read = {"group": "judges", "consumer": "alice", "streams": [{"key": "race:france"}], "count": 1}
        opened.post("/v1/read-group", json=read).raise_for_status()
        yield opened


def compared(response: httpx.Response) -> tuple[int, dict[str, str]]:
    return response.status_code, {
        name: value for name, value in response.headers.items() if name not in OF_THE_MOMENT
    }


def both(client: httpx.Client, path: str, query: Any = None) -> tuple[httpx.Response, httpx.Response]:
    """The head of the answer to GET, and the answer to HEAD."""
    with client.stream("GET", path, params=query) as got:
        pass
    head = client.head(path, params=query)
    assert head.content == b""
    return got, head


def test_every_route_for_get_is_walked() -> None:
    app = create_api(EngineStore())
    routes = [route for route in (*app.routes, *app.state.routes) if isinstance(route, Route)]
    paths = {route.path for route in routes if "GET" in (route.methods or ())}
    assert paths - {operation.path for operation in GETS.values()} == set(PAGES) - {
        "/metrics",
        "/problems/noperm",
    } | {"/v1/ws"}


@pytest.mark.parametrize("name", [name for name in GETS if GETS[name].path != "/v1/streams/{key}"])
def test_the_head_of_an_operation_is_that_of_its_get(client: httpx.Client, name: str) -> None:
    request = GETS[name].example_request()
    got, head = both(client, request.path, request.query or None)
    status, headers = compared(got)
    headers.pop("transfer-encoding", None)
    assert compared(head) == (status, headers)
    assert ("content-length" in head.headers) is ("content-length" in got.headers)


@pytest.mark.parametrize("name", [name for name in GETS if not GETS[name].is_endless])
def test_the_length_in_a_head_is_that_of_the_body(name: str) -> None:
    if GETS[name].path == "/v1/streams/{key}":
        return
    api, request = ApiClient.with_race(), GETS[name].example_request()
    got, head = (api.request(method, request.path, **request.options) for method in ("GET", "HEAD"))
    assert head.headers.get("content-length") == got.headers.get("content-length")
    assert head.content == b""


@pytest.mark.parametrize("path", PAGES)
def test_the_head_of_a_page_is_that_of_its_get(client: httpx.Client, path: str) -> None:
    got, head = both(client, path)
    assert compared(head) == compared(got)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/v1/nowhere", None),
        ("/problems/nothing", None),
        ("/v1/streams/race:spain", None),
        (f"{OWN}/entries/1-0", None),
        (f"{OWN}/entries", {"cuont": "1"}),
        (f"{OWN}/entries", {"start": "1-2-3"}),
        (f"{OWN}/entries:tail", {"group": "nobody", "consumer": "bob"}),
        (f"{OWN}/entries:tail", {"group": "judges"}),
        (f"{OWN}/entries:tail", {"after": "1-2-3"}),
        (f"{OWN}/entries:tail", {"group": "judges", "consumer": "bob", "after": "1-2-3"}),
        ("/v1/read", None),
        ("/v1/ws", None),
    ],
)
def test_a_refusal_has_the_same_head(client: httpx.Client, path: str, query: Any) -> None:
    got, head = both(client, path, query)
    assert got.status_code >= 400
    assert compared(head) == compared(got)


def test_a_head_of_a_tail_reads_nothing_from_the_group_and_creates_no_consumer(client: httpx.Client) -> None:
    paths = [f"{OWN}/entries:tail?", "/v1/tail?stream=race:france&"]
    before = [client.get(f"{OWN}/groups/judges").json(), client.get(f"{OWN}/groups/judges/pending").json()]
    for path in paths:
        for query in (
            "group=judges&consumer=bob",
            "group=judges&consumer=bob&claim_min_idle_ms=0&noack=true",
        ):
            head = client.head(path + query)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-type"].startswith("text/event-stream")
    after = [client.get(f"{OWN}/groups/judges").json(), client.get(f"{OWN}/groups/judges/pending").json()]
    assert [part.get("consumers") for part in after] == [part.get("consumers") for part in before]
    assert after[0]["last_delivered_id"] == before[0]["last_delivered_id"]
    assert after[0]["pending"] == before[0]["pending"] == 1


def test_a_head_does_not_wait_and_holds_nothing_open() -> None:
    # In process under a fixed clock: a request that waited would never be answered.
    api = ApiClient.with_race()
    for path in (
        f"{KEY}/entries?after=$&wait_ms=60000",
        f"{KEY}/entries:tail",
        "/v1/tail?stream=race:france",
    ):
        assert api.request("HEAD", path).status_code == 200
    waited = api.request("HEAD", f"{KEY}/entries?after=$", headers={"Prefer": "wait=60"})
    assert (waited.status_code, waited.headers["preference-applied"]) == (200, "wait=60")
    assert api.app.state.open_limits.event_streams.open_count == 0
    assert api.request("HEAD", f"{GROUP}/consumers").status_code == 200


def test_a_head_of_an_export_ends_without_reading_all_of_it() -> None:
    api = ApiClient.with_race()
    head = api.request("HEAD", f"{KEY}/entries:export")
    assert (head.status_code, head.headers["content-type"], head.content) == (
        200,
        "application/x-ndjson",
        b"",
    )


def test_the_stream_s_own_head_stays_as_it_is(client: httpx.Client) -> None:
    head = client.head(OWN)
    assert (head.status_code, head.headers["x-stream-length"]) == (200, "2")


def test_the_document_lists_head_only_where_it_is_an_operation_of_its_own() -> None:
    heads = [name for name, operation in the_document().operations.items() if operation.method == "HEAD"]
    assert heads == ["head_stream"]


def test_where_get_is_allowed_the_header_allow_names_head(client: httpx.Client) -> None:
    refused = client.post(f"{OWN}/length")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert client.head("/v1/read").headers["allow"] == "POST"


def test_a_head_is_counted_and_logged_under_its_operation(tmp_path: Path) -> None:
    with running_server(tmp_path) as server, httpx.Client(base_url=server.base_url, timeout=20) as client:
        client.head("/v1/limits")
        figures = client.get("/metrics").text
        assert re.search(r'tailrace_requests_total\{operation="get_limits",status="200"\} 1\.0', figures)
        assert any(record.get("method") == "HEAD" for record in server.log_records)
