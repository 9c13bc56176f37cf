"""The HTTP API over the real engine, in this process: the tests of `api` send requests to it.

Owns the example state: the race of the guide, whose first two entries a group has read.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any, Self

import httpx

from tailrace.api.application import create_api
from tailrace.core.commands import Append, CreateGroup, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.stream_id import make_id
from tests.support.documented import Document
from tests.support.engine_store import START_MS, EngineStore

VERSION = "1.2.3"
KEY = "/v1/streams/race:france"
GROUP = f"{KEY}/groups/judges"
JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}

FIRST, SECOND, THIRD = "1692632086370-0", "1692632094485-0", "1692632102976-0"
IDLE_MS = 60_000
"""How many milliseconds ago the first two entries of the race were delivered to alice."""

_RACE = (
    (1_692_632_086_370, b"rider Castilla speed 30.2 position 1 location_id 1"),
    (1_692_632_094_485, b"rider Norem speed 28.8 position 3 location_id 1"),
    (1_692_632_102_976, b"rider Prickett speed 29.7 position 2 location_id 1"),
)


@cache
def the_document() -> Document:
    """Return the OpenAPI document, which is the same for every application of the API."""
    return Document(create_api(EngineStore(), version=VERSION).openapi())


class ApiClient:
    """Sends requests to one application. An unexpected exception becomes the 500 that a client would see."""

    def __init__(self) -> None:
        self.store = EngineStore()
        self.app = create_api(self.store, version=VERSION)

    @classmethod
    def with_race(cls) -> Self:
        """Return a client of the race: alice of the group judges has two of its three entries pending."""
        client = cls()
        now_ms = client.store.now_ms
        client.store.now_ms = START_MS - IDLE_MS
        for ms, words in _RACE:
            fragment = fragment_from_flat(words.split())
            client.run(Append(b"race:france", (fragment,), (make_id(ms, 0),)))
        client.run(CreateGroup(b"race:france", b"judges", 0))
        source = ReadFrom(b"race:france", Special.NEW)
        client.run(ReadGroup(b"judges", b"alice", (source,), ReadLimits(count=2)))
        client.store.now_ms = now_ms
        return client

    def run(self, command: Any) -> Any:
        """Execute a command in the engine, without the API."""
        return asyncio.run(self.store.execute(command))

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Send one request, and check that the document lists the status and code of the response."""
        response = asyncio.run(self._send(method, url, options))
        the_document().assert_foresees(response)
        return response

    async def _send(self, method: str, url: str, options: dict[str, Any]) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://tailrace") as client:
            return await client.request(method, url, **options)

    def get(self, url: str, **options: Any) -> httpx.Response:
        return self.request("GET", url, **options)

    def post(self, url: str, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
        return self.request("POST", url, **options)

    def put(self, url: str, body: Any = None, **options: Any) -> httpx.Response:
        if body is not None:
            options["json"] = body
        return self.request("PUT", url, **options)

    def delete(self, url: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", url, **options)


def assert_problem(response: httpx.Response, status: int, code: str) -> Any:
    """Check that `response` is the problem with this status and code, and return its members."""
    assert (response.status_code, response.json().get("code")) == (status, code), response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["request_id"] == response.headers["x-request-id"]
    return problem
