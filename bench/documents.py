"""Writes the figures of a bench into a page, between two comments that name the bench.

    <!-- bench: settings -->
    ... is replaced ...
    <!-- /bench -->

The rest of the page stays unchanged. A page without these comments is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path


def renew(page: Path, name: str, lines: Iterable[str]) -> None:
    """Replace the lines between the comments that contain `name`."""
    place = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- /bench -->)", re.DOTALL)
    content = "\n".join(["", *lines, "", ""])
    text, count = place.subn(lambda found: found[1] + content + found[2], page.read_text())
    if count != 1:
        raise SystemExit(f"{page} has {count} places for the bench {name!r}: one is needed")
    page.write_text(text)
