"""Convert Arrow batches to NDJSON lines, one column at a time, without a Python object for each row.

A line contains the fields of an entry as `entries:import` accepts them, in exactly the form in which the
server stores them, so that the server need not rewrite them. Null values are left out. If a batch has a
binary column, each line is a complete entry in base64 instead (`shape=entry`), because text cannot contain
arbitrary bytes. This module knows nothing of Spark, streams or requests.

All text is handled as bytes: Spark does not guarantee that its strings are UTF-8, and the server refuses text
that is not.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

LINE: Final = "line"
"""The name of the only column in a batch of lines."""

_SPECIAL: Final = bytes(range(0x20)) + b'"\\'
_SHORT_ESCAPES: Final = {0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0C: b"\\f", 0x0D: b"\\r"}
_ESCAPES: Final = [
    (b"\\", b"\\\\"),  # first, because the other replacements contain it
    (b'"', b'\\"'),
    *((bytes([code]), _SHORT_ESCAPES.get(code, b"\\u%04x" % code)) for code in range(0x20)),
]


def holds_bytes(schema: pa.Schema) -> bool:
    """Return whether the lines of such batches are complete entries in base64."""
    return any(_is_bytes(field.type) for field in schema)


def lines_of(batch: pa.RecordBatch) -> pa.Array:
    """Return one line for each row, with its newline. O(bytes)."""
    if holds_bytes(batch.schema):
        fields = [(_base64_text(name), _base64(column)) for name, column in _columns(batch)]
        return _joined(b'{"fields":{', fields, b'},"encoding":"base64"}\n', batch.num_rows)
    fields = [(name, _escaped(_text(column))) for name, column in _columns(batch)]
    return _joined(b"{", fields, b"}\n", batch.num_rows)


def body_of(lines: pa.Array) -> memoryview:
    """Return the lines as one run of bytes, without copying."""
    _, offsets, data = lines.buffers()
    if data is None:
        return memoryview(b"")
    bounds = memoryview(offsets).cast("i")
    return memoryview(data)[bounds[lines.offset] : bounds[lines.offset + len(lines)]]


def _columns(batch: pa.RecordBatch) -> list[tuple[str, pa.Array]]:
    return list(zip(batch.schema.names, batch.columns, strict=True))


def _joined(opening: bytes, fields: list[tuple[str, pa.Array]], closing: bytes, rows: int) -> pa.Array:
    """Join the fields of each row between `opening` and `closing`."""
    if fields and not any(texts.null_count for _, texts in fields):
        lines = _joined_at_once(opening, fields, closing)
    else:
        lines = _joined_without_nulls(opening, fields, closing, rows)
    assert len(lines) == rows
    return lines


def _joined_at_once(opening: bytes, fields: list[tuple[str, pa.Array]], closing: bytes) -> pa.Array:
    """Join fields that have a value in each row: in one pass, and half the time."""
    pieces: list[bytes | pa.Array] = []
    before = opening
    for name, texts in fields:
        pieces += [before + _name(name), texts]
        before = b'",'
    return pc.binary_join_element_wise(*pieces, b'"' + closing, b"")


def _joined_without_nulls(
    opening: bytes, fields: list[tuple[str, pa.Array]], closing: bytes, rows: int
) -> pa.Array:
    """Join the fields that a row has.

    Each member begins with a comma. The opening replaces the first byte of the joined members, also in a row
    without members. (Arrow's own way to leave out nulls between separators, `null_handling="skip"`, drops
    rows that contain only nulls.)
    """
    members = [pc.binary_join_element_wise(b"," + _name(name), texts, b'"', b"") for name, texts in fields]
    nothing = pa.repeat(pa.scalar(b""), rows)
    inside = pc.binary_join_element_wise(
        nothing, *members, b"", null_handling="replace", null_replacement=b""
    )
    return pc.binary_join_element_wise(pc.binary_replace_slice(inside, 0, 1, opening), closing, b"")


def _name(name: str) -> bytes:
    """Return the name as JSON, up to the mark that begins its value."""
    return json.dumps(name, ensure_ascii=False).encode() + b':"'


# --- text of each type -----------------------------------------------------------------------------


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _text(column: pa.Array) -> pa.Array:
    """Return the values of the column as text in bytes, by the rule in docs/spark.md."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        column = _iso_8601(column)
    return column.cast(pa.string()).cast(pa.binary())


def _iso_8601(column: pa.Array) -> pa.Array:
    """Return timestamps with six digits of a second: an instant in UTC with a Z, a wall-clock time without a
    zone."""
    # An instant has the digits of a wall clock in UTC. Looking up the zone in Arrow takes 7 times as long.
    wall_clock = column.cast(pa.timestamp("us", column.type.tz)).view(pa.timestamp("us"))
    text = pc.replace_substring(wall_clock.cast(pa.string()), " ", "T", max_replacements=1)
    return text if column.type.tz is None else pc.binary_join_element_wise(text, "Z", "")


def _escaped(text: pa.Array) -> pa.Array:
    """Return the text with the escapes that a JSON string needs."""
    present = _special_bytes(text)
    for plain, escape in _ESCAPES:
        if plain in present:
            text = pc.replace_substring(text, plain, escape)
    return text


def _special_bytes(text: pa.Array) -> bytes:
    """Return the bytes of the column that need an escape. Most columns have none, and then nothing is
    replaced."""
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
