"""The replies of one request together are limited, and the server handles other requests during a long
pipeline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.app.store.service import EngineStore
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Append, Command, InfoStream, Range, StreamLength
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.limits import KIB, MIB, REPLY_BYTES_MAX, TURN_COMMANDS_MAX
from tailrace.core.replies import RangeReply
from tests.support.server_process import ServerProcess, running_server
from tests.support.sockets import open_socket

VALUE_BYTES = 15 * MIB
PEAK_GROWTH_MAX = 256 * MIB


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Streams `large` (one value of 15 MiB), `nuls` (control characters, six JSON bytes each), `small`."""
    with running_server(tmp_path_factory.mktemp("replies"), "--durability", "none") as process:
        value = "x" * VALUE_BYTES
        assert post(process, "/v1/command", ["XADD", "large", "1-1", "v", value]).status == 200
        nuls = "\0" * (2 * MIB)
        for number in range(1, 6):
            assert post(process, "/v1/command", ["XADD", "nuls", f"{number}-1", "v", nuls]).status == 200
        lines = b'{"a":"b"}\n' * 100_000
        for _ in range(5):
            path = "/v1/streams/small/entries:import"
            assert post(process, path, lines, "application/x-ndjson").status == 201
        yield process


class Reply(NamedTuple):
    """One answer, whole."""

    status: int
    body: bytes


def post(
    server: ServerProcess, path: str, body: object, content_type: str = "application/json", **headers: str
) -> Reply:
    """Answers are large here: what reads them must not copy them again and again."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", path, raw, {"Content-Type": content_type, **headers})
    response = connection.getresponse()
    try:
        return Reply(response.status, response.read())
    finally:
        connection.close()


def reset_peak(process: ServerProcess) -> int:
    """Forget the greatest size the process had; its size now."""
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    return memory_bytes(process, "VmRSS")


def memory_bytes(process: ServerProcess, name: str) -> int:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * KIB for line in lines if line.startswith(f"{name}:"))


XRANGE_LARGE = ["XRANGE", "large", "-", "+"]
REQUESTS: dict[str, tuple[str, Any, int]] = {
    "a pipeline": ("/v1/command/pipeline", [XRANGE_LARGE] * 40, 200),
    "a pipeline of refused ranges": ("/v1/command/pipeline", [["XRANGE", "nuls", "-", "+"]] * 40, 200),
    "a transaction": ("/v1/command/multi-exec", [XRANGE_LARGE] * 40, 200),
    "a range of many entries": ("/v1/command", ["XRANGE", "small", "-", "+"], 413),
    "a read of many entries": ("/v1/command", ["XREAD", "STREAMS", "small", "0"], 200),
    "control characters": ("/v1/command", ["XRANGE", "nuls", "-", "+"], 413),
    "a read of control characters": ("/v1/read", {"streams": [{"key": "nuls", "after": "0-0"}]}, 200),
    "all that XINFO knows": ("/v1/command", ["XINFO", "STREAM", "small", "FULL", "COUNT", 0], 413),
}


@pytest.mark.parametrize(("path", "body", "status"), REQUESTS.values(), ids=REQUESTS.keys())
def test_the_replies_of_one_request_never_take_more_memory_than_the_bound_allows(
    server: ServerProcess, path: str, body: object, status: int
) -> None:
    before = reset_peak(server)
    answer = post(server, path, body)
    assert answer.status == status
    assert len(answer.body) < REPLY_BYTES_MAX + 16 * MIB
    assert memory_bytes(server, "VmHWM") - before < PEAK_GROWTH_MAX
    if status == 413:
        problem = json.loads(answer.body)
        assert (problem["code"], problem["reply_bytes_max"]) == ("REPLY_TOO_LARGE", str(REPLY_BYTES_MAX))
        assert problem["side_effects"] == "none"


def test_a_pipeline_answers_what_fits_and_reports_every_write(server: ServerProcess) -> None:
    write = ["XADD", "written", "*", "a", "b"]
    commands = [XRANGE_LARGE, write, *[XRANGE_LARGE] * 5, write, ["XLEN", "written"]]
    outcomes = json.loads(post(server, "/v1/command/pipeline", commands).body)
    assert ["result" in outcome for outcome in outcomes] == [True] * 5 + [False] * 2 + [True] * 2
    assert all("does not fit" in outcome["error"] for outcome in outcomes[5:7])
    assert outcomes[-1] == {"result": 2}


def test_base64_takes_no_more_than_a_third_beyond_the_bound(server: ServerProcess) -> None:
    before = reset_peak(server)
    headers = {"Upstash-Encoding": "base64"}
    answer = post(server, "/v1/command/pipeline", [XRANGE_LARGE] * 40, **headers)
    assert len(json.loads(answer.body)) == 40
    assert memory_bytes(server, "VmHWM") - before < PEAK_GROWTH_MAX


def test_what_a_client_has_echoed_takes_room_as_well(server: ServerProcess) -> None:
    commands = [["ECHO", "\0" * MIB]] * 9
    outcomes = json.loads(post(server, "/v1/command/pipeline", commands).body)
    assert ["error" in outcome for outcome in outcomes] == [False] * 7 + [True] * 2


def test_a_websocket_message_has_a_bound_of_its_own_and_many_are_answered_one_by_one(
    server: ServerProcess,
) -> None:
    before = reset_peak(server)
    with open_socket(server.base_url, max_size=None) as socket:
        asked = [{"id": number, "op": "command", "command": XRANGE_LARGE} for number in range(5)]
        socket.send(json.dumps(asked))
        for each in asked:
            socket.send(json.dumps(each))
        hello, array, *singles = [json.loads(socket.recv(timeout=30)) for _ in range(7)]
    assert hello["hello"]["limits"]["reply_bytes_max"] == 16 * MIB
    assert ["ok" in reply for reply in array] == [True, True, False, False, False]
    assert {reply["error"]["code"] for reply in array[2:]} == {"REPLY_TOO_LARGE"}
    assert [reply["id"] for reply in singles] == [0, 1, 2, 3, 4]
    assert all("ok" in reply for reply in singles)
    assert memory_bytes(server, "VmHWM") - before < PEAK_GROWTH_MAX


# --- turns -------------------------------------------------------------------------------------------

APPEND = Append(b"s", (b'{"a":"b"}',))
LENGTH = StreamLength(b"s")


async def answers_of(store: EngineStore, commands: Sequence[Command], answers: list[Answer]) -> None:
    async def take(answer: Answer) -> None:
        answers.append(answer)

    await store.execute_each(commands, ReplyRoom(), take)


def test_others_are_served_between_the_commands_of_a_pipeline() -> None:
    async def lengths_seen() -> tuple[list[Answer], list[Answer]]:
        store = EngineStore(Engine())
        answers: list[Answer] = []
        pipeline = asyncio.create_task(answers_of(store, [APPEND] * 5 * TURN_COMMANDS_MAX, answers))
        seen: list[Answer] = []
        while not pipeline.done():
            await asyncio.sleep(0)
            seen.append(await store.execute(LENGTH))
        return answers, seen

    answers, seen = asyncio.run(lengths_seen())
    assert len(answers) == 5 * TURN_COMMANDS_MAX
    assert {TURN_COMMANDS_MAX, 3 * TURN_COMMANDS_MAX} <= set(seen)


def test_a_turn_ends_early_where_its_replies_are_large() -> None:
    async def turns() -> int:
        store = EngineStore(Engine())
        await store.execute(Append(b"s", (b'{"a":"%b"}' % (b"x" * MIB),)))
        answers: list[Answer] = []
        pipeline = asyncio.create_task(answers_of(store, [Range(b"s")] * 10, answers))
        counts = set()
        while not pipeline.done():
            await asyncio.sleep(0)
            counts.add(len(answers))
        assert all(isinstance(answer, RangeReply) for answer in answers)
        return len(counts)

    assert asyncio.run(turns()) >= 10


def test_a_turn_ends_early_where_its_reads_are_refused() -> None:
    async def turns() -> int:
        store = EngineStore(Engine())
        await store.execute(Append(b"s", [b'{"a":"%b"}' % (b"x" * MIB)] * 3))
        answers: list[Answer] = []

        async def take(answer: Answer) -> None:
            answers.append(answer)

        pipeline = asyncio.create_task(store.execute_each([Range(b"s")] * 10, ReplyRoom(2 * MIB), take))
        counts = set()
        while not pipeline.done():
            await asyncio.sleep(0)
            counts.add(len(answers))
        assert all(isinstance(answer, StreamError) for answer in answers)
        return len(counts)

    assert asyncio.run(turns()) >= 10


def test_a_refusal_that_is_kept_as_an_answer_keeps_no_frames() -> None:
    async def answers() -> list[Answer]:
        store = EngineStore(Engine())
        kept: list[Answer] = []
        store.submit(StreamLength(b"s"), kept.append)
        refused = InfoStream(b"none")
        await answers_of(store, [refused, refused], kept)
        kept += await store.execute_all([refused])
        store.submit(refused, kept.append)
        store.drain()
        store.submit(refused, kept.append)
        return kept[1:]

    kept = asyncio.run(answers())
    assert len(kept) == 5
    assert all(isinstance(answer, StreamError | StoreUnavailable) for answer in kept)
    assert [answer.__traceback__ for answer in kept if isinstance(answer, Exception)] == [None] * 5


def test_a_pipeline_that_a_stop_interrupts_reports_what_was_done() -> None:
    async def interrupted() -> list[Answer]:
        store = EngineStore(Engine())
        answers: list[Answer] = []
        pipeline = asyncio.create_task(answers_of(store, [APPEND] * 3 * TURN_COMMANDS_MAX, answers))
        await asyncio.sleep(0)
        store.drain()
        await pipeline
        with pytest.raises(StoreUnavailable):
            await answers_of(store, [APPEND], [])
        return answers

    answers = asyncio.run(interrupted())
    assert len(answers) == 3 * TURN_COMMANDS_MAX
    assert [isinstance(answer, StoreUnavailable) for answer in answers] == (
        [False] * TURN_COMMANDS_MAX + [True] * 2 * TURN_COMMANDS_MAX
    )


def test_at_the_memory_limit_a_pipeline_and_a_turn_refuse_growth_alone() -> None:
    async def limited() -> tuple[list[Answer], Sequence[object]]:
        store = EngineStore(Engine())
        await store.execute(Append(b"s", (b'{"a":"%b"}' % (b"x" * MIB),)))
        store.refuse_growth(while_true=True)
        answers: list[Answer] = []
        await answers_of(store, [LENGTH, APPEND, LENGTH, APPEND], answers)
        requests: list[list[Command]] = [[APPEND, Range(b"s")], [APPEND], [LENGTH]]
        return answers, await store.execute_turn(requests, [ReplyRoom(), ReplyRoom(), ReplyRoom()])

    answers, turn = asyncio.run(limited())
    assert [isinstance(answer, StreamError) for answer in answers] == [False, True, False, True]
    assert [isinstance(answer, StreamError) for answer in turn] == [True, False, True]
    assert isinstance(answers[1], StreamError)
    assert answers[1].code is ErrorCode.MEMORY_LIMIT
