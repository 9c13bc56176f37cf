"""Error texts for bodies that are not JSON, with the line and the column of the mistake.

It owns the sentences for the parser's messages. It parses nothing itself.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from typing import Final, NamedTuple

_POSITION: Final = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)

_BYTE_ORDER_MARK: Final = (
    "the text begins with a UTF-8 byte order mark (the bytes EF BB BF); save and send it without"
)

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
    match = _POSITION.fullmatch(message)
    if match is None:
        return JsonMistake(message)
    line, column = int(match[2]), max(int(match[3]), 1)
    reason = next((text for begin, text in _REASONS if match[1].startswith(begin)), match[1])
    if reason == _REASONS[0][1] and (line, int(match[3])) == (1, 0):
        reason = "the body is empty"
    return JsonMistake(reason, line, column)
