"""Entries keep every byte they were given, whatever the form they come and go in."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entry import (
    BadEntry,
    Shape,
    flat_of,
    fragment_from_fields,
    fragment_from_flat,
    fragment_from_pairs,
    fragments_from_ndjson,
    wire_entries,
)
from core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from core.replies import Entries
from core.stream_id import make_id

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
    for attempt in (
        lambda: fragment_from_flat(flat),
        lambda: fragment_from_fields(many),
        lambda: fragments_from_ndjson(many.replace(b" ", b"")),
    ):
        with pytest.raises(BadEntry) as refused:
            attempt()
        assert refused.value.too_large


def test_an_entry_over_the_byte_limit_is_too_large() -> None:
    with pytest.raises(BadEntry) as refused:
        fragment_from_flat([b"a", b"x" * ENTRY_BYTES_MAX])
    assert refused.value.too_large


# --- NDJSON ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n"])
def test_a_canonical_body_is_taken_line_by_line_as_it_stands(end: bytes) -> None:
    assert fragments_from_ndjson(b'{"a":"1"}\n{"b":"2"}' + end) == [b'{"a":"1"}', b'{"b":"2"}']


def test_other_spellings_blank_lines_and_carriage_returns_are_understood() -> None:
    body = b'\r\n{"a": "1"}\r\n\r\n  {"b":"\\u0041"}  \n'
    assert fragments_from_ndjson(body) == [b'{"a":"1"}', b'{"b":"A"}']


def test_an_empty_body_has_no_entries() -> None:
    assert fragments_from_ndjson(b"") == []


@pytest.mark.parametrize("line", [b'{"a":1}', b"{}", b'{"a":"1","a":"2"}', b"nonsense", b'{"a":"\xff"}'])
def test_the_first_wrong_line_is_named(line: bytes) -> None:
    with pytest.raises(BadEntry, match=r"^line 3: "):
        fragments_from_ndjson(b'{"a":"1"}\n\n' + line + b"\n{}")


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


_names, _values = st.text('ab\\"{é ', max_size=3), st.text('xy\\": ', max_size=3)


@given(st.lists(st.lists(st.tuples(_names, _values), max_size=4)))
def test_lines_in_any_spelling_lose_nothing_or_are_refused_for_a_name_that_repeats(
    rows: list[list[tuple[str, str]]],
) -> None:
    body = "\n".join(_spaced(row) for row in rows).encode()
    bad = next((number for number, row in enumerate(rows, 1) if not row or len(dict(row)) < len(row)), None)
    if bad is None:
        assert list(map(json.loads, fragments_from_ndjson(body))) == list(map(dict, rows))
    else:
        with pytest.raises(BadEntry, match=f"^line {bad}: "):
            fragments_from_ndjson(body)


def _spaced(row: list[tuple[str, str]]) -> str:
    return "{ " + " , ".join(f"{json.dumps(name)} : {json.dumps(value)}" for name, value in row) + " }"
