"""One WebSocket from Python: appends one by one and in arrays, and consumption as one of a group, next to
redis-py with hiredis over TCP (row 16 of docs/performance.md).

Both sides use the same batches, durability `interval`, and one connection: 64 appends in flight next to a
pipeline of 64, arrays of 100 next to a pipeline of 100, and consumption of 1 000 entries with their
acknowledgment next to XREADGROUP and XACK. Every entry must be acknowledged once. The figures are entries per
second, and processor time of server and client for one entry. Run it with ``python -m bench.websocket``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import redis
import uvloop
from websockets.asyncio.client import ClientConnection, connect

from bench import peers
from bench.rows import Effort, Row, at_least, command, medians_in_turns, spaced
from bench.server import Started, busy_s, started
from bench.wakeups import SUBPROTOCOL

ENTRIES: Final = 100_000
IN_FLIGHT: Final = 64
ARRAY: Final = 100
ARRAYS_IN_FLIGHT: Final = 4
CONSUMED: Final = 1_000
ROUNDS: Final = 5
GOAL: Final = 2.0
KEY: Final = "bench"
GROUP: Final = "judges"
FIELDS: Final = {"rider": "Castilla", "speed": "30.2", "position": "1", "location_id": "1"}
MESSAGE_BYTES_MAX: Final = 1 << 26

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode


class Figures(NamedTuple):
    """One round of one side. `cpu_us`: of server and client together, for one entry."""

    per_s: float
    server_us: float
    cpu_us: float


def measure(effort: Effort) -> Iterator[Row]:
    """Yield rows 16."""
    count = max(effort.count(ENTRIES) // CONSUMED, 1) * CONSUMED
    with started("interval") as server, peers.redis_process("interval") as (port, redis_id):
        # `Any`, because redis-py's types do not cover replies of both kinds of client.
        client: Any = redis.Redis(port=port)
        tasks = (
            (
                f"appends over one socket, {IN_FLIGHT} in flight",
                None,
                partial(_run, server, _append_singles, count),
                partial(_append_to_redis, client, count, IN_FLIGHT),
            ),
            (
                f"appends over one socket, arrays of {ARRAY}",
                GOAL,
                partial(_run, server, _append_arrays, count),
                partial(_append_to_redis, client, count, ARRAY),
            ),
            (
                f"group consumption over one socket, {spaced(CONSUMED)} at a time with acks",
                GOAL,
                partial(_run, server, _consume, count),
                partial(_consume_from_redis, client, count),
            ),
        )
        for what, goal, ours, theirs in tasks:
            medians = medians_in_turns(
                effort.rounds(ROUNDS),
                partial(_figures, ours, (server.process_id,), count),
                partial(_figures, theirs, (redis_id,), count),
            )
            yield from _rows(what, goal, medians)


def _rows(what: str, goal: float | None, medians: list[list[float]]) -> Iterator[Row]:
    ours, theirs = (Figures(*figures) for figures in medians)
    row = at_least(16, f"{what}, beside redis-py", "interval", (ours.per_s, theirs.per_s), goal or 0)
    texts = [
        f"{side.per_s:,.0f}/s; server {side.server_us:.1f} us, with client {side.cpu_us:.1f} us".replace(
            ",", " "
        )
        for side in (ours, theirs)
    ]
    row = row._replace(ours=texts[0], peer=texts[1])
    yield row if goal is not None else row._replace(goal="", is_met=None)


def _figures(work: Callable[[], object], process_ids: tuple[int, ...], count: int) -> Figures:
    before = time.perf_counter(), busy_s(*process_ids), time.process_time()
    work()
    wall_s, server_s, client_s = (
        now - then
        for now, then in zip(
            (time.perf_counter(), busy_s(*process_ids), time.process_time()), before, strict=True
        )
    )
    return Figures(count / wall_s, 1e6 * server_s / count, 1e6 * (server_s + client_s) / count)


# --- ours ------------------------------------------------------------------------------------------


def _run(server: Started, work: Callable[[ClientConnection, int], Any], count: int) -> None:
    """Do `work` on a new socket, with a stream as each task needs it."""
    if work is _consume:
        if server.command("XLEN", KEY) != count:
            server.command("DEL", KEY)
            uvloop.run(_on_a_socket(server, _append_arrays, count))
        server.command("XGROUP", "DESTROY", KEY, GROUP)
        server.command("XGROUP", "CREATE", KEY, GROUP, "0")
    else:
        server.command("DEL", KEY)
    uvloop.run(_on_a_socket(server, work, count))
    if work is _consume:
        [[_, _, _, pending, *_]] = [group[2:7] for group in server.command("XINFO", "GROUPS", KEY)]
        assert pending == 0, f"{pending} entries are still pending"
    else:
        assert server.command("XLEN", KEY) == count


async def _on_a_socket(server: Started, work: Callable[[ClientConnection, int], Any], count: int) -> None:
    url = f"{server.url.replace('http', 'ws', 1)}/v1/ws"
    async with connect(
        url, subprotocols=[SUBPROTOCOL], compression=None, max_size=MESSAGE_BYTES_MAX
    ) as socket:
        await socket.recv()
        await work(socket, count)


async def _append_singles(socket: ClientConnection, count: int) -> None:
    message = _encode({"id": 1, "op": "append", "key": KEY, "fields": FIELDS}).decode()
    await _in_flight(socket, message, count, IN_FLIGHT)


async def _append_arrays(socket: ClientConnection, count: int) -> None:
    request = {"id": 1, "op": "append", "key": KEY, "fields": FIELDS}
    await _in_flight(socket, _encode([request] * ARRAY).decode(), count // ARRAY, ARRAYS_IN_FLIGHT)


async def _in_flight(socket: ClientConnection, message: str, count: int, most: int) -> None:
    """Send the message `count` times, with at most `most` replies outstanding."""
    sent = min(most, count)
    for _ in range(sent):
        await socket.send(message)
    for _ in range(count):
        reply = await socket.recv()
        assert "error" not in reply
        if sent < count:
            await socket.send(message)
            sent += 1


async def _consume(socket: ClientConnection, count: int) -> None:
    source = [{"key": KEY}]
    wanted = {"id": 1, "op": "consume", "group": GROUP, "consumer": "alice", "streams": source}
    await socket.send(_encode({**wanted, "credit": 2 * CONSUMED}).decode())
    left = count
    acknowledged = 0
    while acknowledged < count:
        message = _decode(await socket.recv())
        if isinstance(message, list):
            acknowledged += message[0]["ok"]["acknowledged"]
        elif entries := message.get("entries"):
            left -= len(entries)
            ids = [entry["id"] for entry in entries]
            requests = [
                {"id": 2, "op": "ack", "key": KEY, "group": GROUP, "ids": ids},
                {"id": 3, "op": "credit", "sub": message["sub"], "entries": len(ids)},
            ]
            await socket.send(_encode(requests).decode())
    assert left == 0, f"{-left} entries were delivered twice"


# --- the peer --------------------------------------------------------------------------------------


def _append_to_redis(client: Any, count: int, batch: int) -> None:
    client.delete(KEY)
    for start in range(0, count, batch):
        pipeline = client.pipeline(transaction=False)
        for _ in range(min(batch, count - start)):
            pipeline.xadd(KEY, FIELDS)
        pipeline.execute()
    assert client.xlen(KEY) == count


def _consume_from_redis(client: Any, count: int) -> None:
    if client.xlen(KEY) != count:
        _append_to_redis(client, count, ARRAY)
    client.xgroup_destroy(KEY, GROUP)
    client.xgroup_create(KEY, GROUP, "0")
    acknowledged = 0
    while acknowledged < count:
        [(_, entries)] = client.xreadgroup(GROUP, "alice", {KEY: ">"}, count=CONSUMED)
        acknowledged += client.xack(KEY, GROUP, *[entry_id for entry_id, _ in entries])
    assert client.xpending(KEY, GROUP)["pending"] == 0


if __name__ == "__main__":
    command(measure, __doc__)
