"""Runs commands, typed or from a pipe, and prints their replies in the three forms of redis-cli.

*Formatted*, for people: numbered, nested, strings quoted. *Raw*, for programs: unchanged bytes, one value per
line. *JSON*: one line per reply. It never chooses the form: options and the kind of output decide. It also
owns the words of a line that are not sent to the server: `help`, and a number of repetitions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import repeat as forever
from typing import Any, Final, cast

import msgspec

from tailrace.app.cli.output import say, visible, visible_json
from tailrace.app.cli.redis.hints import help_text
from tailrace.app.cli.redis.quoting import quoted
from tailrace.app.cli.redis.replies import Failure, Reply, Session, SimpleString, Words

RED: Final = "\x1b[31m"
PLAIN: Final = "\x1b[0m"


class Form(Enum):
    """The form of printed replies."""

    FORMATTED = "formatted"
    RAW = "raw"
    JSON = "json"


def written(reply: Reply, form: Form, words: Words = (), *, colour: bool = False) -> bytes:
    """Return the formatted reply to the command `words`, with its line end."""
    if form is Form.FORMATTED and _is_text(words, reply):
        return _text(cast("bytes", reply))
    return _WRITERS[form](reply, colour)


def _is_text(words: Words, reply: Reply) -> bool:
    """Return whether the reply is the text of INFO, which is shown unquoted because it has many lines."""
    return bool(words) and words[0].upper() == b"INFO" and isinstance(reply, bytes)


def _text(reply: bytes) -> bytes:
    lines = reply.decode("utf-8", "backslashreplace").split("\r\n")
    return "\r\n".join(map(visible, lines)).encode() + b"\n"


# --- formatted -------------------------------------------------------------------------------------


def _formatted(reply: Reply, colour: bool) -> bytes:  # noqa: FBT001 - one of a table of writers
    return _lines(reply, "", colour=colour).encode()


def _lines(reply: Reply, margin: str, *, colour: bool) -> str:
    """Format one value. Its first line has no margin: the enclosing list puts the item's number there."""
    if isinstance(reply, list):
        return _numbered(reply, margin, colour=colour) if reply else "(empty array)\n"
    return f"{_scalar(reply, colour=colour)}\n"


def _numbered(items: list[Reply], margin: str, *, colour: bool) -> str:
    width = len(str(len(items)))
    inner = margin + " " * (width + 2)
    written = [
        f"{number:>{width}}) {_lines(item, inner, colour=colour)}"
        for number, item in enumerate(items, start=1)
    ]
    return margin.join(written)


def _scalar(reply: int | bytes | SimpleString | Failure | None, *, colour: bool) -> str:
    if reply is None:
        return "(nil)"
    if isinstance(reply, Failure):
        text = f"(error) {visible(reply.line)}"
        return f"{RED}{text}{PLAIN}" if colour else text
    if isinstance(reply, bytes):
        return quoted(reply)
    return f"(integer) {reply}" if isinstance(reply, int) else visible(reply)


# --- raw -------------------------------------------------------------------------------------------


def _raw(reply: Reply, colour: bool) -> bytes:  # noqa: ARG001, FBT001 - raw is without colours
    # As in redis-cli, an error adds a line end of its own before that of the reply.
    return _raw_value(reply) + b"\n"


def _raw_value(reply: Reply) -> bytes:
    if reply is None:
        return b""
    if isinstance(reply, list):
        return b"\n".join(map(_raw_value, reply))
    if isinstance(reply, Failure):
        return reply.line.encode() + b"\n"
    return reply if isinstance(reply, bytes) else str(reply).encode()


# --- JSON ------------------------------------------------------------------------------------------


def _json(reply: Reply, colour: bool) -> bytes:  # noqa: ARG001, FBT001 - JSON is without colours
    return visible_json(msgspec.json.encode(_json_value(reply)).decode()).encode() + b"\n"


def _json_value(reply: Reply) -> Any:
    """Return the value in the server's JSON form: bytes that are not UTF-8 become `{"base64": ...}`."""
    if isinstance(reply, list):
        return [_json_value(item) for item in reply]
    if isinstance(reply, Failure):
        return {"error": reply.line}
    if isinstance(reply, bytes):
        try:
            return reply.decode()
        except UnicodeDecodeError:
            return {"base64": reply}
    return str(reply) if isinstance(reply, SimpleString) else reply


_WRITERS: Final[dict[Form, Callable[[Reply, bool], bytes]]] = {
    Form.FORMATTED: _formatted,
    Form.RAW: _raw,
    Form.JSON: _json,
}


# --- running and printing -----------------------------------------------------------------------


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


# --- lines --------------------------------------------------------------------------------------


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
