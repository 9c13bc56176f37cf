"""From NDJSON to Arrow: whatever an entry holds, its names and values come out byte for byte, in order."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.log.entry_json import Shape, wire_ndjson
from tailrace.core.replies import Entries as StoredEntries
from tailrace.core.stream_id import SEQ_BITS
from tailrace_spark.source.line_parser import entries_of
from tailrace_spark.source.line_scanner import scanned

Pairs = list[tuple[bytes, bytes]]

SYNTAX = [
    '"',
    "\\",
    "{",
    "}",
    ",",
    ":",
    '"}}\n{"',
    '","fields":{"',
    '{"id":"',
    "\n",
    "\t",
    "é",
    "😀",
    "x",
    "",
]
text = st.one_of(st.text(), st.lists(st.sampled_from(SYNTAX)).map("".join)).map(str.encode)
regular_entries = st.dictionaries(text, text, max_size=4).map(lambda fields: list(fields.items()))
anything = text | st.binary()
odd_entries = st.lists(st.tuples(anything, anything), min_size=1, max_size=4)


def lines_of(entries: list[Pairs]) -> bytes:
    """As the server writes them, with the ids 1-0, 2-0 ..."""
    fragments = [fragment_from_flat([each for pair in pairs for each in pair]) for pairs in entries]
    ids = [number << SEQ_BITS for number in range(1, len(entries) + 1)]
    return wire_ndjson(StoredEntries(ids, fragments), Shape.NATURAL)


def assert_read(lines: bytes, entries: list[Pairs]) -> None:
    found = entries_of(lines)
    assert found.ids.to_pylist() == [f"{number}-0" for number in range(1, len(entries) + 1)]
    assert found.fields.to_pylist() == entries


@given(st.lists(regular_entries, min_size=1, max_size=8))
def test_entries_with_one_value_a_name_are_scanned_and_none_is_parsed(entries: list[Pairs]) -> None:
    lines = lines_of(entries)
    assert scanned(lines) is not None
    assert_read(lines, entries)


@given(st.lists(regular_entries | odd_entries, min_size=1, max_size=8))
def test_entries_that_repeat_a_name_or_are_not_text_keep_their_places(entries: list[Pairs]) -> None:
    assert_read(lines_of(entries), entries)


@given(st.lists(regular_entries, min_size=1, max_size=8), st.booleans())
def test_lines_that_are_written_otherwise_are_parsed(entries: list[Pairs], is_blank: bool) -> None:  # noqa: FBT001
    """Blanks, escapes for all that is not ASCII, more members in another order."""
    members = [
        {"more": 1, "fields": {name.decode(): value.decode() for name, value in pairs}, "id": f"{number}-0"}
        for number, pairs in enumerate(entries, start=1)
    ]
    separators = (", ", ": ") if is_blank else (",", ":")
    lines = "".join(f"{json.dumps(each, separators=separators)}\n" for each in members).encode()
    assert scanned(lines) is None
    assert_read(lines, entries)


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"1-0","fields":{},"more":"x"}',
        '{"id":"1-0","fields":{}, "a":{}}',
        '{"id":"1-0","fields":{"a":"b","c":{}}}',
        '{"id":"1-0","fields":{"a":["b"]}}',
        '{"id":"1-0","fields":["a","b"]}',
        '{"id":"1-0","pairs":[["a","b"],["a","c"]]}',
        '{"id":"1-0","more":{"a":"b"}}',
        '{"other":"1-0","fields":{"a":"b"}}',
        '{"id":"1-0","fields":{"a":"b"},"more":{"c":"d"}}',
        '{"id":"1-0","fields":{"a": "b"}}',
        "{}",
    ],
)
def test_a_block_with_a_line_of_another_form_is_not_scanned(line: str) -> None:
    known = '{"id":"0-1","fields":{"a":"b"}}'
    for lines in ([line], [known, line], [line, known], [known, line, known]):
        assert scanned("".join(f"{each}\n" for each in lines).encode()) is None


def test_a_single_line_in_base64_is_read_as_bytes() -> None:
    name, value = (b64encode(raw).decode() for raw in (b"\x00", b"\xff"))
    lines = f'{{"id":"1-0","fields":{{"{name}":"{value}"}},"encoding":"base64"}}\n'.encode()
    assert_read(lines, [[(b"\x00", b"\xff")]])
