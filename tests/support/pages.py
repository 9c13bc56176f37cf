"""The Markdown pages of the repository: their list, and their fenced blocks. It runs nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_FENCED: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

PAGES: Final = {
    str(path.relative_to(ROOT)): path
    for pattern in (
        "*.md",
        "docs/*.md",
        "openapi/*.md",
        "openapi/*/README.md",
        "spark_client/*.md",
        "examples/*/README.md",
    )
    for path in sorted(ROOT.glob(pattern))
}
"""Every page for readers, by its path."""


def text_of(page: str) -> str:
    return PAGES[page].read_text()


def fenced(page: str, language: str) -> list[str]:
    """Return the blocks of one language on a page, in order."""
    return [code for found, code in _FENCED.findall(text_of(page)) if found == language]


def languages_of(page: str) -> set[str]:
    return {language for language, _ in _FENCED.findall(text_of(page))}


def prose_of(page: str) -> str:
    """Return the page without its fenced and indented blocks."""
    unfenced = _FENCED.sub("", text_of(page))
    return "\n".join(line for line in unfenced.splitlines() if not line.startswith("    "))
