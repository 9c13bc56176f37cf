"""Error texts for bodies that are not JSON, with the line and the column of the mistake.

It owns the sentences for the parser's messages. It parses nothing itself.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final, NamedTuple

_POSITION: Final = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)

_BYTE_ORDER_MARK: Final = (
    "the text begins with a UTF-8 byte order mark (the bytes EF BB BF); save and send it without"
)

_WIDE: Final = "the text is UTF-16 or UTF-32; send it in UTF-8"

_NOT_IN_JSON: Final = ("NaN", "Infinity")

_BYTE: Final = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")
"""The message of msgspec."""

_REASONS: Final = (
    ("EOF", "the text ends too early"),
    ("trailing comma", "a comma has no value after it"),
    (
        "trailing characters",
        "there is more text after the JSON value; to send several entries, use `entries:batch`",
    ),
    ("key must be a string", "a member name must be a string in double quotes"),
    ("expected value", "a value is missing or misspelled; write strings in double quotes"),
    ("expected ident", "a value is misspelled; write strings in double quotes"),
    ("invalid unicode", 'the bytes are not UTF-8; send bytes as base64, with `"encoding": "base64"`'),
    ("recursion limit", "arrays and objects are nested too deeply"),
    *(
        (begin, "a \\u escape needs four digits, and one from \\uD800 to \\uDFFF is half of a pair")
        for begin in ("lone leading surrogate", "unexpected end of hex escape")
    ),
    ("control character", "a string contains a control character; escape it, for example as \\n"),
)


class JsonMistake(NamedTuple):
    """The first mistake in a text that is not JSON. `line` and `column` count from 1; None if unknown."""

    reason: str
    line: int | None = None
    column: int | None = None


def json_mistake(message: str, text: bytes) -> JsonMistake:
    """Return the mistake in `text` that the parser's error message describes."""
    if text.startswith(BOM_UTF8):
        return JsonMistake(_BYTE_ORDER_MARK, 1, 1)
    if text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in text[:4]:
        return JsonMistake(_WIDE, 1, 1)
    match = _POSITION.fullmatch(message)
    if match is None:
        at_byte = _BYTE.fullmatch(message)
        return JsonMistake(message) if at_byte is None else _mistake_at(text, int(at_byte[2]), at_byte[1])
    line, column = int(match[2]), max(int(match[3]), 1)
    reason = next((text for begin, text in _REASONS if match[1].startswith(begin)), match[1])
    if reason == _REASONS[0][1] and (line, int(match[3])) == (1, 0):
        reason = "the body is empty"
    return JsonMistake(reason, line, column)


def _mistake_at(text: bytes, place: int, reason: str) -> JsonMistake:
    """Return the mistake at the byte `place`, which counts from 0."""
    before, rest = text[:place], text[place:]
    for name in _NOT_IN_JSON:
        if rest.startswith(name.encode()):
            reason = f"JSON has no {name}; to send it as text, write it in double quotes"
    return JsonMistake(reason, before.count(b"\n") + 1, place - before.rfind(b"\n"))
