"""Writes the package `blocking` of the SDK into a directory, made from `asynchronous`: `make sdk-python`.

Each module of `asynchronous` becomes a module without `async` and `await`. A name loses its `Async` or its
`a` (`AsyncIterator`, `__aexit__`), `tasks` becomes `threads`, and comments and docstrings speak of threads.
What cannot be said this way is in `tailrace_client/tasks.py` and `threads.py`, under the same names.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

SOURCE = Path(__file__).parent / "tailrace_client" / "asynchronous"

HEADER = "# `make sdk-python` writes this module from `asynchronous/{name}`. Do not edit it.\n"

NAMES = {
    "asynchronous": "blocking",
    "tasks": "threads",
    "aclose": "close",
    "aclosing": "closing",
    "anext": "next",
    "asynccontextmanager": "contextmanager",
    "set_async_httpx_client": "set_httpx_client",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
}

PHRASES = {
    "the tasks of one event loop share it": "threads can share it",
    "The event loop must be running.": "Only the main thread can call this.",
    "Call it in the same event loop, also more than once.": "Any thread can call this, also more than once.",
    " is open: in `async with`, or after the first entry.": " has opened: this call opens it.",
    "\n\n        If the task of `run` is cancelled, the handlers are cancelled, and their items stay pending."
    "": "",
    "(`contextlib.aclosing`": "(`contextlib.closing`",
    "`make sdk-python` writes the package `blocking` from this one: without `async` and `await`, with the "
    "classes'\nnames without `Async`, and with `threads` in place of `tasks`.": "Do not edit this package.",
    "`async with`": "`with`",
    "`aclose`": "`close`",
    "asyncio": "blocking",
    "tasks": "threads",
    "Tasks": "Threads",
    "task": "thread",
}
"""Of the comments and docstrings, in this order."""


def main(target: Path) -> None:
    """Write all modules, in place of what is there."""
    rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for source in sorted(SOURCE.glob("*.py")):
        text = HEADER.format(name=source.name) + "\n" + blocking(source.read_text())
        (target / source.name).write_text(text)
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    own = ["--quiet", "--isolated", "--no-cache", "--line-length", "110", str(target)]
    # Imports without use, their order, and loops that are simpler without `await`.
    rules = ["--select", "C416,F401,I,UP028", "--config", 'lint.isort.known-first-party=["tailrace_client"]']
    subprocess.run([*ruff, "check", "--fix-only", "--unsafe-fixes", *rules, *own], check=True)
    subprocess.run([*ruff, "format", *own], check=True)


def blocking(source: str) -> str:
    """Return the blocking twin of a module."""
    starts = [0, *(match.end() for match in re.finditer("\n", source))]
    at, parts = 0, []
    for token, text in replaced(list(tokenize.generate_tokens(io.StringIO(source).readline))):
        begin, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        parts += [source[at:begin], text]
        # A keyword goes together with the space after it.
        at = end + 1 if text == "" and token.type == tokenize.NAME and source[end] == " " else end
    return "".join([*parts, source[at:]])


def replaced(tokens: list[tokenize.TokenInfo]) -> Iterator[tuple[tokenize.TokenInfo, str]]:
    """Yield the tokens that change, each with its new text."""
    dropped: set[int] = set()
    for index, token in enumerate(tokens):
        if index in dropped or token.string in {"async", "await"}:
            yield token, ""
        elif token.string == "(" and tokens[index + 1].string == "await":
            # The parentheses around `await` only hold it together if something of the result follows.
            end = closing(tokens, index)
            if tokens[end + 1].string in {".", "["} and tokens[index - 1].type != tokenize.NAME:
                dropped.add(end)
                yield token, ""
        elif token.string == "Awaitable" and tokens[index + 1].string == "[":
            dropped |= {index + 1, closing(tokens, index + 1)}
            yield token, ""
        elif token.type == tokenize.NAME:
            yield token, NAMES.get(token.string, without_async(token.string))
        elif token.type == tokenize.COMMENT or token.string.startswith('"""'):
            yield token, in_words(token.string)


def closing(tokens: list[tokenize.TokenInfo], index: int) -> int:
    """Return where the bracket at `index` closes."""
    depth = 0
    while True:
        depth += (tokens[index].string in {"(", "["}) - (tokens[index].string in {")", "]"})
        if depth == 0:
            return index
        index += 1


def without_async(name: str) -> str:
    """Return a name without `Async` in front of another word."""
    return re.sub(r"\bAsync(?=[A-Z])", "", name)


def in_words(text: str) -> str:
    """Return a comment or a docstring of the twin."""
    for phrase, other in PHRASES.items():
        text = text.replace(phrase, other)
    return without_async(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
