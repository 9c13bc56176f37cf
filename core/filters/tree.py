"""The parts of a filter: values, and conditions on values. This module holds data only.

Names and texts are `str`. A byte that is not UTF-8 is a lone surrogate, as Python's `surrogateescape` writes
it, so two texts are equal exactly if their bytes are.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Operator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]


class Field(Struct, frozen=True):
    """The value of a field: the last one if the name repeats."""

    name: str


class Text(Struct, frozen=True):
    """A text of the filter."""

    value: str


class Number(Struct, frozen=True):
    """A number of the filter."""

    value: int | float


class Cast(Struct, frozen=True):
    """The number that a text contains: `int(...)` or `double(...)`."""

    to: Literal["int", "double"]
    of: Field | Text


TextValue: TypeAlias = Field | Text
NumberValue: TypeAlias = Number | Cast


class CompareTexts(Struct, frozen=True):
    """A comparison of two texts, character by character."""

    operator: Operator
    left: TextValue
    right: TextValue


class CompareNumbers(Struct, frozen=True):
    """A comparison of two numbers."""

    operator: Operator
    left: NumberValue
    right: NumberValue


class Among(Struct, frozen=True):
    """Whether a text is one of `texts`: `in`."""

    of: TextValue
    texts: tuple[str, ...]


class Affix(Struct, frozen=True):
    """Whether a text begins with `affix` (`startsWith`), or ends with it for `at_end` (`endsWith`)."""

    of: TextValue
    affix: TextValue
    at_end: bool = False


class Has(Struct, frozen=True):
    """Whether the entry has a field."""

    name: str


class Not(Struct, frozen=True):
    """The opposite of a condition."""

    of: Condition


class All(Struct, frozen=True):
    """Whether all parts are true: `&&`."""

    parts: tuple[Condition, ...]


class AnyOf(Struct, frozen=True):
    """Whether at least one part is true: `||`."""

    parts: tuple[Condition, ...]


class Always(Struct, frozen=True):
    """A condition with a fixed result: `true` or `false`."""

    value: bool


Condition: TypeAlias = CompareTexts | CompareNumbers | Among | Affix | Has | Not | All | AnyOf | Always
Value: TypeAlias = TextValue | NumberValue
