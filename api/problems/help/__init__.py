"""Help for each problem: why it happens, what to do, a request that works.

It owns these texts, one row for each code, and which page belongs to which path. Statuses, titles and whether
a request is worth repeating are in `api.problems.table`.

==========  ===================================================================================
`help`      the form of a row
`commands`  rows of codes of the engine: the command was understood and refused
`requests`  rows of codes of the surface: the request was refused before it became a command
`page`      one code as a page of HTML, served at `/problems/{code}`
`reference` all codes as Markdown: `docs/errors.md`
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
    """The code whose page is at `/problems/{slug}`, None where there is none. The code itself is understood,
    too: `ID_NOT_GREATER` for `id-not-greater`."""
    return _CODES.get(slug.lower().replace("_", "-"))
