"""Commands that show or claim many pending entries: their results, their work, and turns for others."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from tailrace.api.wire.group_replies import pending_json, pending_page_json
from tailrace.api.wire.redis_words import result_parts
from tailrace.api.wire.stream_replies import full_json
from tailrace.api.wire.turns import SLICE_BYTES, Slices
from tailrace.core import commands as c
from tailrace.core.bounds.reply_room import ITEM_BYTES, ReplyRoom
from tailrace.core.command_table import HANDLERS
from tailrace.core.deliveries import idle_since
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.execution import Execution
from tailrace.core.handlers.group_reads import CLAIM_LOOK_MS
from tailrace.core.invariants import check
from tailrace.core.limits import XAUTOCLAIM_SCAN_FACTOR
from tailrace.core.log.entry_json import Shape
from tailrace.core.parser import parse_request
from tailrace.core.replies import ClaimReply
from tests.support.engine_calls import FRAGMENT
from tests.support.seeds import seeds
from tests.unit.test_many_ids import calls_of, command
from tests.unit.test_slices import turns_of
from tests.unit.test_trim_work import disturb, filled, stream_of


def delivered(entries: int, count: int) -> Engine:
    """A stream whose entries were delivered `count` at a time."""
    engine = filled(range(1, entries + 1), 100, b"g")
    for _ in range(0, entries, count):
        engine.execute(command("XREADGROUP", "GROUP", "g", "a", "COUNT", count, "STREAMS", "s", ">"), 2)
    return engine


# --- what they give --------------------------------------------------------------------------------------


def expected_scan(
    engine: Engine, count: int, min_idle_ms: int, now_ms: int
) -> tuple[list[int], list[int], int]:
    """Rule 52, one pending entry after another: the claimed ids, the dropped ids, the cursor."""
    stream = stream_of(engine)
    pending = stream.groups[b"g"].pending
    ids = list(pending.ids())
    claimed: list[int] = []
    dropped: list[int] = []
    for number, value in enumerate(ids):
        if number == count * XAUTOCLAIM_SCAN_FACTOR or len(claimed) + len(dropped) == count:
            return claimed, dropped, value
        unit = pending.get(value)
        assert unit is not None
        if value not in stream.log:
            dropped.append(value)
        elif unit.consumer is None or idle_since(unit.at_ms, now_ms) >= min_idle_ms:
            claimed.append(value)
    return claimed, dropped, 0


@pytest.mark.parametrize("seed", seeds(30))
def test_a_scan_for_idle_entries_is_that_of_one_entry_after_another(seed: int) -> None:
    random = Random(seed)
    step = random.choice((1, 1 << 64))
    engine = filled([step * number for number in range(1, 150)], 7, b"g", b"h")
    for _ in range(3):
        disturb(engine, random)
    count, min_idle_ms = random.choice((1, 3, 10, 40, 500)), random.choice((0, 7, 8))
    expected = expected_scan(engine, count, min_idle_ms, 10)
    reply = engine.execute(c.AutoClaim(b"s", b"g", b"z", min_idle_ms, 0, count), 10).reply
    assert isinstance(reply, ClaimReply)
    assert (list(reply.entries.ids), list(reply.deleted_ids), reply.cursor) == expected


# --- their work ------------------------------------------------------------------------------------------


def test_claiming_entries_that_were_delivered_together_takes_little_work_for_each() -> None:
    engine = delivered(20_000, 10_000)
    scan = c.AutoClaim(b"s", b"g", b"z", 0, 0, 20_000)
    assert calls_of(lambda: engine.execute(scan, 10)) < 20_000
    assert stream_of(engine).groups[b"g"].consumers[b"z"].pending_count == 20_000


@pytest.mark.parametrize(("count", "calls_each"), [(5_000, 1), (10, 2), (1, 7)])
def test_showing_pending_entries_takes_little_work_for_each(count: int, calls_each: int) -> None:
    engine = delivered(5_000, count)
    show = c.PendingRange(b"s", b"g", count=5_000)
    assert calls_of(lambda: engine.execute(show, 10)) < 5_000 * calls_each


@pytest.mark.parametrize(
    "show", [c.PendingRange(b"s", b"g", count=5_000), c.InfoStream(b"s", 5_000)], ids=["XPENDING", "XINFO"]
)
def test_rows_that_do_not_fit_are_refused_before_they_are_made(show: c.Command) -> None:
    engine = delivered(5_000, 10)
    execution = Execution(engine.keyspace, 10, reply_room=ReplyRoom(4_999 * 2 * ITEM_BYTES))

    def refused() -> None:
        with pytest.raises(StreamError) as error:
            HANDLERS[type(show)](execution, show)
        assert error.value.code is ErrorCode.REPLY_TOO_LARGE

    assert calls_of(refused) < 500


@pytest.mark.parametrize("count", [5_000, 10, 1])
def test_pending_entries_that_were_trimmed_cost_a_claim_one_look_for_each_stretch(count: int) -> None:
    engine = delivered(5_000, count)
    if count == 1:
        ids = tuple(range(1, 5_001))
        engine.execute(c.Claim(b"s", b"g", b"b", c.ClaimOptions(0, ids[::-1])), 3)
    new = (c.ReadFrom(b"s", c.Special.NEW),)
    read = c.ReadGroup(b"g", b"z", new, c.ReadLimits(count=10), claim_min_idle_ms=0, block_ms=1_000)
    engine.execute(command("XTRIM", "s", "MAXLEN", 0), 3)
    assert calls_of(lambda: engine.execute(read, 10)) < 5_000
    engine.execute(c.Append(b"s", [FRAGMENT]), 11)
    assert calls_of(lambda: engine.execute(read, 12)) < 5_000


def test_a_full_block_of_a_large_append_takes_little_work() -> None:
    engine = Engine()
    fragments = [b'{"v":"%b"}' % (b"x" * (600 + number % 50)) for number in range(10_000)]
    engine.execute(c.Append(b"s", [FRAGMENT]), 1)
    calls = calls_of(lambda: engine.execute(c.Append(b"s", fragments), 2))
    assert calls < 26 * len(stream_of(engine).log.blocks)


def test_a_read_waits_for_no_claim_where_all_pending_entries_were_deleted() -> None:
    engine = delivered(3_000, 3_000)
    engine.execute(c.Acknowledge(b"s", b"g", (1,)), 3)
    engine.execute(c.DeleteEntries(b"s", tuple(range(2, 3_001))), 4)
    new = (c.ReadFrom(b"s", c.Special.NEW),)
    read = c.ReadGroup(b"g", b"z", new, claim_min_idle_ms=5, block_ms=1_000)
    outcome = engine.execute(read, 10)
    assert outcome.wait is not None
    assert outcome.wait.claim_at_ms == 10 + CLAIM_LOOK_MS


@pytest.mark.parametrize("gone", [b"a", b"b"])
def test_a_consumer_takes_only_its_own_pending_entries_along(gone: bytes) -> None:
    engine = delivered(100, 10)
    engine.execute(c.Claim(b"s", b"g", b"b", c.ClaimOptions(0, tuple(range(11, 21)))), 3)
    engine.execute(c.Claim(b"s", b"g", b"b", c.ClaimOptions(0, (35, 33, 31, 39, 37, 50))), 4)
    pending = stream_of(engine).groups[b"g"].pending
    kept = [value for value in pending.ids() if pending.get(value).consumer.name != gone]  # type: ignore[union-attr]
    engine.execute(c.DeleteConsumer(b"s", b"g", gone), 5)
    assert list(pending.ids()) == kept
    check(engine.keyspace)
    check(engine.keyspace)


SMALL_THEN_LARGE = [10] * 30 + [4_000] + [1] * 50


@pytest.mark.parametrize("sizes", [SMALL_THEN_LARGE, [1] * 17 + [3_000] * 3, [2_000, 1, 5_000] * 9])
@pytest.mark.parametrize("other", [b'{"f":"1"}', b'{"a name that is longer than the others":"1"}'])
def test_a_large_append_makes_the_blocks_that_single_appends_make(sizes: list[int], other: bytes) -> None:
    fragments = [other, *[b'{"f":"%b"}' % (b"x" * size) for size in sizes]] * 4
    together, apart = Engine(), Engine()
    together.execute(c.Append(b"s", fragments), 1)
    for fragment in fragments:
        apart.execute(c.Append(b"s", [fragment]), 1)
    counts = [[block.count for block in stream_of(engine).log.blocks] for engine in (together, apart)]
    assert counts[0] == counts[1]


# --- turns for others ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many() -> Engine:
    return delivered(20_000, 10_000)


def test_others_are_served_while_a_page_of_pending_entries_is_written(many: Engine) -> None:
    rows: Any = many.execute(c.PendingRange(b"s", b"g", count=20_000), 10).reply
    content, turns = turns_of(pending_page_json(rows, 20_000))
    assert json.loads(bytes(content["pending"])) == [pending_json(row) for row in rows]
    assert content["next"] == "0-20000"
    assert turns >= len(bytes(content["pending"])) // SLICE_BYTES
    assert turns_of(pending_page_json(rows[:3], 4))[0]["next"] is None


def test_others_are_served_while_a_stream_is_described_in_full(many: Engine) -> None:
    full: Any = many.execute(c.InfoStream(b"s", 20_000), 10).reply
    content, turns = turns_of(full_json(full, Shape.NATURAL))
    [group] = content["group_details"]
    rows = json.loads(bytes(group["pending_entries"]))
    assert rows == [pending_json(row) for row in full.groups[0].pending]
    assert json.loads(bytes(group["consumers"][0]["pending_entries"])) == rows
    assert turns >= len(bytes(group["pending_entries"])) // SLICE_BYTES


@pytest.mark.parametrize(
    "words", [["XINFO", "STREAM", "s", "FULL", "COUNT", "0"], ["XPENDING", "s", "g", "-", "+", "20000"]]
)
@pytest.mark.parametrize("all_base64", [False, True])
def test_others_are_served_while_rows_are_written_as_resp(
    many: Engine, words: list[str], *, all_base64: bool
) -> None:
    request = parse_request([word.encode() for word in words])
    assert request.command is not None
    reply = request.to_resp(many.execute(request.command, 10).reply)
    parts, turns = turns_of(Slices().gather(result_parts(reply, all_base64=all_base64)))
    assert max(map(len, parts)) < SLICE_BYTES
    assert turns >= sum(map(len, parts)) // SLICE_BYTES // 2
    json.loads(b"".join(parts))
