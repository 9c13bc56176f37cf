"""Every rule is on `docs/semantics.md` and has a test with its number, and every citation names a rule that
exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.pages import PAGES, ROOT
from tests.support.semantics_page import rules, rules_by_section

RULES: Final = set(range(1, 67))
HERE: Final = Path(__file__).parent
SOURCES: Final = {
    str(path.relative_to(ROOT)): path
    for folder in ("core", "api", "app", "spark_client", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
CITATION: Final = re.compile(r"\b[Rr]ule\s+(\d+)|\b[Rr]ules\s+(\d+(?:(?:,|,?\s+and|\s+to)\s+\d+)*)")
NUMBER: Final = re.compile(r"\d+")
OTHER_NAMES: Final = re.compile(r"\bSEMANTICS\b|section \d of the rules|\b(?:DESIGN|CONTRACT|GOALS)\.md")
NAMED_PAGE: Final = re.compile(r"\bdocs/[\w/-]+\.md\b")
PROOF: Final = re.compile(r"^Tests: `test_rule_(\d\d)_\*` in `([\w/.]+)`$", re.MULTILINE)


def cited(text: str) -> Iterator[int]:
    """The numbers of the rules that a text cites, the ends of spans among them."""
    for one, several in CITATION.findall(text):
        yield from map(int, NUMBER.findall(one or several))


def numbers_of_tests(source: str) -> set[int]:
    return {int(number) for number in re.findall(r"^def test_rule_(\d\d)_", source, re.MULTILINE)}


def test_every_rule_has_a_test_of_its_number() -> None:
    sources = "".join(path.read_text() for path in HERE.glob("test_rules_*.py"))
    assert numbers_of_tests(sources) == RULES


def test_every_rule_is_on_the_page_once_with_a_title_an_example_and_its_tests() -> None:
    assert set(rules()) == RULES
    for number, text in rules().items():
        assert text.startswith("\n**"), f"rule {number} has no title"
        assert "```redis\n" in text or "```tailrace\n" in text, f"rule {number} has no example"
        ((named, module),) = PROOF.findall(text)
        assert int(named) == number
        assert number in numbers_of_tests((ROOT / module).read_text()), module


def test_the_table_of_contents_names_the_rules_of_each_section() -> None:
    for title, (listed, held) in rules_by_section().items():
        assert listed == held, title


def test_every_rule_that_is_cited_is_on_the_page() -> None:
    texts = {name: path.read_text() for name, path in [*SOURCES.items(), *PAGES.items()]}
    assert {name: wrong for name, text in texts.items() if (wrong := set(cited(text)) - RULES)} == {}


def test_citations_are_found() -> None:
    text = "Rule 1, 20 and rules 2 and 3, (rules 4 to\n6), rules 7, 8 and 9."
    assert list(cited(text)) == [1, 2, 3, 4, 6, 7, 8, 9]


def test_sources_cite_no_other_text() -> None:
    others = [path for path in SOURCES.values() if path != Path(__file__)]
    assert {path.name: found for path in others if (found := OTHER_NAMES.findall(path.read_text()))} == {}


def test_every_page_that_a_source_names_is_there() -> None:
    named = {page for path in SOURCES.values() for page in NAMED_PAGE.findall(path.read_text())}
    assert named - set(PAGES) == set()
