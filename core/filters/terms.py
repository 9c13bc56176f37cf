"""Builds the conditions of a filter from the parts that the parser finds.

Each callback of `TermBuilder` has the name of a rule of the grammar. `core.filters.checks` raises an error
with the place in the text if the parts do not fit together. This module does not read the text of the filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, cast

from lark import Token, Transformer

from tailrace.core.filters.checks import (
    Fields,
    Listing,
    Misplaced,
    Term,
    bare,
    condition_of,
    deeper,
    field_of,
    joined,
    only,
    shown,
    start_of,
    text_in,
    value_of,
)
from tailrace.core.filters.literals import BadLiteral, converted, number_of, text_of
from tailrace.core.filters.tree import (
    Affix,
    All,
    Always,
    Among,
    AnyOf,
    Cast,
    CompareNumbers,
    CompareTexts,
    Condition,
    Field,
    Has,
    Not,
    Number,
    Operator,
    Text,
)


@contextmanager
def _literal_at(start: int) -> Iterator[None]:
    """Give the error of a literal its place in the filter."""
    try:
        yield
    except BadLiteral as error:
        raise Misplaced(start + error.at, str(error)) from None


class TermBuilder(Transformer[Token, Any]):
    """The callbacks of the parser, one for each rule. They receive the parts in order."""

    def start(self, parts: list[Term]) -> Condition:
        """Return the whole condition."""
        return condition_of(parts[0], "a filter is a condition")

    # --- conditions ------------------------------------------------------------------------------

    def any_of(self, parts: list[Term]) -> Term:
        """`a || b`."""
        return joined(AnyOf(tuple(condition_of(part, "`||` joins conditions") for part in parts)), parts)

    def all_of(self, parts: list[Term]) -> Term:
        """`a && b`."""
        return joined(All(tuple(condition_of(part, "`&&` joins conditions") for part in parts)), parts)

    def negation(self, parts: list[Any]) -> Term:
        """`!a`."""
        mark, term = parts
        condition = condition_of(term, "`!` needs a condition; put a comparison after it into parentheses")
        return Term(Not(condition), start_of(mark), deeper([term]), term.tests)

    def compare(self, parts: list[Any]) -> Term:
        """`a == b`."""
        left, mark, right = parts
        operator = cast("Operator", str(mark))
        one, other = (value_of(term, f"`{mark}` compares texts or numbers") for term in (left, right))
        numbers = [isinstance(value, Number | Cast) for value in (one, other)]
        if all(numbers):
            return Term(CompareNumbers(operator, one, other), left.start)  # type: ignore[arg-type]
        if any(numbers):
            text = one if numbers[1] else other
            raise Misplaced(
                start_of(mark),
                f"{shown(text)} is a text and the other side a number; write `double({bare(text)})` or put "
                "the number into quotes",
            )
        return Term(CompareTexts(operator, one, other), left.start)  # type: ignore[arg-type]

    def among(self, parts: list[Any]) -> Term:
        """`a in ["b", "c"]`."""
        left, _, right = parts
        if not isinstance(right.node, Listing):
            raise Misplaced(right.start, '`in` needs a list of texts, such as `["open", "late"]`')
        return Term(Among(text_in(left, "`in`"), right.node.texts), left.start)

    def method(self, parts: list[Any]) -> Term:
        """`a.startsWith(b)`."""
        target, name, *arguments = parts
        if name not in ("startsWith", "endsWith"):
            raise Misplaced(start_of(name), f"there is no method `{name}`; use `startsWith` or `endsWith`")
        affix = text_in(only(arguments, name), f"`{name}`")
        return Term(Affix(text_in(target, f"`{name}`"), affix, name == "endsWith"), target.start)

    def call(self, parts: list[Any]) -> Term:
        """`has(a)`, `int(a)` or `double(a)`."""
        name, *arguments = parts
        if name not in ("has", "int", "double"):
            raise Misplaced(start_of(name), f"there is no function `{name}`; use `has`, `int` or `double`")
        argument = only(arguments, name)
        if name == "has":
            if not isinstance(argument.node, Field):
                raise Misplaced(argument.start, "`has` needs a field, such as `has(fields.status)`")
            return Term(Has(argument.node.name), start_of(name))
        to: Literal["int", "double"] = "int" if name == "int" else "double"
        if isinstance(argument.node, Number):
            with _literal_at(argument.start):
                return Term(Number(converted(to, argument.node.value)), start_of(name))
        return Term(Cast(to, text_in(argument, f"`{name}`")), start_of(name))

    # --- values ----------------------------------------------------------------------------------

    def variable(self, parts: list[Token]) -> Term:
        """`fields`, `true` or `false`."""
        name = parts[0]
        if name == "fields":
            return Term(Fields(), start_of(name))
        if name in ("true", "false"):
            return Term(Always(name == "true"), start_of(name))
        if name == "null":
            raise Misplaced(
                start_of(name), "there is no `null`; write `!has(fields.status)` for a missing field"
            )
        raise Misplaced(start_of(name), f"`{name}` is unknown; write `fields.{name}`, or a text in quotes")

    def select(self, parts: list[Any]) -> Term:
        """`fields.status`."""
        target, name = parts
        return field_of(target, str(name), start_of(name))

    def index(self, parts: list[Any]) -> Term:
        """`fields["odd name"]`."""
        target, name = parts
        if not isinstance(name.node, Text):
            raise Misplaced(
                name.start, 'the name of a field is a text in quotes, such as `fields["odd name"]`'
            )
        return field_of(target, name.node.value, name.start)

    def text(self, parts: list[Token]) -> Term:
        """`"Castilla"`."""
        with _literal_at(start_of(parts[0])):
            return Term(Text(text_of(parts[0])), start_of(parts[0]))

    def number(self, parts: list[Token]) -> Term:
        """`10.5`."""
        with _literal_at(start_of(parts[0])):
            return Term(Number(number_of(parts[0])), start_of(parts[0]))

    def listing(self, parts: list[Any]) -> Term:
        """`["b", "c"]`."""
        mark, *items = parts
        for item in items:
            if not isinstance(item.node, Text):
                raise Misplaced(item.start, "a list has texts in quotes only")
        return Term(Listing(tuple(item.node.value for item in items)), start_of(mark))
