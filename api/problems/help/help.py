"""The type of a row of help."""

from __future__ import annotations

from typing import NamedTuple


class Help(NamedTuple):
    """Help for one code: sentences in plain English, with backquotes for code, as in Markdown.

    `happened` says what the server did or did not do, `cause` why the problem happens, and `remedy` what to
    do. `request` is a request that works: its first line, and headers and a body if it has them.
    """

    happened: str
    cause: str
    remedy: str
    request: str
