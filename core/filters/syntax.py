"""The grammar of filters, a subset of CEL, and the parser: from a text to the tree of its conditions.

Lark finds the tokens and the structure (LALR, so the work is linear and needs no stack of calls). Each
callback of `TermBuilder` has the name of a rule of the grammar, and turns a part into a node as soon as the
part is complete. A check raises `Misplaced` with the place in the text if the parts do not fit together.
Loading Lark takes about 50 ms, so only `core.filters.filter` imports this module, when the first filter is
compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from msgspec import Struct

from tailrace.core.errors import StreamError
from tailrace.core.filters.literals import BadLiteral, converted, number_of, text_of
from tailrace.core.filters.places import invalid_filter
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


GRAMMAR: Final = r"""
    start: _condition
    _condition: any_of | _conjunction
    any_of: _conjunction ("||" _conjunction)+
    _conjunction: all_of | _relation
    all_of: _relation ("&&" _relation)+
    _relation: compare | among | _unary
    compare: _unary COMPARE _unary
    among: _unary IN _unary
    _unary: negation | _member
    negation: NOT _unary
    _member: select | method | index | _primary
    select: _member "." NAME
    method: _member "." NAME "(" _arguments? ")"
    index: _member "[" _condition "]"
    _primary: variable | call | text | number | listing | "(" _condition ")"
    variable: NAME
    call: NAME "(" _arguments? ")"
    text: TEXT | RAW
    number: NUMBER
    listing: BRACKET _arguments? "]"
    _arguments: _condition ("," _condition)*

    COMPARE: "==" | "!=" | "<=" | ">=" | "<" | ">"
    NOT: "!"
    IN: "in"
    BRACKET: "["
    NAME: /[A-Za-z_][A-Za-z0-9_]*/
    NUMBER: /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/
    RAW.2: /[rR][bB]?("[^"\n\r]*"|'[^'\n\r]*')|[bB][rR]("[^"\n\r]*"|'[^'\n\r]*')/
    TEXT.2: /[bB]?("([^"\\\n\r]|\\[^\n\r])*"|'([^'\\\n\r]|\\[^\n\r])*')/
    SPACE: /[ \t\r\n\f]+/
    %ignore SPACE
"""

_VALUE: Final = "a condition or a value, such as `fields.status`"
"""What is allowed where a number is."""

_WORDS: Final = {
    "COMPARE": "a comparison such as `==`",
    "NAME": "a name",
    "COMMA": "`,`",
    "RPAR": "`)`",
    "RSQB": "`]`",
    "$END": "the end",
}
"""How an error names the tokens that it expected. Others are left out for brevity."""

_HINTS: Final = {
    "=": "equality is `==`",
    "&": "`and` is `&&`",
    "|": "`or` is `||`",
    "and": "`and` is `&&`",
    "or": "`or` is `||`",
    "not": "`not` is `!`",
    "AND": "`and` is `&&`",
    "OR": "`or` is `||`",
    "NOT": "`not` is `!`",
    "?": "there is no conditional operator",
    '"': "the text has no closing quote",
    "'": "the text has no closing quote",
    **dict.fromkeys("\u201c\u201d\u2018\u2019", "texts are in straight quotes"),
}
"""What to do about tokens of other languages."""


@cache
def _parser() -> Lark:
    return Lark(
        GRAMMAR, parser="lalr", lexer="contextual", transformer=TermBuilder(), maybe_placeholders=False
    )


def parse(text: str) -> Condition:
    """Return the condition that a filter states. Raises `StreamError` INVALID_FILTER with the place. O(n)."""
    try:
        term = _parser().parse(text)
    except Misplaced as error:
        raise invalid_filter(text, error.offset, str(error)) from None
    except (UnexpectedCharacters, UnexpectedToken) as error:
        raise _unexpected(text, error) from None
    return cast("Condition", term)


def _unexpected(text: str, error: UnexpectedCharacters | UnexpectedToken) -> StreamError:
    if isinstance(error, UnexpectedCharacters):
        # The lexer knows what can follow in general, the parser only after the next token.
        allowed = {"NUMBER"} & (error.allowed or set()) or {"OPERATOR"}
        # Lark's base class declares the place as None.
        offset = cast("int", error.pos_in_stream)
        found = text[offset]
    elif error.token.type == "$END":
        allowed, offset, found = error.expected, len(text), ""
    else:
        allowed, offset, found = error.expected, error.token.start_pos or 0, str(error.token)
    shown = found if found.isprintable() else f"U+{ord(found[0]):04X}"
    given = f"found `{shown}`" if found else "the filter ends here"
    hint = f"; {_HINTS[found]}" if found in _HINTS else ""
    message = f"expected {_expected(set(allowed))}, {given}{hint}"
    return invalid_filter(text, offset, message)


def _expected(names: set[str]) -> str:
    if "NUMBER" in names:
        return _VALUE
    if "OPERATOR" in names:
        return "an operator such as `==` or `&&`"
    words = [word for name, word in _WORDS.items() if name in names]
    if names - set(_WORDS) - {"DOT", "BRACKET", "LPAR", "IN", "SPACE"}:
        words.insert(0, "`&&`, `||`")
    return ", ".join(words[:-1]) + (" or " if words[:-1] else "") + words[-1]
