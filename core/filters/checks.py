"""The parts of a filter while it is parsed, and the checks of what a part means where it is.

A check raises `Misplaced` with the place in the text. `core.filters.terms` calls it with the parts that the
parser found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from lark import Token
from msgspec import Struct

from tailrace.core.filters.tree import Cast, Condition, Field, Number, Text, TextValue, Value
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


def start_of(token: Token) -> int:
    """Return the place of a token in the text."""
    return token.start_pos or 0


def joined(condition: Condition, parts: Sequence[Term]) -> Term:
    """Return the term of a condition that joins `parts`."""
    tests = sum(part.tests for part in parts)
    if tests > FILTER_TESTS_MAX:
        raise Misplaced(parts[-1].start, f"a filter may have {FILTER_TESTS_MAX} tests at most")
    return Term(condition, parts[0].start, deeper(parts), tests)


def deeper(parts: Sequence[Term]) -> int:
    """Return the depth of a condition on `parts`."""
    depth = max(part.depth for part in parts) + 1
    if depth > FILTER_DEPTH_MAX:
        raise Misplaced(parts[0].start, f"conditions may be nested {FILTER_DEPTH_MAX} deep at most")
    return depth


def condition_of(term: Term, rule: str) -> Condition:
    """Return the condition of a term. `rule` says why it must be one."""
    if isinstance(term.node, _NOT_CONDITIONS):
        raise Misplaced(term.start, f"{rule}; {shown(term.node)} is {_kind(term.node)}")
    return term.node


def value_of(term: Term, rule: str) -> Value:
    """Return the value of a term. `rule` says why it must be one."""
    if not isinstance(term.node, _VALUES):
        raise Misplaced(term.start, f"{rule}; this is {_kind(term.node)}")
    return term.node


def text_in(term: Term, user: str) -> TextValue:
    """Return the text of a term that `user` needs."""
    if not isinstance(term.node, Field | Text):
        raise Misplaced(term.start, f"{user} needs a field or a text in quotes; this is {_kind(term.node)}")
    return term.node


def only(arguments: Sequence[Term], name: Token) -> Term:
    """Return the only argument of a function or method."""
    if len(arguments) != 1:
        place = arguments[1].start if arguments else start_of(name)
        raise Misplaced(place, f"`{name}` takes one argument, not {len(arguments)}")
    return arguments[0]


def field_of(target: Term, name: str, start: int) -> Term:
    """Return the term of the field `name` of `target`, which must be `fields`."""
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


def shown(node: Node) -> str:
    """Return a part as errors show it, in backquotes."""
    return f"`{bare(node)}`" if isinstance(node, Field | Text) else "this"


def bare(node: Node) -> str:
    """Return a part as a filter writes it."""
    if isinstance(node, Field):
        plain = node.name.isidentifier() and node.name.isascii()
        return f"fields.{node.name}" if plain else f"fields[{_quoted(node.name)}]"
    return _quoted(node.value) if isinstance(node, Text) else "..."


def _quoted(text: str) -> str:
    return '"' + text.encode("utf-8", "backslashreplace").decode().replace('"', '\\"')[:60] + '"'
