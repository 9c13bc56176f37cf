"""The text of JSON as one line, for every client.

Every writer of lines of JSON uses it: exports, events of tails, logs, and the commands of the command line.
This module knows nothing of what the JSON says.
"""

from __future__ import annotations

from typing import Final

_LINE_ENDS_TO_SOME: Final = (
    ("\u2028".encode(), rb"\u2028"),
    ("\u2029".encode(), rb"\u2029"),
    ("\u0085".encode(), rb"\u0085"),
)
"""Characters that JSON need not escape, and that end a line for `str.splitlines`, which common clients use.
By the standards, only CR and LF end a line."""


def one_line(text: bytes) -> bytes:
    """Return JSON in UTF-8 with these characters escaped. O(bytes) in C."""
    if text.isascii():
        return text
    for character, escape in _LINE_ENDS_TO_SOME:
        text = text.replace(character, escape)
    return text
