"""Group commit on a fast disk with several clients: how long a row waits for further commands."""

from __future__ import annotations

import asyncio

from tailrace.app.store.commit import GATHERING_TURNS_MAX
from tests.support.commit_scene import ON_LOOP, Scene, created, play


async def one_turn() -> None:
    await asyncio.sleep(0)


async def shared_row(scene: Scene) -> None:
    """Commit a row with two commands: from now on the log knows that several clients are at work."""
    await asyncio.gather(scene.change(b"x"), scene.change(b"y"))


def test_the_row_of_one_client_alone_is_committed_on_the_next_turn() -> None:
    async def story(scene: Scene) -> None:
        for number in range(1, 4):
            reply = scene.change(b"a")
            await one_turn()
            assert scene.disk.synced == number
            await reply

    assert play(story, mean_ns_max=ON_LOOP).disk.names == [[b"a"], [b"a"], [b"a"]]


def test_after_a_shared_row_the_next_one_waits_while_each_turn_brings_a_command() -> None:
    async def story(scene: Scene) -> None:
        await shared_row(scene)
        replies = []
        for name in (b"a", b"b", b"c"):
            replies.append(scene.change(name))
            await one_turn()
        assert scene.disk.synced == 1
        assert await asyncio.gather(*replies) == [2, 2, 2]

    assert play(story, mean_ns_max=ON_LOOP).disk.names == [[b"x", b"y"], [b"a", b"b", b"c"]]


def test_a_turn_without_a_command_ends_the_wait() -> None:
    async def story(scene: Scene) -> None:
        await shared_row(scene)
        reply = scene.change(b"a")
        await one_turn()
        assert scene.disk.synced == 1
        await one_turn()
        assert scene.disk.synced == 2
        await reply

    play(story, mean_ns_max=ON_LOOP)


def test_a_row_never_waits_longer_than_the_most_turns() -> None:
    async def story(scene: Scene) -> None:
        await shared_row(scene)
        for _ in range(GATHERING_TURNS_MAX + 1):
            assert scene.disk.synced == 1
            scene.log.record(created(b"a"))
            await one_turn()
        assert scene.disk.synced == 2

    rows = play(story, mean_ns_max=ON_LOOP).disk.names
    assert len(rows[1]) == GATHERING_TURNS_MAX + 1


def test_after_the_row_of_one_client_alone_nothing_waits_any_more() -> None:
    async def story(scene: Scene) -> None:
        await shared_row(scene)
        await scene.change(b"a")
        reply = scene.change(b"b")
        await one_turn()
        assert scene.disk.synced == 3
        await reply

    play(story, mean_ns_max=ON_LOOP)


def test_a_flush_while_a_row_gathers_commits_each_command_once() -> None:
    async def story(scene: Scene) -> None:
        await shared_row(scene)
        first = scene.change(b"a")
        await one_turn()
        assert scene.log.flush() == 2
        second = scene.change(b"b")
        await asyncio.gather(first, second)

    assert play(story, mean_ns_max=ON_LOOP).disk.names == [[b"x", b"y"], [b"a"], [b"b"]]
