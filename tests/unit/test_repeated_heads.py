"""A head that equals the one before it is that of its own request, whatever else the same read contains."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tailrace.app.store.service import EngineStore
from tailrace.core.commands import Range
from tailrace.core.engine import Engine
from tailrace.core.replies import RangeReply
from tests.support.engine_store import START_MS
from tests.support.pipelines import APPEND, ENTRY, HOT_GET, answers_in, post, settled
from tests.support.protocol import connected

ELSEWHERE = post(b"/v1/streams/elsewhere/entries", ENTRY)
PENDING = b"GET /v1/streams/race/groups/g/pending HTTP/1.1\r\nhost: localhost\r\n\r\n"


async def statuses_of(store: EngineStore, reads: Sequence[bytes]) -> list[list[bytes]]:
    """Deliver each read to one connection, and return the statuses of the answers to each."""
    protocol, transport = connected(store)
    found = []
    for data in reads:
        protocol.data_received(data)
        await settled(protocol, transport)
        found.append([answer[:3] for answer in answers_in(transport)])
        transport.written.clear()
    return found


async def length_of(store: EngineStore, key: bytes) -> int:
    reply = await store.execute(Range(key))
    assert isinstance(reply, RangeReply)
    return len(reply.entries.ids)


def new_store() -> EngineStore:
    return EngineStore(Engine(), clock=lambda: START_MS)


@pytest.mark.parametrize("second", [HOT_GET, PENDING])
def test_an_append_after_one_that_was_read_together_with_a_get_is_an_append(second: bytes) -> None:
    async def story() -> tuple[list[list[bytes]], int]:
        store = new_store()
        statuses = await statuses_of(store, [APPEND + second, APPEND, APPEND * 3])
        return statuses, await length_of(store, b"race")

    statuses, length = asyncio.run(story())
    assert [each[0] for each in statuses] == [b"201"] * 3
    assert statuses[1:] == [[b"201"], [b"201"] * 3]
    assert length == 5


def test_equal_entries_for_two_streams_in_one_read_leave_later_ones_in_their_stream() -> None:
    async def story() -> tuple[int, int]:
        store = new_store()
        await statuses_of(store, [APPEND + ELSEWHERE, APPEND, APPEND])
        return await length_of(store, b"race"), await length_of(store, b"elsewhere")

    assert asyncio.run(story()) == (3, 1)


@pytest.mark.parametrize("blank", [b"\r\n", b"\r\n\r\n", b"\r\n\r\n\r\n"])
@pytest.mark.parametrize("request_before", [HOT_GET, APPEND])
def test_blank_lines_before_a_request_are_no_head(blank: bytes, request_before: bytes) -> None:
    async def story() -> list[list[bytes]]:
        store = new_store()
        return (await statuses_of(store, [APPEND, blank + request_before, blank + APPEND, APPEND]))[2:]

    assert asyncio.run(story()) == [[b"201"], [b"201"]]
