"""`tailrace.open_async`: the same store for the tasks of an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import tailrace
from tailrace.library import AsyncStore, CannotOpen, Entry, Store, StoreUnavailable

ONE = {"total": "5"}


def test_tasks_append_read_and_acknowledge(tmp_path: Path) -> None:
    async def work() -> tuple[list[str], list[str]]:
        async with tailrace.open_async(tmp_path) as store:
            appended = await asyncio.gather(*(store.append("orders", ONE) for _ in range(20)))
            await store.create_group("orders", "mail")
            delivered = await store.read_group("orders", "mail", "alice")
            assert await store.ack("orders", "mail", *(entry.id for entry in delivered)) == 20
            return sorted(appended), [entry.id async for entry in store.range("orders")]

    appended, stored = asyncio.run(work())
    assert sorted(stored) == appended

    with tailrace.open(tmp_path) as store:
        assert store.length("orders") == 20


def test_a_cancelled_read_has_taken_nothing() -> None:
    async def work() -> list[Entry]:
        async with tailrace.open_async() as store:
            await store.create_group("orders", "mail")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await store.read_group("orders", "mail", "alice", wait_ms=60_000)
            await store.append("orders", ONE)
            return await store.read_group("orders", "mail", "bob")

    assert [entry.fields for entry in asyncio.run(work())] == [ONE]


def test_after_the_context_the_store_refuses_commands(tmp_path: Path) -> None:
    async def work() -> None:
        async with tailrace.open_async(tmp_path) as store:
            with pytest.raises(CannotOpen, match="is in use"):
                async with tailrace.open_async(tmp_path):
                    pass
        with pytest.raises(StoreUnavailable):
            await store.append("orders", ONE)

    asyncio.run(work())


def public(kind: type) -> dict[str, inspect.Signature]:
    methods = inspect.getmembers(kind, inspect.isfunction)
    return {name: inspect.signature(method) for name, method in methods if not name.startswith("_")}


def test_both_stores_have_the_same_methods_and_parameters() -> None:
    blocking, asynchronous = public(Store), public(AsyncStore)
    del blocking["close"]
    assert {name: each.parameters for name, each in blocking.items()} == {
        name: each.parameters for name, each in asynchronous.items()
    }
    returned = {name: str(each.return_annotation) for name, each in asynchronous.items()}
    assert {name: str(each.return_annotation) for name, each in blocking.items()} == {
        name: kind.replace(AsyncIterator.__name__, Iterator.__name__) for name, kind in returned.items()
    }
