"""Entries keep every byte, in every form of input and output."""

from __future__ import annotations

import json
import random
from base64 import b64decode, b64encode
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from tailrace.core.log.entry import (
    BadEntry,
    flat_of,
    fragment_from_fields,
    fragment_from_flat,
    fragment_from_pairs,
)
from tailrace.core.log.entry_json import Shape, wire_entries, wire_lines, wire_ndjson
from tailrace.core.replies import Entries
from tailrace.core.stream_id import make_id
from tests.support.seeds import seeds

flat_bytes = st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=8)), min_size=1, max_size=5).map(
    lambda pairs: [item for pair in pairs for item in pair]
)


@given(flat_bytes)
def test_any_bytes_come_back_as_they_were_given(flat: list[bytes]) -> None:
    fragment = fragment_from_flat(flat)
    assert flat_of(fragment) == flat
    assert b"\n" not in fragment


@given(flat_bytes, st.sampled_from(Shape))
def test_every_shape_on_the_wire_holds_the_same_bytes(flat: list[bytes], shape: Shape) -> None:
    fragment = fragment_from_flat(flat)
    (entry,) = json.loads(wire_entries(Entries([make_id(1, 2)], [fragment]), shape))
    assert entry["id"] == "1-2"
    pairs = entry["pairs"] if "pairs" in entry else list(entry["fields"].items())
    texts = [text for pair in pairs for text in pair]
    as_bytes = b64decode if entry.get("encoding") == "base64" else str.encode
    assert [as_bytes(text) for text in texts] == flat


def test_unique_names_are_fields_and_repeated_ones_pairs() -> None:
    assert fragment_from_flat([b"a", b"1", b"b", b"2"]) == b'{"a":"1","b":"2"}'
    assert fragment_from_flat([b"a", b"1", b"a", b"2"]) == b'[["a","1"],["a","2"]]'


def test_an_entry_has_one_stored_form_however_it_was_sent() -> None:
    expected = b'{"a":"1"}'
    encoded = b64encode(b"a").decode(), b64encode(b"1").decode()
    assert fragment_from_fields(b' { "a" : "1" } ') == expected
    assert fragment_from_pairs(b'[["a", "1"]]') == expected
    assert fragment_from_fields(json.dumps(dict([encoded])).encode(), base64=True) == expected
    assert fragment_from_pairs(json.dumps([encoded]).encode(), base64=True) == expected


def test_repeated_pairs_stay_pairs() -> None:
    assert fragment_from_pairs(b'[["a","1"],["a","2"]]') == b'[["a","1"],["a","2"]]'


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b'{"a":1}', "Expected `str`, got `int`"),
        (b'{"a":null}', "Expected `str`, got `null`"),
        (b'{"a":{"b":"c"}}', "Expected `str`, got `object`"),
        (b'["a"]', "Expected `object`, got `array`"),
        (b'{"a":"1","a":"2"}', "'a' repeats"),
        (b"{}", "at least one field"),
        (b'{"a":', "truncated"),
        (b'{"a":"\xff"}', "UTF-8"),
    ],
)
def test_fields_that_cannot_be_taken_are_refused_with_the_reason(raw: bytes, says: str) -> None:
    with pytest.raises(BadEntry, match=says):
        fragment_from_fields(raw)


@pytest.mark.parametrize("raw", [b"[]", b'[["a"]]', b'[["a","1","2"]]', b'[["a",1]]', b"{}", b"["])
def test_pairs_that_cannot_be_taken_are_refused(raw: bytes) -> None:
    with pytest.raises(BadEntry):
        fragment_from_pairs(raw)


def test_what_is_not_base64_is_refused() -> None:
    with pytest.raises(BadEntry, match="not base64"):
        fragment_from_fields(b'{"a":"?"}', base64=True)


def test_an_entry_with_too_many_fields_is_too_large() -> None:
    names = [str(number) for number in range(FIELDS_PER_ENTRY_MAX + 1)]
    many = json.dumps(dict.fromkeys(names, "")).encode()
    flat = [item for name in names for item in (name.encode(), b"")]
    with pytest.raises(BadEntry) as flat_refused:
        fragment_from_flat(flat)
    with pytest.raises(BadEntry) as fields_refused:
        fragment_from_fields(many)
    assert flat_refused.value.too_large
    assert fields_refused.value.too_large


def test_an_entry_over_the_byte_limit_is_too_large() -> None:
    with pytest.raises(BadEntry) as refused:
        fragment_from_flat([b"a", b"x" * ENTRY_BYTES_MAX])
    assert refused.value.too_large


# --- the wire --------------------------------------------------------------------------------------


def test_idle_time_and_deliveries_are_written_where_asked_for() -> None:
    entries = Entries([make_id(1, 0), make_id(2, 0)], [b'{"a":"1"}', None], [5, 6], [1, 2])
    assert json.loads(wire_entries(entries, deliveries=True)) == [
        {"id": "1-0", "fields": {"a": "1"}, "idle_ms": 5, "deliveries": 1},
        {"id": "2-0", "deleted": True, "idle_ms": 6, "deliveries": 2},
    ]


def test_new_entries_were_idle_and_delivered_zero_times() -> None:
    entries = Entries([make_id(1, 0)], [b'{"a":"1"}'])
    assert json.loads(wire_entries(entries, deliveries=True)) == [
        {"id": "1-0", "fields": {"a": "1"}, "idle_ms": 0, "deliveries": 0}
    ]
    assert len(entries) == 1


@pytest.mark.parametrize("seed", seeds(20))
def test_many_entries_are_written_as_each_of_them_alone(seed: int) -> None:
    chance = random.Random(seed)
    first = make_id(chance.choice((5, 1_692_632_086_370)), chance.choice((0, 95, (1 << 64) - 20)))
    for count in (1, 2, 15, 16, 17, 40):
        ids: Sequence[int] = range(first, first + count)
        if chance.random() < 0.5:
            ids = [first + 3 * at + chance.randrange(3) for at in range(count)]
        fragments: list[bytes | None] = [b'{"a":"%d"}' % chance.randrange(9) for _ in ids]
        if chance.random() < 0.3:
            fragments[-1] = chance.choice((None, b'[["a","1"]]', b'~{"AA==":"/w=="}'))
        times: tuple[list[int] | None, list[int] | None] = (None, None)
        if chance.random() < 0.7:
            most = chance.choice((1, 3))
            times = ([chance.randrange(most) for _ in ids], [7 * chance.randrange(most) for _ in ids])
        entries = Entries(ids, fragments, *times)
        for deliveries in (False, True):
            lines = wire_lines(entries, deliveries=deliveries)
            assert wire_entries(entries, deliveries=deliveries) == b"[" + b",".join(lines) + b"]", seed
        assert wire_ndjson(entries) == b"\n".join(wire_lines(entries)) + b"\n"
