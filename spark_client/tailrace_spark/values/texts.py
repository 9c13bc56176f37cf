"""Write values as text, one Arrow column at a time, without a Python object for each value: the casting rule
from values to text. Nested values become JSON; `leaves` writes the others.

How JSON is written. The text of a column of structs is joined from the texts of its members, row by row in
Arrow. An array or map is a column of elements and the offsets of the rows in it: the elements become texts
first, and the texts of each row are then joined.

The form: null members are kept. Numbers, decimals and booleans are JSON's own; a whole double keeps its `.0`.
NaN and the infinities are strings, since JSON has no numbers for them. Every other value is a string with the
text that the value has in a column of its own, and bytes are base64. The key of a map is always a string: it
contains the text of the key, or its JSON if the key is nested.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.types import VariantVal

from tailrace_spark.values.escapes import escaped, quoted
from tailrace_spark.values.leaves import leaf_texts
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
