"""Which server a command speaks to, and as whom: the three options that all such commands share.

It owns the options, where a token is found, and how a command ends: 0, 1 (failed) or 2 (wrong arguments). A
token is better read from a file or the environment: an argument is seen by whoever lists processes.
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

from tailrace.app.cli.client.http_client import Server, ServerProblem
from tailrace.app.reasons import reason

DEFAULT_URL: Final = "http://127.0.0.1:8080"
URL_VARIABLE: Final = "TAILRACE_URL"
TOKEN_VARIABLE: Final = "TAILRACE_TOKEN"  # noqa: S105 - the variable's name
INTERRUPTED: Final = 128 + signal.SIGINT

Url: TypeAlias = Annotated[str, typer.Option(metavar="URL", help="The server.", envvar=URL_VARIABLE)]
Token: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="TOKEN",
        help="The token to show; an argument is seen by others on this machine, a file is not.",
        envvar=TOKEN_VARIABLE,
        show_default=False,
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A file that holds the token; beats --token.",
        envvar="TAILRACE_TOKEN_FILE",
        show_default=False,
    ),
]


def fail(sentence: str) -> NoReturn:
    """End the command with status 1 and one sentence."""
    typer.echo(f"tailrace: {sentence}", err=True)
    raise typer.Exit(1) from None


@contextmanager
def connected(url: str, token: str | None, token_file: Path | None) -> Iterator[Server]:
    """The server, for as long as the context lasts; what is wrong with it ends the command in one line."""
    try:
        with Server(checked_url(url), _token(token, token_file)) as server, quiet_pipes():
            yield server
    except ServerProblem as error:
        fail(str(error))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def checked_url(url: str) -> str:
    """`url`, or the refusal of one that is no HTTP address."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise typer.BadParameter(f"--url: {error}") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise typer.BadParameter(f"--url: {url!r} is no address like {DEFAULT_URL}")
    return url


def _token(token: str | None, token_file: Path | None) -> str | None:
    if token_file is not None:
        try:
            token = token_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            why = reason(error) if isinstance(error, OSError) else "not text"
            fail(f"cannot read the token file {token_file}: {why}")
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise typer.BadParameter("the token is empty or holds characters that no token has")
    return token


@contextmanager
def quiet_pipes() -> Iterator[None]:
    """Where the reader of our output goes away (`| head`), end as filters do: by SIGPIPE, in silence."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
