"""The slow log: which operations it records, with which data, and how it shows them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tailrace.app.observability.slow_log import CAPACITY, SlowLog, shape_of
from tailrace.app.observability.timing import COMMIT, WAIT, RequestTiming, TimedPhase
from tailrace.app.store.measured_engine import MeasuredEngine
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tests.support.server_process import ServerProcess, running_server

CONFIDED = "Castilla-17"
ENTRY = {"fields": {"rider": CONFIDED}}


@pytest.mark.parametrize(
    ("command", "shape"),
    [
        (
            c.Append(b"s", [b'{"a":"b"}', b'{"a":"cc"}'], ids=[5, 6]),
            {"command": "xadd", "keys": ["s"], "sizes": {"entries": 2, "bytes": 19}},
        ),
        (
            c.ReadGroup(
                b"g",
                b"secret",
                (c.ReadFrom(b"a", c.Special.NEW), c.ReadFrom(b"b", 7)),
                c.ReadLimits(count=3),
            ),
            {"command": "xreadgroup", "keys": ["a", "b"], "group": "g", "sizes": {"keys": 2, "count": 3}},
        ),
        (
            c.Acknowledge(b"s", b"g", (1, 2, 3)),
            {"command": "xack", "keys": ["s"], "group": "g", "sizes": {"ids": 3}},
        ),
        (
            c.Claim(b"s", b"g", b"secret", c.ClaimOptions(0, (1, 2))),
            {"command": "xclaim", "keys": ["s"], "group": "g", "sizes": {"ids": 2}},
        ),
        (c.CopyKey(b"a", b"b"), {"command": "copy", "keys": ["a", "b"], "sizes": {"keys": 2}}),
        (c.RenameKey(b"a", b"b"), {"command": "rename", "keys": ["a", "b"], "sizes": {"keys": 2}}),
        (c.StreamLength(b"\xff\n"), {"command": "xlen", "keys": ["\\xff "]}),
        (c.MatchKeys(b"secret*"), {"command": "keys"}),
    ],
)
def test_of_a_command_names_and_sizes_are_kept_and_no_value(
    command: c.Command, shape: dict[str, Any]
) -> None:
    assert shape_of(command) == shape


def test_only_the_last_ones_are_kept_and_the_newest_is_shown_first() -> None:
    log = SlowLog(0)
    for number in range(CAPACITY + 5):
        log.note(f"op{number}", None, (), engine_ns=1)
    shown = log.latest(3)
    assert [entry.operation for entry in shown] == ["op132", "op131", "op130"]
    assert [entry.id for entry in shown] == [133, 132, 131]
    assert len(log.latest(10 * CAPACITY)) == CAPACITY
    log.clear()
    assert (list(log.latest(10)), log.noted) == ([], CAPACITY + 5)


def test_many_commands_and_keys_take_no_more_room_than_a_few() -> None:
    log = SlowLog(0)
    log.note("pipeline", None, [c.CountKeys((b"k",) * 1000)] * 1000, engine_ns=1)
    (entry,) = log.latest(1)
    assert (entry.command_count, len(entry.commands)) == (1000, 8)
    assert entry.commands[0] == {"command": "exists", "keys": ["k"] * 8, "sizes": {"keys": 1000}}


def test_what_no_request_waits_for_is_noted_by_who_has_it_done() -> None:
    engine = MeasuredEngine(Engine(), SlowLog(0))
    engine.execute(c.KeyspaceSize(), 1)
    engine.execute_for("tick", c.ExpireIdempotencyKeys(), 1)
    engine.look_again(c.Read((c.ReadFrom(b"s", 0),)), 1)
    engine.execute_all([c.KeyspaceSize()] * 2, 1)
    noted = [(entry.operation, entry.command_count) for entry in engine.slow_log.latest(10)]
    assert noted == [("websocket", 2), ("waiting_reader", 1), ("tick", 1)]


def test_a_log_that_is_off_notes_nothing_however_long_it_takes() -> None:
    engine = MeasuredEngine(Engine(), SlowLog(-1))
    engine.execute_for("tick", c.ExpireIdempotencyKeys(), 1)
    assert engine.slow_log.noted == 0


def test_phases_count_up_to_an_instant() -> None:
    timing = RequestTiming()
    timing.phases = [TimedPhase(WAIT, 0, 10), TimedPhase(COMMIT, 10, 15), TimedPhase(WAIT, 20, 40)]
    assert (timing.spent_ns(WAIT, 100), timing.spent_ns(WAIT, 30), timing.spent_ns(WAIT, 15)) == (30, 20, 10)
    assert timing.spent_ns(COMMIT, 100) == 5


# --- over HTTP ---------------------------------------------------------------------------------------


def operations(server: ServerProcess, limit: int = 100) -> list[dict[str, Any]]:
    answer = httpx.get(f"{server.base_url}/v1/slow-log", params={"limit": limit})
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["operations"]
    return found


def noted(server: ServerProcess, request_id: str) -> dict[str, Any]:
    return next(each for each in operations(server) if each["request_id"] == request_id)


def test_both_ways_to_a_hot_route_are_noted_alike_and_without_values(tmp_path: Path) -> None:
    with running_server(tmp_path, "--slow-log-ms", "0") as server:
        url = f"{server.base_url}/v1/streams/race:slow/entries"
        httpx.post(url, json=ENTRY, headers={"x-request-id": "hot"})
        query = {"token": CONFIDED}
        documented = httpx.post(url, json=ENTRY, headers={"x-request-id": "documented", "x-other": CONFIDED})
        httpx.get(url, params=query, headers={"x-request-id": "refused"})
        hot, slow = noted(server, "hot"), noted(server, "documented")
        shown = httpx.get(f"{server.base_url}/v1/slow-log").text
    assert documented.status_code == 201
    for entry in (hot, slow):
        assert entry["operation"] == "xadd"
        assert entry["commands"] == [
            {"command": "xadd", "keys": ["race:slow"], "sizes": {"entries": 1, "bytes": 23}}
        ]
        assert (entry["engine_ms"] > 0, entry["commit_ms"] > 0, entry["other_ms"] > 0) == (True, True, True)
    assert CONFIDED not in shown


def test_what_a_read_waits_for_data_is_not_slow(tmp_path: Path) -> None:
    with running_server(tmp_path, "--slow-log-ms", "400", "--durability", "none") as server:
        url = f"{server.base_url}/v1/streams/s/entries"
        waited = httpx.get(url, params={"after": "$", "wait_ms": 1000}, timeout=10)
        assert waited.elapsed.total_seconds() >= 1
        assert operations(server) == []


def test_the_log_can_be_forgotten_and_goes_on(tmp_path: Path) -> None:
    with running_server(tmp_path, "--slow-log-ms", "0", "--durability", "none") as server:
        url = f"{server.base_url}/v1/slow-log"
        httpx.get(f"{server.base_url}/v1/limits")
        assert httpx.delete(url).status_code == 204
        shown = httpx.get(url).json()
    assert (shown["threshold_ms"], shown["capacity"]) == (0, CAPACITY)
    kept = [each for each in shown["operations"] if each["operation"] != "tick"]
    assert [each["operation"] for each in kept] == ["clear_slow_log"]
    assert kept[0]["id"] > 1


def test_a_server_that_notes_nothing_shows_nothing(tmp_path: Path) -> None:
    with running_server(tmp_path, "--slow-log-ms", "-1", "--durability", "none") as server:
        httpx.get(f"{server.base_url}/v1/limits")
        shown = httpx.get(f"{server.base_url}/v1/slow-log").json()
    assert (shown["threshold_ms"], shown["operations"]) == (-1, [])


def test_a_threshold_below_minus_one_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="slow-log-ms"), running_server(tmp_path, "--slow-log-ms", "-2"):
        pass


def test_a_client_that_sends_slowly_is_no_slow_operation(tmp_path: Path) -> None:
    async def drip(server: ServerProcess) -> None:
        body = b'{"fields":{"rider":"Castilla"}}'
        head = b"POST /v1/streams/s/entries HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head.replace(b": x", b": 127.0.0.1") + b"Content-Length: %d\r\n\r\n" % len(body))
        await writer.drain()
        await asyncio.sleep(1)  # the time that must not count
        writer.write(body)
        assert b" 201 " in await reader.readline()
        writer.close()

    with running_server(tmp_path, "--slow-log-ms", "400", "--durability", "none") as server:
        asyncio.run(drip(server))
        assert operations(server) == []
