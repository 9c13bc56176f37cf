"""Commands carried out and their replies printed, for the prompt, a pipe and a single command alike.

It owns standard output. What a reply looks like is `printing`'s.
"""

from __future__ import annotations

import sys
import time
from typing import Final

import typer

from tailrace.app.cli.redis.printing import Form, written
from tailrace.app.cli.redis.replies import Words
from tailrace.app.cli.redis.session import Session

SLOW_S: Final = 0.5
"""From here on the time a command took is shown behind its reply, as redis-cli does."""


class Printer:
    """Replies on standard output."""

    def __init__(self, form: Form, *, colour: bool) -> None:
        self._form = form
        self._colour = colour

    def run(self, session: Session, words: Words) -> None:
        """Carry out one command and print its reply. Raises `ServerProblem`."""
        reply = session.execute(words)
        sys.stdout.buffer.write(written(reply, self._form, words, colour=self._colour))
        sys.stdout.buffer.flush()

    def timed(self, session: Session, words: Words) -> None:
        """The same, with the time that it took where one notices it."""
        began_s = time.monotonic()
        self.run(session, words)
        took_s = time.monotonic() - began_s
        if took_s >= SLOW_S and self._form is Form.FORMATTED:
            typer.echo(f"({took_s:.2f}s)")
