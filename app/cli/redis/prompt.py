"""The interactive prompt: reads lines with history, completion and hints, runs them and prints replies.

It owns the terminal while it runs. Ctrl-C cancels the line or the waiting read and keeps the prompt open;
Ctrl-D, `quit` and `exit` end it. The history file is readable only by its owner.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.formatted_text.utils import fragment_list_width
from prompt_toolkit.history import FileHistory
from prompt_toolkit.shortcuts import clear
from prompt_toolkit.styles import Style

from tailrace.app.cli.output import say
from tailrace.app.cli.redis.completion import CommandCompleter, Hints, KeyFinder
from tailrace.app.cli.redis.lines import BadCount, run_line
from tailrace.app.cli.redis.printer import Printer
from tailrace.app.cli.redis.quoting import Unbalanced, split_words
from tailrace.app.cli.redis.session import Session
from tailrace.app.cli.server import ServerProblem

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
