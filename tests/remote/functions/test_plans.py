"""Plans for parallel reads are those of the embedded engine, walked in steps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

import pytest

from tailrace.app.remote.functions import plans
from tailrace.app.remote.functions.library import Library
from tailrace.app.remote.opening import EngineLink
from tailrace.core import commands as c
from tailrace.core.engine import Engine
from tailrace.core.stream_id import MAX_ID, StreamId, format_id, make_id
from tests.remote.functions.conftest import Version
from tests.support.links import linked, run
from tests.support.redis_node import RedisNode

LENGTH: Final = 4_321


def text(value: StreamId) -> bytes:
    return format_id(value).encode()


IDS: Final = [make_id(10 + seq // 7, seq) for seq in range(LENGTH)]


@asynccontextmanager
async def filled(node: RedisNode) -> AsyncIterator[EngineLink]:
    """A link to a server with the entries."""
    async with linked(f"redis://{node.address}") as link:
        words = [[b"XADD", b"s", text(value), b"f", b"v"] for value in IDS]
        await link.call_together(words, key=b"s", is_write=True)
        yield link
        await link.call([b"FLUSHALL"], key=None, is_write=True)


def test_splits_and_seeks_are_those_of_the_embedded_engine(node: tuple[Version, RedisNode]) -> None:
    random, twin = Random(3), Engine()
    twin.execute(c.Append(b"s", [b'{"f":"v"}'] * LENGTH, tuple(IDS)), 1)
    bounds = [0, MAX_ID, *(make_id(random.randrange(700), random.randrange(5_000)) for _ in range(12))]

    async def main() -> None:
        async with filled(node[1]) as link:
            library = Library("functions")
            for start in bounds:
                for end in bounds[:5]:
                    for parts in (1, 3, 100):
                        split = c.SplitRange(b"s", start, end, parts)
                        ours = twin.execute(split, 1).reply
                        assert await plans.split(link, library, split, ours.incarnation) == ours  # type: ignore[union-attr]
                for count in (1, 1_999, 2_000, 5_000):
                    seek = c.SeekRange(b"s", start, count)
                    ours = twin.execute(seek, 1).reply
                    assert await plans.seek(link, library, seek, ours.incarnation) == ours  # type: ignore[union-attr]

    run(main)


def test_a_range_that_is_too_long_to_walk_is_split_by_time(
    node: tuple[Version, RedisNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "WALK_ENTRIES_MAX", 1_000)

    async def main() -> None:
        async with filled(node[1]) as link:
            split = c.SplitRange(b"s", 0, MAX_ID, 10)
            reply = await plans.split(link, Library("functions"), split, None)
            assert reply.count == sum(part.count for part in reply.parts) == LENGTH
            assert (reply.parts[0].start, reply.parts[-1].end) == (0, MAX_ID)
            for left, right in zip(reply.parts, reply.parts[1:], strict=False):
                assert left.end + 1 == right.start
            counts = [sum(part.start <= value <= part.end for value in IDS) for part in reply.parts]
            assert sum(counts) == LENGTH
            assert max(counts) < 2 * LENGTH / 10

    run(main)
