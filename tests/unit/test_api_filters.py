"""Reads of one stream with a filter: what a page has, how a client continues, and what bounds one request."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from random import Random
from typing import Any

import httpx
import pytest

from tailrace.core.commands import Append, Command
from tailrace.core.filters import compile_filter
from tailrace.core.limits import FILTER_SCAN_BYTES_MAX, FILTER_SCAN_ENTRIES_MAX, FILTER_STEP_ENTRIES
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import Reply
from tests.support.api_client import FIRST, KEY, SECOND, THIRD, ApiClient, assert_problem
from tests.support.naive_filter import random_entry, random_filter

ENTRIES = f"{KEY}/entries"
SEED = 5


def page(api: ApiClient, text: str, path: str = ENTRIES, **parameters: Any) -> dict[str, Any]:
    query = httpx.QueryParams({"filter": text, **parameters})
    response = api.get(f"{path}?{query}")
    assert response.status_code == 200, response.text
    content: dict[str, Any] = response.json()
    assert content["matched"] == len(content["entries"])
    return content


def ids(content: dict[str, Any]) -> list[str]:
    return [entry["id"] for entry in content["entries"]]


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


@pytest.fixture(scope="module")
def long_api() -> ApiClient:
    """A stream with more entries than one request examines: number n has the field n."""
    api = ApiClient()
    most = FILTER_SCAN_ENTRIES_MAX + 2 * FILTER_STEP_ENTRIES
    for start in range(1, most + 1, 10_000):
        numbers = range(start, min(start + 10_000, most + 1))
        fragments = tuple(fragment_from_flat([b"n", b"%d" % number]) for number in numbers)
        api.run(Append(b"race:france", fragments, tuple(number << 64 for number in numbers)))
    return api


def test_a_filter_that_is_not_utf_8_is_refused_with_its_place(api: ApiClient) -> None:
    response = api.get(f"{ENTRIES}?filter=%22%C3%A9%22%20%3D%3D%20%22%FF%22")
    detail = assert_problem(response, 400, "INVALID_FILTER")["detail"]
    assert detail.endswith(r'at character 9: the byte is not UTF-8; write bytes as text, such as `b"\xff"`')
    assert api.get(f"{ENTRIES}?filter=%22%EF%BF%BD%22%20%3D%3D%20%22%22").status_code == 200


def test_a_range_with_a_filter_has_the_entries_that_match_and_the_counts(api: ApiClient) -> None:
    content = page(api, "double(fields.speed) > 29")
    assert ids(content) == [FIRST, THIRD]
    assert (content["next"], content["scanned"]) == (None, 3)


def test_a_range_with_a_filter_can_be_read_backwards_and_within_bounds(api: ApiClient) -> None:
    assert ids(page(api, "double(fields.speed) > 29", order="desc")) == [THIRD, FIRST]
    assert ids(page(api, "true", start=f"({FIRST}", end=f"({THIRD}")) == [SECOND]


def test_a_page_ends_at_its_count_and_next_is_the_last_examined_id(api: ApiClient) -> None:
    content = page(api, "double(fields.speed) > 29", count=1)
    assert (ids(content), content["next"], content["scanned"]) == ([FIRST], FIRST, 1)
    content = page(api, "double(fields.speed) > 29", count=1, start=f"({FIRST}")
    assert (ids(content), content["next"], content["scanned"]) == ([THIRD], None, 2)


def test_a_page_without_a_filter_has_no_counts(api: ApiClient) -> None:
    assert api.get(ENTRIES).json().keys() == {"entries", "next"}


def test_a_missing_stream_has_no_entries_and_nothing_was_examined(api: ApiClient) -> None:
    content = page(api, "true", path="/v1/streams/none/entries")
    assert content == {"entries": [], "next": None, "scanned": 0, "matched": 0}


def test_a_bad_filter_is_refused_with_its_place(api: ApiClient) -> None:
    response = api.get(f"{ENTRIES}?{httpx.QueryParams({'filter': 'fields.rider = 1'})}")
    assert_problem(response, 400, "INVALID_FILTER")
    problem = response.json()
    assert problem["offset"] == "13"
    assert problem["excerpt"] == "fields.rider = 1\n             ^"
    assert "`==`" in problem["detail"]


def test_a_filter_that_is_too_long_is_refused(api: ApiClient) -> None:
    response = api.get(f"{ENTRIES}?{httpx.QueryParams({'filter': 'true||' * 1000})}")
    assert_problem(response, 400, "INVALID_PARAMETER")


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_all_pages_together_have_each_matching_entry_once_and_examine_each_entry_once(order: str) -> None:
    random = Random(SEED)
    api = ApiClient()
    entries = [random_entry(random) for _ in range(3 * FILTER_STEP_ENTRIES // 2)]
    fragments = tuple(fragment_from_flat([item for pair in entry for item in pair]) for entry in entries)
    api.run(Append(b"race:france", fragments, tuple((number + 1) << 64 for number in range(len(entries)))))
    for _ in range(4):
        text = random_filter(random)
        flags = compile_filter(text).flags(fragments)
        expected = [f"{number + 1}-0" for number, flag in enumerate(flags) if flag]
        found, scanned = _all_pages(api, text, order, random)
        assert found == (expected if order == "asc" else expected[::-1]), f"seed {SEED}: {text}"
        assert scanned == len(entries), f"seed {SEED}: {text}"


def _all_pages(api: ApiClient, text: str, order: str, random: Random) -> tuple[list[str], int]:
    found: list[str] = []
    scanned = 0
    bound: dict[str, str] = {}
    while True:
        content = page(api, text, order=order, count=random.choice((37, 400, 10_000)), **bound)
        found += ids(content)
        scanned += content["scanned"]
        if content["next"] is None:
            return found, scanned
        bound = {"end" if order == "desc" else "start": f"({content['next']}"}


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_one_request_examines_a_limited_number_of_entries_and_next_continues(
    long_api: ApiClient, order: str
) -> None:
    content = page(long_api, "fields.n == '0'", order=order)
    most = FILTER_SCAN_ENTRIES_MAX
    last = f"{most}-0" if order == "asc" else f"{2 * FILTER_STEP_ENTRIES + 1}-0"
    assert content == {"entries": [], "next": last, "scanned": most, "matched": 0}
    bound = {"start" if order == "asc" else "end": f"({last}"}
    rest = page(long_api, "fields.n == '0'", order=order, **bound)
    assert rest == {"entries": [], "next": None, "scanned": 2 * FILTER_STEP_ENTRIES, "matched": 0}


def test_one_request_examines_a_limited_number_of_bytes(api: ApiClient) -> None:
    large = fragment_from_flat([b"n", b"x" * (FILTER_SCAN_BYTES_MAX // 8)])
    for number in range(1, 11):
        api.run(Append(b"large", (large,), (number << 64,)))
    content = page(api, "fields.n == ''", path="/v1/streams/large/entries")
    assert (content["scanned"], content["next"]) == (8, "8-0")


def test_a_read_after_a_position_skips_what_does_not_match(api: ApiClient) -> None:
    content = page(api, "double(fields.speed) > 29", after=FIRST)
    assert (ids(content), content["next"], content["scanned"]) == ([THIRD], THIRD, 2)
    content = page(api, "fields.rider == 'Norem'", after=FIRST)
    assert (ids(content), content["next"], content["scanned"]) == ([SECOND], THIRD, 2)
    content = page(api, "true", after=FIRST, count=1)
    assert (ids(content), content["next"], content["scanned"]) == ([SECOND], SECOND, 1)


def test_a_wait_that_finds_no_match_ends_with_the_position_after_what_it_examined(api: ApiClient) -> None:
    content = page(api, "false", after="0", wait_ms=1)
    assert (ids(content), content["next"], content["scanned"]) == ([], THIRD, 3)


def test_a_wait_goes_on_past_entries_that_do_not_match(api: ApiClient) -> None:
    numbers = iter((1, 2, 3))

    def append_one() -> None:
        fragment = fragment_from_flat([b"n", b"%d" % next(numbers)])
        api.store.engine.execute(Append(b"race:france", (fragment,), None), api.store.now_ms)

    api.store.while_waiting = append_one
    content = page(api, "fields.n == '3'", after="$", wait_ms=60_000)
    assert [entry["fields"] for entry in content["entries"]] == [{"n": "3"}]
    assert content["scanned"] == 3
    assert len(api.store.waits) == 3


def test_other_requests_are_served_while_many_clients_scan(long_api: ApiClient) -> None:
    """Between two appends, all scans together take no more than a few steps."""

    async def served() -> list[int]:
        transport = httpx.ASGITransport(long_api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            url = f"{ENTRIES}?{httpx.QueryParams({'filter': 'false'})}"
            scans = [asyncio.create_task(client.get(url)) for _ in range(20)]
            turns = 0
            while not all(scan.done() for scan in scans):
                await asyncio.sleep(0)
                turns += 1
            return [turns, *(scan.result().json()["scanned"] for scan in scans)]

    turns, *scanned = asyncio.run(served())
    assert scanned == [FILTER_SCAN_ENTRIES_MAX] * 20
    assert turns >= sum(scanned) // FILTER_STEP_ENTRIES


def test_a_scan_ends_when_its_client_disconnects(long_api: ApiClient) -> None:
    async def scene() -> list[str]:
        gone = asyncio.Event()
        sent: list[str] = []

        async def receive() -> dict[str, str]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message["type"])

        query = str(httpx.QueryParams({"filter": "false"})).encode()
        path = ENTRIES.encode()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": ENTRIES,
            "raw_path": path,
            "root_path": "",
            "query_string": query,
            "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        before = len(reads)
        asking = asyncio.create_task(long_api.app(scope, receive, send))
        for _ in range(10_000):
            await asyncio.sleep(0)
            if len(reads) > before + 2:
                break
        gone.set()
        await asking
        assert len(reads) - before < FILTER_SCAN_ENTRIES_MAX // FILTER_STEP_ENTRIES
        return sent

    reads: list[Command] = []
    execute = long_api.store.execute

    async def counted(command: Command) -> Reply:
        reads.append(command)
        return await execute(command)

    long_api.store.execute = counted  # type: ignore[method-assign]
    try:
        assert asyncio.run(scene()) == []
    finally:
        long_api.store.execute = execute  # type: ignore[method-assign]
