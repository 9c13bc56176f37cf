"""The static site of the pages: it builds without a broken link, has an index, and needs no other host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.pages import PAGES, ROOT

FETCHED: Final = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=[\"']?([^\"' >]+)")
FETCHED_BY_STYLES: Final = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')]+)")
TITLE: Final = re.compile(r"<title>([^<]*)</title>")
FOREIGN: Final = ("http:", "https:", "//")
WITHIN_S: Final = 120


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    target = tmp_path_factory.mktemp("site")
    command = [str(ROOT / ".ci/site"), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target / "html"


def test_the_site_has_every_page_and_a_search_index(site: Path) -> None:
    pages = {page.removesuffix(".md") for page in PAGES}
    readmes = {page for page in pages if page.endswith(("README", "docs/index"))}
    missing = [page for page in sorted(pages - readmes) if not (site / f"{page}.html").is_file()]
    assert missing == []
    assert "claim_min_idle_ms" in (site / "search.json").read_text()


def test_the_titles_of_the_site_are_different_and_repeat_no_part(site: Path) -> None:
    found = [TITLE.findall(page.read_text()) for page in site.rglob("*.html") if page.name != "404.html"]
    parts = [tuple(title.split(" - ")) for titles in found for title in titles]
    assert len(set(parts)) == len(parts)
    assert [title for title in parts if len(set(title)) < len(title)] == []


def test_the_site_fetches_nothing_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) >= len(PAGES)
    fetched = {url for page in pages for url in FETCHED.findall(page.read_text())}
    fetched |= {url for style in site.rglob("*.css") for url in FETCHED_BY_STYLES.findall(style.read_text())}
    assert [url for url in sorted(fetched) if url.startswith(FOREIGN)] == []


def test_pages_with_diagrams_load_mermaid_from_the_site(site: Path) -> None:
    page = (site / "docs/architecture.html").read_text()
    assert 'class="mermaid"' in page
    assert "../assets/mermaid.min.js" in FETCHED.findall(page)
    assert (site / "assets/mermaid.min.js").stat().st_size > 0
