"""Spans of ids: every way to look an id up gives the same result. Stretches of a block without holes."""

from __future__ import annotations

from random import Random

import pytest

from tailrace.core.effects import PendingBetweenRemoved
from tailrace.core.log.block_index import live_stretches
from tailrace.core.log.id_sequence import pack_ids
from tailrace.core.pending.id_spans import IdSpans
from tailrace.core.storage.records import decode_effects, encode_effects
from tests.support.seeds import seeds
from tests.unit.test_trim_work import pending_stream, stream_of


def some_spans(random: Random) -> list[tuple[int, int]]:
    ends = sorted(random.sample(range(300), 2 * random.choice((1, 3, 40))))
    return list(zip(ends[::2], ends[1::2], strict=True))


@pytest.mark.parametrize("seed", seeds(40))
def test_a_mask_shows_which_ids_are_in_a_span(seed: int) -> None:
    random = Random(seed)
    found = some_spans(random)
    spans = IdSpans(*map(list, zip(*found, strict=True)))
    assert spans.bounds == (found[0][0], found[-1][1])
    for _ in range(10):
        start, size = random.randrange(300), random.choice((1, 20, 200))
        scattered = sorted(random.sample(range(300), size))
        for ids in (range(start, start + size), pack_ids(scattered)):
            expected = bytes(any(first <= value <= last for first, last in found) for value in ids)
            assert spans.mask(ids) == spans.mask(ids) == spans.fresh_mask(ids) == expected
        assert spans.fresh_mask(scattered) == spans.mask(pack_ids(scattered))
        meeting = [span for span in found if span[0] <= start + size and start <= span[1]]
        assert list(spans.meeting(start, start + size)) == meeting
        assert spans.count_meeting(start, start + size) == len(meeting)


@pytest.mark.parametrize("seed", seeds(20))
def test_stretches_are_the_live_positions_below_the_end(seed: int) -> None:
    random = Random(seed)
    holes, end = random.getrandbits(64) & random.getrandbits(64), random.randrange(65)
    bounds = live_stretches(holes, end)
    positions = [
        at for begin, after in zip(bounds[::2], bounds[1::2], strict=True) for at in range(begin, after)
    ]
    assert positions == [at for at in range(end) if not holes >> at & 1]
    assert bounds == sorted(set(bounds))


def test_journals_may_name_the_spans_of_one_group() -> None:
    engine = pending_stream(20)
    effect = PendingBetweenRemoved(b"s", b"g", (1, 8), (5, 19))
    for each in decode_effects(encode_effects([effect])):
        each.apply(engine.keyspace)
    assert list(stream_of(engine).groups[b"g"].pending.ids()) == [6, 7, 20]
