"""Runs one line, typed or from a pipe: `help`, a command, or a number of repetitions and a command.

It owns the words that are not sent to the server. `Printer` sends and prints the others.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import repeat as forever
from typing import Final

from tailrace.app.cli.redis.printer import Printer
from tailrace.app.cli.redis.replies import Words
from tailrace.app.cli.redis.session import Session
from tailrace.app.cli.redis.syntax import help_text

HELP: Final = frozenset({b"help", b"?"})


class BadCount(ValueError):
    """The number of repetitions before a command is not positive. The text is for the user."""


def run_words(words: Words, session: Session, printer: Printer, *, is_timed: bool = False) -> None:
    """Print the help that `words` ask for, or run the command. Raises `ServerProblem`."""
    if words[0].lower() in HELP:
        shown = help_text([word.decode("utf-8", "replace") for word in words[1:]])
        sys.stdout.buffer.write(shown.encode())
        sys.stdout.buffer.flush()
    elif is_timed:
        printer.timed(session, words)
    else:
        printer.run(session, words)


def run_line(
    words: Words, session: Session, printer: Printer, *, interval_s: float = 0, is_timed: bool = False
) -> None:
    """Run a line; `3 PING` runs PING three times. Raises `BadCount` or `ServerProblem`."""
    count, words = _repetitions(words)
    for _ in rounds(count, interval_s):
        run_words(words, session, printer, is_timed=is_timed)


def _repetitions(words: Words) -> tuple[int, Words]:
    """Split off the number before a command."""
    if len(words) == 1 or not words[0].removeprefix(b"-").isdigit():
        return 1, words
    if int(words[0]) < 1:
        raise BadCount("Invalid number of repetitions: it must be 1 or more")
    return int(words[0]), words[1:]


def rounds(count: int, interval_s: float) -> Iterator[None]:
    """Yield `count` times with a pause between; without end if `count` is negative."""
    for number in range(count) if count >= 0 else forever(1):
        if number:
            time.sleep(interval_s)
        yield
