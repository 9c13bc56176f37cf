"""Which pages may use the server, what they may send and read, and which host names the server accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tailrace.api.access.origins import ANSWER_HEADERS, METHODS, REQUEST_HEADERS, is_unbindable
from tailrace.api.access.security import OpenAccess, Security
from tailrace.api.application import create_api
from tailrace.api.http.pages import content_security_policy
from tests.support.api_client import the_document
from tests.support.engine_store import EngineStore

APP, OTHER = "https://app.example", "https://evil.example"
OWN = "http://localhost:8080"


class Pages:
    """The surface, without tokens, as pages of browsers see it."""

    def __init__(self, *allowed: str, headers: tuple[str, ...] = ()) -> None:
        security = Security(OpenAccess(), allowed_origins=allowed, allowed_headers=headers)
        self._app = create_api(EngineStore(), version="1", security=security)

    def request(self, method: str, path: str, headers: Mapping[str, str], base: str = OWN) -> httpx.Response:
        return asyncio.run(self._send(method, path, headers, base))

    async def _send(self, method: str, path: str, headers: Mapping[str, str], base: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self._app), base_url=base) as client:
            return await client.request(method, path, headers=headers)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.request("GET", path, {name.replace("_", "-"): value for name, value in headers.items()})

    def preflight(self, origin: str, method: str = "POST", headers: str = "content-type") -> httpx.Response:
        asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
        return self.request("OPTIONS", "/v1/streams/s/entries", {"Origin": origin, **asked})


def code_of(response: httpx.Response) -> tuple[int, Any]:
    return response.status_code, response.json().get("code")


# --- origins -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [OTHER, "null", "http://localhost:3000", "http://localhost", ""])
def test_by_default_only_the_server_s_own_pages_are_served(origin: str) -> None:
    pages = Pages()
    assert code_of(pages.get("/v1/streams", Origin=origin)) == (403, "ORIGIN_NOT_ALLOWED")
    own = pages.get("/v1/streams", Origin=OWN)
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers


@pytest.mark.parametrize(
    "origin", [OTHER, f"{APP}.evil.example", "http://app.example", f"{APP}:8443", APP.upper()]
)
def test_an_allowed_origin_is_allowed_to_the_letter(origin: str) -> None:
    pages = Pages(APP)
    allowed = pages.get("/v1/streams", Origin=APP)
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, APP)
    assert "origin" in allowed.headers["vary"].lower()
    refused = pages.get("/v1/streams", Origin=origin)
    assert code_of(refused) == (403, "ORIGIN_NOT_ALLOWED")
    assert "access-control-allow-origin" not in refused.headers
    assert code_of(pages.preflight(origin)) == (403, "ORIGIN_NOT_ALLOWED")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_that_a_foreign_page_caused_without_an_origin_is_refused(site: str) -> None:
    pages = Pages()
    tail = "/v1/streams/s/entries:tail?group=g&consumer=c"
    assert code_of(pages.get(tail, Sec_Fetch_Site=site)) == (403, "ORIGIN_NOT_ALLOWED")
    assert pages.get("/docs", Sec_Fetch_Site=site).status_code == 200
    for own in ("same-origin", "none"):
        assert pages.get("/v1/streams", Sec_Fetch_Site=own).status_code == 200


def test_a_preflight_is_told_what_the_features_need() -> None:
    answer = Pages(APP).preflight(APP, "PUT", ", ".join(REQUEST_HEADERS))
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == APP
    assert set(answer.headers["access-control-allow-methods"].split(", ")) == set(METHODS)
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    ("method", "headers", "named"),
    [("PATCH", "", "the method 'PATCH'"), ("POST", "accept, X-Unheard-Of", "the header 'X-Unheard-Of'")],
)
def test_a_preflight_for_more_is_refused_with_a_problem_that_names_it(
    method: str, headers: str, named: str
) -> None:
    answer = Pages(APP).preflight(APP, method, headers)
    assert code_of(answer) == (400, "BAD_REQUEST")
    assert named in answer.json()["detail"]
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert "access-control-allow-origin" not in answer.headers


def test_a_header_that_the_operator_names_is_allowed() -> None:
    pages = Pages(APP, headers=("X-Requested-With",))
    assert pages.preflight(APP, headers="x-requested-with, upstash-telemetry-sdk").status_code == 200
    assert pages.preflight(APP, headers="x-requested-by").status_code == 400


def test_every_header_and_method_of_the_document_is_allowed_or_exposed() -> None:
    operations = the_document().operations.values()
    sent = {
        parameter["name"].lower()
        for operation in operations
        for parameter in operation.parameters
        if parameter["in"] == "header"
    }
    shown = {
        name.lower()
        for operation in operations
        for answer in operation.responses.values()
        for name in answer.get("headers", {})
    }
    assert sent <= {name.lower() for name in REQUEST_HEADERS}
    # Every page may read `Cache-Control`.
    assert shown - {"cache-control"} <= {name.lower() for name in ANSWER_HEADERS}
    assert {operation.method for operation in operations} <= set(METHODS)


def test_an_error_can_be_read_by_an_allowed_page() -> None:
    refused = Pages(APP).get("/v1/streams?cuont=1", Origin=APP)
    assert refused.status_code == 400
    assert refused.headers["access-control-allow-origin"] == APP
    assert set(ANSWER_HEADERS) <= set(refused.headers["access-control-expose-headers"].split(", "))


# --- names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "is_good"),
    [
        (b"localhost", True),
        (b"localhost:8080", True),
        (b"LOCALHOST", True),
        (b"a.localhost:1", True),
        (b"127.0.0.1:8080", True),
        (b"[::1]:8080", True),
        (b"192.0.2.1", True),
        (b"rebound.example", False),
        (b"gateway:8080", True),
        (b"localhost.example", False),
        (b"127.0.0.1.example", False),
        (b"notlocalhost.", False),
        (b"localhost@evil.example", False),
        (b"", False),
        (b"\xff", False),
    ],
)
def test_a_name_that_somebody_could_own_is_told_from_one_that_nobody_can(host: bytes, is_good: bool) -> None:  # noqa: FBT001
    assert is_unbindable(host) is is_good


def test_a_rebound_page_is_refused_though_its_origin_is_its_host() -> None:
    base = "http://rebound.example:8080"
    answer = Pages().request("GET", "/v1/streams", {"Origin": base, "Sec-Fetch-Site": "same-origin"}, base)
    assert code_of(answer) == (421, "HOST_NOT_ALLOWED")


def test_the_name_of_an_allowed_origin_is_a_name_of_the_server() -> None:
    assert Pages(APP).request("GET", "/v1/streams", {}, APP).status_code == 200


# --- pages ---------------------------------------------------------------------------------------------


def test_a_page_may_run_what_stands_in_it_and_nothing_else() -> None:
    page = Pages().get("/docs")
    policy = page.headers["content-security-policy"]
    assert policy == content_security_policy(page.text)
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["x-frame-options"] == "DENY"
    assert "style=" not in page.text
    assert not any(f" on{event}=" in page.text for event in ("click", "load", "error", "input", "submit"))
