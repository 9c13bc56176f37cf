"""The memory limit: the server refuses commands that add data, accepts all others, and stops counting freed
memory."""

from __future__ import annotations

import asyncio
import json
import random
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import pytest

from tailrace.app.store.memory import MemoryCeiling, resident_bytes
from tailrace.app.store.service import EngineStore
from tailrace.core.commands import (
    Append,
    Command,
    CopyKey,
    CreateGroup,
    DeleteKeys,
    RecordIdempotencyKey,
    StreamLength,
)
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import MIB
from tests.support.server_process import running_server
from tests.support.wire import request, wired, wired_to_own_server

OOM = "OOM command not allowed when used memory > 'maxmemory'."

ONE = request("POST", "/v1/streams/small/entries", b'{"fields":{"a":"b"}}')
_LINES = b"\n".join(
    b'{"blob":"%b"}' % b64encode(random.Random(number).randbytes(750)) for number in range(20_000)
)
GROW = request("POST", "/v1/streams/grown/entries:import", _LINES, content_type="application/x-ndjson")
"""Appends 20 MB that compression does not make smaller, so that the server keeps as much in memory."""


def append(key: bytes = b"s") -> Append:
    return Append(key, (b'{"a":"b"}',), None)


def test_without_a_limit_nothing_is_looked_at() -> None:
    def must_not_look() -> int:
        raise AssertionError

    assert not MemoryCeiling(0, must_not_look).is_exceeded()


@pytest.mark.parametrize(("before", "after", "is_exceeded"), [(9, 9, False), (11, 11, True), (11, 9, False)])
def test_what_can_be_given_back_is_given_back_before_growth_is_refused(
    *, before: int, after: int, is_exceeded: bool
) -> None:
    measures = [before * MIB]
    ceiling = MemoryCeiling(10, lambda: measures[-1], lambda: measures.append(after * MIB))
    assert ceiling.is_exceeded() is is_exceeded
    assert len(measures) == (1 if before <= 10 else 2)


def test_this_process_has_a_size() -> None:
    assert 10 * MIB < resident_bytes() < 1 << 40


def run_all(store: EngineStore, commands: Sequence[Command]) -> Sequence[object]:
    return asyncio.run(store.execute_all(commands))


def test_a_transaction_that_grows_is_refused_as_a_whole_so_that_no_entry_is_acknowledged_and_lost() -> None:
    store = EngineStore(Engine())
    run_all(store, [append()])
    store.refuse_growth(while_true=True)
    group = CreateGroup(b"s", b"g", 0)
    for commands in ([DeleteKeys((b"s",)), append()], [group, DeleteKeys((b"s",))]):
        with pytest.raises(StreamError, match="maxmemory") as refused:
            run_all(store, commands)
        assert (refused.value.code, refused.value.line) == (ErrorCode.MEMORY_LIMIT, OOM)
    assert run_all(store, [StreamLength(b"s"), DeleteKeys((b"s",))]) == [1, 1]
    with pytest.raises(StreamError, match="maxmemory"):
        asyncio.run(store.execute(append()))
    for grows in (CopyKey(b"s", b"t"), RecordIdempotencyKey(b"s", b"p", b"i", 1)):
        with pytest.raises(StreamError, match="maxmemory"):
            asyncio.run(store.execute(grows))
    store.refuse_growth(while_true=False)
    assert len(run_all(store, [append(), group])) == 2


def test_a_server_at_its_ceiling_refuses_appends_and_serves_the_rest(tmp_path: Path) -> None:
    """Its ceiling is far below its own size: it refuses appends from its first look at its memory on."""
    with running_server(tmp_path) as server, wired(server.port) as wire:
        assert wire.ask(ONE).status == 201
        created = wire.ask(request("PUT", "/v1/streams/small/groups/g", b'{"after":"0"}'))
        assert created.status == 201, created
    with running_server(tmp_path, "--memory-limit-mb", "1") as server, wired(server.port) as wire:
        nomkstream = request("POST", "/v1/streams/missing/entries", b'{"fields":{"a":"b"},"nomkstream":true}')
        while (answer := wire.ask(nomkstream)).status == 404:
            pass
        assert (answer.status, answer.problem["code"]) == (507, "MEMORY_LIMIT")
        assert (answer.problem["retryable"], answer.problem["side_effects"]) == (True, "none")

        documented_one = ONE.replace(b"host:", b"prefer: nothing\r\nhost:")
        assert [wire.ask(raw).status for raw in (ONE, documented_one, GROW)] == [507, 507, 507]
        refused = wire.ask(request("POST", "/v1/command", b'["XADD","small","*","a","b"]'))
        assert (refused.status, refused.problem["error"]) == (507, OOM)
        pipeline = b'[["XADD","small","*","a","b"],["XLEN","small"]]'
        outcomes = json.loads(wire.ask(request("POST", "/v1/command/pipeline", pipeline)).body)
        assert outcomes == [{"error": OOM}, {"result": 1}]

        read = b'{"group":"g","consumer":"c","streams":[{"key":"small","id":">"}]}'
        delivered = json.loads(wire.ask(request("POST", "/v1/read-group", read)).body)
        [entry] = delivered["streams"][0]["entries"]
        ack = json.dumps({"ids": [entry["id"]]}).encode()
        acked = wire.ask(request("POST", "/v1/streams/small/groups/g:ack", ack))
        assert json.loads(acked.body) == {"acknowledged": 1}
        trim = wire.ask(request("POST", "/v1/streams/small/entries:trim", b'{"max_length":0}'))
        assert (trim.status, json.loads(trim.body)) == (200, {"trimmed": 1})


def test_a_server_that_has_grown_to_its_ceiling_accepts_appends_again_when_there_is_room(
    tmp_path: Path,
) -> None:
    """Its own size is some 80 MiB. It looks at its memory once a second, and an import takes more while it is
    decoded than its entries take: the size can fall below the ceiling again by itself, so nothing is asserted
    of the time between the first refusal and the trim.
    """
    with wired_to_own_server(tmp_path, "--memory-limit-mb", "200") as wire:
        while (answer := wire.ask(GROW)).status == 201:
            pass
        assert (answer.status, answer.problem["code"]) == (507, "MEMORY_LIMIT")
        trim = wire.ask(request("POST", "/v1/streams/grown/entries:trim", b'{"max_length":10}'))
        assert trim.status == 200
        while (answer := wire.ask(ONE)).status == 507:
            pass
        assert answer.status == 201
