"""Waiting readers are woken by every change, through lost connections, nodes that hang, and slots that move.

The links of these tests never wake a reader without a reason, so a wake-up that is lost makes the test fail.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from tailrace.app.remote.link.port import EngineError, LinkDown
from tailrace.app.remote.opening import EngineLink
from tests.support.links import PATIENT, WARY, linked, run
from tests.support.redis_cluster import RedisCluster
from tests.support.redis_cluster_node import ClusterNode
from tests.support.redis_node import RedisNode
from tests.support.waiting import WaitingReader

ATTENTIVE = replace(PATIENT, answer_s=WARY.answer_s, ping_every_s=WARY.ping_every_s)
"""Never reads again without a reason, and notices nodes that hang."""


@asynccontextmanager
async def two_links(url: str) -> AsyncIterator[tuple[EngineLink, EngineLink]]:
    """Two gateways: readers wait at the first one."""
    async with linked(url, PATIENT) as waiting, linked(url, PATIENT) as other:
        yield waiting, other


def url_of(engine: RedisNode | RedisCluster) -> str:
    if isinstance(engine, RedisCluster):
        return f"redis+cluster://{engine.running[0].address}"
    return f"redis://{engine.address}"


def another_master(cluster: RedisCluster, key: str) -> ClusterNode:
    return next(node for node in cluster.masters if node is not cluster.master_of(key))


async def add(link: EngineLink, key: bytes) -> bytes:
    entry_id = await link.call([b"XADD", key, b"*", b"a", b"b"], key=key, is_write=True)
    assert isinstance(entry_id, bytes)
    return entry_id


def test_replies_on_the_tracking_connection_have_the_shape_of_resp2(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine)) as link:
            key, commands = (
                b"shape",
                [[b"XINFO", b"STREAM", b"shape"], [b"XREAD", b"STREAMS", b"shape", b"0"]],
            )
            await link.call([b"XADD", key, b"1-1", b"a", b"1", b"a", b"2"], key=key, is_write=True)
            plain = await link.call_together(commands, key=key, is_write=False)
            assert await link.read_armed(commands, key=key) == plain
            assert plain[1] == [[key, [[b"1-1", [b"a", b"1", b"a", b"2"]]]]]
            name = b"\xff\xfe"
            (refused,) = await link.read_armed(
                [[b"XREADGROUP", b"GROUP", name, b"c", b"STREAMS", key, b">"]], key=key
            )
            assert isinstance(refused, EngineError)
            assert name in refused.line

    run(main)


def test_a_reader_is_woken_by_each_kind_of_change(engine: RedisNode) -> None:
    async def main() -> None:
        async with two_links(url_of(engine)) as (waiting, other):
            key = b"changes"
            reader = WaitingReader(waiting, key)
            for words in (
                [b"XADD", key, b"*", b"a", b"b"],
                [b"XADD", key, b"*", b"a", b"b"],
                [b"XTRIM", key, b"MAXLEN", b"1"],
                [b"DEL", key],
                [b"XADD", key, b"*", b"a", b"b"],
                [b"FLUSHALL"],
            ):
                await reader.read()
                before = reader.wakes
                await other.call(words, key=key, is_write=True)
                await reader.woken(before)

    run(main)


def test_a_change_on_the_tracking_connection_itself_wakes_its_readers(engine: RedisNode) -> None:
    """With NOLOOP, the engine would forget the reader at such a change, and report nothing."""

    async def main() -> None:
        async with two_links(url_of(engine)) as (waiting, other):
            key = b"own"
            reader = WaitingReader(waiting, key)
            await reader.read()
            before = reader.wakes
            await waiting.read_armed([[b"XADD", key, b"*", b"a", b"b"]], key=key, is_write=True)
            await reader.woken(before)
            await reader.until(await add(other, key))

    run(main)


def test_a_reader_of_a_group_is_woken_although_its_read_registers_nothing(engine: RedisNode) -> None:
    async def main() -> None:
        async with two_links(url_of(engine)) as (waiting, other):
            key = b"grouped"
            await other.call([b"XGROUP", b"CREATE", key, b"g", b"$", b"MKSTREAM"], key=key, is_write=True)
            reader = WaitingReader(waiting, key, b"g")
            assert not await reader.read()
            for _ in range(20):
                await asyncio.gather(reader.until(await add(other, key)))

    run(main)


def test_what_tracking_does_not_report_wakes_readers_here_and_at_other_gateways(engine: RedisNode) -> None:
    async def main() -> None:
        async with two_links(url_of(engine)) as (waiting, other):
            key = b"told\xff"
            here, there = WaitingReader(waiting, key), WaitingReader(other, key)
            while not here.wakes:  # until it listens
                other.wake(key)
                await asyncio.sleep(0.01)
            for _ in range(20):
                before, before_there = here.wakes, there.wakes
                other.wake(key)
                assert there.wakes == before_there + 1
                await here.woken(before)

    run(main)


def test_a_cancelled_waiter_is_not_woken_even_by_one_that_is_woken_before_it(engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(engine), PATIENT) as link:
            woken: list[str] = []

            def cancel_second() -> None:
                woken.append("first")
                second.cancel()
                second.cancel()

            first = link.arm(b"cancelled", cancel_second)
            second = link.arm(b"cancelled", lambda: woken.append("second"))
            link.wake(b"cancelled")
            assert woken == ["first"]
            first.cancel()
            link.wake(b"cancelled")
            assert woken == ["first"]

    run(main)


def test_a_waiter_that_fails_keeps_no_other_asleep(
    engine: RedisNode, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with linked(url_of(engine), PATIENT) as link:
            woken = []
            link.arm(b"fails", lambda: int("fails"))  # type: ignore[arg-type]
            link.arm(b"fails", lambda: woken.append(1))
            link.wake(b"fails")
            assert woken == [1]

    run(main)
    assert "a waiter of b'fails' failed" in caplog.text


def test_a_waiter_reads_again_from_time_to_time_without_a_reason(engine: RedisNode) -> None:
    async def main() -> None:
        timing = replace(PATIENT, reread_least_s=0.01, reread_most_s=0.02)
        async with linked(url_of(engine), timing) as link:
            reader = WaitingReader(link, b"again")
            await reader.woken(5)
            reader.close()

    run(main)


def test_readers_are_woken_when_their_connection_is_lost(own_engine: RedisNode) -> None:
    async def main() -> None:
        async with two_links(url_of(own_engine)) as (waiting, other):
            reader = WaitingReader(waiting, b"s")
            for _ in range(5):
                await reader.read()
                before = reader.wakes
                own_engine.run("CLIENT", "KILL", "TYPE", "normal")
                await reader.woken(before)
                await reader.until(await add(other, b"s"))

    run(main)


def test_readers_are_woken_when_the_node_hangs(own_engine: RedisNode) -> None:
    async def main() -> None:
        async with linked(url_of(own_engine), ATTENTIVE) as waiting:
            reader = WaitingReader(waiting, b"s")
            await reader.read()
            before = reader.wakes
            own_engine.hang()
            await reader.woken(before)
            own_engine.resume()
            await reader.until(await add(waiting, b"s"))

    run(main)


def test_readers_follow_a_slot_that_moves_also_while_their_key_is_absent(cluster: RedisCluster) -> None:
    async def main() -> None:
        async with two_links(url_of(cluster)) as (waiting, other):
            for present in (True, False):
                key = f"follow:{present}"
                if present:
                    await add(other, key.encode())
                reader = WaitingReader(waiting, key.encode())
                await reader.read()
                for step in cluster.migrate_slot(cluster.slot_of(key), another_master(cluster, key)):
                    if present or step == "done":
                        await reader.until(await add(other, key.encode()))
                reader.close()

    run(main)


def test_a_reader_that_waits_for_an_absent_key_is_woken_after_its_slot_has_moved(
    cluster: RedisCluster,
) -> None:
    async def main() -> None:
        watchful = replace(PATIENT, refresh_every_s=0.1)
        async with linked(url_of(cluster), watchful) as waiting, linked(url_of(cluster), PATIENT) as other:
            reader = WaitingReader(waiting, b"absent")
            assert not await reader.read()
            before = reader.wakes
            cluster.move_slot(cluster.slot_of("absent"), another_master(cluster, "absent"))
            await reader.woken(before)
            await reader.until(await add(other, b"absent"))
            reader.close()

    run(main)


ROUNDS = int(os.environ.get("WAITING_ROUNDS", "60"))
KEYS = 8


async def follow(waiting: EngineLink, other: EngineLink, number: int) -> int:
    """Append to one stream while its reader reads or waits; return the rounds.

    Each entry is read before the next one is appended, at another turn of the loop in each round. A lost
    wake-up makes the reader fail. Odd streams are read by a group.
    """
    key = b"race:%d" % number
    reader = WaitingReader(waiting, key, b"g" if number % 2 else b"")
    for turn in range(1, ROUNDS + 1):
        reading = asyncio.create_task(reader.until(b"%d-1" % turn))
        for _ in range(turn % 9):
            await asyncio.sleep(0)
        await append(other, key, turn)
        await reading
    reader.close()
    return ROUNDS


async def append(link: EngineLink, key: bytes, number: int) -> None:
    """Append until it is known that the entry is there. Its id makes it safe to send again."""
    is_there = False
    while not is_there:
        try:
            await link.call([b"XADD", key, b"%d-1" % number, b"a", b"b"], key=key, is_write=True)
            is_there = True
        except LinkDown:
            continue
        except EngineError as error:
            is_there = b"equal or smaller" in error.line
            if not is_there:
                raise


async def race(url: str, disturb: Callable[[int], None] | None = None) -> int:
    """Let all streams race while `disturb` is called with rising numbers; return the rounds."""
    async with two_links(url) as (waiting, other):
        for number in range(KEYS):
            key = b"race:%d" % number
            await other.call([b"DEL", key], key=key, is_write=True)
            await other.call([b"XGROUP", b"CREATE", key, b"g", b"0", b"MKSTREAM"], key=key, is_write=True)
        racing = asyncio.gather(*(follow(waiting, other, number) for number in range(KEYS)))
        times = 0
        while disturb is not None and not racing.done():
            await asyncio.to_thread(disturb, times)
            times += 1
            await asyncio.wait([racing], timeout=0.02)
        return sum(await racing)


def test_no_wake_up_is_lost_in_a_race_of_appends_and_reads(engine: RedisNode) -> None:
    async def main() -> None:
        assert await race(url_of(engine)) == KEYS * ROUNDS

    run(main)


def test_no_wake_up_is_lost_while_connections_are_killed(cluster: RedisCluster) -> None:
    def disturb(times: int) -> None:
        cluster.kill_connections(cluster.masters[times % 3])

    async def main() -> None:
        assert await race(url_of(cluster), disturb) == KEYS * ROUNDS

    run(main)


def test_no_wake_up_is_lost_while_slots_move(cluster: RedisCluster) -> None:
    def disturb(times: int) -> None:
        key = f"race:{times % KEYS}"
        cluster.move_slot(cluster.slot_of(key), another_master(cluster, key))

    async def main() -> None:
        assert await race(url_of(cluster), disturb) == KEYS * ROUNDS

    run(main)
