"""Help for users on each problem code: why the problem happens, what to do, and a request that works.

It owns these texts, one row for each code, and the mapping from paths to pages. `api.problems.table` has
statuses, titles, and whether repeating a request can help.

==========  ===================================================================================
`help`      the type of a row
`commands`  rows for the codes of the engine: the engine refused the command
`requests`  rows for the codes of HTTP: the server refused the request before it became a command
`pages`     one code as a page of HTML, served at `/problems/{code}`; all as Markdown: `docs/errors.md`
==========  ===================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tailrace.api.problems.help.commands import COMMAND_HELP
from tailrace.api.problems.help.help import Help
from tailrace.api.problems.help.requests import REQUEST_HELP
from tailrace.api.problems.table import KINDS, ProblemCode, slug_of

__all__ = ["HELP", "Help", "code_of_slug"]

HELP: Final[Mapping[ProblemCode, Help]] = {**COMMAND_HELP, **REQUEST_HELP}

_CODES: Final = {slug_of(code): code for code in KINDS}


def code_of_slug(slug: str) -> ProblemCode | None:
    """Return the code whose page is at `/problems/{slug}`, or None. The code itself works as a slug too:
    `ID_NOT_GREATER` for `id-not-greater`."""
    return _CODES.get(slug.lower().replace("_", "-"))
