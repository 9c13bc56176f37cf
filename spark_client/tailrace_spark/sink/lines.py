"""From Arrow batches to NDJSON lines, a column at a time: no Python object is made for a row.

A line is an entry's fields as `entries:import` takes them, in the very form in which the server stores
them, so that it need not write them anew. Nulls are left out. Where a batch has bytes, each line is a whole
entry in base64 instead (`shape=entry`), since text cannot hold them. It knows nothing of Spark, streams or
requests.

All text is handled as bytes: Spark does not promise that its strings are UTF-8, and what is not, the server
refuses.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

LINE: Final = "line"
"""The name of the one column of a batch of lines."""

_SPECIAL: Final = bytes(range(0x20)) + b'"\\'
_SHORT_ESCAPES: Final = {0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0C: b"\\f", 0x0D: b"\\r"}
_ESCAPES: Final = [
    (b"\\", b"\\\\"),  # first: the others' replacements hold it
    (b'"', b'\\"'),
    *((bytes([code]), _SHORT_ESCAPES.get(code, b"\\u%04x" % code)) for code in range(0x20)),
]


def holds_bytes(schema: pa.Schema) -> bool:
    """Whether lines of such batches are whole entries in base64."""
    return any(_is_bytes(field.type) for field in schema)


def lines_of(batch: pa.RecordBatch) -> pa.Array:
    """One line a row, with its newline. O(bytes)."""
    if holds_bytes(batch.schema):
        members = [_member(_base64_text(name), _base64(column)) for name, column in _columns(batch)]
        return _joined(b'{"fields":{', members, b'},"encoding":"base64"}\n', batch.num_rows)
    members = [_member(name, _escaped(_text(column))) for name, column in _columns(batch)]
    return _joined(b"{", members, b"}\n", batch.num_rows)


def body_of(lines: pa.Array) -> memoryview:
    """The lines as one run of bytes, not copied."""
    _, offsets, data = lines.buffers()
    if data is None:
        return memoryview(b"")
    bounds = memoryview(offsets).cast("i")
    return memoryview(data)[bounds[lines.offset] : bounds[lines.offset + len(lines)]]


def _columns(batch: pa.RecordBatch) -> list[tuple[str, pa.Array]]:
    return list(zip(batch.schema.names, batch.columns, strict=True))


def _joined(opening: bytes, members: list[pa.Array], closing: bytes, rows: int) -> pa.Array:
    """Each member begins with a comma; the first one's gives way to the opening, even where a row has none.

    (Arrow's own way to leave nulls out between separators, `null_handling="skip"`, drops rows of nulls
    alone.)
    """
    nothing = pa.repeat(pa.scalar(b""), rows)
    inside = pc.binary_join_element_wise(
        nothing, *members, b"", null_handling="replace", null_replacement=b""
    )
    lines = pc.binary_join_element_wise(pc.binary_replace_slice(inside, 0, 1, opening), closing, b"")
    assert len(lines) == rows
    return lines


def _member(name: str, text: pa.Array) -> pa.Array:
    """`,"name":"text"`, and null where there is none."""
    opening = b"," + json.dumps(name, ensure_ascii=False).encode() + b':"'
    return pc.binary_join_element_wise(opening, text, b'"', b"")


# --- text of each type -----------------------------------------------------------------------------


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _text(column: pa.Array) -> pa.Array:
    """The column's values as text in bytes; the rule that docs/spark.md states."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        column = _iso_8601(column)
    return column.cast(pa.string()).cast(pa.binary())


def _iso_8601(column: pa.Array) -> pa.Array:
    """Six digits of a second, always; an instant in UTC with its Z, a wall-clock time with none."""
    # An instant's digits are those of a wall clock in UTC; for Arrow to look the zone up takes 7 times that.
    wall_clock = column.cast(pa.timestamp("us", column.type.tz)).view(pa.timestamp("us"))
    text = pc.replace_substring(wall_clock.cast(pa.string()), " ", "T", max_replacements=1)
    return text if column.type.tz is None else pc.binary_join_element_wise(text, "Z", "")


def _escaped(text: pa.Array) -> pa.Array:
    """The text as it stands inside a JSON string."""
    present = _special_bytes(text)
    for plain, escape in _ESCAPES:
        if plain in present:
            text = pc.replace_substring(text, plain, escape)
    return text


def _special_bytes(text: pa.Array) -> bytes:
    """Those bytes of the column that need an escape; mostly none, and then nothing is replaced."""
    body = bytes(body_of(text))
    if len(body.translate(None, _SPECIAL)) == len(body):
        return b""
    return bytes(set(body).intersection(_SPECIAL))


# --- base64, where a batch has bytes -----------------------------------------------------------------


def _base64(column: pa.Array) -> pa.Array:
    raw = column if _is_bytes(column.type) else _text(column)
    encoded = [None if value is None else b2a_base64(value, newline=False) for value in raw.to_pylist()]
    return pa.array(encoded, pa.binary())


def _base64_text(name: str) -> str:
    return b2a_base64(name.encode(), newline=False).decode()
