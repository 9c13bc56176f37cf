"""The grammar of filters, a subset of CEL, and the parser.

Lark finds the tokens and the structure (LALR, so the work is linear and needs no stack of calls).
`core.filters.terms` turns each part into a node as soon as it is complete. Loading Lark takes about 50 ms, so
only `core.filters.filter` imports this module, when the first filter is compiled.
"""

from __future__ import annotations

from functools import cache
from typing import Final, cast

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from tailrace.core.errors import StreamError
from tailrace.core.filters.checks import Misplaced
from tailrace.core.filters.places import invalid_filter
from tailrace.core.filters.terms import TermBuilder
from tailrace.core.filters.tree import Condition

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
