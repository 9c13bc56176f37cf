"""Rows in parts: what replies do not wait for is encoded before the commit of its row, and stays one row."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tailrace.app.store import rows
from tailrace.app.store.rows import PART_BYTES, RowParts, estimated_bytes
from tailrace.core.effects import Effect, EntriesAppended
from tailrace.core.storage.records import encode_effects
from tests.support.commit_scene import Scene, created, play

HALF = PART_BYTES // 2


def appended(name: bytes, *sizes: int) -> tuple[Effect, ...]:
    return (EntriesAppended(name, range(1, len(sizes) + 1), [b"x" * size for size in sizes]),)


async def idle(scene: Scene) -> None:
    """Come back when the thread has ended all its jobs."""
    ended = asyncio.Event()
    scene.thread.submit(lambda: None, lambda _error: ended.set())
    await ended.wait()


def test_parts_and_what_follows_them_are_one_row_in_order() -> None:
    async def story(scene: Scene) -> None:
        for name in (b"a", b"b", b"c", b"d", b"e"):
            scene.log.record(appended(name, HALF))
        assert scene.told == [("row", 2), ("row", 2)]
        await idle(scene)
        assert (scene.disk.rows, scene.log.seq) == ([], 0)
        assert scene.log.flush() == 1
        await idle(scene)
        assert scene.log.durable_seq == 1

    scene = play(story, waits=False)
    assert scene.disk.names == [[b"a", b"b", b"c", b"d", b"e"]]
    assert scene.told == [("row", 2), ("row", 2), ("row", 1), ("commit", True)]


def test_a_row_can_end_with_its_last_part() -> None:
    async def story(scene: Scene) -> None:
        scene.log.record(appended(b"a", PART_BYTES))
        scene.log.flush()
        scene.log.record(created(b"b"))
        scene.log.flush()
        await idle(scene)

    assert play(story, waits=False).disk.names == [[b"a"], [b"b"]]


def test_all_effects_of_a_row_count_before_compression(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    async def story(scene: Scene) -> None:
        monkeypatch.setattr(scene.log, "_on_commit", sizes.append)
        for _ in range(3):
            scene.log.record(appended(b"a", HALF))
        scene.log.flush()
        await idle(scene)

    play(story, waits=False)
    assert 3 * HALF < sizes[0] < 3 * HALF + 1000


def test_a_large_append_is_divided_among_parts_of_its_row_and_loses_nothing() -> None:
    sizes = [10, *[PART_BYTES // 3] * 10, 2 * PART_BYTES, 1, 1]
    many = (EntriesAppended(b"a", range(7, 7 + len(sizes)), [b"x" * size for size in sizes]),)
    [effect] = divided = (EntriesAppended(b"b", [1, 5, 6, 9], [b"y" * PART_BYTES] * 4),)

    async def story(scene: Scene) -> None:
        scene.log.record((*many, *created(b"c"), *divided))
        scene.log.record(created(b"d"))
        scene.log.flush()
        await idle(scene)

    scene = play(story, waits=False)
    assert scene.told == [("row", 3), ("row", 1), ("commit", True)]
    [(seq, effects)] = scene.disk.rows
    appends = [each for each in effects if isinstance(each, EntriesAppended)]
    assert seq == 1
    assert [each for each in effects if each not in appends] == [*created(b"c"), *created(b"d")]
    for key, whole in ((b"a", many[0]), (b"b", effect)):
        pieces = [each for each in appends if each.key == key]
        assert [value for each in pieces for value in each.ids] == list(whole.ids)
        assert [fragment for each in pieces for fragment in each.fragments] == whole.fragments
    # The small first entry does not hide how large the others are.
    assert [len(each.ids) for each in appends] == [3, 3, 3, 2, 1, 2, 1, 1, 1, 1]


def test_appends_that_are_too_large_for_one_part_together_are_parts_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoded: list[int] = []

    def encode(effects: Sequence[Effect]) -> bytes:
        encoded.append(len(effects))
        return encode_effects(effects)

    monkeypatch.setattr(rows, "encode_effects", encode)
    large, small = appended(b"a", 2 * PART_BYTES - 1_000), appended(b"b", 10)
    RowParts().add([*large, *small, *large, *large])
    assert encoded == [2, 1, 1]


def test_the_pieces_of_a_large_append_are_as_large_as_a_part() -> None:
    sizes = [PART_BYTES // 3] * 10 + [2 * PART_BYTES, 1, 1]
    whole = EntriesAppended(b"a", range(1, len(sizes) + 1), [b"x" * size for size in sizes])

    async def story(scene: Scene) -> None:
        scene.log.record((whole,))
        scene.log.flush()
        await idle(scene)

    [(_, effects)] = play(story, waits=False).disk.rows
    appends = [each for each in effects if isinstance(each, EntriesAppended)]
    assert [len(each.ids) for each in appends] == [3, 3, 3, 1, 1, 2]
    assert [value for each in appends for value in each.ids] == list(whole.ids)
    assert [fragment for each in appends for fragment in each.fragments] == whole.fragments


def test_a_row_that_replies_wait_for_has_no_parts() -> None:
    async def story(scene: Scene) -> None:
        scene.log.record(appended(b"a", PART_BYTES))
        assert scene.told == []
        assert await scene.change(b"b") == 1

    assert play(story).disk.names == [[b"a", b"b"]]


def test_a_part_that_cannot_be_encoded_ends_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_effects: Sequence[Effect]) -> bytes:
        raise MemoryError("too large")

    async def story(scene: Scene) -> None:
        monkeypatch.setattr(rows, "encode_effects", refuse)
        scene.log.record(appended(b"a", PART_BYTES))
        scene.log.record(created(b"b"))
        scene.log.flush()
        await idle_after_failure(scene)
        assert scene.log.has_failed

    scene = play(story, waits=False)
    assert scene.disk.rows == []
    assert scene.told == [("row", 1), ("row", 1), ("failure", "too large")]


async def idle_after_failure(scene: Scene) -> None:
    errors: list[Exception | None] = []
    reported = asyncio.Event()

    def done(error: Exception | None) -> None:
        errors.append(error)
        reported.set()

    scene.thread.submit(lambda: None, done)
    await reported.wait()
    assert isinstance(errors[0], MemoryError)


def test_the_estimate_counts_effects_and_entries() -> None:
    assert estimated_bytes(()) == 0
    assert 0 < estimated_bytes(created(b"a")) < 1000
    assert 3000 <= estimated_bytes(appended(b"a", 1000, 1, 1)) < 4000
