"""Convert nested values between Arrow and JSON, as Spark's `to_json` writes them and `from_json` reads them.

Writing follows the options that the sink passes to `to_json`: null members are kept, times have six digits
and are in UTC, bytes are base64, decimals keep all their digits. Reading accepts the same form. Every value
is a Python object here: to read many nested values, a string column and Spark's own `from_json` are faster.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

Convert = Callable[[Any], Any]

# --- reading ---------------------------------------------------------------------------------------


def json_reader(kind: T.DataType) -> Callable[[bytes], Any]:
    """Return the function that reads JSON text into a value from which Arrow builds `kind`.

    The function raises one of the exceptions of `text_casts` if text and type do not fit.
    """
    convert = _reader(kind)
    return lambda text: convert(json.loads(text, parse_float=Decimal))


def _reader(kind: T.DataType) -> Convert:
    if isinstance(kind, T.StructType):
        return _struct_reader(kind)
    if isinstance(kind, T.ArrayType):
        element = _reader(kind.elementType)
        return _or_null(lambda value: [element(each) for each in _of_type(value, list)])
    if isinstance(kind, T.MapType):
        key, item = _key_reader(kind.keyType), _reader(kind.valueType)
        return _or_null(
            lambda value: [(key(name), item(each)) for name, each in _of_type(value, dict).items()]
        )
    return _or_null(_leaf_reader(kind))


def _struct_reader(kind: T.StructType) -> Convert:
    """Return the reader of a struct. It ignores members that the type does not name; missing members are
    null."""
    members = [(field.name, _reader(field.dataType)) for field in kind]
    return _or_null(
        lambda value: {name: convert(_of_type(value, dict).get(name)) for name, convert in members}
    )


def _key_reader(kind: T.DataType) -> Convert:
    """Return the reader of a map's key, which is always text in JSON."""
    convert = _leaf_reader(kind)
    return (
        convert if isinstance(kind, _TEXTUAL) else lambda text: convert(json.loads(text, parse_float=Decimal))
    )


def _leaf_reader(kind: T.DataType) -> Convert:
    for spark_type, convert in _LEAVES:
        if isinstance(kind, spark_type):
            return convert
    raise TypeError(f"{kind.simpleString()} cannot be read from JSON")


def _or_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _of_type(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"{value!r} is not of type {kinds[0].__name__}")
    return value


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(_of_type(value, str))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_TEXTUAL: Final = (T.StringType, T.BinaryType, T.DateType, T.TimestampType, T.TimestampNTZType)
_LEAVES: Final[list[tuple[type[T.DataType], Convert]]] = [
    (T.StringType, lambda value: value if isinstance(value, str) else json.dumps(value, default=str)),
    (T.BooleanType, lambda value: _of_type(value, bool)),
    (T.IntegralType, lambda value: _of_type(value, int)),
    (T.DecimalType, lambda value: Decimal(_of_type(value, int, Decimal, str))),
    (T.FractionalType, lambda value: float(_of_type(value, int, Decimal, str))),
    (T.BinaryType, lambda value: b64decode(_of_type(value, str), validate=True)),
    (T.DateType, lambda value: date.fromisoformat(_of_type(value, str))),
    (T.TimestampType, _moment),
    (T.TimestampNTZType, lambda value: datetime.fromisoformat(_of_type(value, str))),
]

# --- writing ---------------------------------------------------------------------------------------


def json_texts(column: pa.Array) -> pa.Array:
    """Return a nested column as JSON texts."""
    text_of = _writer(column.type)
    return pa.array([None if value is None else text_of(value) for value in column.to_pylist()], pa.string())


def _writer(kind: pa.DataType) -> Callable[[Any], str]:
    """Return the function that converts Arrow's Python value of `kind` to JSON."""
    if pa.types.is_struct(kind):
        members = [(json.dumps(field.name), field.name, _writer(field.type)) for field in kind]
        return _null_or(lambda value: _object([(name, text(value[key])) for name, key, text in members]))
    if pa.types.is_map(kind):
        key, item = _writer(kind.key_type), _writer(kind.item_type)
        return _null_or(lambda value: _object([(_quoted(key(name)), item(each)) for name, each in value]))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = _writer(kind.value_type)
        return _null_or(lambda value: f"[{','.join(map(element, value))}]")
    return _null_or(_leaf)


def _null_or(text_of: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "null" if value is None else text_of(value)


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{name}:{text}" for name, text in members) + "}"


def _quoted(text: str) -> str:
    return text if text.startswith('"') else f'"{text}"'


def _leaf(value: Any) -> str:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(_NOT_FINITE[str(value)])
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, datetime):
        aware = value.tzinfo is not None
        moment = value.astimezone(UTC).replace(tzinfo=None) if aware else value
        return moment.isoformat(timespec="microseconds") + ("Z" if aware else "")
    return value.isoformat() if isinstance(value, date) else value


_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
