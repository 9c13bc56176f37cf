"""The form of a row of help. It owns nothing else."""

from __future__ import annotations

from typing import NamedTuple


class Help(NamedTuple):
    """Help for one code: sentences in plain English, with Markdown's backquotes for code.

    `happened`: what the server did not do. `cause`: why it happens. `remedy`: what to do. `request`: a
    request that works, as its first line and perhaps headers and a body.
    """

    happened: str
    cause: str
    remedy: str
    request: str
