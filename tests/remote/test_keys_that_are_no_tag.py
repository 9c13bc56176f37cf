"""Keys that no hash tag can name: the empty key, and keys with an unmatched brace.

What the gateway keeps next to such a stream is in the slot of the stream, so each command works as on any
other stream.
"""

from __future__ import annotations

from itertools import count
from typing import Final

import pytest

from tailrace.app.remote.link.discovery import slot_of
from tailrace.app.remote.store import RemoteStore
from tailrace.core import commands as c
from tailrace.core.group_settings import GroupSettings
from tailrace.core.log.entry import flat_of, fragment_from_flat
from tailrace.core.replies import AppendReply, GroupInfo, RangeReply, ReadReply, RedriveReply
from tests.support.remote_stores import on_one

G: Final = b"g"
FRAGMENT: Final = fragment_from_flat([b"n", b"1"])
LAST_ID: Final = (1 << 128) - 1
UNNAMEABLE: Final = (b"", b"{", b"}", b"{}", b"}{", b"{}{a}")
"""Keys that are not a hash tag, and have none."""


def neighbour(key: bytes) -> bytes:
    """Return another key in the slot of `key`."""
    tags = (b"%d" % number for number in count())
    return next(b"{" + tag + b"}neighbour" for tag in tags if slot_of(tag) == slot_of(key))


async def deliver_once(store: RemoteStore, key: bytes, dead: bytes) -> None:
    """Give the stream a group that delivers each entry once, and one entry that alice has."""
    await store.execute(c.DeleteKeys((key,)))
    await store.execute(c.DeleteKeys((dead,)))
    await store.execute(c.CreateGroup(key, G, 0, create_stream=True))
    await store.execute(c.ConfigureGroup(key, G, max_deliveries=1, dead_letter_stream=dead))
    await store.execute(c.Append(key, (FRAGMENT,), (1 << 64,)))
    assert await taken(store, key, b"alice") == [1 << 64]


async def taken(store: RemoteStore, key: bytes, consumer: bytes) -> list[int]:
    source = c.ReadFrom(key, c.Special.NEW)
    reply = await store.execute(c.ReadGroup(G, consumer, (source,), claim_min_idle_ms=0))
    assert isinstance(reply, ReadReply)
    return list(reply.streams[0].entries.ids)


async def first_fields(store: RemoteStore, key: bytes) -> list[list[bytes]]:
    reply = await store.execute(c.Range(key, 0, LAST_ID))
    assert isinstance(reply, RangeReply)
    return [flat_of(fragment or b"")[:2] for fragment in reply.entries.fragments]


@pytest.mark.parametrize("key", UNNAMEABLE)
def test_entries_of_a_stream_that_no_hash_tag_names_become_dead_letters_and_return(
    store_url: str, key: bytes
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await _move_and_redrive(store, key, neighbour(key))

    on_one(store_url, scenario)


@pytest.mark.parametrize("dead", UNNAMEABLE)
def test_a_stream_that_no_hash_tag_names_can_take_dead_letters(store_url: str, dead: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await _move_and_redrive(store, neighbour(dead), dead)

    on_one(store_url, scenario)


async def _move_and_redrive(store: RemoteStore, key: bytes, dead: bytes) -> None:
    await deliver_once(store, key, dead)
    [group] = await store.execute(c.InfoGroups(key))  # type: ignore[misc] # a list of GroupInfo
    assert isinstance(group, GroupInfo)
    assert group.settings == GroupSettings(max_deliveries=1, dead_letter_stream=dead)
    assert await taken(store, key, b"bob") == []
    assert await first_fields(store, dead) == [[b"n", b"1"]]
    reply = await store.execute(c.Redrive(key, G, 10))
    assert isinstance(reply, RedriveReply)
    assert len(reply.new_ids) == 1
    assert await first_fields(store, dead) == []
    assert await store.execute(c.NegativeAcknowledge(key, G, c.NackMode.FATAL, (1 << 64,))) == 0
    await store.execute(c.DeleteKeys((key,)))
    await store.execute(c.DeleteKeys((dead,)))


@pytest.mark.parametrize("key", UNNAMEABLE)
def test_an_idempotency_key_of_a_stream_that_no_hash_tag_names_counts_once(
    store_url: str, key: bytes
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.DeleteKeys((key,)))
        for request in (c.Idempotency(b"p", b"k"), c.Idempotency(b"p", b"l", b"body")):
            command = c.Append(key, (FRAGMENT,), None, idempotency=request)
            first, again = await store.execute(command), await store.execute(command)
            assert isinstance(first, AppendReply)
            assert isinstance(again, AppendReply)
            assert first.ids == again.ids
        assert len(await first_fields(store, key)) == 2
        await store.execute(c.DeleteKeys((key,)))

    on_one(store_url, scenario)
