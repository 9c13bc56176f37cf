r"""The literals of a filter: texts in quotes, bytes, and numbers.

    "Castilla"  'it is'  "a\tb"  "\u00e9"  r"C:\temp"  b"\xff\x00"     as in CEL; no triple quotes
    10  -3  10.5  1e3

This module owns their values. The grammar (`core.filters.syntax`) has already found where they begin and end.
"""

from __future__ import annotations

import re
import sys
from typing import Final, Literal

I64_MIN: Final = -(1 << 63)
I64_MAX: Final = (1 << 63) - 1

INTEGER: Final = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
"""An integer in a field. More digits exceed 64 bits."""

DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
"""A decimal number in a field."""

DECIMAL_CHARACTERS_MAX: Final = 400
"""A longer text is not a number. The longest exact text of a finite number has about as many digits."""

NOT_A_NUMBER: Final = float("nan")

_SURROGATES: Final = range(0xD800, 0xE000)

_ESCAPE: Final = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)
_SINGLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    **{each: each for each in "\\\"'`?"},
}


class BadLiteral(ValueError):
    """A literal has no value. `at` is the place in it."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


def text_of(token: str) -> str:
    """Return the text of a literal in quotes, with its prefix. Raises `BadLiteral`."""
    quote = min(place for place in (token.find('"'), token.find("'")) if place >= 0)
    prefix, body = token[:quote].lower(), token[quote + 1 : -1]
    is_bytes = "b" in prefix
    if "r" not in prefix:
        body = _unescaped(body, quote + 1, is_bytes=is_bytes)
    elif is_bytes:
        body = _as_octets(body)
    return body.encode("latin-1").decode("utf-8", "surrogateescape") if is_bytes else body


def _unescaped(body: str, start: int, *, is_bytes: bool) -> str:
    pieces: list[str] = []
    done = 0
    while (place := body.find("\\", done)) >= 0:
        pieces.append(_plain(body[done:place], is_bytes=is_bytes))
        match = _ESCAPE.match(body, place)
        value = None if match is None else _escaped(match, is_bytes=is_bytes)
        if match is None or value is None:
            raise BadLiteral(
                f"`{body[place : place + 2]}` is not an escape here; write `\\\\` for a backslash",
                start + place,
            )
        pieces.append(value)
        done = match.end()
    pieces.append(_plain(body[done:], is_bytes=is_bytes))
    return "".join(pieces)


def _plain(text: str, *, is_bytes: bool) -> str:
    return _as_octets(text) if is_bytes else text


def _as_octets(text: str) -> str:
    """Return one character for each byte of `text` in UTF-8."""
    return text.encode().decode("latin-1")


def _escaped(match: re.Match[str], *, is_bytes: bool) -> str | None:
    octet, short, long, octal, single = match.groups()
    if single is not None:
        return _SINGLE.get(single)
    if short or long:
        return None if is_bytes else _character(int(short or long, 16))
    return _character(int(octet, 16) if octet else int(octal, 8))


def _character(code: int) -> str | None:
    """Return the character with this code; None for a surrogate or a code above the last one."""
    return None if code in _SURROGATES or code > sys.maxunicode else chr(code)


def number_of(token: str) -> int | float:
    """Return the value of a number of the filter. Raises `BadLiteral` if it is out of range."""
    if not token.lstrip("-").isdigit():
        value = float(token)
        if value in (float("inf"), float("-inf")):
            raise BadLiteral("the number is too large for a double")
        return value
    if len(token) > len(str(I64_MIN)) or not I64_MIN <= int(token) <= I64_MAX:
        raise BadLiteral("the integer does not fit into 64 bits; write it as a double, such as `1e20`")
    return int(token)


def converted(to: Literal["int", "double"], number: float) -> int | float:
    """Return a number of the filter as `int(...)` or `double(...)` converts it. `int` rounds towards zero.
    Raises `BadLiteral` if the result does not fit into 64 bits."""
    if to == "double":
        return float(number)
    whole = int(number)
    if not I64_MIN <= whole <= I64_MAX:
        raise BadLiteral("the number does not fit into an integer of 64 bits")
    return whole


def int_in(text: str | None) -> int | float:
    """Return the integer of 64 bits that a field contains; `NOT_A_NUMBER` for any other text. O(1)."""
    if text is None or len(text) > 20 or INTEGER.fullmatch(text) is None:  # noqa: PLR2004 - a sign, 19 digits
        return NOT_A_NUMBER
    value = int(text)
    return value if I64_MIN <= value <= I64_MAX else NOT_A_NUMBER


def double_in(text: str | None) -> float:
    """Return the decimal number that a field contains; `NOT_A_NUMBER` for any other text, for example `inf`.
    O(1)."""
    if text is None or len(text) > DECIMAL_CHARACTERS_MAX or DECIMAL.fullmatch(text) is None:
        return NOT_A_NUMBER
    return float(text)
