"""Random heads, handshakes and frames in raw bytes: the running server answers or closes each connection.

Bytes are made from good requests, with a few random changes each. Another seed: `TESTS_FUZZ_SEED=n`; more
of them: `TESTS_FUZZ_HEADS=n`.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Final

import pytest

from tests.fuzz.test_seeds import SEED, mutated
from tests.limits.test_handshakes import handshake, masked
from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import TIMEOUT_S, Wire, request, wired

HEADS: Final = int(os.environ.get("TESTS_FUZZ_HEADS", "400"))
BATCH: Final = 50
"""Connections that are open at a time."""

ENTRY: Final = b'{"fields":{"a":"b"}}'
NDJSON: Final = b'{"a":"b"}\n'
H2C: Final = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAEAAEAA")

GOOD: Final = (
    request("GET", "/healthz"),
    request("POST", "/v1/streams/fuzz/entries", ENTRY),
    request("POST", "/v1/streams/fuzz/entries", ENTRY, "prefer: nothing"),
    request("POST", "/v1/streams/fuzz/entries:import", NDJSON, content_type="application/x-ndjson"),
    request("POST", "/v1/streams/fuzz/entries", ENTRY, *H2C),
    request("POST", "/v1/command", b"", "transfer-encoding: chunked") + b'8\r\n["PING"]\r\n0\r\n\r\n',
    request("GET", "http://localhost/healthz"),
    request("HEAD", "/v1/streams/fuzz"),
    request("OPTIONS", "*"),
    handshake(),
    handshake(b"sec-websocket-protocol: tailrace.v1.json", b"origin: http://localhost"),
)
LINES: Final = (
    *(b"host: localhost", b"host: [", b"host:", b"origin: http://[", b"origin: null", b"connection: close"),
    *(b"content-length: 5", b"content-length: -1", b"content-length: 99999999999999999999"),
    *(b"transfer-encoding: chunked", b"transfer-encoding: gzip", b"upgrade: websocket", b"upgrade: h2c"),
    *(b"connection: upgrade", b"expect: 100-continue", b"x: \xff\0", b" folded", b"sec-websocket-version: 8"),
    *(b"content-encoding: gzip", b"authorization: Bearer x", b"x: " + b"y" * 9_000, b"sec-websocket-key: !"),
)
FRAMES: Final = (
    masked(1, b'{"id":1,"op":"ping"}'),
    masked(1, b'{"id":2,"op":"append","key":"fuzz","fields":{"a":"b"}}'),
    masked(1, b"\xff"),
    masked(2, b"\x81\xa2id\x01"),
    masked(8, b"\x03\xe8\xff"),
    masked(8, b""),
    masked(9, b"ping"),
    bytes([1, 0x83]) + bytes(4) + b"abc",
)
STATUS_LINE: Final = re.compile(rb"HTTP/1\.1 (\d{3}) ")
REFUSED_AS_UNSUPPORTED: Final = {501, 505}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    quick = ("--header-timeout-s", "2", "--answer-timeout-s", "2")
    with running_server(tmp_path_factory.mktemp("heads"), "--durability", "none", *quick) as process:
        yield process
        assert "Traceback" not in process.log_text
        assert "request_failed" not in process.log_text


def random_head(chance: Random) -> bytes:
    lines = chance.choice(GOOD).split(b"\r\n")
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(len(lines))
        match chance.randrange(6):
            case 0 if len(lines) > 1:
                del lines[at]
            case 1:
                lines.insert(at, chance.choice(lines))
            case 2:
                lines[at] = mutated(lines[at], chance)
            case 3:
                words = lines[0].split(b" ")
                words[-1] = chance.choice((b"HTTP/2.0", b"HTTP/1.0", b"HTTP/0.9", b"HTTP/1.1 x", b""))
                lines[0] = b" ".join(words)
            case _:
                lines.insert(max(at, 1), chance.choice(LINES))
    raw = chance.choice((b"\r\n",) * 9 + (b"\n",)).join(lines)
    return mutated(raw, chance) if chance.random() < 0.2 else raw


def random_conversation(chance: Random) -> bytes:
    """Send the data of one client without waiting for a response."""
    return b"".join(random_head(chance) for _ in range(chance.randint(1, 3)))


def random_frames(chance: Random) -> bytes:
    frames = b"".join(chance.choices(FRAMES, k=chance.randint(1, 4)))
    return mutated(frames, chance) if chance.random() < 0.7 else frames


def open_connections(port: int) -> int:
    """Return the count of the server, without this connection."""
    with wired(port) as wire:
        metrics = wire.ask(request("GET", "/metrics", b"", "connection: close")).body.decode()
    found = re.search(r"^tailrace_connections(?:\{[^}]*\})? (\d+)", metrics, re.MULTILINE)
    assert found, metrics
    return int(found[1]) - 1


def test_random_heads_are_answered_or_end_their_connection(target: ServerProcess) -> None:
    chance = Random(f"heads {SEED}")
    outcomes: Counter[str] = Counter()
    with wired(target.port) as honest:
        for _ in range(HEADS // BATCH):
            _talk(target.port, [random_conversation(chance) for _ in range(BATCH)], outcomes)
            outcomes["honest"] += 1
            assert honest.ask(request("POST", "/v1/streams/honest/entries", ENTRY)).status == 201
    print(f"{HEADS} heads, seed {SEED}: {dict(outcomes)}")  # noqa: T201 - the figures
    assert {"101", "200", "201", "400"} <= outcomes.keys()


def _talk(port: int, conversations: list[bytes], outcomes: Counter[str]) -> None:
    """Hold all conversations at once, each to the end of its connection."""
    with ExitStack() as stack:
        wires = [stack.enter_context(wired(port)) for _ in conversations]
        for wire, raw in zip(wires, conversations, strict=True):
            wire.send_while_taken(raw, 1)
            wire.end()
        for wire, raw in zip(wires, conversations, strict=True):
            _note(wire.read_to_end(), raw, outcomes)


def _note(answer: bytes, raw: bytes, outcomes: Counter[str]) -> None:
    statuses = [int(status) for status in STATUS_LINE.findall(answer)]
    assert all(status < 500 or status in REFUSED_AS_UNSUPPORTED for status in statuses), (raw, answer)
    outcomes.update(map(str, statuses) if statuses else ["closed"])


def test_random_frames_in_raw_bytes_end_their_connection(target: ServerProcess) -> None:
    chance = Random(f"frames {SEED}")
    outcomes: Counter[str] = Counter()
    for _ in range(HEADS // BATCH // 3):
        with ExitStack() as stack:
            wires = [stack.enter_context(_opened(target.port)) for _ in range(BATCH)]
            frames = [random_frames(chance) for _ in wires]
            for wire, raw in zip(wires, frames, strict=True):
                wire.send_while_taken(raw, 1)
                wire.end()
            for wire, raw in zip(wires, frames, strict=True):
                _note(wire.read_to_end(), raw, outcomes)
    assert outcomes.keys() == {"closed"}


@contextmanager
def _opened(port: int) -> Iterator[Wire]:
    with wired(port) as wire:
        assert wire.ask(handshake()).status == 101
        yield wire


def test_no_connection_stays_behind(target: ServerProcess) -> None:
    """Heads that stop in the middle, as well: the deadlines end them without a word of their clients."""
    chance = Random(f"cut {SEED}")
    outcomes: Counter[str] = Counter()
    with ExitStack() as stack:
        wires = [stack.enter_context(wired(target.port)) for _ in range(BATCH)]
        for wire in wires:
            raw = chance.choice(GOOD[:-2])
            wire.send_while_taken(raw[: chance.randrange(1, raw.index(b"\r\n\r\n"))], 1)
        for wire in wires:
            _note(wire.read_to_end(), b"", outcomes)
    assert outcomes.keys() <= {"408", "closed", "400", "414"}
    deadline = time.monotonic() + TIMEOUT_S
    while open_connections(target.port):
        assert time.monotonic() < deadline, "connections stay behind"
