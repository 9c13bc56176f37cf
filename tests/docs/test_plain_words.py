"""The prose of the pages is plain technical English: it avoids phrases that have a plainer replacement.

It owns the list of phrases, the list of pages, and the exceptions. It reads prose only: code blocks and code
in backticks are not checked. A failure names file, line, phrase and replacement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.pages import PAGES, text_of

CHECKED: Final = (
    "README.md",
    "docs/architecture.md",
    "docs/concepts.md",
    "docs/consuming.md",
    "docs/differences.md",
    "docs/from-kafka.md",
    "docs/from-redis.md",
    "docs/index.md",
    "docs/invariants.md",
    "docs/python.md",
    "docs/start.md",
    "docs/typescript.md",
    "docs/websocket.md",
    "openapi/python/README.md",
    "openapi/typescript/README.md",
)

REPLACEMENTS: Final = {
    r"(?:stand|stands|stood)": "is, applies, is listed",
    r"(?:lies|lay) (?:in|on|at|behind|below|between|beside)": "is in, on, at ...",
    r"(?:comes|come|came) to lie": "is",
    r"whoever": "the client that, any consumer that",
    r"whosoever": "the client that, any consumer that",
    r"nobody": "no client, no consumer, nothing",
    r"amid(?:st)?": "in, among, during",
    r"(?:falls?|fell|comes?|came) due": "expires, reaches its deadline",
    r"(?:falls?|fell|fallen) (?:silent|idle)": "stops responding, becomes idle",
    r"(?:is|are|was|were|be) told": "gets, receives, is set to",
    r"(?:comes?|came) of age": "reaches its idle time",
    r"(?:comes?|came) by": "arrives, reads",
    r"(?:go|goes|going|went) on": "continue",
    r"bears? being": "is idempotent, tolerates",
    r"(?:double|doubles|doubled) (?:nothing|anything)": "takes effect twice, takes effect once",
    r"one's own": "its own, your own",
    r"for ever": "forever",
    r"anew": "again",
    r"in vain": "without success",
    r"beside": "next to, in addition to",
    r"be it": "whether it is",
    r"said to": "documented as",
    r"looked at": "examined, compared, used",
    r"what was (?:given|delivered|sent|lost|read|asked|appended|trimmed|acknowledged)": "name the thing",
    r"what is (?:not )?there": "what exists, what is available",
    r"nothing (?:that|which) (?:is|was|are) not": "say what is",
    r"(?:hitherto|thereof|therein|wherein|whereof|thereby|whereby)": "name the thing",
}
"""Pattern of a phrase, and the advice for it."""

ALLOWED: Final = ("stands for", "stand for")
"""Texts in which a phrase of the list is right."""

_CODE: Final = re.compile(
    r"^```.*?^```$|^ {4}[^\n]*|`[^`\n]+`|\]\([^)\s]+\)|<https?:[^>]+>", re.MULTILINE | re.DOTALL
)
_WORDS: Final = [(phrase.replace(" ", r"\s+"), advice) for phrase, advice in REPLACEMENTS.items()]
_PHRASES: Final = {re.compile(rf"\b{words}\b", re.IGNORECASE): advice for words, advice in _WORDS}


def prose_only(markdown: str) -> str:
    """The text with code and link targets blanked out; offsets and lines stay the same."""
    return _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), markdown)


def findings(name: str, markdown: str) -> Iterator[str]:
    """One line for each phrase that has a plainer replacement."""
    text = prose_only(markdown)
    for pattern, advice in _PHRASES.items():
        for found in pattern.finditer(text):
            if text.startswith(ALLOWED, found.start()):
                continue
            line = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: {' '.join(found[0].split())!r}; write: {advice}"


@pytest.mark.parametrize("page", CHECKED)
def test_a_page_is_written_in_plain_words(page: str) -> None:
    found = sorted(findings(page, text_of(page)))
    assert not found, "\n" + "\n".join(found)


def test_every_checked_page_exists() -> None:
    assert set(CHECKED) <= set(PAGES)


def test_a_phrase_is_found_across_lines_with_its_line_and_its_replacement() -> None:
    page = "Text.\nThe reader is\ntold at once.\n"
    assert list(findings("a.md", page)) == ["a.md:2: 'is told'; write: gets, receives, is set to"]


def test_code_and_allowed_texts_are_not_checked() -> None:
    page = "```text\nnobody\n```\n\n    whoever\n\n`stands` stands for itself. [x](whoever.md)\n"
    assert list(findings("a.md", page)) == []
