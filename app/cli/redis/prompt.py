"""The interactive prompt: reads lines with history, completion and hints, runs them and prints replies.

It owns the terminal while it runs. Ctrl-C cancels the line or the waiting read and keeps the prompt open;
Ctrl-D, `quit` and `exit` end it. The history file is readable only by its owner. If the server does not
respond within `timeout_s`, completion offers no keys: typing never blocks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.formatted_text.utils import fragment_list_to_text, fragment_list_width
from prompt_toolkit.history import FileHistory
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.shortcuts import clear
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from tailrace.app.cli.completions import matching_keys, timeout_s
from tailrace.app.cli.output import say
from tailrace.app.cli.redis import hints
from tailrace.app.cli.redis.hints import fitting, hint
from tailrace.app.cli.redis.printing import BadCount, Printer, run_line
from tailrace.app.cli.redis.quoting import Unbalanced, quoted, split_words
from tailrace.app.cli.redis.replies import Session
from tailrace.app.cli.server import Server, ServerProblem

# --- completion and hints -----------------------------------------------------------------------


PAUSE_AFTER_FAILURE_S: Final = 10.0
"""How long completion sends no requests after a slow or failed one."""

_OWN_WORDS: Final = ("help", "clear", "quit", "exit")
_NEEDS_QUOTES: Final = frozenset("\"'\\ \t")


class KeyFinder:
    """Finds keys on a server. After a slow request it pauses for `PAUSE_AFTER_FAILURE_S`."""

    def __init__(self, server: Server) -> None:
        # Its time limit is short, because typing waits for it.
        self._server = Server(server.url, server.token, timeout_s())
        self._silent_until_s = 0.0

    def __call__(self, prefix: str) -> list[str]:
        """Return keys that begin with `prefix`; empty during a pause."""
        began_s = time.monotonic()
        if began_s < self._silent_until_s:
            return []
        keys = matching_keys(self._server, prefix)
        if time.monotonic() - began_s >= timeout_s():
            self._silent_until_s = time.monotonic() + PAUSE_AFTER_FAILURE_S
        return keys


def typed_words(line: str) -> list[str]:
    """Return the words of an unfinished line. A line with an open quote is split at blanks."""
    try:
        return [
            word.decode("utf-8", "replace") for word in split_words(line.encode("utf-8", "surrogateescape"))
        ]
    except Unbalanced:
        return line.split()


class CommandCompleter(Completer):
    """Completes the last word before the cursor."""

    def __init__(self, keys: KeyFinder) -> None:
        self._keys = keys

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield the choices for the word at the cursor."""
        del complete_event
        before = document.text_before_cursor
        begun = before.split(" ")[-1]
        words = typed_words(before[: len(before) - len(begun)])
        for choice in self._choices(words, begun):
            yield Completion(_spelt(choice, begun), start_position=-len(begun), display=choice)

    def _choices(self, words: list[str], begun: str) -> Iterable[str]:
        if not words:
            return _beginning([*hints.command_names(), *_OWN_WORDS], begun)
        if words[0].lower() == "help":
            return _beginning(hints.command_names(), begun)
        if len(words) == 1 and (subcommands := hints.subcommands(words[0])):
            return _beginning(subcommands, begun)
        typed = hints.find(words)
        if typed is None:
            return ()
        keys = self._keys(begun) if hints.takes_key(typed) else []
        return [*keys, *(_beginning(hints.keywords(typed), begun) if begun else [])]


def _beginning(choices: Iterable[str], begun: str) -> list[str]:
    return [choice for choice in choices if choice.upper().startswith(begun.upper())]


def _spelt(choice: str, begun: str) -> str:
    """Return `choice` as it must be typed: quoted if necessary, in lower case if `begun` is."""
    if not choice.isprintable() or not choice.isascii() or _NEEDS_QUOTES & set(choice):
        return quoted(choice.encode())
    if begun and begun.islower() and choice.isupper():
        return choice.lower()
    return choice


class Hints(Processor):
    """Shows the remaining arguments after the cursor in grey. The hint is not part of the line.

    `label_width` returns the width of the text before the line.
    """

    def __init__(self, label_width: Callable[[], int]) -> None:
        self._label_width = label_width

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Return the line with its hint. A finished line has none: the hint would stay on the screen."""
        document, fragments = transformation_input.document, transformation_input.fragments
        is_last = transformation_input.lineno == document.line_count - 1
        words = typed_words(document.text)
        if get_app().is_done or not is_last or not words or not document.is_cursor_at_the_end:
            return Transformation(fragments)
        line = fragment_list_to_text(fragments)
        gap = "" if line.endswith(" ") else " "
        text = fitting(hint(words), self._room(line + gap))
        return Transformation([*fragments, ("class:hint", f"{gap}{text}")] if text else fragments)

    def _room(self, line: str) -> int:
        """Return how many columns are free after the line; the last one is for the cursor."""
        columns = get_app().output.get_size().columns
        return columns - (self._label_width() + get_cwidth(line)) % columns - 1


# --- the prompt ---------------------------------------------------------------------------------


_STYLE: Final = Style.from_dict({"hint": "ansibrightblack", "transaction": "ansiyellow"})
_CLEAR: Final = "clear"
_ENDINGS: Final = frozenset({"quit", "exit"})
_WITH_PASSWORDS: Final = frozenset({"auth", "hello"})


def history_file() -> Path:
    """Return the path of the history file. The directory and the file are created if missing."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    directory = Path(state) / "tailrace"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = directory / "cli_history"
    path.touch(mode=0o600)
    return path


class _History(FileHistory):
    """Stores typed lines. Like redis-cli, it skips AUTH and HELLO; it also skips lines with the token."""

    def __init__(self, path: Path, token: str | None) -> None:
        super().__init__(path)
        self._token = token

    def store_string(self, string: str) -> None:
        first = string.split(maxsplit=1)[:1]
        if not first or first[0].lower() in _WITH_PASSWORDS or (self._token and self._token in string):
            return
        super().store_string(string)


def converse(session: Session, printer: Printer, interval_s: float) -> None:
    """Read and run lines until the user ends the prompt. `interval_s`: the pause between repetitions."""
    prompt: PromptSession[str] = PromptSession(
        history=_History(history_file(), session.server.token),
        completer=CommandCompleter(KeyFinder(session.server)),
        complete_while_typing=False,
        complete_in_thread=True,
        input_processors=[Hints(lambda: fragment_list_width(_label(session)))],
        style=_STYLE,
    )
    while True:
        try:
            line = prompt.prompt(lambda: _label(session))
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if line.strip().lower() in _ENDINGS:
            return
        _run_line(line, session, printer, interval_s)


def _label(session: Session) -> FormattedText:
    transaction = [("class:transaction", "(TX)")] if session.is_in_transaction else []
    return FormattedText([("", session.server.address), *transaction, ("", "> ")])


def _run_line(line: str, session: Session, printer: Printer, interval_s: float) -> None:
    if line.strip().lower() == _CLEAR:
        clear()
        return
    try:
        if words := split_words(line.encode("utf-8", "surrogateescape")):
            run_line(words, session, printer, interval_s=interval_s, is_timed=True)
    except (Unbalanced, BadCount) as error:
        say(str(error))
    except ServerProblem as error:
        printer.print_error(f"(error) {error}")
    except KeyboardInterrupt:
        # Cancelling the request closes its connection; the server then cancels the waiting read.
        say("^C")
