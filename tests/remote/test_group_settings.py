"""A gateway refuses settings that no engine has, and says what would have them."""

from __future__ import annotations

import asyncio

import pytest

from tailrace.core.commands import (
    Append,
    Batch,
    CancelScheduled,
    Command,
    ConfigureGroup,
    ConfigureStream,
    CreateStream,
    ExtendLeases,
    ListScheduled,
    NackMode,
    NegativeAcknowledge,
    Read,
    ReadFrom,
    ReadGroup,
    Redrive,
    RetentionRules,
    ScheduleEntries,
)
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry import fragment_from_flat
from tests.remote.test_returned_entries import redis, remote_store  # noqa: F401 - the fixture
from tests.support.engines import RedisOnPort

COMMANDS = [
    ConfigureGroup(b"s", b"g", 5, b"dead"),
    ConfigureGroup(b"s", b"g", claim_min_idle_ms=5),
    ExtendLeases(b"s", b"g", b"alice", (1,)),
    Redrive(b"s", b"g", 1),
    CreateStream(b"s", retention=RetentionRules(max_length=1)),
    ConfigureStream(b"s", retention=None),
    ScheduleEntries(b"s", [b'{"a":"b"}'], delay_ms=5),
    ListScheduled(b"s"),
    CancelScheduled(b"s", (1,)),
    NegativeAcknowledge(b"s", b"g", NackMode.FAIL, (1,), delay_ms=5),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_settings_that_no_engine_has_are_refused(redis: RedisOnPort, command: Command) -> None:  # noqa: F811
    async def scenario() -> None:
        async with remote_store(redis) as store:
            await store.execute(Append(b"s", (fragment_from_flat([b"a", b"b"]),)))
            with pytest.raises(StreamError) as alone:
                await store.execute(command)
            replies = await store.execute_all([command])
            assert isinstance(replies[0], StreamError)
            for error in (alone.value, replies[0]):
                assert error.code is ErrorCode.ENGINE_LACKS_FEATURE
                assert error.details["needs"] == "a server with its own storage"

    asyncio.run(scenario())


def test_reads_that_gather_entries_are_refused(redis: RedisOnPort) -> None:  # noqa: F811
    async def scenario() -> None:
        async with remote_store(redis) as store:
            sources = (ReadFrom(b"s", 0),)
            for command in (
                Read(sources, block_ms=5, batch=Batch(2, 5)),
                ReadGroup(b"g", b"alice", sources, block_ms=5, batch=Batch(2, None)),
            ):
                with pytest.raises(StreamError) as refused:
                    await store.execute(command)
                assert refused.value.code is ErrorCode.ENGINE_LACKS_FEATURE

    asyncio.run(scenario())
