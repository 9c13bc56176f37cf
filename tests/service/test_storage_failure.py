"""A failing disk: after its first error the server acknowledges nothing, still reads committed data, and a
restart finds all acknowledged data.

Faults are injected below SQLite, so that the program under test is the one that ships; every test
asserts that its fault fired.
"""

from __future__ import annotations

import asyncio
import resource
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, cast

import httpx
import pytest

from tailrace.api.application import create_api
from tailrace.api.ports import StoreUnavailable
from tailrace.app.lifespan import keeping
from tailrace.app.store import storage as storage_module
from tailrace.app.store.service import EngineStore
from tailrace.app.store.storage import Storage
from tailrace.core.command_table import HANDLERS
from tailrace.core.commands import Append, Claim, DeleteKeys, Malformed, StreamLength
from tailrace.core.effects import Effect, StreamDeleted
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import TURN_COMMANDS_MAX
from tailrace.core.storage import checkpoint, journal
from tailrace.core.storage.recovery import recover
from tailrace.core.storage.schema import connect
from tests.crash.recorded_disk import FULL, SYNC_ERROR, WRITE_ERROR, Fault, RecordedDisk, recorded_disk
from tests.support.server_process import ServerProcess, running_server

KEY: Final = "s"
APPENDS_MAX: Final = 500
FULL_TEXT: Final = "database or disk is full"
ERROR_TEXT: Final = "disk I/O error"

FAULTS: Final = [
    *[(Fault("write", number, FULL), FULL_TEXT) for number in (1, 2, 3, 7, 20, 61, 150)],
    *[(Fault("write", number, WRITE_ERROR), ERROR_TEXT) for number in (1, 2, 3, 8, 21, 62, 151)],
    *[(Fault("sync", number, SYNC_ERROR), ERROR_TEXT) for number in (1, 2, 3, 9, 22, 45, 80)],
]


class Server:
    """The API over a real store and storage, in this process, and the entries that it acknowledged."""

    def __init__(self, disk: RecordedDisk, client: httpx.AsyncClient) -> None:
        self.disk = disk
        self.client = client
        self.acknowledged: list[str] = []

    async def append(self) -> httpx.Response:
        fields = {"n": "x" * 200, "number": str(len(self.acknowledged))}
        answer = await self.client.post(f"/v1/streams/{KEY}/entries", json={"fields": fields})
        if answer.status_code == HTTPStatus.CREATED:
            self.acknowledged.append(answer.json()["id"])
        return answer

    async def append_until_refused(self) -> httpx.Response:
        for _ in range(APPENDS_MAX):
            answer = await self.append()
            if answer.status_code != HTTPStatus.CREATED:
                return answer
        raise AssertionError(f"the fault did not fire within {APPENDS_MAX} appends")

    async def ids(self) -> list[str]:
        answer = await self.client.get(f"/v1/streams/{KEY}/entries", params={"count": 1000})
        assert answer.status_code == HTTPStatus.OK
        return [entry["id"] for entry in answer.json()["entries"]]


@asynccontextmanager
async def serving(directory: Path, disk: RecordedDisk) -> AsyncIterator[Server]:
    storage = Storage(directory)
    store = EngineStore(Engine(storage.keyspace))
    transport = httpx.ASGITransport(create_api(store, version="0"))
    async with (
        keeping(store, storage, waits=True),
        httpx.AsyncClient(transport=transport, base_url="http://in-process") as client,
    ):
        yield Server(disk, client)


def with_server(directory: Path, story: Callable[[Server], Awaitable[None]]) -> Server:
    async def run() -> Server:
        with recorded_disk(directory) as disk:
            async with serving(directory, disk) as server:
                await story(server)
                assert disk.faults_fired
            return server

    return asyncio.run(run())


def kept(directory: Path) -> Keyspace:
    """Return the state after a restart."""
    with closing(connect(directory)) as connection:
        return recover(connection, connection).keyspace


def assert_storage_failed(answer: httpx.Response, text: str) -> None:
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert f"storage failed: {text}" in answer.json()["detail"]
    assert "retry-after" not in answer.headers


@pytest.fixture
def frequent_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "JOURNAL_BYTES_MAX", 5000)


@pytest.mark.usefixtures("frequent_checkpoints")
@pytest.mark.parametrize(("fault", "text"), FAULTS)
def test_after_the_nth_operation_failed_nothing_is_acknowledged_and_nothing_acknowledged_is_lost(
    tmp_path: Path, fault: Fault, text: str
) -> None:
    async def story(server: Server) -> None:
        await server.append()
        server.disk.fail(fault)
        assert_storage_failed(await server.append_until_refused(), text)
        server.disk.fail(None)
        assert_storage_failed(await server.append(), text)
        assert await server.ids() == server.acknowledged
        ready = await server.client.get("/readyz")
        assert ready.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        assert text in ready.text

    server = with_server(tmp_path, story)
    found = kept(tmp_path).streams[KEY.encode()]
    # The append whose answer was the 503 may have reached the disk or not; no other.
    assert found.length - len(server.acknowledged) in (0, 1)


def test_all_who_wait_for_a_commit_that_fails_are_told_and_what_they_wrote_is_not_shown(
    tmp_path: Path,
) -> None:
    async def story(server: Server) -> None:
        await server.append()
        server.disk.fail(Fault("sync", 1, SYNC_ERROR))
        for answer in await asyncio.gather(*(server.append() for _ in range(20))):
            assert_storage_failed(answer, ERROR_TEXT)
        assert await server.ids() == server.acknowledged

    with_server(tmp_path, story)


async def committed(storage: Storage) -> None:
    """Commit what was recorded, and return when the log has the outcome."""
    storage.log.flush()
    ended = asyncio.Event()
    storage._thread.submit(lambda: None, lambda _: ended.set())
    await ended.wait()


def test_under_interval_a_failure_takes_back_what_was_acknowledged_after_the_last_commit_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Clients see the length of a stream that was deleted and grows again go back, and the log says why."""

    async def run() -> None:
        storage = Storage(tmp_path)
        store = EngineStore(Engine(storage.keyspace))
        append = Append(KEY.encode(), [b'{"a":"1"}'])
        async with keeping(store, storage, waits=False):
            await store.execute(Append(KEY.encode(), [b'{"a":"1"}'] * 5000))
            await store.execute(DeleteKeys((KEY.encode(),)))
            for _ in range(20):
                await store.execute(append)
            await committed(storage)
            disk.fail(Fault("write", 1, FULL))
            for _ in range(3000):
                await store.execute(append)
            assert await store.execute(StreamLength(KEY.encode())) == 3020
            await committed(storage)
            assert await store.execute(StreamLength(KEY.encode())) == 20
            with pytest.raises(StoreUnavailable, match=FULL_TEXT):
                await store.execute(append)

    with recorded_disk(tmp_path) as disk:
        asyncio.run(run())
        assert disk.faults_fired
    [record] = [each for each in caplog.records if each.getMessage() == "storage failed"]
    assert (record.levelname, record.fields) == ("ERROR", {"error": FULL_TEXT})  # type: ignore[attr-defined]
    assert kept(tmp_path).streams[KEY.encode()].length == 20


def test_a_waiting_reader_is_told_and_never_shown_what_was_not_committed(tmp_path: Path) -> None:
    async def story(server: Server) -> None:
        await server.append()
        parameters: dict[str, Any] = {"after": "$", "wait_ms": 5000}
        read = server.client.get(f"/v1/streams/{KEY}/entries", params=parameters)
        reader = asyncio.create_task(read)
        await asyncio.sleep(0.05)
        server.disk.fail(Fault("write", 1, FULL))
        assert_storage_failed(await server.append(), FULL_TEXT)
        assert_storage_failed(await reader, FULL_TEXT)

    with_server(tmp_path, story)


@pytest.mark.parametrize("later", [["XADD", KEY, "*", "n", "2"], ["XLEN", KEY]], ids=["writes", "reads"])
def test_a_pipeline_reports_nothing_as_done_that_a_commit_between_its_turns_failed_to_keep(
    tmp_path: Path, later: list[str]
) -> None:
    async def story(server: Server) -> None:
        await server.append()
        server.disk.fail(Fault("write", 1, FULL))
        # Turns enough for the commit of the first ones to fail while the others are still to come.
        commands = [["XADD", KEY, "*", "n", "1"]] * TURN_COMMANDS_MAX + [later] * 50 * TURN_COMMANDS_MAX
        answer = await server.client.post("/v1/command/pipeline", json=commands)
        assert_storage_failed(answer, FULL_TEXT)
        assert answer.json()["side_effects"] == "unknown"
        assert await server.ids() == server.acknowledged

    with_server(tmp_path, story)


def test_every_command_that_writes_is_refused_and_every_read_is_answered(tmp_path: Path) -> None:
    async def story(server: Server) -> None:
        await server.append()
        create = ["XGROUP", "CREATE", KEY, "g", "0"]
        assert (await server.client.post("/v1/command", json=create)).is_success
        server.disk.fail(Fault("write", 1, FULL))
        await server.append_until_refused()
        for words in (
            ["XADD", KEY, "*", "n", "1"],
            ["XACK", KEY, "g", "1-1"],
            ["XDEL", KEY, "1-1"],
            ["XTRIM", KEY, "MAXLEN", "0"],
            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", KEY, ">"],
            ["XGROUP", "DESTROY", KEY, "g"],
            ["DEL", KEY],
        ):
            assert_storage_failed(await server.client.post("/v1/command", json=words), FULL_TEXT)
        for words in (["XLEN", KEY], ["XRANGE", KEY, "-", "+"], ["XPENDING", KEY, "g"]):
            assert (await server.client.post("/v1/command", json=words)).status_code == HTTPStatus.OK

    with_server(tmp_path, story)


# --- a real process whose disk is full ---------------------------------------------------------------

FILE_BYTES_MAX: Final = 400_000


def append_over_http(server: ServerProcess) -> httpx.Response:
    body = {"fields": {"n": "x" * 20_000}}
    return httpx.post(f"{server.base_url}/v1/streams/{KEY}/entries", json=body)


def test_a_server_whose_files_may_not_grow_refuses_writes_reads_on_and_loses_nothing(tmp_path: Path) -> None:
    with running_server(tmp_path, "--log-level", "warning") as server:
        resource.prlimit(server._process.pid, resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
        acknowledged = []
        while (answer := append_over_http(server)).status_code == HTTPStatus.CREATED:
            acknowledged.append(answer.json()["id"])
            assert len(acknowledged) < APPENDS_MAX
        assert_storage_failed(answer, "")
        assert_storage_failed(append_over_http(server), "")
        assert answer.json()["side_effects"] == "unknown"
        assert httpx.get(f"{server.base_url}/readyz").status_code == HTTPStatus.SERVICE_UNAVAILABLE
        shown = httpx.get(f"{server.base_url}/metrics").text.splitlines()
        assert {"tailrace_ready 0.0", "tailrace_storage_failed 1.0"} <= set(shown)
        assert ids_over_http(server) == acknowledged
        assert acknowledged
    with running_server(tmp_path) as server:
        assert ids_over_http(server)[: len(acknowledged)] == acknowledged
        assert append_over_http(server).status_code == HTTPStatus.CREATED


def ids_over_http(server: ServerProcess) -> list[str]:
    answer = httpx.get(f"{server.base_url}/v1/streams/{KEY}/entries", params={"count": 1000})
    assert answer.status_code == HTTPStatus.OK
    return [entry["id"] for entry in answer.json()["entries"]]


@pytest.mark.parametrize("alone", [True, False])
def test_after_an_unexpected_error_of_a_write_only_what_is_stored_is_served_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, alone: bool
) -> None:
    def defect(execution: Execution, command: Claim) -> None:
        execution.do(StreamDeleted(command.key))
        raise ValueError(command.key)

    async def run() -> None:
        storage = Storage(tmp_path)
        store = EngineStore(Engine(storage.keyspace))
        async with keeping(store, storage, waits=True):
            await store.execute(Append(b"s", [b'{"a":"1"}']))
            monkeypatch.setitem(cast("dict[type, object]", HANDLERS), Claim, defect)
            claim = Claim(b"s", b"g", b"c", Malformed(StreamError(ErrorCode.SYNTAX, "ERR syntax error")))
            both = [Append(b"t", [b'{"a":"2"}']), claim]
            running = store.execute(claim) if alone else store.execute_all(both)
            with pytest.raises(ValueError, match="s"):
                await running
            with pytest.raises(StoreUnavailable, match="a command failed unexpectedly"):
                await store.execute(Append(b"s", [b'{"a":"3"}']))
            assert await store.execute(StreamLength(b"s")) == 1
            assert await store.execute(StreamLength(b"t")) == 0

    asyncio.run(run())
    assert {key: stream.length for key, stream in kept(tmp_path).streams.items()} == {b"s": 1}


def test_what_is_committed_is_read_as_of_one_instant_while_a_checkpoint_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an error on the event loop, the writer's thread still ends what it has begun."""

    async def run() -> None:
        storage = Storage(tmp_path)
        store = EngineStore(Engine(storage.keyspace))
        async with keeping(store, storage, waits=True):
            await store.execute(Append(b"s", [b'{"a":"1"}']))
            await store.execute(Append(b"t", [b'{"a":"1"}']))
            snapshot = checkpoint.take(storage.keyspace, storage.log.seq, [b"s", b"t"])
            read = journal.read

            def published_meanwhile(
                connection: sqlite3.Connection, after_seq: int
            ) -> Iterator[tuple[int, Sequence[Effect]]]:
                checkpoint.publish(storage._writing, snapshot)
                return read(connection, after_seq)

            monkeypatch.setattr(journal, "read", published_meanwhile)
            storage.log.fail(RuntimeError("a defect"))
            assert await store.execute(StreamLength(b"s")) == 1
            assert not storage._reading.in_transaction

    asyncio.run(run())


def test_an_unexpected_error_of_a_read_ends_that_read_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defect(_execution: Execution, command: StreamLength) -> None:
        raise ValueError(command.key)

    async def run() -> None:
        storage = Storage(tmp_path)
        store = EngineStore(Engine(storage.keyspace))
        async with keeping(store, storage, waits=True):
            monkeypatch.setitem(cast("dict[type, object]", HANDLERS), StreamLength, defect)
            with pytest.raises(ValueError, match="s"):
                await store.execute(StreamLength(b"s"))
            await store.execute(Append(b"s", [b'{"a":"1"}']))

    asyncio.run(run())
    assert kept(tmp_path).streams[b"s"].length == 1
