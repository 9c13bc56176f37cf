"""Maps of fields as lines of whole entries: every entry arrives as it was, with its order and its bytes."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tailrace.api.wire.ndjson import ENTRY_LINES, decode_lines
from tailrace.core.log.entry import flat_of
from tailrace.core.stream_id import SEQ_BITS
from tailrace_spark.sink.entry_lines import entry_lines, with_ids
from tailrace_spark.sink.lines import lines_of

Pairs = list[tuple[bytes, bytes]]

text = st.text().map(str.encode)
name = st.sampled_from([b"a", b"b", "\u00e9".encode(), b'"', b"\\", b"\xff"]) | text
value = text | st.binary()
entries = st.lists(st.lists(st.tuples(name, value), min_size=1, max_size=4), min_size=1, max_size=6)


def maps_of(rows: list[Pairs], kind: pa.DataType) -> pa.Array:
    """Maps as Spark passes them, in a batch that is a slice of another."""
    binary = pa.array([[(b"other", b"row")], *rows], pa.map_(pa.binary(), pa.binary()))
    parts = binary.offsets, binary.keys.view(kind), binary.items.view(kind)
    return pa.MapArray.from_arrays(*parts)[1:]


def arrived(lines: pa.Array) -> list[Pairs]:
    new = decode_lines(b"".join(lines.to_pylist()), ENTRY_LINES)
    flat = map(flat_of, new.fragments)
    return [list(zip(each[::2], each[1::2], strict=True)) for each in flat]


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
@given(rows=entries)
@example(rows=[[(b"k", b"1"), (b"k", b"2")], [(b"k", b"1")], [(b"\x00", b"\xff"), (b"\x00", b"")]])
def test_an_entry_keeps_its_order_its_repeated_names_and_its_bytes(
    kind: pa.DataType, rows: list[Pairs]
) -> None:
    assert arrived(entry_lines(maps_of(rows, kind), None)) == rows


@given(rows=entries)
def test_an_entry_keeps_its_id(rows: list[Pairs]) -> None:
    numbers = range(1, len(rows) + 1)
    ids = pa.array([f"{number}-0" for number in numbers])
    lines = entry_lines(maps_of(rows, pa.binary()), ids)
    assert arrived(lines) == rows
    new = decode_lines(b"".join(lines.to_pylist()), ENTRY_LINES)
    assert new.ids == [number << SEQ_BITS for number in numbers]


def test_a_name_without_a_value_is_left_out() -> None:
    fields = pa.array([[("a", None), ("b", "1")], [("a", "2")], []], pa.map_(pa.string(), pa.string()))
    assert [json.loads(line)["fields"] for line in entry_lines(fields, None).to_pylist()] == [
        {"b": "1"},
        {"a": "2"},
        {},
    ]


def test_a_missing_map_is_an_entry_without_fields_which_the_server_refuses() -> None:
    fields = pa.array([None, [("a", "1")]], pa.map_(pa.string(), pa.string()))
    assert entry_lines(fields, None).to_pylist() == [b'{"fields":{}}\n', b'{"fields":{"a":"1"}}\n']


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_columns_with_ids_are_whole_entries(kind: pa.DataType) -> None:
    batch = pa.record_batch({"a": pa.array(["x", None]), "b": pa.array(["1", "2"]).cast(kind)})
    lines = with_ids(lines_of(batch), pa.array(["5-0", "5-1"]), are_whole=pa.types.is_binary(kind))
    assert arrived(lines) == [[(b"a", b"x"), (b"b", b"1")], [(b"b", b"2")]]
    assert [json.loads(line)["id"] for line in lines.to_pylist()] == ["5-0", "5-1"]


def test_no_rows_are_no_lines() -> None:
    assert entry_lines(maps_of([], pa.string()), None).to_pylist() == []
