"""Pages, bounds below the first entry, and plans from the block index."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode
from tailrace.core.stream_id import MAX_ID
from tests.support.engine_calls import FRAGMENT, Calls, at, texts


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def filled(calls: Calls) -> Calls:
    """Entries 1-0 to 1000-0."""
    calls.add(b"s", *(f"{number}-0" for number in range(1, 1001)))
    return calls


def test_a_page_says_whether_more_follows(filled: Calls) -> None:
    for reverse in (False, True):
        page = filled.reply(c.Range(b"s", count=10, reverse=reverse))
        assert (len(page.entries), page.more) == (10, True)
        assert not filled.reply(c.Range(b"s", count=1000, reverse=reverse)).more
        assert not filled.reply(c.Range(b"s", reverse=reverse)).more


def test_a_page_that_a_byte_budget_ends_says_so_too(filled: Calls) -> None:
    for reverse in (False, True):
        page = filled.reply(c.Range(b"s", max_bytes=10 * len(FRAGMENT), reverse=reverse))
        assert (len(page.entries), page.more) == (10, True)
        assert not filled.reply(c.Range(b"s", max_bytes=10**6, reverse=reverse)).more
    assert not filled.reply(c.Range(b"s", at("2000"), max_bytes=10)).more


def test_a_range_of_a_missing_stream_is_empty_and_says_that_it_is_missing(calls: Calls) -> None:
    reply = calls.reply(c.Range(b"s"))
    assert (len(reply.entries), reply.exists) == (0, False)
    assert calls.reply(c.StreamLength(b"s")) == 0


def test_a_strict_range_from_a_trimmed_position_is_refused_with_the_first_id(filled: Calls) -> None:
    filled.reply(c.Range(b"s", at("1"), strict=True))
    filled.reply(c.TrimStream(b"s", c.Trim(max_length=10)))
    refused = filled.refused(c.Range(b"s", at("5"), strict=True))
    assert refused.code is ErrorCode.POSITION_TRIMMED
    assert refused.details == {"first_id": "991-0", "last_id": "1000-0"}
    filled.reply(c.Range(b"s", at("991"), strict=True))


def test_a_strict_read_is_refused_where_what_follows_its_position_was_trimmed(filled: Calls) -> None:
    filled.reply(c.TrimStream(b"s", c.Trim(max_length=10)))

    def read(after: str) -> c.Read:
        return c.Read((c.ReadFrom(b"s", at(after)), c.ReadFrom(b"t", 0)), strict=True)

    assert filled.refused(read("5")).code is ErrorCode.POSITION_TRIMMED
    assert len(filled.reply(read("990-0")).streams[0].entries) == 10


def test_a_strict_range_of_a_stream_trimmed_empty_is_refused(filled: Calls) -> None:
    filled.reply(c.TrimStream(b"s", c.Trim(max_length=0)))
    assert filled.refused(c.Range(b"s", at("5"), strict=True)).details["first_id"] == "1000-1"
    assert filled.refused(c.Range(b"s", at("1000-0"), strict=True)).details["last_id"] == "1000-0"
    filled.reply(c.Range(b"s", at("1000-1"), strict=True))


@pytest.mark.parametrize("parts", [1, 3, 7, 1000, 5000])
def test_the_parts_of_a_range_cover_it_without_gap_or_overlap_and_are_about_equal(
    filled: Calls, parts: int
) -> None:
    filled.reply(c.DeleteEntries(b"s", (at("100"), at("101"), at("550"))))
    start, end = at("50"), at("949-5")
    split = filled.reply(c.SplitRange(b"s", start, end, parts))
    assert split.count == sum(part.count for part in split.parts) == 897
    assert (split.parts[0].start, split.parts[-1].end) == (start, end)
    assert all(one.end + 1 == other.start for one, other in zip(split.parts, split.parts[1:], strict=False))
    counts = {part.count for part in split.parts}
    assert max(counts) - min(counts) <= 1
    for part in split.parts[:20]:
        assert len(filled.reply(c.Range(b"s", part.start, part.end)).entries) == part.count


def test_an_empty_range_has_one_empty_part_and_a_reversed_one_none(filled: Calls) -> None:
    empty = filled.reply(c.SplitRange(b"s", at("2000"), at("3000"), 4))
    assert (empty.count, [part.count for part in empty.parts]) == (0, [0])
    assert filled.reply(c.SplitRange(b"s", at("5"), at("4"), 4)).parts == ()


def test_seeking_gives_the_id_that_ends_a_page(filled: Calls) -> None:
    reply = filled.reply(c.SeekRange(b"s", at("11"), 100))
    assert (texts([reply.end]), reply.count) == (["110-0"], 100)
    assert filled.reply(c.SeekRange(b"s", at("951"), 100)).count == 50
    beyond = filled.reply(c.SeekRange(b"s", at("1001"), 100))
    assert (beyond.end, beyond.count) == (None, 0)


def test_a_plan_of_a_missing_stream_is_that_of_an_empty_one(calls: Calls) -> None:
    plans = (c.SplitRange(b"s", 0, MAX_ID, 2), c.SplitRange(b"s", 2, 1, 2), c.SeekRange(b"s", 0, 2))
    missing = [calls.reply(plan) for plan in plans]
    assert calls.reply(c.TrimStream(b"s", c.Trim(max_length=0))) is None
    calls.reply(c.CreateStream(b"s"))
    assert [replace(calls.reply(plan), incarnation=None) for plan in plans] == missing
