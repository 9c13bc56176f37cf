"""Rows as NDJSON lines, and lines as chunks: exact, and alike however Spark batched the rows."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tailrace.core.log.entry_lines import fragments_from_ndjson
from tailrace_spark.sink.lines import LINE, chunks_of, holds_bytes, lines_of
from tailrace_spark.values.texts import body_of

texts = st.lists(st.none() | st.text(), min_size=1, max_size=8)


def lines(**columns: pa.Array) -> list[bytes]:
    written: list[bytes] = lines_of(pa.record_batch(columns)).to_pylist()
    return written


@given(texts, st.data())
def test_a_line_holds_each_text_as_it_was_and_leaves_nulls_out(
    first: list[str | None], data: st.DataObject
) -> None:
    second = data.draw(st.lists(st.none() | st.text(), min_size=len(first), max_size=len(first)))
    written = lines(**{"a name": pa.array(first, pa.string()), 'b"': pa.array(second, pa.string())})
    expected = [
        {name: value for name, value in (("a name", left), ('b"', right)) if value is not None}
        for left, right in zip(first, second, strict=True)
    ]
    assert [json.loads(line) for line in written] == expected


@given(st.lists(st.text(), min_size=1, max_size=8))
def test_a_line_is_written_as_the_server_stores_it(values: list[str]) -> None:
    written = lines(name=pa.array(values, pa.string()))
    assert fragments_from_ndjson(b"".join(written)) == [line.rstrip(b"\n") for line in written]


def test_a_row_of_nulls_is_a_line_of_its_own() -> None:
    assert lines(a=pa.array([None, "1", None], pa.string())) == [b"{}\n", b'{"a":"1"}\n', b"{}\n"]


def test_a_frame_without_columns_gives_empty_lines() -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))
    assert lines_of(batch).to_pylist() == [b"{}\n", b"{}\n"]


def test_bytes_make_each_line_a_whole_entry_in_base64() -> None:
    raw = pa.array([b"\xff\x00", None], pa.binary())
    written = lines(raw=raw, count=pa.array(["1", "2"]))
    entries = [json.loads(line) for line in written]
    assert all(entry["encoding"] == "base64" for entry in entries)
    decoded = [{b64decode(k): b64decode(v) for k, v in entry["fields"].items()} for entry in entries]
    assert decoded == [{b"raw": b"\xff\x00", b"count": b"1"}, {b"count": b"2"}]
    assert holds_bytes(pa.schema([("raw", pa.binary())]))


def test_text_that_is_not_utf8_is_sent_as_it_is_for_the_server_to_refuse() -> None:
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xff\n"))
    assert lines(value=broken) == [b'{"value":"a\xff\\n"}\n']


# --- chunks ------------------------------------------------------------------------------------------


def batches_of(lines: Sequence[bytes], sizes: Sequence[int]) -> list[pa.RecordBatch]:
    """The lines in batches of such sizes, over and over."""
    batches, start, turn = [], 0, 0
    while start < len(lines):
        size = sizes[turn % len(sizes)]
        part = pa.array(lines[start : start + size], pa.binary())
        batches.append(pa.RecordBatch.from_pydict({LINE: part}))
        start, turn = start + size, turn + 1
    return batches


def bodies(lines: Sequence[bytes], sizes: Sequence[int], rows_max: int, bytes_max: int) -> list[bytes]:
    chunks = chunks_of(batches_of(lines, sizes), rows_max, bytes_max)
    return [b"".join(map(body_of, chunk[LINE].chunks)) for chunk in chunks]


@given(
    st.lists(st.integers(0, 30).map(lambda size: b"x" * size + b"\n"), max_size=60),
    st.lists(st.integers(1, 20), min_size=1, max_size=4),
    st.integers(1, 10),
    st.integers(1, 60),
)
def test_chunks_are_cut_by_the_rows_alone(
    lines: list[bytes], sizes: list[int], rows_max: int, bytes_max: int
) -> None:
    cut = bodies(lines, sizes, rows_max, bytes_max)
    assert cut == bodies(lines, [1], rows_max, bytes_max)
    assert b"".join(cut) == b"".join(lines)
    for body in cut:
        rows = body.count(b"\n")
        assert 1 <= rows <= rows_max
        assert len(body) <= bytes_max or rows == 1


def test_a_chunk_ends_before_the_row_that_does_not_fit() -> None:
    assert bodies([b"aa\n", b"bb\n", b"ccccccccc\n", b"d\n"], [3], 100, 6) == [
        b"aa\nbb\n",
        b"ccccccccc\n",
        b"d\n",
    ]
