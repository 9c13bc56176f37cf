"""The error of a filter that is not valid: what is wrong, and where. This module parses nothing."""

from __future__ import annotations

from typing import Final

from tailrace.core.errors import ErrorCode, StreamError

SHOWN_BEFORE: Final = 40
SHOWN_AFTER: Final = 30
"""How many characters of the filter the excerpt shows before and after the place."""


def invalid_filter(text: str, offset: int, message: str) -> StreamError:
    """Return the error of the filter `text` at the character `offset`. `message` says what is wrong, what is
    allowed and what to do.

    The details have the offset, and an excerpt of two lines: the filter, and a caret below the place.
    """
    return StreamError(
        ErrorCode.INVALID_FILTER,
        f"ERR the filter is not valid at character {offset + 1}: {message}",
        offset=str(offset),
        excerpt=excerpt(text, offset),
    )


def excerpt(text: str, offset: int) -> str:
    """Return one line of the filter around `offset`, and a line with a caret below it."""
    start = max(offset - SHOWN_BEFORE, 0)
    stop = offset + SHOWN_AFTER
    shown = "".join([each if each.isprintable() else " " for each in text[start:stop]])
    before = "..." if start else ""
    after = "..." if stop < len(text) else ""
    return f"{before}{shown}{after}\n{' ' * (len(before) + offset - start)}^"
