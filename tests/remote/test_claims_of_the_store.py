"""XCLAIM through the store: it tells deleted entries, and the greatest count of deliveries stays."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tailrace.core.commands import (
    Append,
    AutoClaim,
    Claim,
    ClaimOptions,
    Command,
    CreateGroup,
    DeleteEntries,
    PendingRange,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    Special,
)
from tailrace.core.deliveries import DELIVERIES_MAX
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.replies import ClaimReply, ReadReply, Reply
from tests.remote.test_returned_entries import redis, remote_store  # noqa: F401 - the fixture
from tests.support.engines import RedisOnPort

G, ALICE, BOB = b"g", b"alice", b"bob"
IDS = (1 << 64, 2 << 64, 3 << 64)
FIELDS = fragment_from_flat([b"a", b"b"])


def pending_for_alice(key: bytes) -> list[Command]:
    """A group of three entries, all pending."""
    read = ReadGroup(G, ALICE, (ReadFrom(key, Special.NEW),), ReadLimits())
    appends = [Append(key, (FIELDS,), (value,)) for value in IDS]
    return [*appends, CreateGroup(key, G, 0), read]


def replies(redis: RedisOnPort, commands: Sequence[Command]) -> list[Reply]:  # noqa: F811
    async def scenario() -> list[Reply]:
        async with remote_store(redis) as store:
            return [await store.execute(command) for command in commands]

    return asyncio.run(scenario())


def test_a_claim_tells_which_entries_were_deleted(redis: RedisOnPort) -> None:  # noqa: F811
    claim = Claim(b"told", G, BOB, ClaimOptions(0, IDS))
    *_, reply, rest = replies(
        redis,
        [
            *pending_for_alice(b"told"),
            DeleteEntries(b"told", IDS[1:2]),
            claim,
            PendingRange(b"told", G),
        ],
    )
    assert isinstance(reply, ClaimReply)
    assert (list(reply.entries.ids), list(reply.deleted_ids)) == ([IDS[0], IDS[2]], [IDS[1]])
    assert isinstance(rest, list)
    assert [(entry.id, entry.consumer) for entry in rest] == [(IDS[0], BOB), (IDS[2], BOB)]


def test_the_greatest_count_of_deliveries_stays_through_claims_and_reads(redis: RedisOnPort) -> None:  # noqa: F811
    key = b"counted"
    greatest = ClaimOptions(0, IDS[:1], retry_count=DELIVERIES_MAX)
    *_, history, claimed, rest = replies(
        redis,
        [
            *pending_for_alice(key),
            Claim(key, G, BOB, greatest),
            Claim(key, G, ALICE, ClaimOptions(0, IDS[:1])),
            AutoClaim(key, G, BOB, 0, 0, 1),
            ReadGroup(G, BOB, (ReadFrom(key, 0),), ReadLimits()),
            ReadGroup(G, ALICE, (ReadFrom(key, Special.NEW),), ReadLimits(), claim_min_idle_ms=0),
            PendingRange(key, G),
        ],
    )
    for reply in (history, claimed):
        assert isinstance(reply, ReadReply)
        entries = reply.streams[0].entries
        assert dict(zip(entries.ids, entries.deliveries or (), strict=True))[IDS[0]] == DELIVERIES_MAX
    assert isinstance(rest, list)
    assert [entry.deliveries for entry in rest] == [DELIVERIES_MAX, 2, 2]


def test_a_claim_of_nothing_is_empty(redis: RedisOnPort) -> None:  # noqa: F811
    *_, reply = replies(redis, [*pending_for_alice(b"none"), Claim(b"none", G, BOB, ClaimOptions(0, ()))])
    assert isinstance(reply, ClaimReply)
    assert (list(reply.entries.ids), list(reply.deleted_ids)) == ([], [])
