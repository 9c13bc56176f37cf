"""Why a body is no JSON, in sentences, with the line and the column.

It owns the words for the parser's messages. It parses nothing.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_POSITION: Final = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)

_REASONS: Final = (
    ("EOF", "the text ends too early"),
    ("trailing comma", "a comma has nothing after it"),
    (
        "trailing characters",
        "there is more text after the JSON value; for several entries use `entries:batch`",
    ),
    ("key must be a string", "a name must be a string in double quotes"),
    ("expected value", "a value is missing or misspelled; strings are in double quotes"),
    ("expected ident", "a value is misspelled; strings are in double quotes"),
    ("invalid unicode", 'the bytes are not UTF-8; send bytes as base64, with `"encoding": "base64"`'),
    ("control character", "a string holds a control character; escape it, such as \\n"),
)


class JsonMistake(NamedTuple):
    """Where a text stops being JSON, both from 1, and why; None: not known."""

    reason: str
    line: int | None = None
    column: int | None = None


def json_mistake(message: str) -> JsonMistake:
    """What the parser's message says."""
    match = _POSITION.fullmatch(message)
    if match is None:
        return JsonMistake(message)
    line, column = int(match[2]), max(int(match[3]), 1)
    reason = next((told for begin, told in _REASONS if match[1].startswith(begin)), match[1])
    if reason == _REASONS[0][1] and (line, int(match[3])) == (1, 0):
        reason = "the body is empty"
    return JsonMistake(reason, line, column)
