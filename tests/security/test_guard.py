"""The rights of a request and of a connection during their use: order, audit records, ends. In process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tailrace.api.access.guard import Guard
from tailrace.api.access.guarded_store import GuardedStore
from tailrace.api.access.security import Security
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import Act, TokenScope, Unauthenticated
from tailrace.app.store.service import EngineStore
from tailrace.app.tokens.authenticator import FileAuthenticator
from tailrace.core.commands import (
    Append,
    CountKeys,
    DeleteKeys,
    Flush,
    Read,
    ReadFrom,
    ReadLimits,
    StreamLength,
)
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tests.support.tokens import make_token, revoke_token
from tests.support.watching_store import WatchingStore
from tests.support.websocket_client import Client

FRAGMENT = b'{"a":"1"}'
WAITING = Read((ReadFrom(b"race:a", 0),), ReadLimits(), block_ms=0)
UNKNOWN = StoreUnavailable("storage failed", is_outcome_unknown=True)


class Rights:
    """A token of a file of its own, the authenticator that knows it, and the record."""

    def __init__(self, directory: Path, *scopes: TokenScope, keys: tuple[str, ...] = ("race:*",)) -> None:
        self.path = directory / "tokens.json"
        self.text = make_token(self.path, *scopes, keys=keys)
        self.acts: list[Act] = []
        self.authenticator = FileAuthenticator(self.path, self.acts.append)
        principal = self.authenticator.authenticate(f"Bearer {self.text}".encode())
        self.guard = Guard(Security(self.authenticator, self.acts.append), principal, "mine-1")

    def revoke(self) -> None:
        revoke_token(self.path, self.text)
        self.authenticator.refresh()

    def store(self, scope: TokenScope) -> tuple[EngineStore, GuardedStore]:
        inner = EngineStore(Engine())
        return inner, GuardedStore(inner, self.guard, scope, "test")

    @property
    def recorded(self) -> list[tuple[str, str]]:
        return [(act.operation, act.outcome) for act in self.acts]


Story = Callable[[], Coroutine[Any, Any, None]]


def played(story: Story) -> None:
    async def run() -> None:
        async with asyncio.timeout(10):
            await story()

    asyncio.run(run())


def test_where_one_command_is_not_allowed_none_is_carried_out(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "admin")

    async def story() -> None:
        inner, guarded = rights.store("admin")
        await inner.execute(Append(b"race:a", [FRAGMENT]))
        with pytest.raises(StreamError) as refusal:
            await guarded.execute_all([DeleteKeys((b"race:a",)), DeleteKeys((b"boat:a",))])
        assert refusal.value.code is ErrorCode.NOPERM
        assert await inner.execute(CountKeys((b"race:a",))) == 1

    played(story)


def test_what_came_of_administrative_acts_is_recorded_whatever_it_was(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "admin", keys=("*",))

    async def story() -> None:
        inner, guarded = rights.store("admin")
        await guarded.execute(Flush())
        await guarded.execute(CountKeys((b"race:a",)))
        inner.drain()
        with pytest.raises(StoreUnavailable):
            await guarded.execute(Flush())
        with pytest.raises(StoreUnavailable):
            await guarded.execute_all([Flush(), Flush()])

    played(story)
    refused = ("test", "not accepted")
    assert rights.recorded == [("test", "done"), refused, refused, refused]
    assert {act.request_id for act in rights.acts} == {"mine-1"}


def test_an_act_over_a_socket_whose_outcome_is_unknown_is_recorded_as_that(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "admin", keys=("*",))
    client = Client(guard=rights.guard)
    client.store.close(UNKNOWN)
    reply = client.say({"id": 1, "op": "command", "command": ["FLUSHALL"]})
    assert reply["error"]["side_effects"] == "unknown"
    assert rights.recorded == [("flushall", "unknown")]


def test_requests_that_wait_when_the_token_ends_are_not_carried_out(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "append")
    store = WatchingStore()
    client = Client(store, guard=rights.guard)
    client.session.receive('{"id": 1, "op": "append", "key": "race:a", "fields": {"a": "1"}}')
    client.session.end_access(Unauthenticated("the token was revoked"))
    assert client.session.next_turn() is None
    assert store.run(CountKeys((b"race:a",))) == 0


def test_a_request_under_a_token_that_has_just_ended_is_told_so(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "append")
    client = Client(guard=rights.guard)
    rights.revoke()
    reply = client.say({"id": 1, "op": "append", "key": "race:a", "fields": {"a": "1"}})
    assert (reply["id"], reply["error"]["code"]) == (1, "UNAUTHENTICATED")


def test_a_read_that_waits_ends_with_the_token_and_leaves_nothing_behind(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "read")

    async def story() -> None:
        inner, guarded = rights.store("read")
        reading = asyncio.create_task(guarded.execute(WAITING))
        await asyncio.sleep(0)
        rights.revoke()
        with pytest.raises(Unauthenticated, match="revoked"):
            await reading
        assert (inner.waiting_count, rights.authenticator._watches) == (0, {})
        with pytest.raises(Unauthenticated):
            await guarded.execute(StreamLength(b"race:a"))

    played(story)


def test_a_read_that_was_served_or_left_is_watched_no_more(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "read")

    async def story() -> None:
        inner, guarded = rights.store("read")
        served, left = (asyncio.create_task(guarded.execute(WAITING)) for _ in range(2))
        await asyncio.sleep(0)
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        await inner.execute(Append(b"race:a", [FRAGMENT]))
        assert await served
        assert (inner.waiting_count, rights.authenticator._watches) == (0, {})

    played(story)


def test_who_cancels_a_read_at_the_moment_of_the_end_has_the_first_word(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "read")

    async def story() -> None:
        _, guarded = rights.store("read")
        reading = asyncio.create_task(guarded.execute(WAITING))
        await asyncio.sleep(0)
        reading.cancel()
        rights.revoke()
        with pytest.raises(asyncio.CancelledError):
            await reading

    played(story)


def test_an_operation_without_a_scope_of_its_own_cannot_use_the_store(tmp_path: Path) -> None:
    rights = Rights(tmp_path, "read")
    guarded = GuardedStore(EngineStore(Engine()), rights.guard, None, "command")
    with pytest.raises(AssertionError):
        asyncio.run(guarded.execute(StreamLength(b"race:a")))
