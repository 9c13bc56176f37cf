"""Connects a command to a server, with the three options that all client commands share.

It owns these options, the lookup of the token, and the exit status: 0, 1 (failed) or 2 (wrong arguments).
Prefer a file or the environment for the token: all users of the machine can see arguments.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, NoReturn, TypeAlias

import httpx
import typer

from tailrace.app.cli.client.http_client import MISREAD, Server, ServerProblem, Unreachable, misread
from tailrace.app.cli.output import note
from tailrace.app.reasons import reason

PORT_VARIABLE: Final = "TAILRACE_PORT"
DEFAULT_URL: Final = f"http://127.0.0.1:{os.environ.get(PORT_VARIABLE) or 8080}"
"""The server that `tailrace serve` starts with the same environment."""

_REMEDY: Final = "`tailrace serve` starts a server there, and --url names another one"
"""What to do if the default server does not answer: probably none was started."""

URL_VARIABLE: Final = "TAILRACE_URL"
TOKEN_VARIABLE: Final = "TAILRACE_TOKEN"  # noqa: S105 - the variable's name
INTERRUPTED: Final = 128 + signal.SIGINT

Url: TypeAlias = Annotated[str, typer.Option(metavar="URL", help="The server.", envvar=URL_VARIABLE)]
Token: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="The token. Other users of this machine can see an argument; prefer --token-file.",
        envvar=TOKEN_VARIABLE,
        show_default=False,
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file with the token; overrides --token.",
        envvar="TAILRACE_TOKEN_FILE",
        show_default=False,
    ),
]


def fail(sentence: str) -> NoReturn:
    """Print `sentence` to standard error and exit with status 1."""
    note(sentence)
    raise typer.Exit(1) from None


@contextmanager
def connected(url: str, token: str | None, token_file: Path | None) -> Iterator[Server]:
    """Connect to the server for the duration of the context.

    A `ServerProblem` ends the command with one line and status 1. Ctrl-C ends it with status 130.
    """
    server = Server(checked_url(url), secret_from(token, token_file))
    try:
        with server, quiet_pipes():
            yield server
    except Unreachable as error:
        fail(f"{error}; {_REMEDY}" if url == DEFAULT_URL else str(error))
    except ServerProblem as error:
        fail(str(error))
    except MISREAD as error:
        if not server.has_answered:
            raise
        fail(f"{server.url} gave an answer that is not one of Tailrace: {misread(error)}; is the URL right?")
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def checked_url(url: str) -> str:
    """Return `url`, with `http://` if it has no scheme.

    Raises `typer.BadParameter` if it is not an HTTP URL.
    """
    if "://" not in url:
        url = f"http://{url}"
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise typer.BadParameter(f"--url: {error}") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise typer.BadParameter(f"--url: {url!r} is not a URL like {DEFAULT_URL}")
    return url


def secret_from(token: str | None, token_file: Path | None) -> str | None:
    """Return the token, or the content of the file if there is one. Exits with status 1 or 2 if it is
    invalid."""
    if token_file is not None:
        try:
            token = token_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            why = reason(error) if isinstance(error, OSError) else "not text"
            fail(f"cannot read the token file {token_file}: {why}")
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise typer.BadParameter(
            "the token is empty or has invalid characters: use printable ASCII characters"
        )
    return token


@contextmanager
def quiet_pipes() -> Iterator[None]:
    """If the reader of our output exits (`| head`), end by SIGPIPE and without a message, as filters do."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
