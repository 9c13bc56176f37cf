"""The HTTP API of a gateway, for the tests that know `tests.support.api_client.ApiClient`.

Owns the example state on an engine: the race of the guide, whose first two entries a group has read.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Self

import httpx

from tests.support.api_client import IDLE_MS, the_document

WITHIN_S = 60
"""More than any test waits."""


@cache
def _clients(base_url: str) -> httpx.Client:
    """The connections to one gateway, which all tests share."""
    return httpx.Client(base_url=base_url, timeout=WITHIN_S)


class GatewayClient:
    """Sends requests to the gateway at `base_url`, whose engine is emptied first."""

    base_url: ClassVar[str]

    def __init__(self) -> None:
        self.command("FLUSHALL")

    @classmethod
    def with_race(cls) -> Self:
        """Return a client of the race: alice of the group judges has two of its three entries pending."""
        client = cls()
        for line in (
            "1692632086370-0 rider Castilla speed 30.2 position 1 location_id 1",
            "1692632094485-0 rider Norem speed 28.8 position 3 location_id 1",
            "1692632102976-0 rider Prickett speed 29.7 position 2 location_id 1",
        ):
            client.command("XADD", "race:france", *line.split())
        client.command("XGROUP", "CREATE", "race:france", "judges", "0")
        client.command("XREADGROUP", "GROUP", "judges", "alice", "COUNT", "2", "STREAMS", "race:france", ">")
        ids = ("1692632086370-0", "1692632094485-0")
        client.command(
            *("XCLAIM", "race:france", "judges", "alice", "0", *ids),
            *("IDLE", str(IDLE_MS), "RETRYCOUNT", "1", "JUSTID"),
        )
        return client

    def command(self, *words: str) -> Any:
        """Return the result of a Redis command, which must succeed."""
        response = self.request("POST", "/v1/command", json=list(words))
        assert response.status_code == 200, response.text
        return response.json()["result"]

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Send one request, and check that the document lists the status and code of the response."""
        response = _clients(self.base_url).request(method, url, **options)
        the_document().assert_foresees(response)
        return response

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
