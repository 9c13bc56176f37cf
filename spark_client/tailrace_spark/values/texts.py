"""Write values as text, one Arrow column at a time, without a Python object for each value: the casting rule
from values to text.

Values that Arrow converts itself (strings, numbers, booleans, decimals, and times of the years 1 to 9999)
cost no Python object. Intervals, bytes, and times of other years are converted one by one.

Nested values become JSON. The text of a column of structs is joined from the texts of its members, row by row
in Arrow. An array or map is a column of elements and the offsets of the rows in it: the elements become texts
first, and the texts of each row are then joined. Null members are kept. Numbers, decimals and booleans are
JSON's own; a whole double keeps its `.0`. NaN and the infinities are strings, since JSON has no numbers for
them. Every other value is a string with the text that the value has in a column of its own, and bytes are
base64. The key of a map is always a string: it contains the text of the key, or its JSON if the key is
nested.

All text is handled as bytes: Spark does not guarantee that its strings are UTF-8, and the server refuses text
that is not.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.types import VariantVal

from tailrace_spark.values.calendar import (
    FIRST_DAY,
    LAST_DAY,
    MICROS_A_DAY,
    day_text,
    interval_text,
    moment_text,
)
from tailrace_spark.values.types import NESTED

NULL: Final = pa.scalar(b"null")
BARE: Final = (T.BooleanType, T.IntegralType, T.DecimalType)
"""The types whose text is a JSON value without quotation marks."""
NOT_FINITE: Final = {"nan": b"NaN", "inf": b"Infinity", "-inf": b"-Infinity"}


def texts_of(column: pa.Array, kind: T.DataType) -> pa.Array:
    """Return the text of each value, as a string column; null stays null. A binary column is returned as it
    is. `kind`: the column's type in Spark; `check_types` accepts it. O(bytes)."""
    if isinstance(kind, T.BinaryType):
        return column.cast(pa.binary())
    if isinstance(kind, NESTED):
        return json_texts(column, kind).view(pa.string())
    return leaf_texts(column, kind).view(pa.string())


def json_texts(column: pa.Array, kind: T.DataType) -> pa.Array:
    """Return the JSON of each value, as bytes; null stays null. O(bytes)."""
    if isinstance(kind, T.StructType):
        return _or_null(column, _objects(column, kind))
    if isinstance(kind, T.MapType):
        return _or_null(column, _maps(column, kind))
    if isinstance(kind, T.ArrayType):
        offsets, elements = _elements(column, column.values)
        return _or_null(column, _rows(b"[", offsets, _present(elements, kind.elementType), b"]"))
    if isinstance(kind, T.VariantType):
        return pa.array(map(_variant, column.to_pylist()), pa.binary())
    if isinstance(kind, T.FractionalType) and not isinstance(kind, T.DecimalType):
        return _floats(column)
    plain = leaf_texts(column, kind)
    return plain if isinstance(kind, BARE) else quoted(plain)


def _present(column: pa.Array, kind: T.DataType) -> pa.Array:
    """Return the JSON of each value, with `null` for null."""
    return json_texts(column, kind).fill_null(NULL)


def _or_null(column: pa.Array, written: pa.Array) -> pa.Array:
    return pc.if_else(column.is_valid(), written, pa.scalar(None, pa.binary()))


def _objects(column: pa.Array, kind: T.StructType) -> pa.Array:
    pieces: list[pa.Array | bytes] = [b"{"] * min(len(kind), 1)
    for number, member in enumerate(kind):
        name = quoted(pa.array([member.name.encode()], pa.binary()))[0].as_py()
        pieces += [b"," * (number > 0) + name + b":", _present(column.field(number), member.dataType)]
    if not pieces:
        return pa.repeat(pa.scalar(b"{}"), len(column))
    return pc.binary_join_element_wise(*pieces, b"}", b"")


def _maps(column: pa.Array, kind: T.MapType) -> pa.Array:
    offsets, keys = _elements(column, column.keys)
    _, items = _elements(column, column.items)
    names = _names(keys, kind.keyType)
    members = pc.binary_join_element_wise(names, _present(items, kind.valueType), b":")
    return _rows(b"{", offsets, members, b"}")


def _names(keys: pa.Array, kind: T.DataType) -> pa.Array:
    """Return the keys of maps as JSON strings."""
    written = json_texts(keys, kind)
    is_string = pc.starts_with(written, b'"')
    return pc.if_else(is_string, written, pc.binary_join_element_wise(b'"', escaped(written), b'"', b""))


def _elements(column: pa.Array, elements: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the elements of all rows, and where the elements of each row begin and end among them."""
    offsets = column.offsets
    first, last = (offsets[0].as_py(), offsets[-1].as_py()) if len(column) else (0, 0)
    return pc.subtract(offsets, pa.scalar(first, offsets.type)), elements.slice(first, last - first)


def _rows(opening: bytes, offsets: pa.Array, elements: pa.Array, closing: bytes) -> pa.Array:
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, elements), b",")
    return pc.binary_join_element_wise(opening, joined, closing, b"")


def _floats(column: pa.Array) -> pa.Array:
    plain = column.cast(pa.string())
    is_whole = pc.match_substring_regex(plain, r"^-?\d+$")
    written = pc.if_else(is_whole, pc.binary_join_element_wise(plain, ".0", ""), plain).cast(pa.binary())
    for text, name in NOT_FINITE.items():
        written = pc.if_else(pc.equal(plain, text), pa.scalar(b'"%s"' % name), written)
    return written


def _variant(value: dict[str, bytes] | None) -> bytes | None:
    return None if value is None else VariantVal(value["value"], value["metadata"]).toJson().encode()


# --- values that are not nested ---------------------------------------------------------------------------


CLOCK_CHARACTERS: Final = len("12:34:56.123456")
DECIMAL_DIGITS_MAX: Final = 38


def leaf_texts(column: pa.Array, kind: T.DataType) -> pa.Array:
    """Return the text of each value that is not nested, as bytes. Bytes become base64."""
    if isinstance(kind, T.DayTimeIntervalType):
        return _one_by_one(column.cast(pa.int64()), lambda micros: interval_text(kind, micros).encode())
    for spark_type, texts in _LEAVES:
        if isinstance(kind, spark_type):
            return texts(column)
    # Bytes follow strings: a string of Spark need not be UTF-8, and Arrow checks it in the other direction.
    return column.cast(pa.string()).cast(pa.binary())


def _one_by_one(column: pa.Array, text_of: Callable[[Any], bytes]) -> pa.Array:
    return pa.array([None if value is None else text_of(value) for value in column.to_pylist()], pa.binary())


# --- decimals --------------------------------------------------------------------------------------


def _decimals(column: pa.Array) -> pa.Array:
    """Return decimals with all digits of their scale and without an exponent."""
    texts = column.cast(pa.string()).cast(pa.binary())
    return texts if not pc.any(pc.match_substring(texts, b"E")).as_py() else _shifted(column)


def _shifted(column: pa.Array) -> pa.Array:
    """Write the digits of the decimals as integers, and put the point among them. Arrow itself writes very
    small and very large decimals with an exponent."""
    scale = column.type.scale
    whole_type = pa.decimal128(DECIMAL_DIGITS_MAX, 0)
    whole = pa.Array.from_buffers(whole_type, len(column), column.buffers(), offset=column.offset)
    digits = whole.cast(pa.string())
    if scale < 0:
        zeros = pc.binary_join_element_wise(digits, "0" * -scale, "")
        return pc.if_else(pc.equal(digits, "0"), digits, zeros).cast(pa.binary())
    sign = pc.if_else(pc.starts_with(digits, "-"), "-", "")
    padded = pc.ascii_lpad(pc.ascii_ltrim(digits, "-"), scale + 1, "0")
    before, after = pc.utf8_slice_codeunits(padded, 0, -scale), pc.utf8_slice_codeunits(padded, -scale)
    return pc.binary_join_element_wise(sign, before, ".", after, "").cast(pa.binary())


# --- days and times --------------------------------------------------------------------------------


def _days(column: pa.Array) -> pa.Array:
    numbers = column.view(pa.int32())
    if not _is_within(numbers, FIRST_DAY, LAST_DAY):
        return _one_by_one(numbers, lambda days: day_text(days).encode())
    return column.cast(pa.string()).cast(pa.binary())


def _moments(column: pa.Array) -> pa.Array:
    """Return times with six digits of a second: an instant in UTC, a wall-clock time as it is."""
    # An instant has the digits of a wall clock in UTC. Looking up the zone in Arrow takes 7 times as long.
    numbers = column.cast(pa.timestamp("us", column.type.tz)).view(pa.int64())
    if not _is_within(numbers, FIRST_DAY * MICROS_A_DAY, (LAST_DAY + 1) * MICROS_A_DAY - 1):
        return _one_by_one(numbers, lambda micros: moment_text(micros).encode())
    texts = numbers.view(pa.timestamp("us")).cast(pa.string()).cast(pa.binary())
    return pc.replace_substring(texts, b" ", b"T", max_replacements=1)


def _is_within(numbers: pa.Array, first: int, last: int) -> bool:
    bounds = pc.min_max(numbers)
    least, most = bounds["min"].as_py(), bounds["max"].as_py()
    return least is None or (first <= least and most <= last)


def _clocks(column: pa.Array) -> pa.Array:
    """Return times of day with six digits of a second; Arrow writes nine."""
    return pc.utf8_slice_codeunits(column.cast(pa.string()), 0, CLOCK_CHARACTERS).cast(pa.binary())


_LEAVES: Final[list[tuple[type[T.DataType], Callable[[pa.Array], pa.Array]]]] = [
    (T.BinaryType, lambda column: _one_by_one(column, lambda raw: b2a_base64(raw, newline=False))),
    (T.DateType, _days),
    (T.DecimalType, _decimals),
    (T.TimestampNTZType, _moments),
    (T.TimestampType, lambda column: pc.binary_join_element_wise(_moments(column), b"Z", b"")),
    (T.TimeType, _clocks),
]


# --- JSON escapes -----------------------------------------------------------------------------------------


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
