"""Pages, docstrings and comments are plain technical English without phrases that have a plainer replacement.

It owns the list of phrases, the list of Python files, and the exceptions. It reads prose only: code blocks,
code in backticks and string values are not checked. A failure names file, line, phrase and replacement.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final

from tests.support.pages import PAGES, ROOT, text_of

SOURCES: Final = {
    str(path.relative_to(ROOT)): path
    for folder in (
        "core",
        "api",
        "app",
        "tailrace/library",
        "tailrace/testing",
        "examples",
        "spark_client",
        "openapi/python/tailrace_client",
        "bench",
        "tests",
    )
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "generated" not in path.parts
}
"""Every Python file that is written by hand, by its path."""

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
    r"what (?:has )?happened since": "later changes",
    r"waits? on": "continues to wait",
    r"comes? twice": "is sent twice, is returned twice",
    r"comes? to (?:it|mean|nothing)": "reaches, is changed to",
    r"(?:tells?|told) (?:\w+ ){0,2}apart": "distinguishes",
    r"(?:speaks?|spoke) of": "mentions, refers to",
    r"of another kind": "of another type",
    r"(?:is|are|was|were) begun": "has begun, began",
    r"as many (?:\w+ )?as (?:it|they) may": "the maximum",
    r"who (?:asks|else|wants)": "the client, other code, authentication",
    r"(?:anybody|everybody|everyone else)": "every client, all other code",
    r"likewise": "with the same option, also",
    r"nothing (?:that|which) (?:is|was|are) not": "say what is",
    r"in stock": "in advance, stored",
    r"of one mind": "agree",
    r"strokes? of chance": "random changes",
    r"(?:becomes|became|become) of": "the result of, the end of",
    r"comes? along": "is included, is loaded",
    r"parted by": "separated by",
    r"gone over": "exceeded",
    r"none the less": "nevertheless, still",
    r"(?:hitherto|thereof|therein|wherein|whereof|thereby|whereby)": "name the thing",
}
"""Pattern of a phrase, and the advice for it."""

ALLOWED: Final = ("stands for", "stand for")
"""Texts in which a phrase of the list is right."""

EXCEPTIONS: Final = {("docs/performance.md", "beside")}
"""Page and phrase. The page compares figures of processes on one machine, where this is the usual word."""

_CODE: Final = re.compile(
    r"^```.*?^```$|^ {4}[^\n]*|`[^`\n]+`|\]\([^)\s]+\)|<https?:[^>]+>", re.MULTILINE | re.DOTALL
)
_WORDS: Final = [(phrase.replace(" ", r"\s+"), advice) for phrase, advice in REPLACEMENTS.items()]
_PHRASES: Final = {re.compile(rf"\b{words}\b", re.IGNORECASE): advice for words, advice in _WORDS}
_ANY_PHRASE: Final = re.compile(rf"\b(?:{'|'.join(words for words, _ in _WORDS)})\b", re.IGNORECASE)
_BETWEEN_WORDS: Final = re.compile(r"[\s#]+")


def prose_only(markdown: str) -> str:
    """The text with code and link targets blanked out; offsets and lines stay the same."""
    return _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), markdown)


def findings(name: str, markdown: str) -> Iterator[str]:
    """One line for each phrase that has a plainer replacement."""
    text = prose_only(markdown)
    for pattern, advice in _PHRASES.items():
        for found in pattern.finditer(text):
            if text.startswith(ALLOWED, found.start()) or (name, found[0].lower()) in EXCEPTIONS:
                continue
            line = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: {' '.join(found[0].split())!r}; write: {advice}"


def may_have_findings(source: str) -> bool:
    """Return whether a phrase is anywhere in a Python file, in its code too. Far cheaper than its prose."""
    return _ANY_PHRASE.search(_BETWEEN_WORDS.sub(" ", source)) is not None


def prose_of_python(source: str) -> str:
    """The docstrings and comments of a file, on their lines. Other lines become a bar: no phrase spans it."""
    lines = ["|"] * (source.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = token.string.lstrip("#").strip()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                text = inspect.cleandoc(docstring).split("\n")
                lines[node.lineno - 1 : node.lineno - 1 + len(text)] = text
    return "\n".join(lines)


def test_pages_are_written_in_plain_words() -> None:
    found = [each for page in PAGES for each in sorted(findings(page, text_of(page)))]
    assert not found, "\n" + "\n".join(found)


def test_docstrings_and_comments_are_written_in_plain_words() -> None:
    sources = ((name, path.read_text()) for name, path in SOURCES.items())
    prose = ((name, prose_of_python(text)) for name, text in sources if may_have_findings(text))
    found = [each for name, text in prose for each in sorted(findings(name, text))]
    assert not found, "\n" + "\n".join(found)


def test_every_exception_is_in_use() -> None:
    assert all(phrase in text_of(page) for page, phrase in EXCEPTIONS)


def test_a_phrase_is_found_across_lines_with_its_line_and_its_replacement() -> None:
    page = "Text.\nThe reader is\ntold at once.\n"
    assert list(findings("a.md", page)) == ["a.md:2: 'is told'; write: gets, receives, is set to"]


def test_code_and_allowed_texts_are_not_checked() -> None:
    page = "```text\nnobody\n```\n\n    whoever\n\n`stands` stands for itself. [x](whoever.md)\n"
    assert list(findings("a.md", page)) == []


def test_docstrings_and_comments_are_checked_and_code_is_not() -> None:
    source = '''"""First.

    Whoever reads.
    """
nobody = "whoever"  # the reader is
# told
'''
    assert may_have_findings(source)
    found = list(findings("a.py", prose_of_python(source)))
    assert [line.split(";")[0] for line in found] == ["a.py:3: 'Whoever'", "a.py:5: 'is told'"]
