"""Writes the figures of a bench into a page, between two comments that name the bench.

    <!-- bench: settings -->
    ... is replaced ...
    <!-- /bench -->

The rest of the page stays unchanged. A page without these comments is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

_ROW: Final = re.compile(r"\| (\d+) \|")
"""The beginning of a row with a number."""

_AGAIN: Final = "- measured again: "


def renew(page: Path, name: str, lines: Iterable[str]) -> None:
    """Replace the lines between the comments that contain `name`."""
    place = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- /bench -->)", re.DOTALL)
    content = "\n".join(["", *lines, "", ""])
    text, count = place.subn(lambda found: found[1] + content + found[2], page.read_text())
    if count != 1:
        raise SystemExit(f"{page} has {count} places for the bench {name!r}: one is needed")
    page.write_text(text)


def renew_rows(page: Path, name: str, numbers: AbstractSet[int], load: str, rows: Sequence[str]) -> None:
    """Replace the rows with these numbers in the table of the bench `name`, and note at which load.

    `rows`: the lines of all new rows. The other rows stay; all are in the order of their numbers.
    """
    block = re.search(
        rf"<!-- bench: {re.escape(name)} -->\n(.*?)<!-- /bench -->", page.read_text(), re.DOTALL
    )
    lines = [] if block is None else block[1].strip("\n").splitlines()
    old = [line for line in lines if (found := _ROW.match(line)) and int(found[1]) not in numbers]
    others = [line for line in lines if not _ROW.match(line)]
    facts = [line for line in others if line.startswith("- ") and not line.startswith(_AGAIN)]
    head = [line for line in others if line.startswith("|")]
    named = ", ".join(map(str, sorted(numbers)))
    again = f"{_AGAIN}rows {named} at a load of {load}"
    table = sorted([*old, *rows], key=_number_of)
    renew(page, name, [*facts, again, "", *head, *table])


def _number_of(row: str) -> int:
    found = _ROW.match(row)
    return int(found[1]) if found else 0
