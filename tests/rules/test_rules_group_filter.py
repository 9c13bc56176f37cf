"""The filter of a group: what does not match counts as read, and never becomes pending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import UNSET

from tailrace.core import commands as c
from tailrace.core.effects import GroupMoved
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.filters import compile_filter
from tailrace.core.invariants import check
from tailrace.core.limits import (
    FILTER_READ_MS_MAX,
    FILTER_STEP_BYTES,
    FILTER_STEP_ENTRIES,
    FILTER_TURN_ENTRIES_MAX,
)
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.outcome import Outcome, Wait
from tailrace.core.replies import ReadReply
from tailrace.core.stream_id import format_id
from tests.support.redis_like import R

EVEN = "fields.n.endsWith('0') || fields.n.endsWith('2') || fields.n.endsWith('4')"


def append(r: R, first: int, last: int, key: bytes = b"s", size: int = 0) -> None:
    numbers = range(first, last + 1)
    fragments = [fragment_from_flat([b"n", b"%d" % number, b"x", b"x" * size]) for number in numbers]
    r.engine.execute(c.Append(key, fragments, [number << 64 for number in numbers]), r.now_ms)


def configure(r: R, text: Any, key: bytes = b"s", **more: Any) -> None:
    r.engine.execute(c.ConfigureGroup(key, b"g", filter=text, **more), r.now_ms)


@pytest.fixture
def r() -> R:
    """A group that delivers even numbers up to 4."""
    r = R()
    r.run("XGROUP", "CREATE", "s", "g", 0, "MKSTREAM")
    configure(r, EVEN)
    return r


def outcome(r: R, *keys: bytes, block_ms: int | None = None, **options: Any) -> Outcome:
    sources = tuple([c.ReadFrom(key, c.Special.NEW) for key in keys or (b"s",)])
    limits = c.ReadLimits(**options)
    result = r.engine.execute(c.ReadGroup(b"g", b"alice", sources, limits, block_ms), r.now_ms)
    check(r.engine.keyspace)
    return result


def ids(result: Outcome) -> list[str]:
    assert isinstance(result.reply, ReadReply)
    return [format_id(value) for read in result.reply.streams for value in read.entries.ids]


def info(r: R) -> dict[str, Any]:
    [row] = r.run("XINFO", "GROUPS", "s")
    return dict(zip(row[::2], row[1::2], strict=True))


def pending(r: R) -> Sequence[str]:
    return [row[0] for row in r.run("XPENDING", "s", "g", "-", "+", 100)]


def test_a_read_delivers_what_matches_and_counts_the_rest_as_read(r: R) -> None:
    append(r, 1, 5)
    assert ids(outcome(r)) == ["2-0", "4-0"]
    assert pending(r) == ["2-0", "4-0"]
    assert (info(r)["last-delivered-id"], info(r)["entries-read"], info(r)["lag"]) == ("5-0", 5, 0)


def test_a_count_counts_what_is_delivered_and_the_position_stays_before_the_next_match(r: R) -> None:
    append(r, 1, 5)
    assert ids(outcome(r, count=1)) == ["2-0"]
    assert (info(r)["last-delivered-id"], info(r)["lag"]) == ("3-0", 2)
    assert ids(outcome(r, count=1)) == ["4-0"]
    assert info(r)["lag"] == 0


@pytest.mark.parametrize("limit", [{"max_count": 1}, {"max_bytes": 1}, {"page_bytes": 1}])
def test_every_limit_of_a_read_counts_only_what_is_delivered(r: R, limit: dict[str, int]) -> None:
    append(r, 1, 5)
    assert ids(outcome(r, **limit)) == ["2-0"]
    assert ids(outcome(r, **limit)) == ["4-0"]
    assert ids(outcome(r, **limit)) == []


def test_a_limit_that_another_stream_used_up_leaves_the_position(r: R) -> None:
    r.run("XGROUP", "CREATE", "t", "g", 0, "MKSTREAM")
    append(r, 1, 1, b"t")
    append(r, 1, 2)
    assert ids(outcome(r, b"t", b"s", max_count=1)) == ["1-0"]
    assert info(r)["last-delivered-id"] == "0-0"


def test_noack_delivers_what_matches_without_making_it_pending(r: R) -> None:
    append(r, 1, 5)
    source = c.ReadFrom(b"s", c.Special.NEW)
    assert ids(r.engine.execute(c.ReadGroup(b"g", b"alice", (source,), noack=True), r.now_ms)) == [
        "2-0",
        "4-0",
    ]
    assert pending(r) == []


def test_a_read_that_claims_delivers_claimed_entries_and_new_ones_that_match(r: R) -> None:
    append(r, 1, 2)
    outcome(r)
    append(r, 3, 4)
    r.now_ms += 10
    sources = (c.ReadFrom(b"s", c.Special.NEW),)
    result = r.engine.execute(c.ReadGroup(b"g", b"bob", sources, claim_min_idle_ms=5), r.now_ms)
    assert ids(result) == ["2-0", "4-0"]


def test_a_filter_applies_to_entries_that_are_not_read_yet_and_null_removes_it(r: R) -> None:
    append(r, 1, 3)
    assert ids(outcome(r)) == ["2-0"]
    configure(r, None)
    assert r.engine.keyspace.streams[b"s"].groups[b"g"].settings is None
    assert ids(outcome(r)) == []
    append(r, 4, 5)
    assert ids(outcome(r)) == ["4-0", "5-0"]
    assert pending(r) == ["2-0", "4-0", "5-0"]


def test_a_setting_that_a_command_does_not_name_keeps_the_filter(r: R) -> None:
    configure(r, UNSET, max_deliveries=3, dead_letter_stream=b"t")
    settings = r.engine.keyspace.streams[b"s"].groups[b"g"].settings
    assert settings is not None
    assert (settings.filter, settings.max_deliveries) == (EVEN, 3)


def test_a_bad_filter_is_refused_and_changes_nothing(r: R) -> None:
    with pytest.raises(StreamError) as caught:
        configure(r, "fields.n = 1")
    assert (caught.value.code, caught.value.details["offset"]) == (ErrorCode.INVALID_FILTER, "9")
    settings = r.engine.keyspace.streams[b"s"].groups[b"g"].settings
    assert settings is not None
    assert settings.filter == EVEN


def test_the_counter_of_entries_read_is_right_over_deleted_entries(r: R) -> None:
    append(r, 1, 6)
    r.run("XDEL", "s", "3-0", "4-0")
    assert ids(outcome(r)) == ["2-0"]
    assert (info(r)["entries-read"], info(r)["lag"]) == (6, 0)


# --- bounds ------------------------------------------------------------------------------------------


def test_a_read_examines_a_limited_number_of_entries_and_wants_to_run_again(r: R) -> None:
    append(r, 1001, 1001 + 2 * FILTER_STEP_ENTRIES)
    configure(r, f"fields.n == '{1000 + FILTER_STEP_ENTRIES + 1}'")
    first = outcome(r, block_ms=70)
    assert first.wait == Wait((), b"g", r.now_ms + 70, None, is_behind=True)
    [moved] = [effect for effect in first.effects if isinstance(effect, GroupMoved)]
    assert moved.last_delivered_id == (1000 + FILTER_STEP_ENTRIES) << 64
    assert first.retry is not None
    assert ids(r.engine.execute(first.retry, r.now_ms)) == [f"{1000 + FILTER_STEP_ENTRIES + 1}-0"]
    last = outcome(r, block_ms=70)
    assert last.wait == Wait((b"s",), b"g", r.now_ms + 70, None)


def test_a_read_that_does_not_block_runs_again_too_for_a_limited_time(r: R) -> None:
    append(r, 1, FILTER_STEP_ENTRIES + 1)
    configure(r, "false")
    first = outcome(r)
    assert first.wait is not None
    assert first.wait.until_ms == r.now_ms + FILTER_READ_MS_MAX
    r.now_ms += 1
    assert first.retry is not None
    second = r.engine.execute(first.retry, r.now_ms)
    assert (second.wait, ids(second)) == (None, [])


def test_a_read_without_an_end_keeps_none(r: R) -> None:
    append(r, 1, FILTER_STEP_ENTRIES + 1)
    configure(r, "false")
    wait = outcome(r, block_ms=0).wait
    assert wait is not None
    assert (wait.until_ms, wait.is_behind) == (None, True)


def test_a_read_examines_a_limited_number_of_bytes(r: R) -> None:
    append(r, 1, 4, size=FILTER_STEP_BYTES // 2)
    configure(r, "false")
    assert outcome(r).wait is not None
    assert info(r)["last-delivered-id"] == "2-0"


def test_all_streams_of_a_read_share_the_limit(r: R) -> None:
    append(r, 1, FILTER_STEP_ENTRIES)
    configure(r, "false")
    r.run("XGROUP", "CREATE", "t", "g", 0, "MKSTREAM")
    append(r, 1, 1, b"t")
    configure(r, "true", b"t")
    first = outcome(r, b"s", b"t")
    assert ids(first) == []
    assert first.retry is not None
    assert ids(r.engine.execute(first.retry, r.now_ms)) == ["1-0"]


def test_all_commands_of_a_transaction_share_a_limit(r: R) -> None:
    append(r, 1, FILTER_TURN_ENTRIES_MAX + 1)
    configure(r, "false")
    read = c.ReadGroup(b"g", b"alice", (c.ReadFrom(b"s", c.Special.NEW),), c.ReadLimits(count=1))
    r.engine.execute_all([read] * 11, r.now_ms)
    assert info(r)["last-delivered-id"] == f"{FILTER_TURN_ENTRIES_MAX}-0"


def test_a_stream_whose_last_entries_are_deleted_has_nothing_to_examine(r: R) -> None:
    append(r, 1, 3)
    r.run("XDEL", "s", "2-0", "3-0")
    assert ids(outcome(r)) == []
    assert outcome(r).wait is None
    assert info(r)["last-delivered-id"] == "1-0"


def test_the_filter_of_a_copied_stream_is_the_same(r: R) -> None:
    r.run("COPY", "s", "t")
    settings = r.engine.keyspace.streams[b"t"].groups[b"g"].settings
    assert settings is not None
    assert compile_filter(settings.filter or "") is compile_filter(EVEN)
