"""The types that have a text, and the refusal of those that have none.

A type without a text is refused before anything is written or read. The sink, the data source's writer and
its reader use the same sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pyspark.sql import types as T  # noqa: N812 - as all of Spark's documentation has it

from tailrace_spark.errors import BadOption

NESTED: Final = (T.ArrayType, T.MapType, T.StructType, T.VariantType)
"""The types whose text is JSON."""

LEAVES: Final = (
    T.BinaryType,
    T.BooleanType,
    T.DateType,
    T.DayTimeIntervalType,
    T.DecimalType,
    T.FractionalType,
    T.IntegralType,
    T.NullType,
    T.StringType,
    T.TimeType,
    T.TimestampNTZType,
    T.TimestampType,
    T.VariantType,
)


def check_types(schema: T.StructType) -> None:
    """Raise `BadOption` for the first column with a type that has no text."""
    for field in schema:
        for problem in _problems(field.dataType):
            raise BadOption(f"column {field.name!r}: {problem}")


def _problems(kind: T.DataType) -> Iterator[str]:
    """Yield what is wrong with the type, or with a type inside it."""
    if isinstance(kind, T.StructType):
        repeated = [name for name, count in Counter(kind.names).items() if count > 1]
        if repeated:
            yield f"the struct has two members {repeated[0]!r}, which JSON cannot separate; rename one"
        for member in kind:
            yield from _problems(member.dataType)
    elif isinstance(kind, T.ArrayType):
        yield from _problems(kind.elementType)
    elif isinstance(kind, T.MapType):
        yield from _problems(kind.keyType)
        yield from _problems(kind.valueType)
    elif not isinstance(kind, LEAVES):
        yield (
            f"the type {kind.simpleString()} has no text that every reader turns back into the same value; "
            "use a string instead"
        )
