"""Filters at a running server: exports, tails over lost connections, and subscriptions to long streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from urllib.parse import quote

import httpx
import pytest

from tests.support.sse_client import open_tail
from tests.support.tails import tail_url
from tests.support.waiting_readers import Server

_numbers = count()
MANY = 5_000


@pytest.fixture(scope="module")
def api(base_url: str) -> Iterator[Server]:
    with Server(base_url) as client:
        yield client


@pytest.fixture
def key(api: Server) -> str:
    """A stream with MANY entries; entry n has the field n."""
    name = f"filters:{next(_numbers)}"
    lines = [json.dumps({"id": f"{n}-0", "fields": {"n": str(n)}}) for n in range(1, MANY + 1)]
    response = httpx.post(
        f"{api.base_url}/v1/streams/{name}/entries:import?shape=entry",
        content="\n".join(lines),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert response.status_code == 201, response.text
    return name


def test_an_export_with_a_filter_has_the_lines_that_match(api: Server, key: str) -> None:
    url = f"{api.base_url}/v1/streams/{key}/entries:export"
    lines = httpx.get(url, params={"filter": "int(fields.n) > 4990 || fields.n == '7'"}).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["7-0", *[f"{n}-0" for n in range(4991, 5001)]]
    assert httpx.get(url, params={"filter": "false", "shape": "fields"}).text == ""
    refused = httpx.get(url, params={"filter": "fields.n > 5"})
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_FILTER")


def test_a_tail_with_a_filter_moves_its_position_over_what_does_not_match(api: Server, key: str) -> None:
    wanted = quote("fields.n == 'last'")
    with open_tail(tail_url(api, key, f"after=0&filter={wanted}")) as tail:
        position = tail.opening.id
        while position != f"{MANY}-0":
            block = tail.next_block()
            assert not block.data
            position = block.id or position
    url = tail_url(api, key, f"after=0&filter={wanted}")
    with open_tail(url, **{"Last-Event-ID": position}) as tail:
        assert tail.opening.id == f"{MANY}-0"
        api.transaction(f"XADD {key} * n other", f"XADD {key} * n last")
        assert [entry["fields"] for entry in tail.next().data] == [{"n": "last"}]


def test_a_tail_of_a_group_takes_no_filter(api: Server, key: str) -> None:
    url = f"{api.base_url}/v1/streams/{key}/entries:tail?group=g&consumer=c&filter=true"
    refused = httpx.get(url)
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_PARAMETER")
    assert ":configure" in refused.json()["detail"]
