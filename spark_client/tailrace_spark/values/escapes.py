"""JSON escapes for columns of text, without a Python object for each value.

All text is handled as bytes: Spark does not guarantee that its strings are UTF-8, and the server refuses text
that is not.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

_SPECIAL: Final = bytes(range(0x20)) + b'"\\'
_SHORT_ESCAPES: Final = {0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0C: b"\\f", 0x0D: b"\\r"}
_ESCAPES: Final = [
    (b"\\", b"\\\\"),  # first, because the other replacements contain it
    (b'"', b'\\"'),
    *((bytes([code]), _SHORT_ESCAPES.get(code, b"\\u%04x" % code)) for code in range(0x20)),
]


def body_of(texts: pa.Array) -> memoryview:
    """Return the texts as one run of bytes, without copying."""
    _, offsets, data = texts.buffers()
    if data is None:
        return memoryview(b"")
    bounds = memoryview(offsets).cast("i")
    return memoryview(data)[bounds[texts.offset] : bounds[texts.offset + len(texts)]]


def escaped(texts: pa.Array) -> pa.Array:
    """Return the texts (bytes) with the escapes that a JSON string needs. O(bytes)."""
    present = _special_bytes(texts)
    for plain, escape in _ESCAPES:
        if plain in present:
            texts = pc.replace_substring(texts, plain, escape)
    return texts


def quoted(texts: pa.Array) -> pa.Array:
    """Return the texts (bytes) as JSON strings; null stays null. O(bytes)."""
    return pc.binary_join_element_wise(b'"', escaped(texts), b'"', b"")


def _special_bytes(texts: pa.Array) -> bytes:
    """Return the bytes of the column that need an escape. Most columns have none, and then nothing is
    replaced."""
    body = bytes(body_of(texts))
    if len(body.translate(None, _SPECIAL)) == len(body):
        return b""
    return bytes(set(body).intersection(_SPECIAL))
