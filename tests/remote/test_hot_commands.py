"""Hot commands of a gateway: sent without a task, counted once, and never carried out twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.app.remote import hot
from tailrace.app.remote.link.port import EngineError, LinkDown, Resp
from tailrace.app.remote.link.timing import UNSENT_COMMANDS_MAX
from tailrace.app.remote.opening import opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tailrace.core.commands import (
    Acknowledge,
    Append,
    Command,
    Idempotency,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    Special,
)
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import AppendReply, ReadReply, Reply
from tests.support.links import linked, run, settle
from tests.support.redis_node import RedisNode

FRAGMENT = fragment_from_flat([b"rider", b"Castilla"])


def append(key: bytes, **options: object) -> Append:
    return Append(key, [FRAGMENT], **options)  # type: ignore[arg-type] # any of its options


@asynccontextmanager
async def store_of(node: RedisNode, **settings: int) -> AsyncIterator[RemoteStore]:
    async with opened(Settings(store=f"redis://{node.address}", **settings)) as (link, engine):  # type: ignore[arg-type]
        store = RemoteStore()
        store.use(link, engine)
        yield store


async def answers_of(store: RemoteStore, *commands: Command) -> list[Answer]:
    """The answers to commands that are submitted in one turn of the loop."""
    answers: list[Answer] = []
    for command in commands:
        assert store.submit(command, answers.append) is None
        assert len(answers) < len(commands), "the engine has answered within the call"
    await settle(lambda: len(answers) == len(commands), "all answers")
    return answers


def count_of(store: RemoteStore, name: str) -> int:
    return next(kind.count for kind in store.figures.kinds if kind.name == name)


def test_an_append_and_an_acknowledgment_take_no_task(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(engine) as store:
            await store.link.call(
                [b"XGROUP", b"CREATE", b"hot", b"g", b"0", b"MKSTREAM"], key=b"hot", is_write=True
            )
            before = asyncio.all_tasks()
            answers: list[Answer] = []
            store.submit(append(b"hot"), answers.append)
            store.submit(Acknowledge(b"hot", b"g", (1,)), answers.append)
            assert asyncio.all_tasks() == before
            await settle(lambda: len(answers) == 2, "both answers")
            assert isinstance(answers[0], AppendReply)
            assert answers[1] == 0
            assert count_of(store, "xadd") == count_of(store, "xack") == 1

    run(main)


def test_a_client_gets_an_answer_if_reading_the_reply_of_the_engine_fails(
    engine: RedisNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_plan: object, _results: object) -> Reply:
        raise ValueError("a defect")

    async def main() -> None:
        async with store_of(engine) as store:
            monkeypatch.setattr(hot, "_read", fail)
            [answer] = await answers_of(store, append(b"unread"))
            assert isinstance(answer, StoreUnavailable)
            assert answer.is_outcome_unknown

    run(main)


def test_more_commands_than_a_node_has_room_for_are_all_answered_in_their_order(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(engine) as store:
            many = UNSENT_COMMANDS_MAX + 500
            answers = await answers_of(store, *[append(b"many")] * many)
            ids = [answer.ids[0] for answer in answers if isinstance(answer, AppendReply)]
            assert len(ids) == many
            assert ids == sorted(set(ids))
            assert await store.link.call([b"XLEN", b"many"], key=b"many", is_write=False) == many
            await store.link.call([b"DEL", b"many"], key=b"many", is_write=True)

    run(main)


def test_a_refused_command_gets_the_details_of_the_documented_route(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(engine) as store:
            await store.link.call([b"XADD", b"refused", b"5-1", b"a", b"b"], key=b"refused", is_write=True)
            [answer] = await answers_of(store, append(b"refused", ids=[(5 << 64) | 1]))
            assert isinstance(answer, StreamError)
            assert answer.code is ErrorCode.ID_NOT_GREATER
            assert answer.details == {"last_id": "5-1", "given": "5-1"}
            [answer] = await answers_of(store, append(b"\0tailrace:name"))
            assert isinstance(answer, StreamError)
            assert answer.code is ErrorCode.INVALID_ARGUMENT
            assert store.figures.refusals["xadd", "ID_NOT_GREATER"] == 1

    run(main)


def test_a_node_that_lost_the_library_gets_it_again_and_appends_once(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(engine) as store:
            keyed = append(b"lost", idempotency=Idempotency(b"p", b"k", b"fingerprint"))
            for words in ([b"FUNCTION", b"FLUSH"], [b"SCRIPT", b"FLUSH"]):
                await store.link.call(words, key=None, is_write=True)
            [answer] = await answers_of(store, keyed)
            assert isinstance(answer, AppendReply)
            assert not answer.replayed
            [again] = await answers_of(store, keyed)
            assert isinstance(again, AppendReply)
            assert again.replayed
            assert await store.link.call([b"XLEN", b"lost"], key=b"lost", is_write=False) == 1

    run(main)


def test_a_read_of_a_group_is_answered_by_a_task(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(engine) as store:
            await store.link.call(
                [b"XGROUP", b"CREATE", b"read", b"g", b"0", b"MKSTREAM"], key=b"read", is_write=True
            )
            await answers_of(store, append(b"read"))
            read = ReadGroup(b"g", b"c", (ReadFrom(b"read", Special.NEW),), ReadLimits(count=1))
            [answer] = await answers_of(store, read)
            assert isinstance(answer, ReadReply)
            assert len(answer.streams[0].entries.ids) == 1

    run(main)


def test_a_command_that_the_server_fails_at_is_answered(
    engine: RedisNode, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with store_of(engine) as store:
            no_stream: Any = None
            [answer] = await answers_of(store, ReadGroup(b"g", b"c", (no_stream,)))
            assert isinstance(answer, StoreUnavailable)
            assert answer.is_outcome_unknown
            assert answer.reason.startswith("the server failed")

    run(main)
    assert "request_failed" in caplog.text


def test_a_write_that_a_replica_must_confirm_is_refused_if_there_is_none(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(engine, min_replicas=1) as store:
            [answer] = await answers_of(store, append(b"alone"))
            assert isinstance(answer, StoreUnavailable)
            assert not answer.is_outcome_unknown
            assert await store.link.call([b"XLEN", b"alone"], key=b"alone", is_write=False) == 0

    run(main)


def test_a_command_after_the_end_is_refused_and_not_sent(engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(engine) as store:
            store.drain()
            [answer] = await answers_of(store, append(b"ended"))
            assert isinstance(answer, StoreUnavailable)
            assert await store.link.call([b"EXISTS", b"ended"], key=b"ended", is_write=False) == 0

    run(main)


def test_a_lost_connection_leaves_the_outcome_of_a_written_command_unknown(own_engine: RedisNode) -> None:
    async def main() -> None:
        async with store_of(own_engine) as store:
            answers: list[Answer] = []
            own_engine.hang()
            store.submit(append(b"written"), answers.append)
            await asyncio.sleep(0)
            own_engine.kill()
            await settle(lambda: len(answers) == 1, "the answer")
            assert isinstance(answers[0], StoreUnavailable)
            assert answers[0].is_outcome_unknown

    run(main)


@pytest.mark.parametrize("is_atomic", [False, True])
def test_a_function_that_fails_with_a_reply_leaves_the_replies_of_others(
    engine: RedisNode, *, is_atomic: bool
) -> None:
    async def main() -> None:
        async with linked(f"redis://{engine.address}") as link:
            reported: list[object] = []
            asyncio.get_running_loop().set_exception_handler(
                lambda _loop, what: reported.append(what["exception"])
            )
            before = await link.call([b"CLIENT", b"ID"], key=None, is_write=False)
            failure = ValueError("a defect")

            def fail(_: Sequence[Resp | EngineError] | EngineError | LinkDown) -> None:
                raise failure

            words = [[b"EXISTS", b"defect"], [b"EXISTS", b"defect"]]
            assert link.submit(words, fail, key=b"defect", is_write=False, atomic=is_atomic)
            assert await link.call([b"CLIENT", b"ID"], key=None, is_write=False) == before
            assert reported == [failure]

    run(main)
