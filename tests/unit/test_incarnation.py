"""The incarnation distinguishes a stream from every other one, including a later one under the same key."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tailrace.api.access.origins import ANSWER_HEADERS
from tailrace.api.wire.replies import seek_json, split_json
from tailrace.app.store.storage import Storage, new_identity
from tailrace.core.commands import Append, DeleteKeys, InfoStream, Range
from tailrace.core.engine import Engine
from tailrace.core.replies import RangeReply, SeekReply, SplitReply, StreamInfo
from tailrace.core.storage import journal
from tailrace.core.storage.data_files import FILE_NAME
from tailrace.core.storage.inspection import copy_whole, inspected
from tailrace.core.storage.records import encode_effects
from tailrace.core.storage.salvage import Salvage
from tests.support.api_client import KEY, ApiClient

SPLIT = f"{KEY}/entries:split?parts=2"
SEEK = f"{KEY}/entries:seek?count=2"
EXPORT = f"{KEY}/entries:export"


@pytest.fixture
def api() -> ApiClient:
    return ApiClient.with_race()


def incarnation(api: ApiClient, url: str = KEY) -> Any:
    return api.get(url).json().get("incarnation")


def redis(api: ApiClient, *words: str) -> Any:
    answer = api.post("/v1/command", list(words))
    assert answer.is_success, answer.text
    return answer.json()["result"]


# --- where it is reported --------------------------------------------------------------------------


def test_the_state_the_head_and_all_that_plans_or_exports_report_the_same_incarnation(api: ApiClient) -> None:
    expected = incarnation(api)
    assert isinstance(expected, str)
    assert expected
    assert incarnation(api, f"{KEY}?full=true") == expected
    assert api.request("HEAD", KEY).headers["x-incarnation"] == expected
    assert incarnation(api, SPLIT) == expected
    assert incarnation(api, f"{KEY}/entries:split?parts=2&start=9&end=1") == expected
    assert incarnation(api, SEEK) == expected
    assert incarnation(api, f"{KEY}/entries:seek?count=1&start=9999999999999") == expected
    assert api.get(EXPORT).headers["x-incarnation"] == expected


def test_a_missing_stream_has_no_incarnation_and_an_empty_one_has(api: ApiClient) -> None:
    missing = "/v1/streams/none"
    assert incarnation(api, f"{missing}/entries:split?parts=2") is None
    assert incarnation(api, f"{missing}/entries:seek?count=2") is None
    assert "x-incarnation" not in api.get(f"{missing}/entries:export").headers
    api.put(missing)
    assert incarnation(api, f"{missing}/entries:split?parts=2") == incarnation(api, missing)
    assert api.get(f"{missing}/entries:export").headers["x-incarnation"] == incarnation(api, missing)


def test_a_web_page_of_an_allowed_origin_may_read_the_header() -> None:
    assert "X-Incarnation" in ANSWER_HEADERS


def test_the_command_keeps_the_reply_of_redis(api: ApiClient) -> None:
    assert "incarnation" not in redis(api, "XINFO", "STREAM", "race:france")
    assert "incarnation" not in redis(api, "XINFO", "STREAM", "race:france", "FULL")


# --- when it changes -------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("DEL", "race:france"), ("FLUSHALL",), ("RENAME", "race:france", "other")])
def test_a_stream_that_is_made_anew_under_its_key_has_another_incarnation(
    api: ApiClient, words: tuple[str, ...]
) -> None:
    before = incarnation(api)
    redis(api, *words)
    redis(api, "XADD", "race:france", "9999999999999-0", "n", "1")
    assert incarnation(api) != before


def test_appends_trims_deletions_and_new_settings_keep_the_incarnation(api: ApiClient) -> None:
    before = incarnation(api)
    redis(api, "XADD", "race:france", "*", "n", "1")
    redis(api, "XTRIM", "race:france", "MAXLEN", "0")
    redis(api, "XSETID", "race:france", "9999999999999-0")
    api.put(KEY, {"idmp_duration_s": 5})
    assert incarnation(api) == before


def test_a_renamed_stream_keeps_its_incarnation(api: ApiClient) -> None:
    before = incarnation(api)
    redis(api, "XADD", "victim", "*", "n", "1")
    redis(api, "RENAME", "race:france", "victim")
    assert incarnation(api, "/v1/streams/victim") == before


def test_a_copy_has_an_incarnation_of_its_own_and_the_original_keeps_its(api: ApiClient) -> None:
    before = incarnation(api)
    redis(api, "COPY", "race:france", "copy")
    assert incarnation(api) == before
    first = incarnation(api, "/v1/streams/copy")
    redis(api, "COPY", "race:france", "copy", "REPLACE")
    assert len({before, first, incarnation(api, "/v1/streams/copy")}) == 3


def test_an_export_ends_where_its_stream_was_deleted_and_another_took_its_key(api: ApiClient) -> None:
    lines = b"\n".join(b'{"n":"%d"}' % number for number in range(25_000))
    api.post(f"{KEY}/entries:import", content=lines, headers={"Content-Type": "application/x-ndjson"})
    execute = api.store.execute
    read: list[Range] = []

    async def execute_and_replace(command: Any) -> Any:
        reply = await execute(command)
        if isinstance(command, Range):
            read.append(command)
            if len(read) == 1:
                api.store.engine.execute_all(
                    [DeleteKeys((b"race:france",)), Append(b"race:france", [b'{"other":"stream"}'])],
                    api.store.now_ms + 1000,
                )
        return reply

    api.store.execute = execute_and_replace  # type: ignore[method-assign]
    answer = api.get(EXPORT)
    assert len(read) == 2
    assert b"other" not in answer.content
    assert answer.content.count(b"\n") == 10_000


# --- how long it lasts -----------------------------------------------------------------------------


@contextmanager
def opened(directory: Path) -> Iterator[Storage]:
    """The open files of a server, without its event loop. It ends like a crash."""
    storage = Storage(directory)
    try:
        yield storage
    finally:
        storage._reading.close()
        storage._writing.close()
        storage._lock.release()


def appended(storage: Storage) -> str:
    """The incarnation of the stream `s`, to which an entry is appended and stored."""
    engine = Engine(storage.keyspace)
    effects = engine.execute(Append(b"s", [b'{"n":"1"}']), 1000).effects
    storage._seq += 1
    journal.append(storage._writing, storage._seq, encode_effects(effects))
    return found(storage)


def found(storage: Storage) -> str:
    reply = Engine(storage.keyspace).execute(InfoStream(b"s"), 1000).reply
    assert isinstance(reply, StreamInfo)
    assert reply.incarnation
    return reply.incarnation


def test_a_directory_keeps_its_incarnations_at_every_start(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        expected = appended(storage)
    for _ in range(2):
        with opened(tmp_path) as storage:
            assert found(storage) == expected


def test_two_new_directories_have_different_incarnations(tmp_path: Path) -> None:
    with opened(tmp_path / "one") as one, opened(tmp_path / "other") as other:
        assert appended(one) != appended(other)


def test_a_directory_of_an_earlier_release_gets_an_identity_at_its_first_start(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        before = appended(storage)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.execute("DELETE FROM meta WHERE name = 'identity'")
        connection.commit()
    with opened(tmp_path) as storage:
        given = found(storage)
        assert given != before
    with opened(tmp_path) as storage:
        assert found(storage) == given


def test_each_copy_of_a_directory_has_incarnations_of_its_own(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as storage:
        seen = [appended(storage)]
    for name in ("backup", "another"):
        (tmp_path / name).mkdir()
        with inspected(tmp_path / "data") as inspection:
            copy_whole(inspection.connection, tmp_path / name, new_identity(), lambda _done, _total: None)
        with opened(tmp_path / name) as storage:
            seen.append(found(storage))
    with opened(tmp_path / "data") as storage:
        assert found(storage) == seen[0]
    assert len(set(seen)) == 3


def test_what_salvage_wrote_has_incarnations_of_its_own(tmp_path: Path) -> None:
    with opened(tmp_path / "data") as storage:
        before = appended(storage)
    (tmp_path / "rescued").mkdir()
    with inspected(tmp_path / "data") as inspection:
        Salvage(inspection.connection).write(tmp_path / "rescued")
    with opened(tmp_path / "rescued") as storage:
        assert found(storage) != before


def test_reads_after_a_failure_of_the_disk_report_the_same_incarnation(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        expected = appended(storage)
        committed = storage.committed()
        assert committed is not None
        reply = Engine(committed).execute(Range(b"s"), 1000).reply
    assert isinstance(reply, RangeReply)
    assert reply.incarnation == expected


def test_an_answer_of_a_store_without_incarnations_has_none() -> None:
    assert "incarnation" not in split_json(SplitReply((), 0))
    assert "incarnation" not in seek_json(SeekReply(None, 0))
