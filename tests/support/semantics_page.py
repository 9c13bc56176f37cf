"""`docs/semantics.md` as data: its rules, and the rows of its tables. It runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tailrace.app.cli.redis.quoting import split_words
from tests.support.pages import text_of
from tests.support.redis_blocks import Words, steps_of

PAGE: Final = "docs/semantics.md"
TEXT: Final = text_of(PAGE)

OF_REDIS: Final = "### Lines that Redis has"
"""The heading of the table of error lines whose examples also run on Redis."""

_RULE: Final = re.compile(r"^### Rule (\d+)\n(.*?)(?=^##+ )", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"(`+)(.+?)\1(?!`)")
_LISTED: Final = re.compile(r"^- \[(.+?)\]\(#.+?\): rules? ([\d, toand]+)$", re.MULTILINE)
_SETUP: Final = re.compile(r"^```redis\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BAR: Final = re.compile(r"(?<!\\)\|")


def rules() -> dict[int, str]:
    """Return the text of each rule by its number."""
    return {int(number): text for number, text in _RULE.findall(TEXT)}


def section(heading: str) -> str:
    """Return the text under a heading, up to the next heading of any level; headings inside blocks are
    ignored."""
    _, found, rest = TEXT.partition(f"\n{heading}\n")
    assert found, f"{PAGE} has no {heading}"
    return re.split(r"^##+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the tables under a heading, without the header rows."""
    lines = section(heading).splitlines()
    return [
        [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)[1:-1]]
        for above, line in zip(["", *lines], lines, strict=False)
        if line.startswith("|") and above.startswith("|") and not line.startswith("|--")
    ]


def rules_by_section() -> dict[str, tuple[set[int], set[int]]]:
    """For each section in the table of contents: the rules listed there, and the rules in the section."""
    listed = {title: _expanded(numbers) for title, numbers in _LISTED.findall(TEXT)}
    parts = re.split(r"^## (.+)\n", TEXT, flags=re.MULTILINE)[1:]
    held = {
        title: {int(number) for number, _ in _RULE.findall(f"{text}## ")} for title, text in _pairs(parts)
    }
    return {title: (listed.get(title, set()), numbers) for title, numbers in held.items()}


def _pairs(items: list[str]) -> Iterator[tuple[str, str]]:
    return zip(items[::2], items[1::2], strict=True)


def _expanded(spans: str) -> set[int]:
    """``8 to 10 and 65`` as numbers."""
    found = re.findall(r"(\d+)(?: to (\d+))?", spans)
    return {number for first, last in found for number in range(int(first), int(last or first) + 1)}


def code_in(cell: str) -> list[str]:
    """Return the code spans of a cell."""
    return [code for _, code in _CODE.findall(cell)]


def commands_of(row: list[str]) -> list[Words]:
    """Return the commands of a row of error lines, after the commands that set up its stream."""
    found = _SETUP.search(section("## Error lines"))
    assert found is not None
    setup = [step.words for step in steps_of(found[1]) if step.words is not None]
    return setup + [split_words(command.encode()) for command in code_in(row[2])]
