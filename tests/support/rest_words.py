"""The words of problems over REST: no words of Redis, and none of the libraries that check requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

COMMAND_OPERATIONS: Final = frozenset({"command", "pipeline", "transaction"})
"""Operations whose problems have the words of Redis."""

REDIS_WORDS: Final = re.compile(
    r"\bX[A-Z]{3,}|\b(?:MKSTREAM|NOMKSTREAM|ENTRIESREAD|MAXLEN|MINID|JUSTID|CLAIM|COUNT|BLOCK|GROUP|STREAMS|ERR|OOM)\b"
    r"|top item|stream command argument|no such key|for key name|maxmemory"
)
LIBRARY_WORDS: Final = re.compile(
    r"Value error|Input should|Field required|Extra inputs|after validation|unable to parse|Invalid JSON"
    r"|should have|Expected `|valid integer|valid string|List |Dictionary |None\b|JSON is malformed"
)


def sentences(problem: dict[str, Any]) -> Iterator[str]:
    """Return the texts of a problem."""
    yield problem["title"]
    yield problem["detail"]
    for item in problem.get("errors", ()):
        yield item["detail"]


def speaks_rest(sentence: str) -> bool:
    """Return whether a text has no words of Redis and of libraries."""
    return not (REDIS_WORDS.search(sentence) or LIBRARY_WORDS.search(sentence))


def assert_speaks_rest(problem: dict[str, Any]) -> None:
    """Fail if a text of the problem has words of Redis or of a library."""
    for sentence in sentences(problem):
        assert speaks_rest(sentence), sentence
