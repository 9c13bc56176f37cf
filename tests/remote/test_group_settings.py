"""Settings of groups on each engine: which are refused, where they live, and what each gateway does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace

from tailrace.app.remote.functions.names import REGISTRY, settings_key
from tailrace.app.remote.keys.registry import prune
from tailrace.app.remote.store import RemoteStore
from tailrace.app.remote.words.engine import Configured
from tailrace.app.remote.words.table import plan_of
from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.group_settings import NO_SETTINGS, GroupSettings
from tailrace.core.log.entry import flat_of, fragment_from_flat
from tailrace.core.replies import ClaimReply, GroupInfo, PendingEntry, RangeReply, ReadReply
from tests.support.engines import engine, executable_of
from tests.support.redis_server import required
from tests.support.remote_stores import gateways, new_key, on_one, reached, told

G = b"g"
HOUR_MS = 3_600_000
FRAGMENT = fragment_from_flat([b"n", b"1"])


@pytest.fixture
def key() -> bytes:
    return new_key()


async def configure(store: RemoteStore, key: bytes, **settings: Any) -> None:
    await store.execute(c.ConfigureGroup(key, G, **settings))


async def pending_for_alice(store: RemoteStore, key: bytes, number: int = 1, **settings: Any) -> None:
    """A group with these settings, and entries 1-0 to number-0 that alice has."""
    await store.execute(c.CreateGroup(key, G, 0, create_stream=True))
    if settings:
        await configure(store, key, **settings)
    for place in range(1, number + 1):
        await store.execute(c.Append(key, (FRAGMENT,), (place << 64,)))
    assert await read(store, key, b"alice") == list(range(1, number + 1))


async def read(store: RemoteStore, key: bytes, consumer: bytes, **options: Any) -> list[int]:
    command = c.ReadGroup(G, consumer, (c.ReadFrom(key, c.Special.NEW),), **options)
    reply = await store.execute(command)
    assert isinstance(reply, ReadReply)
    return [value >> 64 for value in reply.streams[0].entries.ids]


async def make_idle(store: RemoteStore, key: bytes, *places: int, idle_ms: int = 2 * HOUR_MS) -> None:
    ids = tuple(place << 64 for place in places)
    options = c.ClaimOptions(0, ids, idle_ms=idle_ms, just_id=True)
    await store.execute(c.Claim(key, G, b"alice", options))


async def group(store: RemoteStore, key: bytes) -> GroupInfo:
    [found] = cast("Sequence[GroupInfo]", await store.execute(c.InfoGroups(key)))
    return found


async def pending(store: RemoteStore, key: bytes) -> list[tuple[int, bytes | None, int]]:
    rows = await store.execute(c.PendingRange(key, G, count=1_000))
    return [(row.id >> 64, row.consumer, row.deliveries) for row in cast("list[PendingEntry]", rows)]


async def fields(store: RemoteStore, key: bytes) -> list[list[bytes]]:
    reply = await store.execute(c.Range(key, 0, (1 << 128) - 1))
    assert isinstance(reply, RangeReply)
    return [flat_of(fragment or b"") for fragment in reply.entries.fragments]


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"filter": "fields.a == 'b'"}, "filter"),
        ({"consumer_expiry_ms": 5_000}, "consumer_expiry_ms"),
        ({"max_lag_ms": 5}, "max_lag_ms"),
        ({"order_by": "n"}, "order_by"),
        ({"backoff_initial_ms": 5, "backoff_factor": 2.0, "backoff_max_ms": 50}, "backoff"),
    ],
)
def test_other_settings_are_refused_with_the_store_that_has_them(
    store_url: str, key: bytes, settings: dict[str, Any], name: str
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key)
        for refused in (
            await _refusal(store.execute(c.ConfigureGroup(key, G, **settings))),
            (await store.execute_all([c.ConfigureGroup(key, G, **settings)]))[0],
        ):
            assert isinstance(refused, StreamError)
            assert refused.code is ErrorCode.ENGINE_LACKS_FEATURE
            assert refused.details["needs"] == "a server with its own storage"
            assert f"`{name}`" in refused.line
        assert (await group(store, key)).settings == NO_SETTINGS

    on_one(store_url, scenario)


@pytest.mark.parametrize(
    "command",
    [
        lambda key: c.ScheduleEntries(key, [FRAGMENT], delay_ms=5),
        c.ListScheduled,
        lambda key: c.CancelScheduled(key, (1,)),
        lambda key: c.NegativeAcknowledge(key, G, c.NackMode.FAIL, (1,), delay_ms=5),
    ],
)
def test_delays_are_refused_with_the_store_that_has_them(
    store_url: str, key: bytes, command: Callable[[bytes], c.Command]
) -> None:
    async def scenario(store: RemoteStore) -> None:
        refused = await _refusal(store.execute(command(key)))
        assert refused.code is ErrorCode.ENGINE_LACKS_FEATURE
        assert refused.details["needs"] == "a server with its own storage"

    on_one(store_url, scenario)


async def _refusal(run: Awaitable[Any]) -> StreamError:
    with pytest.raises(StreamError) as refused:
        await run
    return refused.value


def test_dead_letters_in_another_slot_are_refused_with_the_way_to_name_them(
    store_url: str, key: bytes
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key)
        settings = {"max_deliveries": 1, "dead_letter_stream": b"elsewhere:" + key[1:-1]}
        if not store.link.is_cluster:
            await configure(store, key, **settings)
            return
        refused = await _refusal(configure(store, key, **settings))
        assert refused.code is ErrorCode.CROSSSLOT
        assert "{race}:france and {race}:dead" in refused.line
        assert (await group(store, key)).settings == NO_SETTINGS

    on_one(store_url, scenario)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"claim_min_idle_ms": 0}, "claim_min_idle_ms is 0, but it must be at least 1"),
        (
            {"max_deliveries": 3},
            "the group would have max_deliveries without dead_letter_stream; set both, or remove both",
        ),
        ({"dead_letter_stream": b"\0tailrace:x"}, "the key name '\\0tailrace:x' belongs to the gateway"),
    ],
)
def test_settings_that_do_not_fit_are_refused_and_change_nothing(
    store_url: str, key: bytes, settings: dict[str, Any], text: str
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=7)
        refused = await _refusal(configure(store, key, **settings))
        assert refused.code is ErrorCode.INVALID_ARGUMENT
        assert text in refused.line
        assert (await group(store, key)).settings == GroupSettings(claim_min_idle_ms=7)

    on_one(store_url, scenario)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (lambda key: c.ConfigureGroup(key, b"none", claim_min_idle_ms=1), ErrorCode.NOGROUP),
        (lambda key: c.ConfigureGroup(key + b"none", G, claim_min_idle_ms=1), ErrorCode.NO_SUCH_STREAM),
        (lambda key: c.Redrive(key, b"none", 1), ErrorCode.NOGROUP),
        (lambda key: c.Redrive(key + b"none", G, 1), ErrorCode.NO_SUCH_STREAM),
        (lambda key: c.Redrive(key, G, 1), ErrorCode.INVALID_ARGUMENT),
        (lambda key: c.ExtendLeases(key, b"none", b"alice", (1,)), ErrorCode.NOGROUP),
        (lambda key: c.ExtendLeases(key + b"none", G, b"alice", (1,)), ErrorCode.NOGROUP),
    ],
)
def test_a_missing_stream_group_or_setting_is_named(
    store_url: str, key: bytes, command: Callable[[bytes], c.Command], code: ErrorCode
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key)
        assert (await _refusal(store.execute(command(key)))).code is code

    on_one(store_url, scenario)


# --- where settings live ---------------------------------------------------------------------


def test_settings_go_where_the_stream_goes_and_end_with_it(store_url: str, key: bytes) -> None:
    moved, twin, wanted = key + b"m", key + b"t", GroupSettings(claim_min_idle_ms=HOUR_MS)

    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=HOUR_MS)
        await store.execute(c.CopyKey(key, twin))
        await store.execute(c.RenameKey(key, moved))
        await make_idle(store, moved, 1)
        await make_idle(store, twin, 1)
        for each in (moved, twin):
            assert (await group(store, each)).settings == wanted
            assert await read(store, each, b"bob") == [1]
        await store.execute(c.DestroyGroup(moved, G))
        await store.execute(c.CreateGroup(moved, G, 0))
        assert (await group(store, moved)).settings == NO_SETTINGS
        await store.execute(c.DeleteKeys((twin,)))
        await store.execute(c.CreateGroup(twin, G, 0, create_stream=True))
        assert (await group(store, twin)).settings == NO_SETTINGS
        await store.execute(c.DeleteKeys((moved, twin)))
        for each in (moved, twin):
            hash_key = settings_key(each)
            assert await store.link.call([b"EXISTS", hash_key], key=hash_key, is_write=False) == 0

    on_one(store_url, scenario)


def test_a_stream_that_another_client_deletes_and_creates_again_has_no_settings(
    store_url: str, key: bytes
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=HOUR_MS)
        await store.link.call([b"DEL", key], key=key, is_write=True)
        await pending_for_alice(store, key)
        await make_idle(store, key, 1)
        assert (await group(store, key)).settings == NO_SETTINGS
        assert await read(store, key, b"bob") == []
        await configure(store, key, claim_min_idle_ms=1)
        assert (await group(store, key)).settings == GroupSettings(claim_min_idle_ms=1)

    on_one(store_url, scenario)


def test_the_hashes_of_settings_are_in_no_list_and_no_client_may_name_them(
    store_url: str, key: bytes
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=HOUR_MS)
        found = cast("list[bytes]", await store.execute(c.MatchKeys(pattern=b"*")))
        assert key in found
        assert not [name for name in found if b"tailrace" in name]
        for name in (settings_key(key), REGISTRY):
            refused = await _refusal(store.execute(c.StreamLength(name)))
            assert refused.code is ErrorCode.INVALID_ARGUMENT

    on_one(store_url, scenario)


def test_names_of_streams_without_settings_are_forgotten(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=HOUR_MS)
        gone = key + b"gone"
        await pending_for_alice(store, gone, claim_min_idle_ms=HOUR_MS)
        await store.execute(c.DeleteKeys((gone,)))
        assert store.engine.library is not None
        assert await prune(store.link, store.engine.library) >= 1
        await reached(lambda: gone not in store.engine.configured.keys)
        assert key in store.engine.configured.keys
        await pending_for_alice(store, gone, claim_min_idle_ms=HOUR_MS)
        assert gone in store.engine.configured.keys

    on_one(store_url, scenario)


def test_an_engine_that_was_emptied_has_no_settings(key: bytes) -> None:
    """On an engine of its own: the others are shared."""
    store_name = "redis-7.0.15"
    if executable_of(store_name) is None and not required():
        pytest.skip(f"{store_name} is not installed")

    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=HOUR_MS)
        await store.execute(c.Flush())
        await pending_for_alice(store, key)
        await make_idle(store, key, 1)
        assert (await group(store, key)).settings == NO_SETTINGS
        assert await read(store, key, b"bob") == []
        await reached(lambda: not store.engine.configured.keys)

    with engine(store_name) as own_url:
        on_one(own_url, scenario)


# --- every gateway ---------------------------------------------------------------------------


def test_every_gateway_applies_what_one_has_set_and_a_new_one_too(store_url: str, key: bytes) -> None:
    dead = key + b":dead"

    async def run() -> None:
        async with gateways(store_url, 2) as [first, second]:
            await pending_for_alice(first, key, 2, claim_min_idle_ms=HOUR_MS)
            await make_idle(first, key, 1, 2)
            await told(second, key)
            assert await read(second, key, b"bob", limits=c.ReadLimits(count=1)) == [1]
            await configure(second, key, max_deliveries=2, dead_letter_stream=dead)
            await make_idle(first, key, 1)
            assert await read(first, key, b"carol") == [2]
            async with gateways(store_url) as [third]:
                assert [row[:2] for row in await fields(third, dead)] == [[b"n", b"1"]]
                assert (await group(third, key)).dead_letter_count == 1
                reply = await third.execute(c.Redrive(key, G, 10))
                assert len(reply.new_ids) == 1  # type: ignore[union-attr]
            assert await fields(first, dead) == []

    asyncio.run(run())


def test_a_reader_that_waits_at_another_gateway_claims_by_a_setting_of_now(
    store_url: str, key: bytes
) -> None:
    async def run() -> None:
        async with gateways(store_url, 2) as [first, second]:
            await pending_for_alice(first, key, claim_min_idle_ms=HOUR_MS)
            await told(second, key)
            waiting = asyncio.ensure_future(read(second, key, b"bob", block_ms=60_000))
            await asyncio.sleep(0)
            await configure(first, key, claim_min_idle_ms=1)
            async with asyncio.timeout(50):
                assert await waiting == [1]

    asyncio.run(run())


def test_streams_without_settings_cost_no_further_command(store_url: str, key: bytes) -> None:
    other = key + b"other"

    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=HOUR_MS)
        await pending_for_alice(store, other)
        bare = replace(store.engine, configured=Configured())
        for command in (
            c.ReadGroup(G, b"bob", (c.ReadFrom(other, c.Special.NEW),), claim_min_idle_ms=5),
            c.Append(other, (FRAGMENT,)),
            c.Claim(other, G, b"bob", c.ClaimOptions(0, (1 << 64,))),
            c.NegativeAcknowledge(other, G, c.NackMode.FAIL, (1 << 64,)),
            c.InfoGroups(other),
        ):
            plans = [plan_of(each, command) for each in (store.engine, bare)]
            assert all(plan is not None for plan in plans)
            assert plans[0].commands == plans[1].commands  # type: ignore[union-attr]
        assert store.engine.has_settings(key)

    on_one(store_url, scenario)


@pytest.mark.parametrize("words", [[b"FUNCTION", b"FLUSH"], [b"SCRIPT", b"FLUSH"]])
def test_an_engine_that_lost_the_library_gets_it_again(
    store_url: str, key: bytes, words: list[bytes]
) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, claim_min_idle_ms=HOUR_MS)
        await make_idle(store, key, 1)
        await store.link.call_masters(words, is_write=True)
        both = [c.ConfigureGroup(key, G, claim_min_idle_ms=HOUR_MS + 1), c.InfoGroups(key)]
        [none, infos] = await store.execute_all(both)
        assert none is None
        assert infos[0].settings == GroupSettings(claim_min_idle_ms=HOUR_MS + 1)  # type: ignore[index,union-attr]
        await store.link.call_masters(words, is_write=True)
        assert await read(store, key, b"bob", block_ms=60_000) == [1]

    on_one(store_url, scenario)


# --- dead letters ----------------------------------------------------------------------------


def test_entries_that_no_consumer_has_are_claimed_and_moved_like_others(store_url: str, key: bytes) -> None:
    """Also those that the engine's own XNACK returned before the group had settings."""
    dead = key + b":dead"

    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, 3)
        nack = c.NegativeAcknowledge(key, G, c.NackMode.FAIL, (1 << 64, 2 << 64))
        assert await store.execute(nack) == 2
        await configure(store, key, claim_min_idle_ms=HOUR_MS, max_deliveries=2, dead_letter_stream=dead)
        assert await read(store, key, b"bob", limits=c.ReadLimits(count=1)) == [1]
        assert await store.execute(c.NegativeAcknowledge(key, G, c.NackMode.FAIL, (1 << 64,))) == 1
        assert await read(store, key, b"bob") == [2]
        assert await pending(store, key) == [(2, b"bob", 2), (3, b"alice", 1)]
        [letter] = await fields(store, dead)
        assert letter[2:] == [
            *(b"_source_stream", key, b"_source_id", b"1-0", b"_group", G),
            *(b"_deliveries", b"2", b"_last_consumer", b"bob", b"_reason", b"max_deliveries"),
        ]

    on_one(store_url, scenario)


def test_one_command_moves_a_bounded_number_and_delivers_none_of_the_rest(store_url: str, key: bytes) -> None:
    dead, number = key + b":dead", 1_003

    async def scenario(store: RemoteStore) -> None:
        await store.execute(c.CreateGroup(key, G, 0, create_stream=True))
        ids = tuple(place << 64 for place in range(1, number + 1))
        await store.execute(c.Append(key, (FRAGMENT,) * number, ids))
        await read(store, key, b"alice")
        await configure(store, key, max_deliveries=1, dead_letter_stream=dead)
        assert await read(store, key, b"bob", claim_min_idle_ms=0) == []
        assert await store.execute(c.StreamLength(dead)) == 1_000
        history = c.ReadGroup(G, b"alice", (c.ReadFrom(key, 0),))
        reply = await store.execute(history)
        assert isinstance(reply, ReadReply)
        assert not reply.streams[0].entries.ids
        assert await store.execute(c.StreamLength(dead)) == number
        assert await pending(store, key) == []

    on_one(store_url, scenario)


def test_a_group_whose_dead_letters_cannot_be_appended_delivers_as_without(
    store_url: str, key: bytes
) -> None:
    dead = key + b":dead"

    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, max_deliveries=1, dead_letter_stream=dead)
        await store.link.call([b"SET", dead, b"text"], key=dead, is_write=True)
        assert await read(store, key, b"bob", claim_min_idle_ms=0) == [1]
        await store.link.call([b"DEL", dead], key=dead, is_write=True)
        await store.execute(c.RenameKey(key, dead))
        assert await read(store, dead, b"carol", claim_min_idle_ms=0) == [1]

    on_one(store_url, scenario)


def test_claims_of_ids_alone_move_nothing(store_url: str, key: bytes) -> None:
    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, 2, max_deliveries=1, dead_letter_stream=key + b":dead")
        await store.execute(c.Claim(key, G, b"bob", c.ClaimOptions(0, (1 << 64,), just_id=True)))
        reply = await store.execute(c.AutoClaim(key, G, b"bob", 0, 0, 10, just_id=True))
        assert isinstance(reply, ClaimReply)
        assert list(reply.entries.ids) == [1 << 64, 2 << 64]
        assert await pending(store, key) == [(1, b"bob", 1), (2, b"bob", 1)]

    on_one(store_url, scenario)


def test_a_redrive_into_a_stream_without_ids_or_from_another_is_refused_and_changes_nothing(
    store_url: str, key: bytes
) -> None:
    dead, greatest = key + b":dead", (1 << 128) - 1

    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, 2, max_deliveries=1, dead_letter_stream=dead)
        assert await read(store, key, b"bob", claim_min_idle_ms=0) == []
        await store.execute(c.SetStreamPosition(key, greatest))
        refused = await _refusal(store.execute(c.Redrive(key, G, 10)))
        assert refused.code is ErrorCode.ID_EXHAUSTED
        refused = await _refusal(store.execute(c.Redrive(key, G, 10, dead_letter_stream=key + b":other")))
        assert refused.code is ErrorCode.INVALID_ARGUMENT
        assert await store.execute(c.StreamLength(dead)) == 2
        assert len(await fields(store, key)) == 2

    on_one(store_url, scenario)


def test_a_dead_letter_stream_without_ids_keeps_the_entries_in_their_group(
    store_url: str, key: bytes
) -> None:
    dead, greatest = key + b":dead", (1 << 128) - 1

    async def scenario(store: RemoteStore) -> None:
        await pending_for_alice(store, key, max_deliveries=1, dead_letter_stream=dead)
        await store.execute(c.Append(dead, (FRAGMENT,), (1,)))
        await store.execute(c.SetStreamPosition(dead, greatest))
        assert await read(store, key, b"bob", claim_min_idle_ms=0) == [1]

    on_one(store_url, scenario)
