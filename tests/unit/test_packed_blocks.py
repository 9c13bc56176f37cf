"""Lookups of a few entries: blocks stay packed in the cache, and every entry is found all the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate

import pytest

from tailrace.core.log.block import Block
from tailrace.core.log.block_cache import CACHE_BYTES_DEFAULT, ENTRY_COST_BYTES, PACKED_COST_BYTES, BlockCache
from tailrace.core.log.decoded import Decoded, Packed
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.node_size import NodeLimits
from tailrace.core.log.stored_block import make_payload, read_payload

PER_BLOCK = 10
LIMITS = NodeLimits(PER_BLOCK, 0)
SEED = 19


def fragment_of(value: int) -> bytes:
    return b'{"n":"%d"}' % value


def log_of(ids: list[int], cache_bytes: int = CACHE_BYTES_DEFAULT) -> EntryLog:
    """A log with `PER_BLOCK` entries in each block, all blocks but the last one sealed."""
    log = EntryLog(BlockCache(cache_bytes))
    for value in ids:
        log.append((value,), (fragment_of(value),), LIMITS)
    return log


def consecutive(blocks: int) -> list[int]:
    return list(range(1, blocks * PER_BLOCK + 1))


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9])
@pytest.mark.parametrize("gap", [1, 3])
def test_a_packed_block_gives_each_fragment_by_its_position(count: int, gap: int) -> None:
    ids = list(range(5, 5 + gap * count, gap))
    fragments = [fragment_of(value) * (value % 4) for value in ids]
    packed = read_payload(make_payload(ids, b"\n".join(fragments))[0], 5)
    assert [packed[position] for position in range(count)] == fragments
    assert [packed.position_of(value) for value in ids] == list(range(count))
    assert packed.position_of(4) is None
    assert packed.decoded().fragments == fragments
    with pytest.raises(IndexError):
        packed[count]


@pytest.mark.parametrize("length", [10, 70_000])
def test_every_lookup_in_a_packed_block_gives_the_fragment_in_any_order_of_positions(length: int) -> None:
    fragments = [b"%d" % number * length for number in range(9)]
    payload = make_payload(range(5, 14), b"\n".join(fragments))[0]
    for first in range(9):
        packed = read_payload(payload, 5)
        for position in (first, 8 - first, 8, 0, 4, 7):
            assert packed[position] == fragments[position]


@pytest.mark.parametrize("gap", [1, 3])
def test_ids_in_any_order_are_found_with_holes_and_missing_ids_between_them(gap: int) -> None:
    chance = random.Random(SEED)
    ids = list(range(10, 10 + 40 * PER_BLOCK * gap, gap))
    log = log_of(ids)
    gone = chance.sample(ids, 60)
    log.remove(sorted(gone))
    live = set(ids).difference(gone)
    for _ in range(20):
        asked = chance.sample(range(ids[-1] + 50), 150)
        asked[40:40] = ids[95:105]
        assert log.get_many(asked) == [fragment_of(value) if value in live else None for value in asked]


def test_scattered_entries_end_after_the_one_that_exceeds_the_bytes_allowed() -> None:
    ids = consecutive(20)
    log = log_of(ids)
    asked = random.Random(SEED).sample(ids, 100)
    sizes = list(accumulate(len(fragment_of(value)) for value in asked))
    for max_bytes in (0, 7, 400, sizes[-1], sizes[-1] - 1):
        wanted = sum(size <= max_bytes for size in sizes) + 1
        assert log.get_many(asked, max_bytes) == list(map(fragment_of, asked[:wanted]))


def test_one_entry_of_each_of_many_blocks_is_found_without_decompressing_them_again() -> None:
    blocks = 400
    # All blocks fit packed, and half of them decoded.
    log = log_of(consecutive(blocks + 1), (PACKED_COST_BYTES + 200) * blocks)
    chance = random.Random(SEED)
    for _ in range(10):
        asked = [block * PER_BLOCK + chance.randrange(1, PER_BLOCK + 1) for block in range(blocks)]
        chance.shuffle(asked)
        assert log.get_many(asked) == list(map(fragment_of, asked))
    assert log.cache.misses == blocks


def test_the_second_use_soon_after_the_last_one_decodes_a_block() -> None:
    log = log_of(consecutive(3))
    block = log.blocks[0]
    seen = [type(log.cache.few(block)) for _ in range(4)]
    assert seen == [Packed, Packed, Decoded, Decoded]
    assert log.cache.misses == 1
    assert log.cache.used_bytes > ENTRY_COST_BYTES * PER_BLOCK


def test_a_use_long_after_the_last_one_leaves_a_block_packed() -> None:
    log = log_of(consecutive(3), 2 * 64 * 1024)  # A use counts as soon within two lookups.
    first, second = log.blocks[:2]
    for _ in range(6):
        assert isinstance(log.cache.few(first), Packed)
        for _ in range(4):
            log.cache.few(second)


def test_a_full_cache_keeps_the_blocks_that_were_used_again() -> None:
    log = log_of(consecutive(300), 70 * (PACKED_COST_BYTES + 200))
    cache, blocks = log.cache, log.blocks
    for number in range(299):
        cache.few(blocks[number])
        if number % 8 == 0:
            cache.get(blocks[0])
            cache.few(blocks[1])
        assert cache.used_bytes <= cache.max_bytes
    before = cache.misses
    cache.get(blocks[0])
    cache.few(blocks[1])
    assert cache.misses == before
    cache.few(blocks[2])
    assert cache.misses == before + 1


def test_a_full_cache_drops_a_block_even_if_all_were_used_again() -> None:
    log = log_of(consecutive(40), 20 * (PACKED_COST_BYTES + 200))
    cache = log.cache
    for _ in range(3):
        for block in log.blocks[:30]:
            cache.few(block)
            cache.few(block)
            assert cache.used_bytes <= cache.max_bytes


def test_a_block_that_is_larger_than_the_cache_is_read_and_not_kept() -> None:
    log = log_of(consecutive(2), 100)
    assert log.get_many([3, 15, 1]) == [fragment_of(value) for value in (3, 15, 1)]
    assert log.cache.get(log.blocks[0]).fragments[0] == fragment_of(1)
    assert log.cache.used_bytes == 0


@pytest.mark.parametrize("gap", [1, 3])
@pytest.mark.parametrize("read", [BlockCache.scan, BlockCache.get])
def test_a_packed_block_is_decoded_without_decompressing_it_again(
    gap: int, read: Callable[[BlockCache, Block], Decoded]
) -> None:
    ids = list(range(1, 1 + 3 * PER_BLOCK * gap, gap))
    log = log_of(ids)
    assert log.get(ids[3]) == fragment_of(ids[3])
    assert list(read(log.cache, log.blocks[0]).ids) == ids[:PER_BLOCK]
    assert log.get(ids[3]) == fragment_of(ids[3])
    assert log.cache.misses == 1


def test_a_dropped_block_leaves_the_cache_packed_or_not() -> None:
    log = log_of(consecutive(4))
    log.get(1)
    log.cache.scan(log.blocks[1])
    log.get(PER_BLOCK + 1)
    log.trim_front(2 * PER_BLOCK)
    assert log.cache.used_bytes == 0
