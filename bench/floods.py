"""Floods of one connection: how long the bytes of one client delay the requests of another.

A client without `admin` writes as many requests or frames as one or a few reads of the server hold. Meanwhile
another client asks for the length of a stream, again and again. The figure is the longest time that it waits
for an answer; the goal is 100 ms. Run it with ``python -m bench.floods``.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from bench.connection import Connection
from bench.rows import machine_load
from bench.server import started

GOAL_MS: Final = 100
PENDING: Final = 100_000
CHUNK: Final = 10_000
QUICK_S: Final = 0.004
QUIET_S: Final = 0.3
"""A flood is over when the honest client has been answered within `QUICK_S` for `QUIET_S`."""


def _post(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


_GROUP: Final = "/v1/streams/flood/groups/g"
_CLAIM: Final = _post(f"{_GROUP}:autoclaim", {"consumer": "z", "min_idle_ms": 999_999_999, "count": 100_000})
_READ: Final = _post(
    "/v1/read-group",
    {"group": "g", "consumer": "z", "streams": [{"key": "flood"}], "claim_min_idle_ms": 999_999_999},
)
_CHUNKED: Final = (
    b"POST /v1/streams/chunks/entries HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 600_000
)

HTTP_FLOODS: Final[Mapping[str, bytes]] = {
    "250 claims of 100 000 entries, 43 kB": _CLAIM * 250,
    "1 219 claims of 100 000 entries": _CLAIM * 1_219,
    "the same with a header that only the parser reads": _CLAIM.replace(b"Host:", b"Host:\t") * 1_219,
    "1 000 group reads with CLAIM": _READ * 1_000,
    "5 000 states of a stream": _get("/v1/streams/flood") * 5_000,
    "10 000 small requests for an unknown path": _get("/x") * 10_000,
    "600 000 chunks of one byte": _CHUNKED,
}
WEBSOCKET_FLOODS: Final[Mapping[str, bytes]] = {
    "672 000 pongs, 4 MB": b"\x8a\x80\0\0\0\0" * 672_000,
    "672 000 pings, 4 MB": b"\x89\x80\0\0\0\0" * 672_000,
    "672 000 empty messages, 4 MB": b"\x81\x80\0\0\0\0" * 672_000,
}


async def _websocket(address: tuple[str, int]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(*address)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        f"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Protocol: tailrace.v1.json\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def longest_wait_ms(url: str, raw: bytes, *, is_websocket: bool) -> float:
    """Return the longest time that another client waits while the server has `raw` of one connection."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    address = parts.hostname, parts.port
    honest = await Connection.opened(url)
    reader, writer = await (_websocket(address) if is_websocket else asyncio.open_connection(*address))

    async def swallow() -> None:
        while await reader.read(1 << 20):
            pass

    swallowing = asyncio.ensure_future(swallow())
    writer.write(raw)
    longest, quiet_since = 0.0, time.perf_counter()
    while time.perf_counter() - quiet_since < QUIET_S:
        begin = time.perf_counter()
        await honest.ask("GET", "/v1/streams/honest/length")
        waited = time.perf_counter() - begin
        longest = max(longest, waited)
        if waited > QUICK_S or writer.transport.get_write_buffer_size():
            quiet_since = time.perf_counter()
    swallowing.cancel()
    writer.close()
    return longest * 1000


async def measure(url: str, only: str) -> int:
    """Print the longest wait of each flood. Return how many exceed the goal."""
    short = 0
    print(f"the longest wait of another client; load {machine_load()}")
    for floods, is_websocket in ((HTTP_FLOODS, False), (WEBSOCKET_FLOODS, True)):
        for name, raw in floods.items():
            if only not in name:
                continue
            waited_ms = await longest_wait_ms(url, raw, is_websocket=is_websocket)
            short += waited_ms > GOAL_MS
            print(f"{waited_ms:8.1f} ms  {'short' if waited_ms > GOAL_MS else 'met':5}  {name}", flush=True)
    return short


def main() -> None:
    """Start a server, and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only the floods whose name has this text")
    options = parser.parse_args()
    with started("none") as server:
        server.post("/v1/streams/honest/entries", b'{"fields":{"a":"1"}}')
        entries = b'{"a":"1"}\n' * CHUNK
        for _ in range(PENDING // CHUNK):
            server.post("/v1/streams/flood/entries:import", entries, "application/x-ndjson")
        server.command("XGROUP", "CREATE", "flood", "g", "0")
        server.command("XREADGROUP", "GROUP", "g", "worker", "COUNT", str(PENDING), "STREAMS", "flood", ">")
        sys.exit(1 if asyncio.run(measure(server.url, options.only)) else 0)


if __name__ == "__main__":
    main()
