"""The estimated bytes of a log: exact for few blocks, near for many, and cheap."""

from __future__ import annotations

import random

from tailrace.core.log.block import Block
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.estimate import SAMPLED_BLOCKS_MAX, estimated_bytes
from tailrace.core.log.node_size import NodeLimits

LIMITS = NodeLimits(100, 4096)


def filled(entries: int, seed: int = 1) -> EntryLog:
    """A log of entries of 20 to 80 bytes."""
    numbers = random.Random(seed)
    log = EntryLog(BlockCache())
    for value in range(1, entries + 1):
        text = b"".join(b"%x" % numbers.getrandbits(4) for _ in range(numbers.randint(8, 68)))
        log.append((value,), (b'{"n":"%s"}' % text,), LIMITS)
    return log


def true_bytes(log: EntryLog) -> int:
    return sum(
        sum(map(len, block.decode().fragments)) if block.is_open else len(block.payload())
        for block in log.blocks
    )


def test_a_log_without_entries_takes_no_bytes() -> None:
    assert estimated_bytes(filled(0).blocks) == 0


def test_an_open_block_takes_the_bytes_of_its_entries() -> None:
    log = EntryLog(BlockCache())
    log.append((1, 2), (b'{"a":"1"}', b'{"b":"23"}'), LIMITS)
    assert estimated_bytes(log.blocks) == 9 + 10


def test_few_blocks_are_measured_exactly() -> None:
    for entries in range(0, 401, 20):
        log = filled(entries)
        if len(log.blocks) <= SAMPLED_BLOCKS_MAX + 1:
            assert estimated_bytes(log.blocks) == true_bytes(log)


def test_many_blocks_are_estimated_within_a_fifth() -> None:
    for seed in range(20):
        log = filled(5_000, seed)
        assert abs(estimated_bytes(log.blocks) - true_bytes(log)) < true_bytes(log) / 5, f"seed {seed}"


def test_a_large_log_is_not_read_whole() -> None:
    reads: list[object] = []

    def source(block: object) -> bytes:
        reads.append(block)
        return b"x" * 50

    blocks = [Block.restored(number << 8, (number << 8) + 99, 100, 0, 0, source) for number in range(1, 1001)]
    assert estimated_bytes(blocks) == 1000 * 50
    assert len(reads) == SAMPLED_BLOCKS_MAX + 1
