"""Fields between Python and JSON: no data is lost, and the results are equal with and without msgspec."""

from __future__ import annotations

import json
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailrace_client import BadFieldError, ExactFields, with_msgspec, without_msgspec
from tailrace_client.encoding import lines_of
from tailrace_client.fields import fields_of, wire_entry
from tailrace_client.lines import BLOCK_BYTES, Export

CODECS = pytest.mark.parametrize("codec", [with_msgspec, without_msgspec], ids=lambda codec: codec.__name__)

TEXT_PAIRS = st.lists(st.tuples(st.text(), st.text()), min_size=1)
ANY_PAIRS = st.lists(st.tuples(st.text() | st.binary(), st.text() | st.binary()), min_size=1)


def as_bytes(pairs: list[tuple[str | bytes, str | bytes]]) -> list[tuple[bytes, bytes]]:
    return [tuple(item if isinstance(item, bytes) else item.encode() for item in pair) for pair in pairs]  # type: ignore[misc]


def pairs_of(fields: dict[str, str]) -> list[tuple[bytes, bytes]]:
    if isinstance(fields, ExactFields):
        return list(fields.pairs)
    return [(name.encode(), value.encode()) for name, value in fields.items()]


@given(ANY_PAIRS)
def test_any_pairs_survive_the_way_out_and_back(pairs: list[tuple[str | bytes, str | bytes]]) -> None:
    wire = json.loads(json.dumps(wire_entry(pairs)))
    assert pairs_of(fields_of(wire)) == as_bytes(pairs)


@given(ANY_PAIRS)
def test_what_was_read_is_written_as_it_was(pairs: list[tuple[str | bytes, str | bytes]]) -> None:
    fields = fields_of(wire_entry(pairs))
    assert pairs_of(fields_of(wire_entry(fields))) == as_bytes(pairs)


@given(st.lists(st.dictionaries(st.text(), st.text(), min_size=1), min_size=1))
def test_both_libraries_write_lines_that_say_the_same(entries: list[dict[str, str]]) -> None:
    written = [codec.encode_lines(entries) for codec in (with_msgspec, without_msgspec)]
    for lines in written:
        assert lines.endswith(b"\n")
        assert [json.loads(line) for line in lines.split(b"\n")[:-1]] == entries


ENTRIES = [
    {"id": "1-0", "fields": {"a": "ä"}},
    {"id": "1-1", "pairs": [["k", "1"], ["k", "2"]]},
    {"id": "1-2", "fields": {"YQ==": "/w=="}, "encoding": "base64"},
    {"id": "1-3", "fields": {"encoding": "base64", "pairs": "[["}},
]


@CODECS
@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES[:1], ENTRIES[3:]])
def test_lines_are_read_whatever_their_entries_are(codec: ModuleType, entries: list[object]) -> None:
    block = b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)
    expected = {
        "1-0": [(b"a", "ä".encode())],
        "1-1": [(b"k", b"1"), (b"k", b"2")],
        "1-2": [(b"a", b"\xff")],
        "1-3": [(b"encoding", b"base64"), (b"pairs", b"[[")],
    }
    read = {entry_id: pairs_of(fields) for entry_id, fields in codec.entries_of_lines(block)}
    assert read == {key: expected[key] for key in read}
    assert len(read) == len(entries)


@CODECS
@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES[:1]])
def test_deliveries_are_read_whatever_their_entries_are(
    codec: ModuleType, entries: list[dict[str, object]]
) -> None:
    delivered = [{**entry, "idle_ms": 7, "deliveries": 2} for entry in entries]
    delivered.append({"id": "2-0", "deleted": True, "idle_ms": 0, "deliveries": 1})
    page = {"streams": [{"key": "s", "entries": delivered, "next": "2-0"}]}
    [part] = codec.slices_of(json.dumps(page).encode())
    assert part.next == "2-0"
    assert [(each.id, each.idle_ms, each.deliveries) for each in part.entries[:-1]] == [
        (entry["id"], 7, 2) for entry in delivered[:-1]
    ]
    assert part.entries[0].fields == {"a": "ä"}
    assert part.entries[-1].fields is None


@CODECS
def test_a_line_with_a_member_of_a_later_server_is_read(codec: ModuleType) -> None:
    block = b'{"id":"1-0","fields":{"a":"1"}}\n{"id":"1-1","fields":{"a":"2"},"later":{"b":[3]}}\n'
    assert list(codec.entries_of_lines(block)) == [("1-0", {"a": "1"}), ("1-1", {"a": "2"})]


@CODECS
def test_a_lone_surrogate_is_refused_by_the_library_and_written_as_bytes(codec: ModuleType) -> None:
    with pytest.raises(UnicodeEncodeError):
        codec.encode_lines([{"a": "\udcff"}])
    body, shape = lines_of([{"a": "\udcff"}])
    assert shape == "entry"
    assert pairs_of(fields_of(json.loads(body))) == [(b"a", b"\xff")]


def test_text_that_stands_for_no_bytes_is_refused() -> None:
    with pytest.raises(BadFieldError, match="entry 0 of the chunk"):
        lines_of([{"a": "\ud800"}])


def test_bytes_are_never_taken_for_their_base64_text() -> None:
    body, shape = lines_of([{"a": "x"}, {"a": b"x"}])
    assert shape == "entry"
    assert [fields_of(json.loads(line)) for line in body.splitlines()] == [{"a": "x"}, {"a": "x"}]


def test_an_export_resumes_behind_the_last_line_that_was_handed_on() -> None:
    export = Export("s", "-", "+", "entry")
    lines = b"".join(b'{"id":"%d-0","fields":{"a":"b"}}\n' % number for number in range(10_000))
    assert export.request["params"]["start"] == "-"
    block = export.take(lines[: BLOCK_BYTES + 5])
    assert block.endswith(b"}\n")
    assert export.take(lines[BLOCK_BYTES + 5 : BLOCK_BYTES + 50]) == b""
    last_id = json.loads(block.splitlines()[-1])["id"]
    assert export.request["params"]["start"] == f"({last_id}"
    rest = lines[lines.index(block) + len(block) :]
    assert export.take(rest) + export.end() == rest
