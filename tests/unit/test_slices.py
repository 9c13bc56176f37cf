"""Long work of one request runs in slices, with the same result, and other requests run between them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire import appends, batches, ndjson, turns
from tailrace.api.wire.appends import decode_batch, decode_xadd
from tailrace.api.wire.batches import decode_batch_in_slices, read_batch
from tailrace.api.wire.bodies import count_elements, require_few_elements_in_slices
from tailrace.api.wire.filtering import ScanTurns
from tailrace.api.wire.ndjson import (
    EXPORT_PAGE_ENTRIES,
    FIELDS_LINES,
    LineForm,
    decode_in_slices,
    export_page,
    exported,
)
from tailrace.api.wire.redis_words import decode_commands
from tailrace.api.wire.replies import SLICE_ENTRIES, entries_json, range_json
from tailrace.api.wire.turns import SLICE_BYTES, Slices
from tailrace.core.commands import Append, CreateGroup, Range, ReadFrom, ReadGroup, ReadLimits, Special
from tailrace.core.limits import MIB, READ_ENTRIES_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import Entries, RangeReply
from tests.support.api_client import ApiClient
from tests.support.engine_calls import Calls

ENTRIES = [
    {"fields": {"rider": "Castilla"}},
    {"pairs": [["a", "1"], ["a", "2"]], "id": "5-1"},
    {"fields": {"Zg==": "/w=="}, "encoding": "base64"},
]


def turns_of(work: Coroutine[Any, Any, Any]) -> tuple[Any, int]:
    """Return the result of the work, and the number of turns of other tasks in the meantime."""

    async def counted() -> tuple[Any, int]:
        count, working = 0, asyncio.ensure_future(work)
        while not working.done():
            count += 1
            await asyncio.sleep(0)
        return working.result(), count

    return asyncio.run(counted())


def refusal_of(work: Coroutine[Any, Any, Any]) -> RequestRefused:
    with pytest.raises(RequestRefused) as refused:
        asyncio.run(work)
    return refused.value


def test_others_are_served_while_the_parts_of_a_reply_are_made() -> None:
    parts = [b"x" * (SLICE_BYTES // 4)] * 40
    gathered, count = turns_of(Slices().gather(iter(parts)))
    assert gathered == parts
    assert count >= 10


# --- batches -------------------------------------------------------------------------------------------


def batch(entries: list[Any]) -> bytes:
    return json.dumps({"entries": entries, "trim": {"max_length": 5}, "if_last_id": "1-1"}).encode()


@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES[:1] * 5, ENTRIES * 1_000])
def test_a_large_batch_gives_the_same_entries_as_a_small_one(entries: list[Any]) -> None:
    options, new = asyncio.run(decode_batch_in_slices(batch(entries)))
    expected, at_once = decode_batch(batch(entries))
    assert new == at_once
    assert (options.trim, options.if_last_id) == (expected.trim, expected.if_last_id)


@pytest.mark.parametrize(
    "wrong",
    [
        {"fields": {"a": 1}},
        {"fields": {}},
        {"fields": {"a": "b"}, "more": 1},
        {"pairs": [["a"]]},
        {},
        7,
        {"fields": {"a": "b"}, "id": 7},
    ],
)
def test_a_large_batch_names_the_entry_that_is_wrong(wrong: object) -> None:
    raw = batch([*ENTRIES, wrong, *ENTRIES])
    refusal = refusal_of(decode_batch_in_slices(raw))
    with pytest.raises(RequestRefused) as expected:
        decode_batch(raw)
    assert (refusal.code, refusal.errors) == (expected.value.code, expected.value.errors)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"entries":[{]}', "MALFORMED_BODY"),
        (b'{"entries":[{"fields":{"a":"\xff"}}]}', "MALFORMED_BODY"),
        (b'{"entries":[]}', "BODY_MISMATCH"),
        (b'{"entries":[{"fields":{"a":"b"}}' + b',{"fields":{"a":"b"}}' * 100_000 + b"]}", "LIMIT_EXCEEDED"),
        (b'{"entries":[' + b"0," * 2_000_000 + b"0]}", "LIMIT_EXCEEDED"),
        (b'{"entries":[{"fields":{"a":"%b"}}]}' % (b"x" * 16 * MIB), "ENTRY_TOO_LARGE"),
    ],
    ids=["JSON", "UTF-8", "none", "entries", "elements", "bytes"],
)
def test_a_large_batch_is_refused_as_a_small_one(raw: bytes, code: str) -> None:
    assert refusal_of(decode_batch_in_slices(raw)).code == code
    with pytest.raises(RequestRefused) as expected:
        decode_batch(raw)
    assert expected.value.code == code


def test_others_are_served_while_a_large_batch_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = batch(ENTRIES * 10_000)
    _, count = turns_of(read_batch(raw))
    assert count >= len(raw) // SLICE_BYTES
    monkeypatch.setattr(batches, "AT_ONCE_BYTES_MAX", len(raw))
    _, count = turns_of(read_batch(raw))
    assert count <= 2


# --- commands ------------------------------------------------------------------------------------------


def test_others_are_served_while_the_commands_of_a_pipeline_are_decoded() -> None:
    commands = [["XADD", "s", "*", "f", "v"]] * 5_000
    words, count = turns_of(decode_commands(json.dumps(commands).encode(), 5_000, Slices()))
    assert words == [[b"XADD", b"s", b"*", b"f", b"v"]] * 5_000
    assert count >= 5_000 * 5 * turns.PART_BYTES // SLICE_BYTES


@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 1_001, 2_500])
def test_commas_are_counted_outside_of_strings(count: int) -> None:
    raw = b"[" + rb'"a,\",b",' * count + b'"c"]'
    for most in (count - 1, count, count + 1):
        assert count_elements(raw, most) == max(min(count, most), 0)
    asyncio.run(require_few_elements_in_slices(raw, count + 1, Slices()))
    if count:
        assert refusal_of(require_few_elements_in_slices(raw, count, Slices())).code == "LIMIT_EXCEEDED"


# --- replies -------------------------------------------------------------------------------------------


def test_others_are_served_between_the_pages_of_all_exports() -> None:
    client = ApiClient()
    client.run(Append(b"s", [b'{"f":"v"}'] * (3 * EXPORT_PAGE_ENTRIES)))
    shared = ScanTurns()

    async def export() -> int:
        query = Range(b"s")
        first = await client.store.execute(export_page(query))
        assert isinstance(first, RangeReply)
        lines = exported(client.store, query, first, LineForm(Shape.NATURAL), shared)
        return sum([piece.count(b"\n") async for piece in lines])

    async def exports() -> list[int]:
        return await asyncio.gather(*(export() for _ in range(5)))

    counts, turns_of_others = turns_of(exports())
    assert counts == [3 * EXPORT_PAGE_ENTRIES] * 5
    assert turns_of_others >= 5 * 2


@pytest.mark.parametrize("shape", list(Shape))
@pytest.mark.parametrize("count", [0, 1, SLICE_ENTRIES, 2 * SLICE_ENTRIES + 1])
def test_a_long_page_of_a_range_is_written_in_slices(count: int, shape: Shape) -> None:
    entries = Entries(range(count), [b'{"a":"b"}'] * count)
    content, turns_taken = turns_of(range_json(RangeReply(entries), shape))
    assert bytes(content["entries"]) == bytes(entries_json(entries, shape))
    assert turns_taken >= max(count - 1, 0) // SLICE_ENTRIES


def test_a_read_by_rest_ends_at_the_most_entries_and_its_positions_lead_on() -> None:
    api = ApiClient()
    count = READ_ENTRIES_MAX + 1
    ids = tuple((number + 1) << 64 for number in range(count))
    api.run(Append(b"s", [b'{"a":"b"}'] * count, ids))
    api.run(CreateGroup(b"s", b"g", 0))

    def group_read(position: str) -> Any:
        body = {"group": "g", "consumer": "c", "streams": [{"key": "s", "id": position}], "count": 100_000}
        return api.post("/v1/read-group", body).json()["streams"][0]

    first, rest = group_read(">"), group_read(">")
    assert [len(each["entries"]) for each in (first, rest)] == [READ_ENTRIES_MAX, 1]
    assert len(group_read("0")["entries"]) == READ_ENTRIES_MAX
    pages = ("/v1/streams/s/entries?after={}", "/v1/streams/s/groups/g/pending?count=100000&start=({}")
    for page, member in zip(pages, ("entries", "pending"), strict=True):
        following = api.get(page.format("0-0")).json()
        assert len(following[member]) == READ_ENTRIES_MAX
        last = api.get(page.format(following["next"])).json()
        assert [each["id"] for each in last[member]] == [f"{count}-0"]


def test_a_read_ends_with_the_entry_that_fills_the_page() -> None:
    calls = Calls()
    calls.reply(Append(b"s", [b'{"a":"%b"}' % (b"x" * 1_000)] * 5))
    calls.reply(CreateGroup(b"s", b"g", 0))
    source = ReadFrom(b"s", Special.NEW)
    read = ReadGroup(b"g", b"c", (source,), ReadLimits(page_bytes=2_500))
    assert [len(calls.reply(read).streams[0].entries) for _ in range(3)] == [3, 2, 0]


# --- too large -----------------------------------------------------------------------------------------


def test_the_text_of_an_entry_is_refused_by_its_length_before_it_is_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(appends, "LINE_BYTES_MAX", 1_000)
    monkeypatch.setattr(ndjson, "LINE_BYTES_MAX", 1_000)
    monkeypatch.setattr(ndjson, "SLICE_BYTES", 100)
    with pytest.raises(RequestRefused) as refused:
        decode_xadd(b'{"fields":' + b"," * 1_000)
    assert refused.value.code == "ENTRY_TOO_LARGE"
    lines = b'{"a":"b"}\n' * 15 + b"," * 1_200 + b"\n"
    refusal = refusal_of(decode_in_slices(lines, FIELDS_LINES))
    assert (refusal.code, refusal.detail.partition(" is ")[0]) == ("ENTRY_TOO_LARGE", "line 16")
