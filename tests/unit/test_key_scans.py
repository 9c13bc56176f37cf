"""A SCAN of many keys over the command endpoint: its steps, and what happens between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tailrace.api.wire.key_scans import scanned_keys
from tailrace.core import commands as c
from tailrace.core.replies import KeyScan, Reply
from tests.support.api_client import ApiClient
from tests.support.engine_calls import FRAGMENT
from tests.support.engine_store import EngineStore

STEP = 10
KEYS = [b"key:%03d" % number for number in range(100)]


class Store(EngineStore):
    """A store with a hundred streams. `counts`: of its steps of SCAN. `after_step` runs after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[int] = []
        self.after_step: Callable[[KeyScan], object] = lambda _: None
        self.run(*(c.Append(key, [FRAGMENT]) for key in KEYS))

    def run(self, *commands: c.Command) -> None:
        """Run commands at once."""
        self.engine.execute_all(commands, self.now_ms)

    async def execute(self, command: c.Command) -> Reply:
        reply = await super().execute(command)
        if isinstance(command, c.ScanKeys):
            assert isinstance(reply, KeyScan)
            self.counts.append(command.count)
            self.after_step(reply)
        return reply


def scanned(store: Store, command: c.ScanKeys) -> KeyScan:
    return asyncio.run(scanned_keys(store, command))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr("tailrace.api.wire.key_scans.SCAN_COUNT_MAX", STEP)
    return Store()


def test_a_scan_examines_as_many_keys_as_it_counts_in_steps(store: Store) -> None:
    first = scanned(store, c.ScanKeys(0, count=35))
    assert store.counts == [10, 10, 10, 5]
    assert len(first.keys) == 35
    rest = scanned(store, c.ScanKeys(first.cursor, count=100))
    assert rest.cursor == 0
    assert sorted([*first.keys, *rest.keys]) == KEYS


def test_a_request_examines_a_limited_number_of_keys(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.api.wire.key_scans.SCAN_REQUEST_KEYS_MAX", 40)
    found = scanned(store, c.ScanKeys(0, count=1_000_000))
    assert (store.counts, len(found.keys)) == ([10, 10, 10, 10], 40)
    assert found.cursor


def test_a_request_ends_early_where_it_has_found_long_keys(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailrace.api.wire.key_scans.TURN_REPLY_BYTES_MAX", 15 * (64 + 7))
    found = scanned(store, c.ScanKeys(0, count=100))
    assert len(found.keys) == 20
    found = scanned(store, c.ScanKeys(0, count=100, pattern=b"*:00*"))
    assert (found.cursor, sorted(found.keys)) == (0, KEYS[:10])


def test_a_key_that_stays_is_found_once_whatever_happens_between_the_steps(store: Store) -> None:
    gone: set[bytes] = set()
    seen: list[bytes] = []

    def change(step: KeyScan) -> None:
        seen.extend(step.keys)
        left = [key for key in KEYS if key not in gone and key not in seen]
        for key in (*left[:3], *seen[:2]):
            store.run(c.DeleteKeys((key,)), c.CreateStream(b"new:" + key))
            gone.add(key)

    store.after_step = change
    found = scanned(store, c.ScanKeys(0, count=1_000))
    assert found.cursor == 0
    assert gone
    assert len(found.keys) == len(set(found.keys))
    assert set(KEYS) - gone <= set(found.keys)


def test_other_requests_run_between_the_steps(store: Store) -> None:
    async def scan_and_read() -> None:
        stepped = asyncio.Event()
        store.after_step = lambda _: stepped.set()
        scanning = asyncio.create_task(scanned_keys(store, c.ScanKeys(0, count=len(KEYS) - 1)))
        for number in range(len(KEYS) // STEP):
            await stepped.wait()
            stepped.clear()
            assert await store.execute(c.StreamLength(KEYS[0])) == 1
            assert len(store.counts) == number + 1
        await scanning

    asyncio.run(scan_and_read())


def test_the_command_endpoint_examines_more_keys_than_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tailrace.api.wire.key_scans.SCAN_COUNT_MAX", STEP)
    monkeypatch.setattr("tailrace.core.handlers.key_lists.SCAN_COUNT_MAX", STEP)
    api = ApiClient()
    api.post("/v1/command/pipeline", [["XADD", key.decode(), "1-1", "a", "b"] for key in KEYS])
    scan = ["SCAN", "0", "MATCH", "*:09*", "COUNT", "100"]
    cursor, keys = api.post("/v1/command", scan).json()["result"]
    assert (cursor, sorted(keys)) == ("0", [key.decode() for key in KEYS[90:]])
    cursor, keys = api.post("/v1/command/pipeline", [["SCAN", "0", "COUNT", "100"]]).json()[0]["result"]
    assert (cursor != "0", len(keys)) == (True, STEP)
