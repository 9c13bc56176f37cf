"""A page's figures, written by what measured them: the lines between two comments that name the bench.

    <!-- bench: settings -->
    ... is replaced ...
    <!-- /bench -->

It touches nothing else of the page, and refuses one that has no such place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path


def renew(page: Path, name: str, lines: Iterable[str]) -> None:
    """Put the lines where the page has a place of that name."""
    place = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- /bench -->)", re.DOTALL)
    content = "\n".join(["", *lines, "", ""])
    text, count = place.subn(lambda found: found[1] + content + found[2], page.read_text())
    if count != 1:
        raise SystemExit(f"{page} has {count} places for the bench {name!r}: one is needed")
    page.write_text(text)
