"""Read nested values from JSON, in the form that `texts` writes and Spark's `from_json` reads.

Every value is a Python object here: to read many nested values, a string column and Spark's own `from_json`
are faster.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.types import VariantVal

from tailrace_spark.values.calendar import day_of, interval_of, moment_of
from tailrace_spark.values.types import NESTED

Convert = Callable[[Any], Any]

NANOS_A_MICRO: Final = 1_000
NANOS_A_SECOND: Final = 1_000_000_000
_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?", re.ASCII)


def json_reader(kind: T.DataType) -> Callable[[str], Any]:
    """Return the function that reads JSON text into a value from which Arrow builds `kind`.

    The function raises one of the exceptions of `parsing` if text and type do not fit.
    """
    if isinstance(kind, T.VariantType):
        return variant_of
    convert = _reader(kind)
    return lambda text: convert(_loaded(text))


def clock_of(text: str) -> int:
    """Return the nanoseconds since midnight of a time of day. Raises `ValueError`."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a time of day like 12:34:56")
    hours, minutes, seconds = map(int, found.groups()[:3])
    micros = int((found[4] or "").ljust(6, "0"))
    return (hours * 3_600 + minutes * 60 + seconds) * NANOS_A_SECOND + micros * NANOS_A_MICRO


def variant_of(text: str) -> dict[str, bytes]:
    """Return a variant with the JSON value, as Arrow builds it. Raises `ValueError` if it is no JSON."""
    found = VariantVal.parseJson(text)
    return {"value": found.value, "metadata": found.metadata}


def _loaded(text: str) -> Any:
    return json.loads(text, parse_float=Decimal)


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
    if isinstance(kind, T.VariantType):
        return lambda value: None if value is None else variant_of(_written(value))
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
    if isinstance(kind, NESTED):
        return json_reader(kind)
    convert = _leaf_reader(kind)
    return lambda text: convert(_loaded(text) if isinstance(kind, _BARE) and text not in NOT_FINITE else text)


def _leaf_reader(kind: T.DataType) -> Convert:
    if isinstance(kind, T.DayTimeIntervalType):
        return lambda value: interval_of(kind, _of_type(value, str))
    return next(convert for spark_type, convert in _LEAVES if isinstance(kind, spark_type))


def _or_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _of_type(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise TypeError(f"{value!r} is not of type {kinds[0].__name__}")
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _written(value)


def _written(value: Any) -> str:
    """Return a parsed value as JSON again, with the digits that its numbers had."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{json.dumps(name)}:{_written(each)}' for name, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_written, value))}]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def _float(value: Any) -> float:
    """Return a number; of the strings, only NaN and the infinities are numbers."""
    if isinstance(value, str) and value not in NOT_FINITE:
        raise ValueError(f"{value!r} is not a number")
    return float(_of_type(value, int, Decimal, float, str))


NOT_FINITE: Final = ("NaN", "Infinity", "-Infinity")
_BARE: Final = (T.BooleanType, T.NumericType)
_LEAVES: Final[list[tuple[type[T.DataType], Convert]]] = [
    (T.StringType, _text),
    (T.BooleanType, lambda value: _of_type(value, bool)),
    (T.IntegralType, lambda value: _of_type(value, int)),
    (T.DecimalType, lambda value: Decimal(_of_type(value, int, Decimal, str))),
    (T.FractionalType, _float),
    (T.BinaryType, lambda value: b64decode(_of_type(value, str), validate=True)),
    (T.DateType, lambda value: day_of(_of_type(value, str))),
    (T.TimestampType, lambda value: moment_of(_of_type(value, str), with_zone=True)),
    (T.TimestampNTZType, lambda value: moment_of(_of_type(value, str), with_zone=False)),
    (T.TimeType, lambda value: clock_of(_of_type(value, str))),
    (T.NullType, lambda _: None),
]
