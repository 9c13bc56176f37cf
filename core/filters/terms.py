"""Builds the conditions of a filter from the parts that the parser finds, and checks what they mean.

Each callback of `TermBuilder` has the name of a rule of the grammar. It raises `Misplaced` with the place in
the text if the parts do not fit together. This module does not read the text of the filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

from lark import Token, Transformer
from msgspec import Struct

from tailrace.core.filters.literals import BadLiteral, number_of, text_of
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
    TextValue,
    Value,
)
from tailrace.core.limits import FILTER_DEPTH_MAX, FILTER_TESTS_MAX


class Misplaced(Exception):
    """A part of the filter has no meaning where it is; `offset` is the place."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset


class Fields(Struct, frozen=True):
    """The word `fields`, which has the fields of the entry."""


class Listing(Struct, frozen=True):
    """A list of texts, for `in`."""

    texts: tuple[str, ...]


Node: TypeAlias = Condition | Value | Fields | Listing

_VALUES: Final = (Field, Text, Number, Cast)
_NOT_CONDITIONS: Final = (*_VALUES, Fields, Listing)


class Term(Struct, frozen=True):
    """A complete part: its node, where it begins, how deeply it is nested, and how many tests it has."""

    node: Node
    start: int
    depth: int = 1
    tests: int = 1


class TermBuilder(Transformer[Token, Any]):
    """The callbacks of the parser, one for each rule. They receive the parts in order."""

    def start(self, parts: list[Term]) -> Condition:
        """Return the whole condition."""
        return _condition(parts[0], "a filter is a condition")

    # --- conditions ------------------------------------------------------------------------------

    def any_of(self, parts: list[Term]) -> Term:
        """`a || b`."""
        return _joined(AnyOf(tuple(_condition(part, "`||` joins conditions") for part in parts)), parts)

    def all_of(self, parts: list[Term]) -> Term:
        """`a && b`."""
        return _joined(All(tuple(_condition(part, "`&&` joins conditions") for part in parts)), parts)

    def negation(self, parts: list[Any]) -> Term:
        """`!a`."""
        mark, term = parts
        condition = _condition(term, "`!` needs a condition; put a comparison after it into parentheses")
        return Term(Not(condition), _start(mark), _deeper([term]), term.tests)

    def compare(self, parts: list[Any]) -> Term:
        """`a == b`."""
        left, mark, right = parts
        operator = cast("Operator", str(mark))
        one, other = (_value(term, f"`{mark}` compares texts or numbers") for term in (left, right))
        numbers = [isinstance(value, Number | Cast) for value in (one, other)]
        if all(numbers):
            return Term(CompareNumbers(operator, one, other), left.start)  # type: ignore[arg-type]
        if any(numbers):
            text = one if numbers[1] else other
            raise Misplaced(
                _start(mark),
                f"{_shown(text)} is a text and the other side a number; write `double({_bare(text)})` or put "
                "the number into quotes",
            )
        return Term(CompareTexts(operator, one, other), left.start)  # type: ignore[arg-type]

    def among(self, parts: list[Any]) -> Term:
        """`a in ["b", "c"]`."""
        left, _, right = parts
        if not isinstance(right.node, Listing):
            raise Misplaced(right.start, '`in` needs a list of texts, such as `["open", "late"]`')
        return Term(Among(_text(left, "`in`"), right.node.texts), left.start)

    def method(self, parts: list[Any]) -> Term:
        """`a.startsWith(b)`."""
        target, name, *arguments = parts
        if name not in ("startsWith", "endsWith"):
            raise Misplaced(_start(name), f"there is no method `{name}`; use `startsWith` or `endsWith`")
        affix = _text(_only(arguments, name), f"`{name}`")
        return Term(Affix(_text(target, f"`{name}`"), affix, name == "endsWith"), target.start)

    def call(self, parts: list[Any]) -> Term:
        """`has(a)`, `int(a)` or `double(a)`."""
        name, *arguments = parts
        if name not in ("has", "int", "double"):
            raise Misplaced(_start(name), f"there is no function `{name}`; use `has`, `int` or `double`")
        argument = _only(arguments, name)
        if name == "has":
            if not isinstance(argument.node, Field):
                raise Misplaced(argument.start, "`has` needs a field, such as `has(fields.status)`")
            return Term(Has(argument.node.name), _start(name))
        if isinstance(argument.node, Number):
            return Term(argument.node, _start(name))
        return Term(Cast("int" if name == "int" else "double", _text(argument, f"`{name}`")), _start(name))

    # --- values ----------------------------------------------------------------------------------

    def variable(self, parts: list[Token]) -> Term:
        """`fields`, `true` or `false`."""
        name = parts[0]
        if name == "fields":
            return Term(Fields(), _start(name))
        if name in ("true", "false"):
            return Term(Always(name == "true"), _start(name))
        if name == "null":
            raise Misplaced(
                _start(name), "there is no `null`; write `!has(fields.status)` for a missing field"
            )
        raise Misplaced(_start(name), f"`{name}` is unknown; write `fields.{name}`, or a text in quotes")

    def select(self, parts: list[Any]) -> Term:
        """`fields.status`."""
        target, name = parts
        return _field(target, str(name), _start(name))

    def index(self, parts: list[Any]) -> Term:
        """`fields["odd name"]`."""
        target, name = parts
        if not isinstance(name.node, Text):
            raise Misplaced(
                name.start, 'the name of a field is a text in quotes, such as `fields["odd name"]`'
            )
        return _field(target, name.node.value, name.start)

    def text(self, parts: list[Token]) -> Term:
        """`"Castilla"`."""
        try:
            return Term(Text(text_of(parts[0])), _start(parts[0]))
        except BadLiteral as error:
            raise Misplaced(_start(parts[0]) + error.at, str(error)) from None

    def number(self, parts: list[Token]) -> Term:
        """`10.5`."""
        try:
            return Term(Number(number_of(parts[0])), _start(parts[0]))
        except BadLiteral as error:
            raise Misplaced(_start(parts[0]), str(error)) from None

    def listing(self, parts: list[Any]) -> Term:
        """`["b", "c"]`."""
        mark, *items = parts
        for item in items:
            if not isinstance(item.node, Text):
                raise Misplaced(item.start, "a list has texts in quotes only")
        return Term(Listing(tuple(item.node.value for item in items)), _start(mark))


def _start(token: Token) -> int:
    return token.start_pos or 0


def _joined(condition: Condition, parts: Sequence[Term]) -> Term:
    tests = sum(part.tests for part in parts)
    if tests > FILTER_TESTS_MAX:
        raise Misplaced(parts[-1].start, f"a filter may have {FILTER_TESTS_MAX} tests at most")
    return Term(condition, parts[0].start, _deeper(parts), tests)


def _deeper(parts: Sequence[Term]) -> int:
    depth = max(part.depth for part in parts) + 1
    if depth > FILTER_DEPTH_MAX:
        raise Misplaced(parts[0].start, f"conditions may be nested {FILTER_DEPTH_MAX} deep at most")
    return depth


def _condition(term: Term, rule: str) -> Condition:
    if isinstance(term.node, _NOT_CONDITIONS):
        raise Misplaced(term.start, f"{rule}; {_shown(term.node)} is {_kind(term.node)}")
    return term.node


def _value(term: Term, rule: str) -> Value:
    if not isinstance(term.node, _VALUES):
        raise Misplaced(term.start, f"{rule}; this is {_kind(term.node)}")
    return term.node


def _text(term: Term, user: str) -> TextValue:
    if not isinstance(term.node, Field | Text):
        raise Misplaced(term.start, f"{user} needs a field or a text in quotes; this is {_kind(term.node)}")
    return term.node


def _only(arguments: Sequence[Term], name: Token) -> Term:
    if len(arguments) != 1:
        place = arguments[1].start if arguments else _start(name)
        raise Misplaced(place, f"`{name}` takes one argument, not {len(arguments)}")
    return arguments[0]


def _field(target: Term, name: str, start: int) -> Term:
    if not isinstance(target.node, Fields):
        raise Misplaced(start, "only `fields` has members, and a field has none")
    return Term(Field(name), target.start)


def _kind(node: Node) -> str:
    if isinstance(node, Fields):
        return "all fields together; name one, such as `fields.status`"
    if isinstance(node, Listing):
        return "a list"
    if isinstance(node, Number | Cast):
        return "a number"
    return "a text" if isinstance(node, Field | Text) else "a condition"


def _shown(node: Node) -> str:
    return f"`{_bare(node)}`" if isinstance(node, Field | Text) else "this"


def _bare(node: Node) -> str:
    if isinstance(node, Field):
        plain = node.name.isidentifier() and node.name.isascii()
        return f"fields.{node.name}" if plain else f"fields[{_quoted(node.name)}]"
    return _quoted(node.value) if isinstance(node, Text) else "..."


def _quoted(text: str) -> str:
    return '"' + text.encode("utf-8", "backslashreplace").decode().replace('"', '\\"')[:60] + '"'
