"""Incarnations behind a gateway, as the source of tailrace-spark asks for them, without a Spark session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tailrace.api.wire.filtering import ScanTurns
from tailrace.api.wire.ndjson import EXPORT_PAGE_BYTES, LineForm, export_page, exported
from tailrace.app.remote.opening import opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tailrace.core.commands import Range
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import RangeReply
from tailrace_client import Tailrace
from tailrace_spark.errors import DataLoss
from tailrace_spark.source.checkpoint import Position
from tailrace_spark.source.options import read_options
from tailrace_spark.source.parts import Part, parts_of
from tailrace_spark.source.requests import Place, Selection, SourceStream
from tests.support.engines import RedisOnPort, executable_of
from tests.support.live_gateway import LiveGateway, live_gateway
from tests.support.redis_server import required

_numbers = count()


@pytest.fixture(scope="module", params=["redis-8.10.2", "redis-7.0.15"])
def redis(request: pytest.FixtureRequest) -> Iterator[RedisOnPort]:
    executable = executable_of(request.param)
    if executable is None and not required():
        pytest.skip(f"{request.param} is not installed")
    assert executable is not None
    with RedisOnPort(executable) as server:
        yield server


@pytest.fixture(scope="module")
def gateway(redis: RedisOnPort) -> Iterator[LiveGateway]:
    with live_gateway(redis.url) as running:
        yield running


@pytest.fixture
def key(redis: RedisOnPort) -> str:
    """A stream of ten entries, which another client of the engine appended."""
    name = f"incarnations:{next(_numbers)}"
    fill(redis, name, range(1, 11))
    return name


def fill(redis: RedisOnPort, key: str, times: range) -> None:
    for ms in times:
        redis.run("XADD", key, f"{ms}-0", "n", ms)


def get(gateway: LiveGateway, path: str) -> Any:
    return httpx.get(f"{gateway.url}/v1/streams/{path}").json()


def export(gateway: LiveGateway, key: str) -> httpx.Response:
    return httpx.get(f"{gateway.url}/v1/streams/{key}/entries:export").raise_for_status()


def test_an_export_names_no_incarnation_of_a_missing_stream(gateway: LiveGateway, key: str) -> None:
    assert "x-incarnation" not in export(gateway, f"{key}:missing").headers


def test_an_export_ends_if_the_stream_is_created_again_between_two_pages(
    redis: RedisOnPort, key: str
) -> None:
    redis.run("XADD", key, "11-0", "n", "x" * EXPORT_PAGE_BYTES)  # the first page ends with it
    fill(redis, key, range(12, 14))
    query = Range(key.encode())

    async def lines(*, again: bool) -> list[bytes]:
        async with opened(Settings(store=redis.url)) as (link, engine):
            store = RemoteStore()
            store.use(link, engine)
            first = await store.execute(export_page(query))
            assert isinstance(first, RangeReply)
            assert first.incarnation
            if again:
                redis.run("DEL", key)
                fill(redis, key, range(1, 20))
            pages = exported(store, query, first, LineForm(Shape.NATURAL), ScanTurns())
            return b"".join([page async for page in pages]).splitlines()

    assert len(asyncio.run(lines(again=False))) == 13
    assert len(asyncio.run(lines(again=True))) == 11


def test_a_stream_has_one_incarnation_on_every_way_until_it_is_deleted(
    redis: RedisOnPort, gateway: LiveGateway, key: str
) -> None:
    first = get(gateway, key)["incarnation"]
    assert first
    head = httpx.head(f"{gateway.url}/v1/streams/{key}")
    assert head.headers["x-incarnation"] == first
    assert get(gateway, f"{key}/entries:split?parts=2")["incarnation"] == first
    assert get(gateway, f"{key}/entries:seek?count=2")["incarnation"] == first
    assert export(gateway, key).headers["x-incarnation"] == first
    assert get(gateway, key)["groups"] == 0
    redis.run("DEL", key)
    assert "x-incarnation" not in httpx.head(f"{gateway.url}/v1/streams/{key}").headers
    fill(redis, key, range(11, 13))
    second = get(gateway, f"{key}/entries:split?parts=2")["incarnation"]
    assert second not in {first, None}
    assert get(gateway, key)["incarnation"] == second


@pytest.mark.parametrize("after", ["10-0", "20-0"], ids=["its last id", "not reached"])
def test_a_position_that_a_subscription_chose_is_compared_once_the_stream_has_reached_it(
    gateway: LiveGateway, redis: RedisOnPort, key: str, after: str
) -> None:
    with connect(gateway.websocket_url, subprotocols=[Subprotocol("tailrace.v1.json")]) as connection:
        connection.recv(timeout=5)
        place = {"key": key, "after": after}
        connection.send(json.dumps({"id": 1, "op": "subscribe", "streams": [place], "credit": 9}))
        assert json.loads(connection.recv(timeout=5))["ok"]["streams"] == [place]
        redis.run("DEL", key)
        fill(redis, key, range(1, 3))
        if after == "10-0":
            assert json.loads(connection.recv(timeout=5))["gap"]["from"] == after
        fill(redis, key, range(30, 31))
        ids: list[str] = []
        while "30-0" not in ids:
            ids += [entry["id"] for entry in json.loads(connection.recv(timeout=5))["entries"]]


def test_another_gateway_tells_the_same_incarnation(
    redis: RedisOnPort, gateway: LiveGateway, key: str
) -> None:
    first = get(gateway, key)["incarnation"]
    with live_gateway(redis.url) as other:
        assert get(other, key)["incarnation"] == first


def test_an_engine_that_is_out_of_memory_describes_the_stream_without_an_incarnation(
    redis: RedisOnPort, gateway: LiveGateway, key: str
) -> None:
    redis.run("CONFIG", "SET", "maxmemory", "1mb")
    try:
        described = get(gateway, key)
        planned = get(gateway, f"{key}/entries:split?parts=2")
        with Tailrace(gateway.url) as tailrace:
            head = tailrace.stream(key).head()
    finally:
        redis.run("CONFIG", "SET", "maxmemory", "0")
    assert head == (10, "1-0", "10-0", None)
    assert (described["length"], described.get("incarnation")) == (10, None)
    assert (planned["count"], planned.get("incarnation")) == (10, None)
    assert get(gateway, key)["incarnation"]


def source(gateway: LiveGateway, key: str) -> SourceStream:
    return SourceStream(read_options({"url": gateway.url, "stream": key}))


def test_the_source_of_spark_plans_and_reads_a_stream(gateway: LiveGateway, key: str) -> None:
    stream = source(gateway, key)
    look = stream.look()
    assert look is not None
    assert look.incarnation
    assert (look.start, look.last_id) == ("0-18446744073709551615", "10-0")
    ends = stream.part_ends(look.start, look.last_id, 3)
    position = Position("10-0", look.incarnation, ends=tuple(ends))
    lines = [
        block
        for part in parts_of({key: position}, {key: look.start})
        if isinstance(part, Part)
        for each in part.ranges
        for block in stream.lines(each.start, each.end)
    ]
    assert b"".join(lines).count(b"\n") == 10
    assert stream.page_end(look.start, 4) == "4-0"
    assert stream.count("5-0") == 5


def test_the_source_of_spark_notices_that_a_stream_was_created_again(
    redis: RedisOnPort, gateway: LiveGateway, key: str
) -> None:
    stream = source(gateway, key)
    look = stream.look()
    assert look is not None
    place = Place(key, "5-0", look.incarnation)
    Selection(stream.options).check_whole([place])
    redis.run("DEL", key)
    with pytest.raises(DataLoss, match="deleted"):
        Selection(stream.options).check_whole([place])
    fill(redis, key, range(1, 21))
    with pytest.raises(DataLoss, match="created again"):
        Selection(stream.options).check_whole([place])
