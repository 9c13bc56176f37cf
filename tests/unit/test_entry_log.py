"""The log against a plain sorted dict, through every kind of change."""

from __future__ import annotations

from bisect import bisect_left

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailrace.core.invariants import check_log
from tailrace.core.log.block import Block
from tailrace.core.log.block_cache import BlockCache
from tailrace.core.log.entry_log import EntryLog
from tailrace.core.log.node_size import MEASURED_BYTES_MAX, AlikeFragments, NodeLimits
from tailrace.core.stream_id import MAX_ID, ZERO_ID

UNBOUNDED = NodeLimits(0, 0)

steps = st.lists(
    st.tuples(
        st.sampled_from(["append", "batch", "remove", "trim"]), st.integers(1, 12), st.integers(0, 1 << 70)
    ),
    max_size=30,
)


def fragment_of(value: int) -> bytes:
    return b'{"n":"%d"}' % value


def grown(count: int, limits: NodeLimits, *, gap: int = 1) -> EntryLog:
    log = EntryLog(BlockCache())
    for value in range(gap, gap * count + 1, gap):
        log.append((value,), (fragment_of(value),), limits)
    return log


def apply_step(
    log: EntryLog, model: dict[int, bytes], step: tuple[str, int, int], limits: NodeLimits
) -> None:
    kind, count, pick = step
    ids = sorted(model)
    last = max(log.blocks[-1].last_id if log.blocks else 0, ids[-1] if ids else 0)
    if kind == "append":
        log.append((last + 1 + pick,), (fragment_of(last),), limits)
        model[last + 1 + pick] = fragment_of(last)
    elif kind == "batch":
        new = range(last + 1, last + 1 + count)
        log.append(new, [fragment_of(value) for value in new], limits)
        model.update((value, fragment_of(value)) for value in new)
    elif kind == "remove" and ids:
        start = pick % len(ids)
        gone = ids[start : start + count]
        log.remove(gone)
        for value in gone:
            del model[value]
    elif kind == "trim":
        log.trim_front(min(count, len(ids)))
        for value in ids[:count]:
            del model[value]


@settings(max_examples=150, deadline=None)
@given(steps, st.sampled_from([NodeLimits(3, 0), NodeLimits(0, 120), NodeLimits(5, 60), UNBOUNDED]))
def test_the_log_holds_what_a_sorted_dict_would(
    program: list[tuple[str, int, int]], limits: NodeLimits
) -> None:
    log, model = EntryLog(BlockCache(max_bytes=2000)), dict[int, bytes]()
    for step in program:
        apply_step(log, model, step, limits)
        check_log(log)
        assert_same(log, model)


def assert_same(log: EntryLog, model: dict[int, bytes]) -> None:
    ids = sorted(model)
    assert log.length == len(ids)
    assert (log.first_id, log.last_id) == ((ids[0], ids[-1]) if ids else (ZERO_ID, ZERO_ID))
    assert log.range() == (ids, [model[value] for value in ids])
    assert log.range(reverse=True)[0] == ids[::-1]
    for value in ids[::3]:
        assert log.get(value) == model[value]
        assert log.range(value, count=2)[0] == ids[ids.index(value) :][:2]
        assert log.range(end=value, count=2, reverse=True)[0] == ids[: ids.index(value) + 1][::-1][:2]
        assert log.rank(value + 1) == ids.index(value) + 1
        assert (value + 1 in log) == (value + 1 in model)
    ranks = list(range(0, len(ids), 2))
    assert log.at_ranks(ranks) == ids[::2]
    probes = [*ids[::-2], 0, MAX_ID]
    assert log.get_many(probes) == [model.get(value) for value in probes]


def test_an_empty_log_answers_everything_with_nothing() -> None:
    log = EntryLog(BlockCache())
    assert log.range() == ([], [])
    assert log.get(5) is None
    assert log.get_many([5]) == [None]
    assert log.rank(5) == 0
    assert log.at_ranks([]) == []


def test_a_block_is_full_at_the_configured_number_of_entries() -> None:
    assert [block.count for block in grown(250, NodeLimits(100, 0)).blocks] == [100, 100, 50]


def test_a_batch_is_cut_into_the_same_blocks_as_single_appends() -> None:
    for limits in (NodeLimits(100, 0), NodeLimits(100, 300), NodeLimits(0, 500), UNBOUNDED):
        single = grown(300, limits)
        batch = EntryLog(BlockCache())
        batch.append(range(1, 301), [fragment_of(value) for value in range(1, 301)], limits)
        assert [block.count for block in batch.blocks] == [block.count for block in single.blocks]


def test_deleted_entries_still_fill_the_open_block() -> None:
    log = grown(3, NodeLimits(3, 0))
    log.remove([1])
    log.append((4,), (fragment_of(4),), NodeLimits(3, 0))
    assert [block.count for block in log.blocks] == [3, 1]


def test_an_entry_larger_than_a_block_has_one_of_its_own() -> None:
    large = b'{"n":"%s"}' % (b"x" * 5000)
    log = EntryLog(BlockCache())
    log.append((1, 2, 3), (large, large, large), NodeLimits(100, 4096))
    assert [block.count for block in log.blocks] == [1, 1, 1]


def test_small_entries_with_the_same_names_fill_a_block_by_number_not_by_bytes() -> None:
    fragment = b'{"rider":"Castilla","speed":"30.2","position":"1","location_id":"1"}'
    log = EntryLog(BlockCache())
    log.append(range(1, 201), [fragment] * 200, NodeLimits(100, 4096))
    assert [block.count for block in log.blocks] == [100, 100]


def test_a_sealed_block_takes_a_fraction_of_its_bytes_and_gives_them_back_when_half_is_deleted() -> None:
    log = grown(200, NodeLimits(100, 0), gap=7)
    block = log.blocks[0]
    before = block.payload_bytes
    assert 0 < before < sum(len(fragment) for fragment in block.decode().fragments)
    log.remove([7 * number for number in range(1, 51)])
    assert 0 < block.payload_bytes < before
    assert block.decode().fragments[0] == b""
    check_log(log)


def test_a_page_ends_with_the_entry_that_reaches_the_byte_budget() -> None:
    log = grown(250, NodeLimits(100, 0))
    size = len(fragment_of(100))
    ids = log.range(100, max_bytes=10 * size)[0]
    assert ids == list(range(100, 110))
    assert log.range(100, max_bytes=10 * size + 1)[0] == list(range(100, 111))
    assert log.range(100, max_bytes=200 * size)[0][-1] == 250
    assert log.range(end=250, reverse=True, max_bytes=size)[0] == [250]


def test_a_hole_counts_neither_in_ranks_nor_in_ranges() -> None:
    log = grown(10, NodeLimits(4, 0))
    log.remove([2, 3, 6])
    assert log.range(2, 7)[0] == [4, 5, 7]
    assert [log.rank(value) for value in (1, 2, 4, 7, 11)] == [0, 1, 1, 3, 7]
    assert log.at_ranks([0, 1, 2, 3, 6]) == [1, 4, 5, 7, 10]


def test_ranks_follow_appends_and_removals_at_both_ends_and_in_the_middle() -> None:
    log = grown(50, NodeLimits(5, 0))
    for change in (
        lambda: log.remove([23]),
        lambda: log.remove([1, 2, 3, 4, 5, 8]),
        lambda: log.trim_front(7),
        lambda: log.append(range(51, 58), [fragment_of(value) for value in range(51, 58)], NodeLimits(5, 0)),
        lambda: log.remove(range(31, 36)),
        lambda: log.trim_front(32),
        lambda: log.trim_front(log.length - 1),
    ):
        change()
        ids = log.range()[0]
        assert [log.rank(value) for value in range(60)] == [bisect_left(ids, value) for value in range(60)]
        assert log.at_ranks(range(len(ids))) == ids


def test_open_blocks_are_never_cached_and_dropped_ones_leave_the_cache() -> None:
    cache = BlockCache()
    log = EntryLog(cache)
    log.append(range(1, 8), [fragment_of(value) for value in range(1, 8)], NodeLimits(3, 0))
    assert log.get(7) == fragment_of(7)
    assert cache.used_bytes == 0
    log.get(1)
    log.range(4, 5)
    assert cache.used_bytes > 0
    log.forget_decoded()
    assert cache.used_bytes == 0


def test_a_scan_leaves_looked_up_blocks_in_the_cache() -> None:
    block = sealed_block(1)
    others = [sealed_block(number) for number in range(2, 2000)]
    cache = BlockCache(max_bytes=100_000)
    kept = cache.get(block)
    for other in others:
        cache.scan(other)
    assert cache.get(block) is kept
    assert cache.scan(block) is kept
    assert cache.used_bytes <= cache.max_bytes
    assert cache.get(others[-1]) is cache.scan(others[-1])


def sealed_block(first: int) -> Block:
    block = Block(first, fragment_of(first))
    assert block.append(first, fragment_of(first), NodeLimits(100, 4096))
    block.seal()
    return block


@pytest.mark.parametrize("limits", [UNBOUNDED, NodeLimits(3, 0), NodeLimits(0, 100), NodeLimits(5, 80)])
@pytest.mark.parametrize("sizes", [[9, 9, 9, 9, 9, 9, 9], [30, 1, 1, 30, 1, 90, 1, 1], [1, 200, 1, 1, 60]])
@pytest.mark.parametrize(
    ("form", "kind"), [(b'{"n":"%b"}', list), (b'{"n":"%b"}', AlikeFragments), (b'{"%b":"n"}', list)]
)
def test_a_batch_fills_blocks_as_its_entries_one_by_one_would(
    limits: NodeLimits, sizes: list[int], form: bytes, kind: type[list[bytes]]
) -> None:
    fragments = kind(form % (b"x" * size) for size in sizes)
    together, one_by_one = EntryLog(BlockCache()), EntryLog(BlockCache())
    together.append(range(1, len(sizes) + 1), fragments, limits)
    for value, fragment in enumerate(fragments, start=1):
        one_by_one.append([value], [fragment], limits)
    assert blocks_of(together) == blocks_of(one_by_one)


forms = st.sampled_from(
    [(b'{"name":"%b"}', list), (b'{"name":"%b"}', AlikeFragments), (b'{"%b":"value"}', list)]
)
sizes_of_values = st.integers(0, 40) | st.integers(0, 5000) | st.just(MEASURED_BYTES_MAX)
lengths_of_values = st.lists(sizes_of_values, min_size=1, max_size=150)
block_limits = st.builds(NodeLimits, st.sampled_from([0, 1, 7, 100]), st.sampled_from([0, 60, 300, 4096]))


@settings(max_examples=300, deadline=None)
@given(st.lists(lengths_of_values, min_size=1, max_size=3), block_limits, block_limits, forms)
def test_batches_of_any_lengths_fill_blocks_as_their_entries_one_by_one_would(
    batches: list[list[int]],
    before: NodeLimits,
    limits: NodeLimits,
    form: tuple[bytes, type[list[bytes]]],
) -> None:
    text, kind = form
    together, one_by_one = EntryLog(BlockCache()), EntryLog(BlockCache())
    last = 0
    for number, sizes in enumerate(batches):
        # The limits may have been changed since the last append.
        now = limits if number else before
        ids = range(last + 1, last + 1 + len(sizes))
        last = ids[-1]
        fragments = kind(text % (b"x" * size) for size in sizes)
        together.append(ids if number % 2 else tuple(ids), fragments, now)
        for value, fragment in zip(ids, fragments, strict=True):
            one_by_one.append((value,), (fragment,), now)
        check_log(together)
    assert together.range() == one_by_one.range()
    assert blocks_of(together) == blocks_of(one_by_one)
    assert together.ended_bytes == one_by_one.ended_bytes


@pytest.mark.parametrize(
    "limits", [NodeLimits(100, 4096), NodeLimits(7, 0), NodeLimits(100, 3000), UNBOUNDED]
)
def test_entries_with_the_same_names_fill_the_same_blocks_whether_or_not_that_is_known(
    limits: NodeLimits,
) -> None:
    fragments = [b'{"rider":"Castilla","position":"%d"}' % number for number in range(1000)]
    # One entry ends a block by its size, in the middle of blocks that end by their number of entries.
    fragments[350] = b'{"rider":"Castilla","position":"%b"}' % (b"1" * 4000)
    known, unknown = EntryLog(BlockCache()), EntryLog(BlockCache())
    for log, kind in ((known, AlikeFragments), (unknown, list)):
        log.append(range(1, 1001), kind(fragments), limits)
        log.append(range(1001, 2001), kind(fragments), limits)
        check_log(log)
        assert log.range() == (list(range(1, 2001)), 2 * fragments)
    assert blocks_of(known) == blocks_of(unknown)
    assert [block.payload() for block in known.blocks] == [block.payload() for block in unknown.blocks]
    assert [block.fragment_bytes for block in known.blocks] == [
        block.fragment_bytes for block in unknown.blocks
    ]
    assert known.ended_bytes == unknown.ended_bytes


def blocks_of(log: EntryLog) -> list[tuple[int, int, int]]:
    return [(block.first_id, block.count, block.size_bytes) for block in log.blocks]


def test_positions_bisect_like_a_list() -> None:
    log = grown(50, NodeLimits(10, 0), gap=3)
    ids = log.range()[0]
    assert [log.rank(value) for value in range(160)] == [bisect_left(ids, value) for value in range(160)]


@pytest.mark.parametrize("gap", [1, 7])
def test_fragments_end_after_the_one_that_exceeds_the_bytes_allowed(gap: int) -> None:
    log = grown(20, NodeLimits(10, 0), gap=gap)
    ids = log.range()[0]
    fragments = log.get_many(ids)
    sizes = [len(fragment or b"") for fragment in fragments]
    for wanted in range(1, 20):
        assert log.get_many(ids, sum(sizes[:wanted]) - 1) == fragments[:wanted]
    assert log.get_many(ids, sum(sizes)) == fragments
