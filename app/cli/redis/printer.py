"""Runs commands and prints their replies, for the prompt, a pipe and a single command.

It owns standard output. `printing` formats the replies.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from tailrace.app.cli.output import say
from tailrace.app.cli.redis.printing import PLAIN, RED, Form, written
from tailrace.app.cli.redis.replies import Words
from tailrace.app.cli.redis.session import Session

SLOW_S: Final = 0.5
"""The prompt prints the duration of a command that takes at least this long, as redis-cli does."""


class Printer:
    """Writes replies to standard output in the form `form`."""

    def __init__(self, form: Form, *, colour: bool) -> None:
        self._form = form
        self._colour = colour

    def run(self, session: Session, words: Words) -> None:
        """Run one command and print its reply. Raises `ServerProblem`."""
        reply = session.execute(words)
        sys.stdout.buffer.write(written(reply, self._form, words, colour=self._colour))
        sys.stdout.buffer.flush()

    def print_error(self, line: str) -> None:
        """Print one line, in red if replies have colours."""
        say(line, style=(RED, PLAIN) if self._colour else ("", ""))

    def timed(self, session: Session, words: Words) -> None:
        """Run one command, print its reply, and print its duration if that is at least `SLOW_S`."""
        began_s = time.monotonic()
        self.run(session, words)
        took_s = time.monotonic() - began_s
        if took_s >= SLOW_S and self._form is Form.FORMATTED:
            say(f"({took_s:.2f}s)")
