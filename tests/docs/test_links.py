"""Links on the pages lead to pages, headings and files that exist, and the index leads to every page."""

from __future__ import annotations

import re
from functools import cache
from itertools import count
from typing import Final

from tests.support.pages import PAGES, ROOT, prose_of

LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMED_FILE: Final = re.compile(
    r"`((?:\.ci|api|app|bench|core|docker|docs|openapi|spark_client|tests)/[\w./*-]+)`"
)
MADE_LATER: Final = ("openapi/typescript/dist", "openapi/typescript/node_modules")


@cache
def anchors_of(page: str) -> set[str]:
    """The names under which its headings are linked: small letters, no marks, dashes for blanks."""
    anchors: set[str] = set()
    for heading in HEADING.findall(prose_of(page)):
        name = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        numbered = (f"{name}-{number}" for number in count(1))
        anchors.add(name if name not in anchors else next(each for each in numbered if each not in anchors))
    return anchors


def is_broken(page: str, path: str, anchor: str) -> bool:
    target = (PAGES[page].parent / path).resolve() if path else PAGES[page]
    if not target.exists():
        return True
    return bool(anchor) and anchor not in anchors_of(str(target.relative_to(ROOT)))


def test_every_link_of_a_page_leads_somewhere() -> None:
    links = [(page, path, anchor) for page in PAGES for path, anchor in LINK.findall(prose_of(page))]
    assert [
        f"{page} links to {path}#{anchor}" for page, path, anchor in links if is_broken(page, path, anchor)
    ] == []


def test_every_file_that_a_page_names_is_there() -> None:
    named = [(page, name) for page in PAGES for name in NAMED_FILE.findall(prose_of(page))]
    found = [(page, name) for page, name in named if not name.startswith(MADE_LATER)]
    assert [each for each in found if not list(ROOT.glob(each[1].rstrip("/")))] == []


def test_every_page_of_the_docs_stands_in_the_index() -> None:
    linked = {path for path, _ in LINK.findall(prose_of("docs/index.md"))}
    pages = {page.removeprefix("docs/") for page in PAGES if page.startswith("docs/")}
    assert pages - {"index.md"} <= linked
